#include "model/config_json.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/json_writer.h"
#include "model/config_impl.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void write_message(JsonWriter& json, const Message& message);

/// One value of `field`: element `index` of a list, or the field itself when index is -1.
void write_value(JsonWriter& json, const Message& m, const FieldDescriptor* field, int index) {
  const auto* r = m.GetReflection();
  const bool list = index >= 0;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      json.value(list ? r->GetRepeatedInt32(m, field, index) : r->GetInt32(m, field));
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      json.value(list ? r->GetRepeatedInt64(m, field, index) : r->GetInt64(m, field));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      json.value(list ? r->GetRepeatedUInt32(m, field, index) : r->GetUInt32(m, field));
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      json.value(list ? r->GetRepeatedUInt64(m, field, index) : r->GetUInt64(m, field));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      json.value(list ? r->GetRepeatedDouble(m, field, index) : r->GetDouble(m, field));
      return;
    case FieldDescriptor::CPPTYPE_FLOAT:
      json.value(list ? r->GetRepeatedFloat(m, field, index) : r->GetFloat(m, field));
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      json.value(list ? r->GetRepeatedBool(m, field, index) : r->GetBool(m, field));
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      json.value((list ? r->GetRepeatedEnum(m, field, index) : r->GetEnum(m, field))->name());
      return;
    case FieldDescriptor::CPPTYPE_STRING:
      json.value(list ? r->GetRepeatedString(m, field, index) : r->GetString(m, field));
      return;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      write_message(json, list ? r->GetRepeatedMessage(m, field, index) : r->GetMessage(m, field));
      return;
  }
}

std::string key_text(const Message& entry, const FieldDescriptor* key) {
  return key->cpp_type() == FieldDescriptor::CPPTYPE_STRING
             ? entry.GetReflection()->GetString(entry, key)
             : std::to_string(entry.GetReflection()->GetUInt64(entry, key));
}

/// Maps have no order of their own: keys are sorted, numbers as numbers.
void write_map(JsonWriter& json, const Message& m, const FieldDescriptor* field) {
  const auto* r = m.GetReflection();
  const auto* key = field->message_type()->map_key();
  std::vector<std::pair<std::string, int>> order;
  for (int i = 0; i < r->FieldSize(m, field); ++i) {
    order.emplace_back(key_text(r->GetRepeatedMessage(m, field, i), key), i);
  }
  const bool numbers = key->cpp_type() != FieldDescriptor::CPPTYPE_STRING;
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    if (numbers && a.first.size() != b.first.size()) return a.first.size() < b.first.size();
    return a.first < b.first;
  });
  json.begin_object();
  for (const auto& [name, index] : order) {
    json.key(name);
    write_value(json, r->GetRepeatedMessage(m, field, index), field->message_type()->map_value(),
                -1);
  }
  json.end_object();
}

void write_message(JsonWriter& json, const Message& m) {
  const auto* r = m.GetReflection();
  json.begin_object();
  for (int i = 0; i < m.GetDescriptor()->field_count(); ++i) {
    const auto* field = m.GetDescriptor()->field(i);
    if (field->is_map()) {
      json.key(field->name());
      write_map(json, m, field);
    } else if (field->is_repeated()) {
      json.key(field->name()).begin_array();
      for (int k = 0; k < r->FieldSize(m, field); ++k) write_value(json, m, field, k);
      json.end_array();
    } else {
      // Messages and members of a oneof are printed when set, all else always.
      const bool conditional = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ||
                               field->real_containing_oneof() != nullptr;
      if (conditional && !r->HasField(m, field)) continue;
      json.key(field->name());
      write_value(json, m, field, -1);
    }
  }
  json.end_object();
}

}  // namespace

std::string config_json(const ConfigDocument& document) {
  inference::ModelConfig proto = *document.impl().proto;
  normalise(proto);
  std::string out;
  JsonWriter json(out);
  write_message(json, proto);
  return out;
}

}  // namespace tauto::model

#include "model/config_document.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "model/config_impl.h"
#include "model/utf8.h"
#include "model_config.pb.h"

namespace tauto::model {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::TextFormat;

/// Keeps the first complaint: the others are mostly its echo.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber, const std::string& text) override {
    if (seen_) return;
    seen_ = true;
    line_ = line;
    text_ = text;
  }
  int line() const { return line_; }
  const std::string& text() const { return text_; }

 private:
  bool seen_ = false;
  int line_ = -1;
  std::string text_ = "not protobuf text format";
};

/// For `Message type "inference.M" has no field named "f".`: the field of M nearest to f.
std::string nearest_field(const std::string& complaint) {
  const auto quoted = [&](std::size_t from) -> std::string {
    const auto open = complaint.find('"', from);
    if (open == std::string::npos) return {};
    const auto close = complaint.find('"', open + 1);
    if (close == std::string::npos) return {};
    return complaint.substr(open + 1, close - open - 1);
  };
  const auto at = complaint.find("has no field named");
  if (at == std::string::npos) return {};
  const auto* file = inference::ModelConfig::descriptor()->file();
  const auto* type = file->pool()->FindMessageTypeByName(quoted(0));
  if (type == nullptr) return {};
  std::vector<std::string_view> names;
  for (int i = 0; i < type->field_count(); ++i) names.push_back(type->field(i)->name());
  const std::string wrong = quoted(at);
  const auto near = nearest_word(wrong, names);
  return near.empty() ? std::string() : " Did you mean \"" + std::string(near) + "\"?";
}

/// The path of the first string that is not UTF-8, or "".
std::string path_of_bad_text(const Message& message) {
  const auto* reflection = message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const auto* field : fields) {
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const bool list = field->is_repeated();
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        const auto text = list ? reflection->GetRepeatedString(message, field, i)
                               : reflection->GetString(message, field);
        if (!is_utf8(text)) return list ? indexed(field->name(), i) : field->name();
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        const auto inner = path_of_bad_text(list ? reflection->GetRepeatedMessage(message, field, i)
                                                 : reflection->GetMessage(message, field));
        if (!inner.empty()) {
          return (list ? indexed(field->name(), i) : field->name()) + "." + inner;
        }
      }
    }
  }
  return {};
}

/// Line (from 0) of the innermost written field on `path`, -1 when there is none.
int line_of(const TextFormat::ParseInfoTree* tree, std::string_view path) {
  int line = -1;
  const auto* type = inference::ModelConfig::descriptor();
  while (tree != nullptr && type != nullptr && !path.empty()) {
    const auto dot = path.find('.');
    std::string_view step = path.substr(0, dot);
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    int index = 0;
    if (const auto open = step.find('['); open != std::string_view::npos) {
      std::from_chars(step.data() + open + 1, step.data() + step.size(), index);
      step = step.substr(0, open);
    }
    const auto* field = type->FindFieldByName(std::string(step));
    if (field == nullptr) break;
    const int where = field->is_repeated() ? std::max(index, 0) : -1;
    const int here = tree->GetLocation(field, where).line;
    if (here >= 0) line = here;
    type = field->message_type();
    tree = type == nullptr ? nullptr : tree->GetTreeForNested(field, where);
  }
  return line;
}

std::string place(const std::string& file, int line) {
  return line < 0 ? file + ": " : file + ":" + std::to_string(line + 1) + ": ";
}

}  // namespace

std::string indexed(std::string_view field, int index) {
  return std::string(field) + "[" + std::to_string(index) + "]";
}

struct ConfigDocument::Impl::Places {
  TextFormat::ParseInfoTree tree;
};

Error ConfigDocument::Impl::error_at(Code code, std::string_view path,
                                     std::string_view message) const {
  std::string out = place(file, line_of(places == nullptr ? nullptr : &places->tree, path));
  if (!path.empty()) out.append(path).append(": ");
  return Error{code, out.append(message)};
}

Error ConfigDocument::Impl::invalid_entry(std::string_view path, std::string_view key,
                                          std::string_view message) const {
  int line = -1;
  const auto at = text->find("\"" + std::string(key) + "\"");
  if (at != std::string::npos) {
    line = static_cast<int>(
        std::count(text->begin(), text->begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  }
  std::string out = place(file, line);
  out.append(path).append("[\"").append(key).append("\"]: ").append(message);
  return Error{Code::kInvalidArgument, std::move(out)};
}

Result<ConfigDocument> ConfigDocument::parse(std::string_view text, std::string_view file) {
  auto impl = std::make_shared<Impl>();
  impl->file = file;
  if (text.size() > kTextBytesMax) {
    return Error{Code::kInvalidArgument, impl->file + ": " + std::to_string(text.size()) +
                                             " bytes are too many for a config; at most " +
                                             std::to_string(kTextBytesMax) + " are read"};
  }
  auto places = std::make_shared<Impl::Places>();
  auto proto = std::make_shared<inference::ModelConfig>();
  FirstError first;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&first);
  parser.WriteLocationsTo(&places->tree);
  parser.SetRecursionLimit(50);
  google::protobuf::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  if (!parser.Parse(&stream, proto.get())) {
    return Error{Code::kInvalidArgument,
                 place(impl->file, first.line()) + first.text() + nearest_field(first.text())};
  }
  impl->proto = std::move(proto);
  impl->places = std::move(places);
  impl->text = std::make_shared<const std::string>(text);
  if (const auto path = path_of_bad_text(*impl->proto); !path.empty()) {
    return impl->invalid(path, "is not valid UTF-8");
  }
  if (auto trouble = find_unsupported(*impl)) return *std::move(trouble);
  return ConfigDocument(std::move(impl));
}

Result<ConfigDocument> ConfigDocument::named(std::string_view name) const {
  if (impl_->proto->name() == name) return *this;
  if (!impl_->proto->name().empty()) {
    return impl_->invalid("name", "is \"" + impl_->proto->name() + "\" but the directory is \"" +
                                      std::string(name) + "\"; they must be equal");
  }
  auto proto = std::make_shared<inference::ModelConfig>(*impl_->proto);
  proto->set_name(std::string(name));
  auto copy = std::make_shared<Impl>(*impl_);
  copy->proto = std::move(proto);
  return ConfigDocument(std::move(copy));
}

ConfigDocument ConfigDocument::with_backend_completed(std::string_view onnx_file) const {
  const auto& written = *impl_->proto;
  const auto& file = written.default_model_filename();
  const bool onnx_by_file = !onnx_file.empty() || file.ends_with(".onnx");
  const bool bare = written.platform().empty() && written.backend().empty();
  const bool onnx = written.platform() == "onnxruntime_onnx" ||
                    written.backend() == "onnxruntime" || (bare && onnx_by_file);
  if (!onnx) return *this;
  auto proto = std::make_shared<inference::ModelConfig>(written);
  proto->set_backend("onnxruntime");
  proto->set_platform("onnxruntime_onnx");
  if (file.empty()) {
    proto->set_default_model_filename(onnx_file.empty() ? "model.onnx" : std::string(onnx_file));
  }
  auto copy = std::make_shared<Impl>(*impl_);
  copy->proto = std::move(proto);
  return ConfigDocument(std::move(copy));
}

std::string ConfigDocument::name() const { return impl_->proto->name(); }

bool ConfigDocument::incomplete() const {
  return impl_->proto->input().empty() || impl_->proto->output().empty();
}

Result<Config> parse_config(std::string_view text, std::string_view file) {
  TAUTO_ASSIGN_OR_RETURN(const auto document, ConfigDocument::parse(text, file));
  return make_config(document);
}

}  // namespace tauto::model

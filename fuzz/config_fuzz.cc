// Any bytes as config.pbtxt: parse, validate, translate and print again. What is accepted must
// print to one JSON line and hold the promises that the rest of the house relies on.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/config_document.h"
#include "model/config_json.h"

using namespace tauto;

namespace {

void check_promises(const model::Config& c) {
  const auto& s = c.scheduling;
  TAUTO_CHECK(!c.name.empty() && !c.backend.empty());
  TAUTO_CHECK(s.rows_max >= 1 && s.hold_max >= Duration::zero() && s.queue_depth_max >= 1);
  TAUTO_CHECK(s.policy != sched::PolicyKind::kFixed || s.rows_fixed >= 1);
  TAUTO_CHECK(!c.instance_groups.empty() && c.outputs.size() <= 64);
  for (const auto& group : c.instance_groups) TAUTO_CHECK(group.count >= 1);
  if (c.inputs.empty() || c.outputs.empty()) return;  // the model file has not spoken yet
  TAUTO_CHECK(s.rows_fixed <= s.rows_max);
  for (const auto rows : s.rows_preferred) TAUTO_CHECK(rows >= 1 && rows <= s.rows_max);
  for (const auto* tensors : {&c.inputs, &c.outputs}) {
    for (const auto& t : *tensors) {
      TAUTO_CHECK(Shape::fits(t.dims.rank() + (c.rows_max > 0 ? 1 : 0)));
      TAUTO_CHECK(t.type != DataType::kInvalid);
      for (const auto dim : t.dims.dims()) TAUTO_CHECK(dim == -1 || dim >= 1);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = model::ConfigDocument::parse(text, "config.pbtxt");
  if (!document.ok()) {
    TAUTO_CHECK(document.error().message.starts_with("config.pbtxt:"));
    return 0;
  }
  const auto config = model::make_config(document.value());
  if (!config.ok()) return 0;
  check_promises(config.value());
  const auto json = model::config_json(document.value());
  TAUTO_CHECK(json.starts_with("{\"name\":\"") && json.find('\n') == std::string::npos);
  return 0;
}

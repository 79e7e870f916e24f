// The repository that our measurements of other servers use must load here unchanged: identity and
// copying models of backend "echo", and one of a backend that we do not have.
#include <gtest/gtest.h>

#include <chrono>

#include "engine/synthetic.h"
#include "model/loader.h"
#include "model/temp_dir_test_util.h"

namespace tauto::model {
namespace {

using namespace std::chrono_literals;

class RealTime : public TimeSource {
 public:
  Instant now() const override {
    return Instant(std::chrono::steady_clock::now().time_since_epoch());
  }
};

struct PeerModel {
  std::string name;
  std::string backend;
  int rows_max;
  std::string type;
  std::string dims;
  std::string extra;
  int count;
};

std::string delay(const std::string& key, const std::string& value) {
  return "parameters { key: \"" + key + "\" value { string_value: \"" + value + "\" } }\n";
}

const std::string kDelays =
    delay("delay_a_us", "1000") + delay("delay_c_us", "50") + delay("delay_mode", "sleep");

const std::vector<PeerModel> kPeers = {
    {"echo", "echo", 0, "FP32", "16", "", 1},
    {"echo_i2", "echo", 0, "FP32", "16", "", 2},
    {"echo_b", "echo", 32, "FP32", "16", "", 1},
    {"echo_dyn0", "echo", 32, "FP32", "16", "dynamic_batching { }", 1},
    {"echo_dyn2000", "echo", 32, "FP32", "16",
     "dynamic_batching { max_queue_delay_microseconds: 2000 }", 1},
    {"echo_delay", "echo", 32, "FP32", "16", "dynamic_batching { }\n" + kDelays, 1},
    {"echo_delay_nodyn", "echo", 32, "FP32", "16", kDelays, 1},
    {"identity_fp32", "echo", 8, "FP32", "16", "", 1},
    {"identity_int8", "echo", 8, "INT8", "-1", "", 1},
    {"identity_u8", "echo", 0, "UINT8", "-1", "", 1},
    {"identity_i64", "echo", 0, "INT64", "-1", "", 1},
    {"identity_bool", "echo", 0, "BOOL", "-1", "", 1},
    {"identity_fp16", "echo", 0, "FP16", "-1", "", 1},
    {"identity_bytes", "echo", 8, "STRING", "-1", "", 1},
    {"pyid", "python", 0, "FP32", "16", "", 1}};

class Peers : public TempDirTest {
 protected:
  Peers() : engine_(engine::make_synthetic_engine(time_)) {
    for (const auto& m : kPeers) {
      const std::string tensor = "data_type: TYPE_" + m.type + " dims: [ " + m.dims + " ] } ]\n";
      add(m.name, "name: \"" + m.name + "\"\nbackend: \"" + m.backend + "\"\nmax_batch_size: " +
                      std::to_string(m.rows_max) + "\ninput [ { name: \"INPUT0\" " + tensor +
                      "output [ { name: \"OUTPUT0\" " + tensor +
                      "instance_group [ { kind: KIND_CPU count: " + std::to_string(m.count) +
                      " } ]\n" + m.extra + "\n");
    }
    add("two",
        "name: \"two\"\nbackend: \"echo\"\nmax_batch_size: 8\n"
        "input [ { name: \"INPUT0\" data_type: TYPE_INT32 dims: [ 16 ] },\n"
        "  { name: \"INPUT1\" data_type: TYPE_INT32 dims: [ 16 ] } ]\n"
        "output [ { name: \"OUTPUT0\" data_type: TYPE_INT32 dims: [ 16 ] },\n"
        "  { name: \"OUTPUT1\" data_type: TYPE_INT32 dims: [ 16 ] } ]\n"
        "version_policy: { specific { versions: [1] } }\n");
    add("labelled",
        "name: \"labelled\"\nbackend: \"echo\"\nmax_batch_size: 8\n"
        "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ 4 ] } ]\n"
        "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ 4 ]\n"
        "  label_filename: \"labels.txt\" } ]\n");
    write("r/labelled/labels.txt", "cat\ndog\nbird\nfish\n");
    const auto found = scan_repositories(std::vector{path("r")});
    EXPECT_TRUE(found.ok());
    LoadSettings settings;
    settings.warm_budget = 20ms;
    for (auto& outcome : load_all(found.value(), {{"synthetic", engine_.get()}}, time_, settings)) {
      const std::string name = outcome.name;
      outcomes_.emplace(name, std::move(outcome));
    }
  }
  void add(const std::string& name, const std::string& config) {
    write("r/" + name + "/config.pbtxt", config);
    make("r/" + name + "/1");
  }
  const LoadedModel& model(const std::string& name) { return *outcomes_.at(name).loaded; }

  RealTime time_;
  std::unique_ptr<engine::Engine> engine_;
  std::map<std::string, LoadOutcome> outcomes_;
};

TEST_F(Peers, AllButTheForeignBackendLoad) {
  ASSERT_EQ(outcomes_.size(), kPeers.size() + 2);
  for (const auto& [name, outcome] : outcomes_) {
    if (name == "pyid") continue;
    EXPECT_EQ(outcome.state, ModelState::kReady) << name << ": " << outcome.reason;
    ASSERT_TRUE(outcome.loaded) << name;
    EXPECT_EQ(outcome.loaded->config.platform_shown, "echo");
    EXPECT_EQ(outcome.loaded->version, 1);
  }
  EXPECT_EQ(outcomes_.at("pyid").state, ModelState::kUnavailable);
  EXPECT_NE(outcomes_.at("pyid").reason.find("not supported yet: \"python\""), std::string::npos);
  EXPECT_EQ(model("echo_i2").instances.size(), 2u);
  EXPECT_EQ(model("echo_b").config.scheduling.policy, sched::PolicyKind::kDirect);
  EXPECT_EQ(model("echo_dyn2000").config.scheduling.policy, sched::PolicyKind::kTriton);
  EXPECT_EQ(model("echo_dyn2000").config.scheduling.hold_max, 2ms);
  EXPECT_EQ(model("labelled").labels.at("OUTPUT0"),
            (std::vector<std::string>{"cat", "dog", "bird", "fish"}));
  EXPECT_EQ(model("two").signature.outputs.size(), 2u);
  // Its formula is its promise: no run is shorter.
  EXPECT_GE(model("echo_delay").service_time.mean(1), 1050us);
  EXPECT_TRUE(model("echo").profiled);
  EXPECT_FALSE(model("identity_u8").profiled);  // a free dimension and no shape to warm with
}

}  // namespace
}  // namespace tauto::model

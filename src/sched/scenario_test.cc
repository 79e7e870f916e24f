// Runs tests/scenarios/*.txt. With TAUTO_UPDATE=1 in the environment the expectations are written
// anew from what the scheduler does: read the difference before you commit it.

#include "sched/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace tauto::sched {
namespace {

constexpr std::string_view kDashes = "----\n";

std::vector<std::filesystem::path> scenario_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path root = std::string(TAUTO_SOURCE_DIR) + "/tests/scenarios";
  for (const auto& entry : std::filesystem::directory_iterator(root)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Scenario : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Scenario, ActsAsWritten) {
  const std::string text = read(GetParam());
  const auto dashes = text.find(kDashes);
  ASSERT_NE(dashes, text.npos) << "no line of four dashes";
  const std::string script = text.substr(0, dashes);
  const auto result = run_scenario(script, false);
  ASSERT_EQ(result.error, "");
  if (const char* update = std::getenv("TAUTO_UPDATE"); update && std::string_view(update) == "1") {
    std::ofstream(GetParam()) << script << kDashes << result.actions;
  } else {
    EXPECT_EQ(result.actions, text.substr(dashes + kDashes.size()));
  }
  EXPECT_EQ(run_scenario(script, true).actions, result.actions) << "after save and restore";
}

INSTANTIATE_TEST_SUITE_P(Files, Scenario, testing::ValuesIn(scenario_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(ScenarioLanguage, RefusesWhatItDoesNotKnow) {
  const std::string model = "model m policy eager\n";
  EXPECT_EQ(run_scenario(model, false).error, "");
  EXPECT_NE(run_scenario("model m policy lazy\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 1ms jump\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 1ms arrive r1 colour 3\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 1ms arrive x1\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 1ms tick tock\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 5 tick\n", false).error, "");
  EXPECT_NE(run_scenario(model + "at 5ms tick\nat 4ms tick\n", false).error, "");
}

}  // namespace
}  // namespace tauto::sched

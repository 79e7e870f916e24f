#include "app/bench_flags.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace tauto::app {
namespace {

using namespace std::chrono_literals;

Result<std::variant<BenchCommand, HelpText>> parse(std::vector<std::string> words) {
  words.insert(words.begin(), "bench");
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse_bench_flags(static_cast<int>(words.size()), argv.data());
}

BenchCommand accepted(std::vector<std::string> words) {
  auto result = parse(std::move(words));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? std::get<BenchCommand>(result.value()) : BenchCommand{};
}

std::string refusal(std::vector<std::string> words) {
  const auto result = parse(std::move(words));
  return result.ok() ? "accepted" : result.error().message;
}

TEST(BenchFlags, DefaultsAreAClosedLoopOfOne) {
  const auto command = accepted({"--model", "m"});
  EXPECT_EQ(command.options.concurrency, 1u);
  EXPECT_EQ(command.options.length, 10s);
  EXPECT_EQ(command.options.warmup, 1s);
  EXPECT_TRUE(command.options.kserve.binary);
  EXPECT_TRUE(command.options.journey);
}

TEST(BenchFlags, AreReadWithTheirUnits) {
  const auto command = accepted({"--model=m", "--rate=80.5", "--duration=2m", "--slo", "p99<30ms",
                                 "--shape=ids:1,128", "--shape", "mask:1,128", "--batch=2",
                                 "--deadline=50ms", "--header", "X-A: b", "--html=r.html"});
  EXPECT_EQ(command.options.millirequests_per_second, 80'500u);
  EXPECT_EQ(command.options.concurrency, 0u);
  EXPECT_EQ(command.options.length, 2min);
  EXPECT_EQ(command.options.objective->limit, 30ms);
  EXPECT_EQ(command.options.kserve.shapes.size(), 2u);
  EXPECT_EQ(*command.options.kserve.deadline, 50ms);
  EXPECT_EQ(command.options.headers[0].value, "b");
  EXPECT_EQ(command.html_file, "r.html");
}

TEST(BenchFlags, ReadOneBodyALine) {
  const std::string path = testing::TempDir() + "bench_flags_test.jsonl";
  std::ofstream(path) << "{\"a\":1}\r\n\n{\"b\":2}";
  const auto command = accepted({"--post", "h:1/x", "--input", path});
  EXPECT_EQ(command.options.bodies, (std::vector<std::string>{"{\"a\":1}", "{\"b\":2}"}));
  std::remove(path.c_str());
}

TEST(BenchFlags, RefusalsSayWhatToDo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "say what to load"},
      {{"--model", "m", "--get", "h:1"}, "one of --model"},
      {{"--model", "m", "--rtae", "5"}, "did you mean --rate?"},
      {{"--model", "m", "--rate", "5", "--concurrency", "2"}, "not both"},
      {{"--model", "m", "--rate", "fast"}, "--rate: 'fast'"},
      {{"--model", "m", "--rate", "0"}, "--rate: '0'"},
      {{"--model", "m", "--concurrency", "0"}, "--concurrency: '0'"},
      {{"--model", "m", "--duration", "10"}, "--duration: '10' is not a duration"},
      {{"--model", "m", "--duration", "0"}, "longer than 0"},
      {{"--model", "m", "--slo", "fast"}, "--slo: 'fast' is not an objective"},
      {{"--model", "m", "--shape", "ids"}, "--shape: 'ids' is not a shape"},
      {{"--model", "m", "--arrivals", "poison"}, "poisson or constant"},
      {{"--model", "m", "--spin", "maybe"}, "auto, on or off"},
      {{"--model", "m", "--url", "https://h"}, "https is not supported"},
      {{"--model", "m", "--header", "nonsense"}, "'Name: value'"},
      {{"--model", "m", "--input", "no-such-file"}, "cannot read 'no-such-file'"},
      {{"--model", "m", "--binary", "--json-tensors"}, "not both"},
      {{"--get", "h:1", "--body", "/dev/null"}, "--get sends no body"},
      {{"--post", "h:1", "--batch", "2"}, "random inputs"},
      {{"--post", "h:1", "--deadline", "2ms"}, "--deadline is for --model"},
      {{"--model"}, "--model"},
  };
  for (const auto& [words, part] : cases) {
    const auto message = refusal(words);
    EXPECT_NE(message.find(part), std::string::npos) << message << " lacks: " << part;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(BenchFlags, HelpNamesEveryFlagAndTheExitCodes) {
  const auto help = std::get<HelpText>(parse({"--help"}).value()).text;
  for (const auto* word :
       {"--model", "--rate", "--slo", "--html", "--spin", "Exit code", "2 bad"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace tauto::app

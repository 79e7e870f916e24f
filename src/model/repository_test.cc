#include "model/repository.h"

#include <gtest/gtest.h>

#include "model/temp_dir_test_util.h"

namespace tauto::model {
namespace {

const std::string kConfig =
    "backend: \"echo\" max_batch_size: 8\n"
    "input { name: \"A\" data_type: TYPE_FP32 dims: 4 }\n"
    "output { name: \"B\" data_type: TYPE_FP32 dims: 4 }\n";

class Repository : public TempDirTest {
 protected:
  std::vector<ModelSource> scan(std::vector<std::string> paths) {
    auto found = scan_repositories(paths);
    EXPECT_TRUE(found.ok()) << found.error().message;
    return found.ok() ? std::move(found).value() : std::vector<ModelSource>{};
  }
  ModelSource only() {
    auto found = scan({path("r")});
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? ModelSource{} : std::move(found[0]);
  }
  static std::vector<std::int64_t> numbers(const ModelSource& model) {
    std::vector<std::int64_t> out;
    for (const auto& v : model.versions) out.push_back(v.version);
    return out;
  }
};

TEST_F(Repository, FindsModelsByNameAndIgnoresTheRest) {
  write("r/zeta/config.pbtxt", kConfig);
  make("r/zeta/1");
  write("r/alpha/config.pbtxt", kConfig);
  make("r/alpha/1");
  write("r/README.md", "hello");
  make("r/.git/1");
  const auto found = scan({path("r")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name, "alpha");
  EXPECT_EQ(found[0].problem, "");
  EXPECT_EQ(found[0].repository, path("r"));
  EXPECT_EQ(found[0].directory, path("r/alpha"));
  ASSERT_TRUE(found[0].document);
  EXPECT_EQ(found[0].document->name(), "alpha");
  EXPECT_EQ(found[0].versions[0].path, path("r/alpha/1"));
  EXPECT_EQ(found[1].name, "zeta");
}

TEST_F(Repository, VersionNumbersHaveNoLeadingZeroAndNoLetters) {
  write("r/m/config.pbtxt", kConfig + "version_policy { all { } }");
  for (const auto* name : {"1", "12", "3", "04", "0", "v5", "-6", "7x", "99999999999999999999"}) {
    make(std::string("r/m/") + name);
  }
  for (const auto* name : {"warmup", "configs", "initial_state"}) make(std::string("r/m/") + name);
  write("r/m/8", "a file");
  const auto model = only();
  EXPECT_EQ(numbers(model), (std::vector<std::int64_t>{1, 3, 12}));
  EXPECT_EQ(model.warnings.size(), 6u);
  EXPECT_NE(model.warnings[0].find("ignored, no version number"), std::string::npos);
}

TEST_F(Repository, TheVersionPolicyChooses) {
  for (const auto* v : {"1", "2", "3"}) make(std::string("r/m/") + v);
  write("r/m/config.pbtxt", kConfig);
  EXPECT_EQ(numbers(only()), (std::vector<std::int64_t>{3}));
  write("r/m/config.pbtxt", kConfig + "version_policy { latest { num_versions: 2 } }");
  EXPECT_EQ(numbers(only()), (std::vector<std::int64_t>{2, 3}));
  write("r/m/config.pbtxt", kConfig + "version_policy { latest { num_versions: 9 } }");
  EXPECT_EQ(numbers(only()), (std::vector<std::int64_t>{1, 2, 3}));
  write("r/m/config.pbtxt", kConfig + "version_policy { specific { versions: [ 3, 1, 7 ] } }");
  EXPECT_EQ(numbers(only()), (std::vector<std::int64_t>{1, 3}));
  write("r/m/config.pbtxt", kConfig + "version_policy { specific { versions: 7 } }");
  EXPECT_NE(only().problem.find("at least one version must be available"), std::string::npos);
}

TEST_F(Repository, ABrokenModelKeepsItsPlaceAndItsReason) {
  write("r/good/config.pbtxt", kConfig);
  make("r/good/1");
  write("r/garbage/config.pbtxt", "\x01\x02{{{");
  make("r/garbage/1");
  write("r/python/config.pbtxt", "backend: \"python\"");
  make("r/python/1");
  write("r/renamed/config.pbtxt", "name: \"other\"\n" + kConfig);
  make("r/renamed/1");
  make("r/nothing");
  write("r/unversioned/config.pbtxt", kConfig);
  make("r/folder/config.pbtxt");
  make("r/folder/1");
  write("r/wrong/config.pbtxt", kConfig + "dynamic_batching { preferred_batch_size: 9 }");
  make("r/wrong/1");
  const auto found = scan({path("r")});
  ASSERT_EQ(found.size(), 8u);
  const std::map<std::string, std::string> expected = {
      {"garbage", "/r/garbage/config.pbtxt:1:"},
      {"python", "not supported yet: \"python\""},
      {"renamed", "the directory is \"renamed\""},
      {"nothing", "no config.pbtxt and no version directory"},
      {"unversioned", "at least one version must be available"},
      {"folder", "no such file"},
      {"wrong", "9 is not in 1 to max_batch_size"}};
  for (const auto& model : found) {
    if (model.name == "good") {
      EXPECT_EQ(model.problem, "");
      continue;
    }
    EXPECT_NE(model.problem.find(expected.at(model.name)), std::string::npos) << model.problem;
    EXPECT_TRUE(model.versions.empty());
    EXPECT_FALSE(model.document);
  }
}

TEST_F(Repository, AModelInTwoRepositoriesIsInNone) {
  write("r/m/config.pbtxt", kConfig);
  make("r/m/1");
  write("s/m/config.pbtxt", kConfig);
  make("s/m/1");
  write("s/own/config.pbtxt", kConfig);
  make("s/own/1");
  const auto found = scan({path("r"), path("s")});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].problem,
            "is in two places: " + path("r") + " and " + path("s") + "; keep one");
  EXPECT_TRUE(found[0].versions.empty());
  EXPECT_EQ(found[1].problem, "");
}

TEST_F(Repository, AnOnnxFileNeedsNoConfig) {
  write("d/net.v2.onnx", "bytes");
  const auto found = scan({path("d/net.v2.onnx")});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].name, "net.v2");
  EXPECT_EQ(found[0].problem, "");
  ASSERT_TRUE(found[0].document);
  EXPECT_TRUE(found[0].document->incomplete());
  const auto config = make_config(*found[0].document);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config.value().backend, "onnxruntime");
  EXPECT_EQ(config.value().default_filename, "net.v2.onnx");
  EXPECT_EQ(found[0].versions[0].path, path("d/net.v2.onnx"));
}

TEST_F(Repository, AModelDirectoryWithAnOnnxFileNeedsNoConfigEither) {
  write("r/m/1/model.onnx", "bytes");
  const auto model = only();
  EXPECT_EQ(model.problem, "");
  ASSERT_TRUE(model.document);
  EXPECT_EQ(make_config(*model.document).value().default_filename, "model.onnx");
  make("r/m/2");  // the latest version has no file, so nothing tells the backend
  EXPECT_NE(only().problem.find("backend: is missing"), std::string::npos);
}

TEST_F(Repository, PathsThatAreNoneAreErrors) {
  const std::vector<std::string> missing = {path("nowhere")};
  const auto found = scan_repositories(missing);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find(path("nowhere")), std::string::npos);
  write("notes.txt", "x");
  EXPECT_FALSE(scan_repositories(std::vector{path("notes.txt")}).ok());
  make("empty");
  EXPECT_TRUE(scan({path("empty")}).empty());
}

TEST(States, HaveTritonsNames) {
  EXPECT_EQ(state_name(ModelState::kReady), "READY");
  EXPECT_EQ(state_name(ModelState::kUnavailable), "UNAVAILABLE");
}

}  // namespace
}  // namespace tauto::model

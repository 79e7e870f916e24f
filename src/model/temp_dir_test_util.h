#pragma once
// A directory of its own for each test, removed afterwards.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tauto::model {

class TempDirTest : public testing::Test {
 protected:
  TempDirTest() {
    std::string name = testing::TempDir() + "tauto_model_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~TempDirTest() override {
    std::error_code ec;
    std::filesystem::remove_all(root_, ec);
  }
  std::string path(const std::string& relative) const { return root_ + "/" + relative; }
  void make(const std::string& relative) { std::filesystem::create_directories(path(relative)); }
  void write(const std::string& relative, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path(relative)).parent_path());
    std::ofstream(path(relative), std::ios::binary) << text;
  }

 private:
  std::string root_;
};

}  // namespace tauto::model

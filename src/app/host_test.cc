// The CPU quota, from made-up cgroup trees of both versions.
#include "app/host.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tauto::app {
namespace {

namespace fs = std::filesystem;

struct Tree : testing::Test {
  fs::path root =
      fs::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();

  Tree() { fs::remove_all(root); }
  ~Tree() override { fs::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    const fs::path file = root / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  int quota() const { return cgroup_cpu_quota(root.string()); }
};

TEST_F(Tree, NothingThereIsNoLimit) { EXPECT_EQ(quota(), 0); }

TEST_F(Tree, Version2TakesTheStrictestGroupOnTheWayUp) {
  write("proc/self/cgroup", "0::/pods/a\n");
  write("sys/fs/cgroup/pods/a/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/pods/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(Tree, LessThanOneCpuCountsAsOne) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(Tree, Version1) {
  write("proc/self/cgroup", "12:memory:/x\n4:cpu,cpuacct:/box\n");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "400000\n");
  write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(Tree, Version1WithoutAQuota) {
  write("proc/self/cgroup", "4:cpu,cpuacct:/\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
}

TEST_F(Tree, NonsenseIsNoLimit) {
  write("proc/self/cgroup", "garbage\n::\n0:\n0::relative\n");
  write("sys/fs/cgroup/cpu.max", "0 0\n");
  EXPECT_EQ(quota(), 0);
}

TEST(Host, ThisMachineHasACpu) { EXPECT_GE(cpu_quota(), 1); }

}  // namespace
}  // namespace tauto::app

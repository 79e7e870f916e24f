#include "wire/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace tauto::wire {
namespace {

TEST(Arena, BlocksAreAlignedAndStayWhereTheyAre) {
  Arena arena;
  std::vector<std::pair<std::byte*, std::size_t>> blocks;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::size_t size = i * 37 + 1;
    std::byte* p = arena.allocate(size);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0u);
    std::memset(p, static_cast<int>(i), size);
    blocks.emplace_back(p, size);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t k = 0; k < blocks[i].second; ++k) {
      ASSERT_EQ(blocks[i].first[k], static_cast<std::byte>(i));
    }
  }
}

TEST(Arena, WhatIsNotCommittedIsUsedAgain) {
  Arena arena;
  std::byte* first = arena.reserve(1000);
  EXPECT_EQ(arena.reserve(1000), first);
  EXPECT_EQ(arena.commit(10), first);
  EXPECT_EQ(arena.reserve(1000), first + 64);
}

TEST(Arena, AfterOneRoundEverythingFitsOneChunk) {
  Arena arena;
  for (int i = 0; i < 10; ++i) arena.allocate(20'000);
  arena.reset();
  std::byte* p = arena.allocate(20'000);
  for (int i = 1; i < 10; ++i) {
    std::byte* next = arena.allocate(20'000);
    EXPECT_EQ(next, p + 20'032);
    p = next;
  }
}

TEST(ArenaDeathTest, CommitOfMoreThanReservedIsABug) {
  Arena arena;
  arena.reserve(64);
  EXPECT_DEATH(arena.commit(65), "check failed");
}

}  // namespace
}  // namespace tauto::wire

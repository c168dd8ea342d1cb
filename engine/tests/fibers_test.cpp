// Ends and members that take turns in one process.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "base/fiber.hpp"
#include "base/fiber_set.hpp"

namespace wireproof {
namespace {

TEST(TurnTaking, BothEndsRunToTheirEnd) {
  TurnTaking turns;
  std::string said;
  turns.run([&] { said += "a"; }, [&] { said += "b"; });
  EXPECT_EQ(said.size(), 2U);
  EXPECT_NE(said.find('a'), std::string::npos);
  EXPECT_NE(said.find('b'), std::string::npos);
}

TEST(TurnTaking, AGivenTurnIsTheOthers) {
  TurnTaking turns;
  std::string said;
  turns.run(
      [&] {
        for (const char c : {'1', '2', '3'}) {
          said += c;
          turns.give_turn();
        }
      },
      [&] {
        for (const char c : {'a', 'b', 'c'}) {
          said += c;
          if (c != 'c') turns.give_turn();
        }
      });
  EXPECT_EQ(said, "1a2b3c");
}

TEST(TurnTaking, LocalsSurviveTheTurnsOfTheOther) {
  TurnTaking turns;
  int sum = 0;
  turns.run(
      [&] {
        std::array<int, 100> mine{};
        for (int i = 0; i < 100; ++i) {
          mine[static_cast<std::size_t>(i)] = i;
          if (i < 99) turns.give_turn();
        }
        for (const int value : mine) sum += value;
      },
      [&] {
        std::array<int, 100> other{};
        for (int i = 0; i < 99; ++i) {
          other[static_cast<std::size_t>(i)] = -i;
          turns.give_turn();
        }
      });
  EXPECT_EQ(sum, 4950);
}

TEST(TurnTaking, IsUsedAgain) {
  TurnTaking turns;
  int count = 0;
  for (int i = 0; i < 50; ++i) {
    turns.run([&] { ++count; }, [&] { ++count; });
  }
  EXPECT_EQ(count, 100);
}

TEST(TurnTaking, WhatTheFirstThrowsIsThrownHere) {
  TurnTaking turns;
  EXPECT_THROW(turns.run([] { throw std::runtime_error("first"); }, [] {}), std::runtime_error);
  int after = 0;
  turns.run([&] { ++after; }, [&] { ++after; });
  EXPECT_EQ(after, 2) << "and it is used again";
}

TEST(TurnTaking, WhatTheSecondThrowsIsThrownHere) {
  TurnTaking turns;
  try {
    turns.run([&] { turns.give_turn(); }, [] { throw std::runtime_error("second"); });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "second");
  }
}

TEST(TurnTaking, WaitingForAnEndThatIsOverIsAFailureNotAHang) {
  TurnTaking turns;
  EXPECT_THROW(turns.run(
                   [&] {
                     for (;;) turns.give_turn();
                   },
                   [] {}),
               Failure);
}

TEST(FiberSet, FibersRunWhenTheyAreResumed) {
  std::vector<std::size_t> ran;
  FiberSet fibers(3, [&](std::size_t number) { ran.push_back(number); });
  EXPECT_TRUE(ran.empty()) << "not before";
  fibers.resume(2);
  fibers.resume(0);
  EXPECT_EQ(ran, (std::vector<std::size_t>{2, 0}));
  EXPECT_TRUE(fibers.ended(2));
  EXPECT_TRUE(fibers.ended(0));
  EXPECT_FALSE(fibers.ended(1));
}

TEST(FiberSet, ASuspendedOneGoesOnWhereItWas) {
  std::string said;
  FiberSet* set = nullptr;
  FiberSet fibers(2, [&](std::size_t number) {
    const std::string own = std::to_string(number);
    for (const char* part : {"a", "b", "c"}) {
      said += own + part;
      set->suspend();
    }
  });
  set = &fibers;
  for (int round = 0; round < 3; ++round) {
    fibers.resume(0);
    fibers.resume(1);
  }
  EXPECT_EQ(said, "0a1a0b1b0c1c");
  EXPECT_FALSE(fibers.ended(0));
  fibers.resume(0);
  EXPECT_TRUE(fibers.ended(0));
}

TEST(FiberSet, WhatAFiberThrowsIsThrownByResume) {
  FiberSet fibers(2, [](std::size_t number) {
    if (number == 1) throw cannot_measure("torn", "member 1");
  });
  fibers.resume(0);
  EXPECT_THROW(fibers.resume(1), Failure);
  EXPECT_TRUE(fibers.ended(1));
}

TEST(FiberSet, UnfinishedFibersAreAbandoned) {
  FiberSet* set = nullptr;
  int resumed = 0;
  {
    FiberSet fibers(4, [&](std::size_t) {
      ++resumed;
      set->suspend();
      ++resumed;
    });
    set = &fibers;
    for (std::size_t i = 0; i < 4; ++i) fibers.resume(i);
  }
  EXPECT_EQ(resumed, 4);
}

TEST(FiberSet, AThousandStacksAreApart) {
  constexpr std::size_t kCount = 1000;
  std::vector<std::uint64_t> sums(kCount);
  FiberSet* set = nullptr;
  FiberSet fibers(kCount, [&](std::size_t number) {
    std::array<std::uint64_t, 512> own{};
    own.fill(number);
    set->suspend();
    for (const std::uint64_t value : own) sums[number] += value;
  });
  set = &fibers;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) fibers.resume(i);
  }
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(sums[i], 512 * i);
}

TEST(FiberSet, MoreMembersThanMemoryAreAFailureThatSaysSo) {
  try {
    const FiberSet fibers(std::size_t{1} << 40, [](std::size_t) {});
    FAIL() << "eight exabytes of stacks";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "no-memory");
    EXPECT_NE(std::string(failure.what()).find("members="), std::string::npos);
  } catch (const std::bad_alloc&) {
    SUCCEED() << "the list of fibers comes first";
  }
}

}  // namespace
}  // namespace wireproof

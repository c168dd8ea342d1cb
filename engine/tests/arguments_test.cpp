// The command line and the launchers' environment.
#include "base/arguments.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <vector>

#include "base/failure.hpp"

namespace wireproof {
namespace {

using Verb = Arguments::Verb;

Arguments parse(std::vector<std::string> words) {
  words.insert(words.begin(), "wireproof-engine");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_arguments(static_cast<int>(argv.size()), argv.data());
}

std::string complaint(const std::vector<std::string>& words) {
  try {
    parse(words);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_plan);
    return failure.what();
  }
  return "no complaint";
}

TEST(Arguments, EveryVerbIsKnown) {
  EXPECT_EQ(parse({"run"}).verb, Verb::run);
  EXPECT_EQ(parse({"facts"}).verb, Verb::facts);
  EXPECT_EQ(parse({"watch"}).verb, Verb::watch);
  EXPECT_EQ(parse({"--patterns"}).verb, Verb::patterns);
  EXPECT_EQ(parse({"--version"}).verb, Verb::version);
}

TEST(Arguments, RunHasItsDefaults) {
  const Arguments run = parse({"run"});
  EXPECT_EQ(run.plan, "-");
  EXPECT_FALSE(run.rank);
  EXPECT_FALSE(run.ranks);
  EXPECT_EQ(run.meet, "");
}

TEST(Arguments, RunTakesItsOptions) {
  const Arguments run =
      parse({"run", "--meet", "10.0.0.1:4000", "--ranks", "3", "--rank", "2", "--plan", "a b"});
  EXPECT_EQ(run.plan, "a b");
  EXPECT_EQ(run.rank, 2);
  EXPECT_EQ(run.ranks, 3);
  EXPECT_EQ(run.meet, "10.0.0.1:4000");
}

TEST(Arguments, OptionsOfOtherVerbsAreTheirs) {
  EXPECT_EQ(parse({"facts", "--root", "/tmp"}).verb, Verb::facts);
  EXPECT_EQ(parse({"watch", "--seconds", "1"}).verb, Verb::watch);
}

struct Wrong {
  std::vector<std::string> words;
  const char* says;
};
class WrongArguments : public testing::TestWithParam<Wrong> {};
TEST_P(WrongArguments, AreNamed) {
  const std::string said = complaint(GetParam().words);
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(
    Lines, WrongArguments,
    testing::Values(Wrong{{}, "usage: wireproof-engine run"},
                    Wrong{{"walk"}, "unknown verb walk; usage"}, Wrong{{""}, "unknown verb"},
                    Wrong{{"Run"}, "unknown verb Run"},
                    Wrong{{"run", "--plan"}, "--plan needs a value"},
                    Wrong{{"run", "--speed", "1"}, "unknown option --speed"},
                    Wrong{{"run", "--rank", "x", "--ranks", "2"}, "--rank x is not a number"},
                    Wrong{{"run", "--rank", "-1", "--ranks", "2"}, "--rank -1 is not a number"},
                    Wrong{{"run", "--rank", "0", "--ranks", "2x"}, "--ranks 2x is not a number"},
                    Wrong{{"run", "--rank", ""}, "is not a number"},
                    Wrong{{"run", "--rank", "0"}, "come together"},
                    Wrong{{"run", "--ranks", "2"}, "come together"},
                    Wrong{{"run", "--rank", "2", "--ranks", "2"}, "must be below"}));

/// The launchers' variables are exactly those that a test sets.
class LauncherRanks : public testing::Test {
 protected:
  static constexpr const char* kNames[] = {
      "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE",
      "SLURM_PROCID",         "SLURM_NTASKS",         "PMIX_RANK"};
  void SetUp() override {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) before_[name] = value;
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const char* name : kNames) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }
  static void set(const std::map<std::string, std::string>& values) {
    for (const auto& [name, value] : values) setenv(name.c_str(), value.c_str(), 1);
  }
  static void expect(int rank, int ranks) {
    const auto found = launcher_rank();
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rank, rank);
    EXPECT_EQ(found->ranks, ranks);
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(LauncherRanks, WithoutALauncherThereIsNone) { EXPECT_FALSE(launcher_rank()); }

TEST_F(LauncherRanks, OpenMpi) {
  set({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  expect(3, 4);
}

TEST_F(LauncherRanks, Pmi) {
  set({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  expect(0, 2);
}

TEST_F(LauncherRanks, Slurm) {
  set({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "8"}});
  expect(1, 8);
}

TEST_F(LauncherRanks, ALauncherInsideABatchScriptComesBeforeSlurm) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"PMI_RANK", "5"}, {"PMI_SIZE", "6"}});
  expect(5, 6);
}

TEST_F(LauncherRanks, PmixSaysTheRankAndTheOthersTheSize) {
  set({{"PMIX_RANK", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  expect(2, 4);
}

TEST_F(LauncherRanks, PmixAloneKnowsNoMoreThanItself) {
  set({{"PMIX_RANK", "2"}});
  expect(2, 3);
}

TEST_F(LauncherRanks, HalfAPairIsNone) {
  set({{"PMI_RANK", "0"}});
  EXPECT_FALSE(launcher_rank());
}

TEST_F(LauncherRanks, WhatIsNoNumberIsNone) {
  for (const char* text : {"", "x", "-1", "1 "}) {
    set({{"PMI_RANK", text}, {"PMI_SIZE", "2"}});
    EXPECT_FALSE(launcher_rank()) << text;
  }
}

TEST_F(LauncherRanks, ARankBeyondTheSizeIsNotBelieved) {
  set({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}});
  EXPECT_FALSE(launcher_rank());
}

}  // namespace
}  // namespace wireproof

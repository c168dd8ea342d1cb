// The sentinels: between threads, between processes, on one core, and without a peer.
#include "sentinel/sentinel.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "tests/temporary_tree.hpp"

namespace wireproof::sentinel {
namespace {

std::string fresh_run() {
  static int count = 0;
  return "run/../with any%character " + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

int leftovers() {
  int count = 0;
  const std::string prefix = "wireproof-" + std::to_string(::getuid()) + "-";
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(prefix)) ++count;
  }
  return count;
}

struct Ends {
  std::unique_ptr<Bounce> origin;
  std::unique_ptr<Bounce> target;
};

Ends open_both(const std::string& run) {
  auto target =
      std::async(std::launch::async, [&] { return Bounce::open(run, 0, 1, Side::target, 5000); });
  auto origin = Bounce::open(run, 0, 1, Side::origin, 5000);
  return {std::move(origin), target.get()};
}

TEST(Bounce, TwoThreadsMeasureAndLeaveNothingBehind) {
  const int before = leftovers();
  Ends ends = open_both(fresh_run());
  ASSERT_NE(ends.origin, nullptr);
  ASSERT_NE(ends.target, nullptr);
  EXPECT_EQ(leftovers(), before);
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs: two cores";
  // The origin announces each call, as the engine does by a control message.
  std::atomic<int> announced = 0;
  std::thread answering([&] {
    for (int done = 0; announced >= 0;) {
      if (announced == done) continue;
      ++done;
      ends.target->measure();
    }
  });
  std::optional<double> half_trip_ns;
  for (const auto end = monotonic_ns() + 20'000'000'000; !half_trip_ns && monotonic_ns() < end;) {
    ++announced;
    half_trip_ns = ends.origin->measure();
  }
  announced = -1;
  answering.join();
  ASSERT_TRUE(half_trip_ns.has_value()) << "two cores that did not meet once in 20 s";
  EXPECT_GT(*half_trip_ns, 0);
  EXPECT_LT(*half_trip_ns, static_cast<double>(Bounce::kPatienceNs));
}

TEST(Bounce, TwoProcesses) {
  const std::string run = fresh_run();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto target = Bounce::open(run, 2, 5, Side::target, 5000);
    for (int i = 0; target && i < 50; ++i) target->measure();
    ::_exit(target ? 0 : 1);
  }
  const auto origin = Bounce::open(run, 2, 5, Side::origin, 5000);
  EXPECT_NE(origin, nullptr);
  for (int i = 0; origin && i < 50; ++i) origin->measure();
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_EQ(state, 0);
}

TEST(Bounce, NobodyThere) {
  const int before = leftovers();
  EXPECT_EQ(Bounce::open(fresh_run(), 0, 1, Side::origin, 20), nullptr);
  EXPECT_EQ(Bounce::open(fresh_run(), 0, 1, Side::target, 20), nullptr);
  EXPECT_EQ(leftovers(), before);
}

TEST(Bounce, OtherPairsAndOtherRunsDoNotMeet) {
  const std::string run = fresh_run();
  auto other_pair =
      std::async(std::launch::async, [&] { return Bounce::open(run, 0, 2, Side::target, 50); });
  auto other_run = std::async(std::launch::async,
                              [&] { return Bounce::open(run + "x", 0, 1, Side::target, 50); });
  EXPECT_EQ(Bounce::open(run, 0, 1, Side::origin, 50), nullptr);
  EXPECT_EQ(other_pair.get(), nullptr);
  EXPECT_EQ(other_run.get(), nullptr);
}

TEST(Bounce, AbsentPartnerCostsABoundedTimeAndThenNothing) {
  Ends ends = open_both(fresh_run());
  ASSERT_NE(ends.origin, nullptr);
  for (int i = 0; i < Bounce::kMostFailures; ++i) EXPECT_FALSE(ends.origin->measure().has_value());
  const std::int64_t start = monotonic_ns();
  for (int i = 0; i < 10'000; ++i) ends.origin->measure();
  // Ten thousand calls that each waited for 200 us would take two seconds.
  EXPECT_LT(monotonic_ns() - start, 1'000'000'000);
}

TEST(Bounce, BothOnOneCoreEndsWithoutAValueOrWithOne) {
  Ends ends = open_both(fresh_run());
  ASSERT_NE(ends.origin, nullptr);
  const auto pin = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(::sched_getcpu(), &set);
    return set;
  };
  const cpu_set_t core = pin();
  std::thread answering([&] {
    ::sched_setaffinity(0, sizeof core, &core);
    for (int i = 0; i < 100; ++i) ends.target->measure();
  });
  std::thread asking([&] {
    ::sched_setaffinity(0, sizeof core, &core);
    for (int i = 0; i < 100; ++i) ends.origin->measure();
  });
  asking.join();
  answering.join();
  SUCCEED() << "both came back";
}

TEST(Bounce, SurvivesAPartnerThatMissedCalls) {
  Ends ends = open_both(fresh_run());
  ASSERT_NE(ends.origin, nullptr);
  EXPECT_FALSE(ends.origin->measure().has_value());  // call 1: the target is late
  ends.target->measure();  // its call 1: must return at once, and not answer call 2
  std::thread answering([&] { ends.target->measure(); });
  ends.origin->measure();
  answering.join();
  SUCCEED();
}

TEST(Sentinel, ReadsPlausibleValues) {
  const HostClock clock;
  Sentinel sentinel(clock);
  sentinel.restart();
  const Reading reading = sentinel.read();
  EXPECT_GT(reading.clock_read_ns, 0);
  EXPECT_GE(reading.involuntary_switches, 0);
  EXPECT_GE(reading.steal_ns, 0);
  EXPECT_FALSE(reading.bounce_ns.has_value());
}

TEST(Sentinel, StealIsTheEighthColumnInTicks) {
  test::TemporaryTree tree;
  tree.write("proc/stat", "cpu  1 2 3 4 5 6 7 800 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  const HostClock clock;
  Sentinel sentinel(clock, tree.root());
  tree.write("proc/stat", "cpu  1 2 3 4 5 6 7 803 9 10\n");
  ::usleep(30'000);  // it reads at most every 10 ms
  EXPECT_DOUBLE_EQ(sentinel.read().steal_ns, 3e9 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  EXPECT_DOUBLE_EQ(sentinel.read().steal_ns, 0);
}

TEST(Sentinel, UnreadableProcIsNoSteal) {
  test::TemporaryTree tree;
  tree.write("proc/stat", "cpu  1 2 x\n");
  const HostClock clock;
  EXPECT_DOUBLE_EQ(Sentinel(clock, tree.root()).read().steal_ns, 0);
  EXPECT_DOUBLE_EQ(Sentinel(clock, "/no/such/root").read().steal_ns, 0);
}

}  // namespace
}  // namespace wireproof::sentinel

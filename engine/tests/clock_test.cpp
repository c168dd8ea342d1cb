#include "base/clock.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace wireproof {
namespace {

TEST(HostClock, FallsBackWhenTold) {
  setenv("WIREPROOF_CLOCK", "monotonic", 1);
  HostClock clock;
  unsetenv("WIREPROOF_CLOCK");
  EXPECT_EQ(clock.source(), ClockSource::monotonic);
  EXPECT_DOUBLE_EQ(clock.ns_per_tick(), 1.0);
  EXPECT_GT(clock.facts().quantum_ns, 0);
  EXPECT_GT(clock.facts().read_cost_ns, 0);
}

TEST(HostClock, CounterRunsAtTheRateOfTheWallClock) {
  HostClock clock;
  if (!clock.counter()) GTEST_SKIP() << "this machine has no usable counter";
  const std::int64_t wall = monotonic_ns();
  const Ticks start = clock.now();
  while (monotonic_ns() - wall < 20'000'000) {
  }
  const double counted_ns = clock.to_ns(clock.now() - start);
  const double wall_ns = static_cast<double>(monotonic_ns() - wall);
  EXPECT_NEAR(counted_ns / wall_ns, 1.0, 0.01);
}

TEST(HostClock, RefitKeepsTheRate) {
  HostClock clock;
  const double before = clock.ns_per_tick();
  clock.refit();
  EXPECT_NEAR(clock.ns_per_tick() / before, 1.0, 1e-3);
}

TEST(HostClock, NamesAreThoseOfTheFrames) {
  EXPECT_EQ(name_of(ClockSource::tsc), "tsc");
  EXPECT_EQ(name_of(ClockSource::virtual_time), "virtual");
}

}  // namespace
}  // namespace wireproof

// Operations that are long relative to their batch: the timed bytes are those that the wire
// carried, also for a few messages, and also if all messages in flight share the wire.
#include <gtest/gtest.h>

#include <numeric>

#include "group_in_process.hpp"

namespace wireproof {
namespace {

constexpr double kWithin = 1e-3;
constexpr double kLatencyNs = 1500;
constexpr double kOverheadNs = 200;

struct Case {
  std::size_t bytes;
  int window;
  double message_ms;  // alone on the wire
  int budget_ms;
};

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  return std::to_string(c.bytes) + "bytes_window" + std::to_string(c.window) + "_" +
         std::to_string(static_cast<int>(c.message_ms * 1e3)) + "us_budget" +
         std::to_string(c.budget_ms) + "ms";
}

PairOutcome measure(const Case& c, const std::string& pattern, bool shared) {
  const double gap = c.message_ms * 1e6 / static_cast<double>(c.bytes);
  return run_in_process(
             "wireproof-plan 1\nrun seed=3\ntransport kind=model\n"
             "model latency_ns=1500 overhead_ns=200 gap_ns_per_byte=" +
             std::to_string(gap) + " shared=" + (shared ? "1" : "0") +
             "\npolicy in_flight_bytes=268435456\npoint id=1 pairs=0-1 message_bytes=" +
             std::to_string(c.bytes) + " window=" + std::to_string(c.window) +
             " budget_ms=" + std::to_string(c.budget_ms) + " " + pattern + "\n")
      .at(0);
}

/// Over everything that was timed.
double mean_ns(const PairOutcome& o) {
  const Ticks sum = std::accumulate(o.batch_ticks.begin(), o.batch_ticks.end(), Ticks{0});
  return static_cast<double>(sum) * o.ns_per_tick / static_cast<double>(o.batch_ticks.size()) /
         static_cast<double>(o.operations_per_batch);
}

class LargeOperations : public testing::TestWithParam<Case> {
 protected:
  /// Never less than the time on the wire. A shared wire is empty for a round trip after each
  /// window, whose messages all arrive together; a wire that carries messages in order is empty
  /// only before the first batch.
  static void expect_truth(const std::string& pattern, bool shared, double within = kWithin) {
    const Case& c = GetParam();
    const double truth_ns = c.message_ms * 1e6;
    const double round_trip_ns = (2 * kLatencyNs + 4 * kOverheadNs) / c.window;
    const PairOutcome found = measure(c, pattern, shared);
    SCOPED_TRACE(pattern + (shared ? ", shared" : ", in order") +
                 ", batches: " + std::to_string(found.batch_ticks.size()));
    for (const double ns : {found.estimate->median_ns, mean_ns(found)}) {
      EXPECT_GE(ns, truth_ns * (1 - within));
      EXPECT_LE(ns, truth_ns * (1 + within) + round_trip_ns);
    }
    if (!shared && found.batch_ticks.size() > 2) {
      EXPECT_NEAR(found.estimate->median_ns / truth_ns, 1, kWithin);
    }
  }
};

TEST_P(LargeOperations, StreamIsTheGap) {
  expect_truth("pattern=stream", false);
  expect_truth("pattern=stream", true);
}

TEST_P(LargeOperations, ExchangeIsTheGap) {
  expect_truth("pattern=exchange", false);
  // Each end of the shared model runs a little ahead of the other.
  expect_truth("pattern=exchange", true, 1e-2);
}

TEST_P(LargeOperations, PreparedStreamsAreTheGap) {
  for (const bool shared : {false, true}) {
    expect_truth("pattern=persistent form=stream", shared);
    expect_truth("pattern=partitioned form=stream partitions=4", shared);
  }
}

TEST_P(LargeOperations, ThreadsAreTheGap) {
  expect_truth("pattern=threads form=stream threads=2", false);
}

TEST_P(LargeOperations, PutIsTheGapAndAFlushForEachWindow) {
  const Case& c = GetParam();
  const double truth_ns = c.message_ms * 1e6 + (2 * kLatencyNs + kOverheadNs) / c.window;
  const PairOutcome found = measure(c, "pattern=put form=stream", false);
  EXPECT_NEAR(found.estimate->median_ns / truth_ns, 1, kWithin);
}

INSTANTIATE_TEST_SUITE_P(Few, LargeOperations,
                         testing::Values(Case{4 << 20, 2, 335, 1000}, Case{8 << 20, 2, 560, 1000},
                                         Case{8 << 20, 2, 9000, 1000},  // as 1 GiB at 1 Gb/s
                                         Case{1 << 20, 4, 84, 1000}, Case{65536, 64, 5.3, 500},
                                         Case{65536, 64, 1.2, 50}, Case{1 << 20, 16, 2, 1},
                                         Case{4 << 20, 2, 3.4, 1}, Case{1 << 20, 2, 100, 1}),
                         name_of_case);

// Batches of some operations each: neither slow nor brisk.
INSTANTIATE_TEST_SUITE_P(Middle, LargeOperations,
                         testing::Values(Case{4 << 20, 2, 0.17, 50}, Case{1 << 20, 2, 0.25, 50},
                                         Case{65536, 6, 0.05, 50}, Case{65536, 2, 0.33, 20},
                                         Case{262144, 2, 0.09, 20}, Case{65536, 64, 0.01, 20}),
                         name_of_case);

TEST(LargeGroupOperations, MessageRateAndIncastAreTheGap) {
  for (const Case& c :
       {Case{4 << 20, 2, 335, 1000}, Case{1 << 20, 16, 2, 1}, Case{65536, 8, 0.05, 50}}) {
    const double gap = c.message_ms * 1e6 / static_cast<double>(c.bytes);
    const auto outcomes = run_groups(
        "wireproof-plan 1\nrun seed=3\ntransport kind=model\n"
        "model latency_ns=1500 overhead_ns=200 gap_ns_per_byte=" +
        std::to_string(gap) +
        "\npolicy in_flight_bytes=268435456 point_budget_ms=" + std::to_string(c.budget_ms) +
        "\npoint id=1 pattern=message_rate members=0:3 message_bytes=" + std::to_string(c.bytes) +
        " window=" + std::to_string(c.window) +
        "\npoint id=2 pattern=incast members=0:2 message_bytes=" + std::to_string(c.bytes) +
        " window=" + std::to_string(c.window) + "\n");
    EXPECT_NEAR(outcomes.at(0).estimate->median_ns / (c.message_ms * 1e6), 1, kWithin);
    EXPECT_NEAR(outcomes.at(1).estimate->median_ns / (c.message_ms * 2e6), 1, kWithin);
  }
}

}  // namespace
}  // namespace wireproof

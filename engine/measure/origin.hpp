// The origin's program for one point: warm up, time blocks until the stop rule says so, verify the
// payload, report.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "measure/outcome.hpp"
#include "measure/session.hpp"

namespace wireproof {

class Origin {
 public:
  Origin(Pair& pair, const EndContext& context);
  PairOutcome run();

 private:
  std::span<const Ticks> time_segment(const Segment& segment, bool counted);
  double elapsed_ns();
  double to_ns(double ticks) const { return ticks * pair_.clock().ns_per_tick; }

  double first_granule_ns();
  void warm_up();
  double warm_up_window(double granule_ns);
  void choose_cutting();
  bool cut_too_fine();
  void measure_until_stopped();
  void time_block(const StopRule& rule);
  void time_slow_blocks(const StopRule& rule);
  void close_block(std::uint32_t batches);
  void measure_by_formula();
  void begin_sentinel();
  void end_sentinel();
  std::optional<double> bounce();
  void verify();
  void finish();
  void conclude(const struct TargetReport& report);

  Pair& pair_;
  const EndContext& context_;
  const Point& point_;
  const Policy& policy_;
  std::unique_ptr<Runner> runner_;
  std::vector<Ticks> scratch_;
  Cutting cutting_;
  PairOutcome outcome_;
  std::vector<double> block_values_;  // ticks per batch
  std::optional<double> bounce_ns_;
  std::uint64_t operations_ = 0;  // all, warm-up and lead-in included
  std::uint64_t counted_operations_ = 0;
  int verifications_ = 0;
  Ticks began_ = 0;
  double granule_ns_ = 0;
};

}  // namespace wireproof

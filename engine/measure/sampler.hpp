// Samples a point, whatever moves the messages: warm up, divide operations into batches,
// time blocks until the stop rule applies. Pairs (Origin) and groups (GroupLeader) are sampled by
// the same code, so their numbers mean the same.
#pragma once

#include <cstdint>
#include <span>

#include "measure/outcome.hpp"
#include "measure/schedule.hpp"
#include "pattern/shape.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// One timed segment. Valid until the next.
struct Timing {
  std::span<const Ticks> batches;
  double total_ticks = 0;  ///< over all batches; for a group, those of the slowest member
};

/// What is sampled. Virtual calls happen per segment, never inside a timed region.
class Sampled {
 public:
  virtual ~Sampled() = default;
  virtual Timing time_segment(const Segment& segment, bool counted) = 0;
  /// Moves what was counted so far to the warm-up.
  virtual void forget() = 0;
  virtual void begin_block() {}
  virtual void end_block() {}
  virtual int granule() const = 0;
  virtual bool pipelined() const = 0;
  /// Number of granules after which the beginning of a segment no longer has an effect.
  virtual int settle() const { return 0; }
  /// The clock of the ticks in Timing.
  virtual Ticks now() = 0;
  virtual const ClockFacts& clock() const = 0;
};

class Sampler {
 public:
  Sampler(Sampled& sampled, const Point& point, const Policy& policy);

  /// Warm-up, then blocks until the stop rule applies.
  void sample();
  /// Uses a suite's warm-up, count and batches.
  void sample_by_formula();
  /// One segment in addition to those of the two functions above.
  Timing time_segment(const Segment& segment, bool counted);

  Samples& samples() { return samples_; }
  double elapsed_ns();

 private:
  double to_ns(double ticks) const { return ticks * sampled_.clock().ns_per_tick; }
  double budget_ns() const;
  double first_granule_ns();
  void warm_up();
  double warm_up_window(double granule_ns);
  void choose_cutting();
  bool cut_too_fine();
  void time_block(const StopRule& rule);
  void time_slow_blocks(const StopRule& rule);
  void close_block(std::uint32_t batches, double total_ticks);

  Sampled& sampled_;
  const Point& point_;
  const Policy& policy_;
  Cutting cutting_;
  Samples samples_;
  Ticks began_ = 0;
  double granule_ns_ = 0;
};

}  // namespace wireproof

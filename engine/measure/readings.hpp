// The times at which counters are read: around each point, in the quiet windows beside it, and over
// the whole run, once every counter has settled. All readings are outside of timed regions and
// after barriers.
#pragma once

#include <cstdint>
#include <optional>

#include "measure/evidence.hpp"
#include "pattern/group/shape.hpp"
#include "plan/plan.hpp"
#include "transport/concept.hpp"

namespace wireproof {

class Readings {
 public:
  Readings(const Evidence& evidence, Transport& transport, const Plan& plan);

  /// Changes of the counters while nothing is sent; the run begins at the end of this window.
  void idle();
  void before_point();
  /// `payload`: what this process sent and received in the point.
  void after_point(const Traffic& payload);
  /// Runs once, after the first point that counters should have shown and did not: does a counter
  /// still rise although nothing is sent? Afterwards the delay of the counters is known. Ends after
  /// 1.5 s.
  void learn_to_settle(const Traffic& payload);
  /// How long the end of the run must wait for this process, from the plan or as learnt. 0 if
  /// up-to-date counters showed the payload of every point.
  int settle_ms() const;
  /// Waits for late counters and makes the last reading of the run; returns the time in ns that it
  /// waited for counters of these machines that may be late.
  double end_run(int settle_ms);
  /// Whether this process must wait as long again: a counter rose after the last point, and only
  /// another reading shows whether it is late or other traffic continues.
  bool goes_on() const;
  void read_tail(int settle_ms);

  /// Whether points have quiet windows: only if counters and time belong to the same world.
  bool has_windows() const { return observes_; }
  std::uint64_t payload_bytes() const { return run_payload_bytes_; }

 private:
  bool rises_late(std::uint64_t payload_bytes);
  bool explains(const Traffic& payload) const;
  bool shown_at_once(const Traffic& payload) const;
  void for_each(void (Site::*read)());

  const Evidence& evidence_;
  Transport& transport_;
  const int idle_ms_;
  const bool observes_;
  std::optional<int> settle_ms_;  // nothing: neither given nor learnt
  bool knows_delay_;              // late counters may show a point at once by chance
  const int known_ms_;            // refresh delay of the slowest port, by its driver
  bool needs_late_ = false;       // the up-to-date counters did not show some point
  std::uint64_t run_payload_bytes_ = 0;
  std::int64_t point_began_ns_ = 0;
  std::int64_t window_ns_;  // of the next point
};

}  // namespace wireproof

// When counters are read: around each point, in quiet windows beside it, and over the whole run,
// once every counter has settled. All of it outside of timed regions and behind barriers.
#pragma once

#include <cstdint>
#include <optional>

#include "measure/evidence.hpp"
#include "plan/plan.hpp"
#include "transport/concept.hpp"

namespace wireproof {

class Readings {
 public:
  Readings(const Evidence& evidence, Transport& transport, const Plan& plan);

  /// What the counters do while nothing is sent; the run begins at its end.
  void idle();
  void before_point();
  /// `payload_bytes`: what this process sent and received in the point.
  void after_point(std::uint64_t payload_bytes);
  /// Once in a run, after a point that should have shown: does a counter still rise although
  /// nothing is sent? Then all that follows knows how late they are. Ends after 1.5 s.
  void learn_to_settle(std::uint64_t payload_bytes);
  /// How long this process needs the run's end to wait: as the plan says, or as learnt. 0 where
  /// counters that are up to date showed the payload of every point.
  int settle_ms() const;
  /// Waits for late counters and reads the run's end; returns how long that was for counters of
  /// these machines that may be late, in ns.
  double end_run(int settle_ms);

  /// Whether points have quiet windows: where counters and time are those of the same world.
  bool has_windows() const { return observes_; }
  std::uint64_t payload_bytes() const { return run_payload_bytes_; }

 private:
  bool rises_late(std::uint64_t payload_bytes);
  bool explains(std::uint64_t payload_bytes) const;
  bool shown_at_once(std::uint64_t payload_bytes) const;
  void for_each(void (Site::*read)());

  const Evidence& evidence_;
  Transport& transport_;
  const int idle_ms_;
  const bool observes_;
  std::optional<int> settle_ms_;  // nothing: neither said nor learnt
  const int known_ms_;            // how late the slowest port is, by its driver
  bool needs_late_ = false;       // some point was not shown by what is up to date
  std::uint64_t run_payload_bytes_ = 0;
  std::int64_t point_began_ns_ = 0;
  std::int64_t window_ns_;  // of the next point
};

}  // namespace wireproof

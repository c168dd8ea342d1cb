// One member of a group for the untimed code, and a group pattern bound to it, type-erased. Virtual
// calls happen per segment, never inside a timed region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "pattern/group/shape.hpp"
#include "pattern/shape.hpp"

namespace wireproof {

class GroupRunner {
 public:
  virtual ~GroupRunner() = default;
  virtual const GroupLayout& layout() const = 0;
  /// This member's payload of one operation; one verification moves as much.
  virtual Traffic traffic(int member) const = 0;
  /// Run by all members together, which meet first. `batch_ticks` has room for segment.batches + 1;
  /// the first segment.batches are set to this member's elapsed ticks of each batch (0 where only
  /// others can tell). Returns this member's elapsed ticks over the timed part.
  virtual Ticks run(const Segment& segment, std::span<Ticks> batch_ticks) = 0;
  /// One operation with a fresh seeded payload, checked where it is received: false when a byte
  /// differs here. All members call it together.
  virtual bool verify(std::uint64_t seed) = 0;
  /// Another ring: neighbours of this member from now on. All members call it together.
  virtual void turn_to(int left, int right) = 0;

  /// The phase of the following segments. `compute_ns`: of one computation, where there are any.
  virtual void enter(Phase, double /*compute_ns*/, double /*ns_per_tick*/) {}
  /// Congestion: the last segment's round trips one by one, in ticks, where this member watches.
  virtual std::span<const Ticks> round_trips() const { return {}; }
  /// This member's payload since it was made, where that does not follow from the operations.
  virtual std::optional<Traffic> moved() const { return std::nullopt; }
};

enum class Reduction { maximum, sum };

class GroupEnd {
 public:
  virtual ~GroupEnd() = default;
  virtual int member() const = 0;
  virtual int members() const = 0;

  /// Collective, untimed; who waits does not burn its core.
  /// Member 0's bytes on every member.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// At member 0 the maxima or sums of all members' values, place by place; elsewhere the values
  /// are used up.
  virtual void reduce(Reduction reduction, std::span<double> values) = 0;
  /// At member 0 every member's value, by member; elsewhere empty.
  virtual std::vector<double> gather(double value) = 0;

  /// All members make their runner together.
  virtual std::unique_ptr<GroupRunner> make_runner(const GroupShape& shape) = 0;
  /// The clock that the runner's ticks are of.
  virtual Ticks now() = 0;
  virtual const ClockFacts& clock() const = 0;
};

}  // namespace wireproof

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
  /// This member's payload of one operation; one verification moves the same amount.
  virtual Traffic traffic(int member) const = 0;
  /// Run by all members together, which first meet. `batch_ticks` has room for segment.batches + 1;
  /// the first segment.batches are set to this member's elapsed ticks of each batch (0 if only
  /// other members can measure it). Returns this member's elapsed ticks over the timed part.
  virtual Ticks run(const Segment& segment, std::span<Ticks> batch_ticks) = 0;
  /// One operation with a fresh seeded payload, checked by its receivers: false if a byte differs
  /// here. All members call it together.
  virtual bool verify(std::uint64_t seed) = 0;
  /// Selects another ring: the neighbours of this member from now on. All members call it together.
  virtual void turn_to(int left, int right) = 0;

  /// The phase of the following segments. `compute_ns`: duration of one computation, if there are
  /// any.
  virtual void enter(Phase, double /*compute_ns*/, double /*ns_per_tick*/) {}
  /// Congestion: the single round trips of the last segment, in ticks, if this member watches.
  virtual std::span<const Ticks> round_trips() const { return {}; }
  /// This member's payload since its creation, if that does not follow from the operations.
  virtual std::optional<Traffic> moved() const { return std::nullopt; }
};

enum class Reduction { maximum, sum };

class GroupEnd {
 public:
  virtual ~GroupEnd() = default;
  virtual int member() const = 0;
  virtual int members() const = 0;

  /// Collective and untimed; a waiting member does not burn its core. Distributes member 0's bytes
  /// to every member.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// At member 0, the element-wise maxima or sums of all members' values; at other members,
  /// `values` is undefined afterwards.
  virtual void reduce(Reduction reduction, std::span<double> values) = 0;
  /// At member 0, every member's value, by member; elsewhere empty.
  virtual std::vector<double> gather(double value) = 0;

  /// All members create their runner together.
  virtual std::unique_ptr<GroupRunner> make_runner(const GroupShape& shape) = 0;
  /// The clock of the runner's ticks.
  virtual Ticks now() = 0;
  virtual const ClockFacts& clock() const = 0;
};

}  // namespace wireproof

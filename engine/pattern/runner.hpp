// A pattern bound to one end of a pair, type-erased. Virtual calls happen per segment, never inside
// a timed region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/clock.hpp"
#include "pattern/shape.hpp"

namespace wireproof {

class Runner {
 public:
  virtual ~Runner() = default;
  /// Operations in one granule.
  virtual int granule() const = 0;
  virtual bool pipelined() const = 0;
  /// Payload messages that one operation moves in each of its directions.
  virtual int messages_per_operation() const { return 1; }
  /// Origin's side. `batch_ticks` has room for segment.batches + 1; the first segment.batches are
  /// set to the elapsed ticks of each batch.
  virtual void originate(const Segment& segment, std::span<Ticks> batch_ticks) = 0;
  /// The target's side; returns its elapsed ticks over the timed part, 0 if it takes no part.
  virtual Ticks answer(const Segment& segment) = 0;
  /// One exchange of a fresh seeded payload, checked at the receiving end(s): false if a byte
  /// differs here. Both ends call it together.
  virtual bool verify_origin(std::uint64_t seed) = 0;
  virtual bool verify_target(std::uint64_t seed) = 0;
  /// Payload messages that one verification moves, each way.
  virtual int verified_forward() const = 0;
  virtual int verified_backward() const = 0;
};

/// One end of a pair for the untimed code.
class Pair {
 public:
  virtual ~Pair() = default;
  virtual void send_control(std::span<const std::byte> message) = 0;
  virtual void recv_control(std::span<std::byte> message) = 0;
  /// Both ends create their runner together and destroy it together (remote access exposes memory).
  virtual std::unique_ptr<Runner> make_runner(const PointShape& shape) = 0;
  /// The clock of the runner's ticks.
  virtual Ticks now() = 0;
  virtual const ClockFacts& clock() const = 0;
};

}  // namespace wireproof

// The untimed conversation between the two ends of a pair: the origin sends commands, the target
// obeys.
#pragma once

#include <cstdint>
#include <memory>

#include "pattern/group/shape.hpp"
#include "pattern/runner.hpp"
#include "plan/plan.hpp"
#include "sentinel/sentinel.hpp"

namespace wireproof {

/// What one end needs to know about its process.
struct EndContext {
  const Point* point = nullptr;
  const Policy* policy = nullptr;
  std::uint64_t seed = 0;
  int origin = 0;
  int target = 0;
  bool moves_payload = true;
  HostClock* host_clock = nullptr;         ///< null: time is not the host's (a model's clock)
  sentinel::Sentinel* sentinel = nullptr;  ///< null: time is not the host's
  sentinel::Bounce* bounce = nullptr;      ///< null: the pair shares no memory
};

enum class Order : std::uint32_t { run, forget, bounce, verify, stop };

/// One control message from the origin. Plain data, because both ends are the same program on the
/// same kind of machine.
struct Command {
  Order order = Order::stop;
  std::uint32_t counted = 0;  ///< 1: the segment belongs to the measurement (not to the warm-up)
  Segment segment{};
  std::uint64_t seed = 0;
};

/// The target's final report.
struct TargetReport {
  /// by the target's clock over the counted segments; 0: it took no part
  double elapsed_ns = 0;
  /// time that the process waited for a processor meanwhile; less than 0: unknown
  double waited_ns = -1;
  std::int32_t corrupt = 0;
  std::int32_t core = -1;
};

void send_command(Pair& pair, const Command& command);

/// The target's program: obeys until it gets `stop`. Returns the minimum payload that it sent
/// and received.
Traffic serve_target(Pair& pair, const EndContext& context);

PointShape shape_of(const Point& point, const Policy& policy);

}  // namespace wireproof

// What a group pattern is told: the point's shape as one member sees it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/plan.hpp"

namespace wireproof {

struct GroupShape {
  Pattern pattern = Pattern::ring;
  Formula formula = Formula::robust;
  std::size_t bytes = 0;
  int window = 1;  ///< already bounded by the bytes in flight
  int member = 0;
  int members = 2;
  int left = 0;  ///< neighbours in the ring
  int right = 0;
  bool blocking = true;        ///< of a collective
  int watched = 0;             ///< of congestion: pairs that are watched, the first of the members
  std::size_t load_bytes = 0;  ///< of congestion, per message; `window` is the load's
};

/// What the segments of a pattern with several phases do: the operation alone; only a computation
/// as long as it; both at once (non-blocking collectives); the operation under load (congestion).
enum class Phase : std::uint32_t { plain, computing, overlapped, loaded };

/// Payload of one operation of one member.
struct Traffic {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
};

/// What a loop needs, and what its operation is.
struct GroupLayout {
  int granule = 1;             ///< operations that it can time at least
  int slots = 0;               ///< GroupLink::reserve
  int sink_messages = 1;       ///< distinct receive buffers
  bool pipelined = false;      ///< a granule is half a window, and more is under way at an edge
  int settle = 0;              ///< granules until members that began at different times keep pace
  std::uint64_t messages = 0;  ///< per operation, over all members
  bool exact = true;           ///< false: Traffic is the least that any algorithm must move
};

}  // namespace wireproof

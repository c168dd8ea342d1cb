// The input of a group pattern: the point's shape as one member sees it.
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
  int watched = 0;             ///< for congestion: watched pairs, the first of the members
  std::size_t load_bytes = 0;  ///< for congestion, per message; `window` is the load's
};

/// The content of the segments of a pattern with several phases: the operation alone; only a
/// computation of the same length; both at once (non-blocking collectives); the operation under
/// load (congestion).
enum class Phase : std::uint32_t { plain, computing, overlapped, loaded };

/// Payload of one operation of one member, or of all that a process did in a point.
struct Traffic {
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;

  std::uint64_t both() const { return sent_bytes + received_bytes; }
  Traffic& operator+=(const Traffic& other) {
    sent_bytes += other.sent_bytes;
    received_bytes += other.received_bytes;
    return *this;
  }
};

/// The requirements of a loop, and its operation.
struct GroupLayout {
  int granule = 1;         ///< the minimum number of operations that it can time
  int slots = 0;           ///< GroupLink::reserve
  int sink_messages = 1;   ///< distinct receive buffers
  bool pipelined = false;  ///< a granule is half a window, and more is in flight at an edge
  /// granules until members that began at different times keep the same pace
  int settle = 0;
  std::uint64_t messages = 0;  ///< per operation, over all members
  bool exact = true;           ///< false: Traffic is the minimum for any algorithm
};

}  // namespace wireproof

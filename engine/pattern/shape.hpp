// The input of a pattern: the point's shape, and the length of one timed segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.hpp"
#include "plan/plan.hpp"

namespace wireproof {

/// One point as seen by one pair. `window` is already bounded by the bytes in flight.
struct PointShape {
  Pattern pattern = Pattern::pingpong;
  Form form = Form::latency;
  Formula formula = Formula::robust;
  std::size_t bytes = 0;
  int window = 1;
  WindowKind window_kind = WindowKind::allocate;
  int threads = 1;
  int partitions = 1;
};

/// One uninterrupted timed run. Counted in granules, the smallest number of operations that a
/// pattern can time (1 for a ping-pong, half a window for a stream). Lead-in and trail are executed
/// but not timed: they fill the pipe and keep it full.
struct Segment {
  std::uint32_t lead_in = 0;
  std::uint32_t batches = 1;
  std::uint32_t granules = 1;  ///< per batch
  std::uint32_t trail = 0;

  std::uint64_t timed() const { return std::uint64_t{batches} * granules; }
  std::uint64_t total() const { return lead_in + timed() + trail; }
};

/// With a lead-in, the first batch begins after it, when the pipe is full; without one, before
/// anything is in flight.
inline Ticks first_edge(const Segment& segment, Ticks empty, Ticks full) {
  return segment.lead_in == 0 ? empty : full;
}

/// Returns the times of `batches` batches from the `batches` + 1 timestamps at their edges.
inline void take_differences(std::span<Ticks> stamps, std::uint32_t batches) {
  for (std::size_t i = 0; i < batches; ++i) stamps[i] = stamps[i + 1] - stamps[i];
}

/// Messages that each end must be able to hold, and the operations in a granule.
struct Layout {
  int granule = 1;
  int slots = 0;                ///< Link::reserve
  int sink_messages = 1;        ///< distinct receive buffers
  int window_messages = 0;      ///< exposed for remote access
  bool window_is_zero = false;  ///< before the first access
  bool pipelined = false;       ///< a granule is half a window, and more is in flight at an edge
};

/// Memory of one end. Distances between slots are whole cache lines, so that neighbours do not
/// share one.
struct Buffers {
  std::byte* source = nullptr;
  std::byte* sink = nullptr;
  std::byte* window = nullptr;
  std::size_t stride = 0;

  std::byte* sink_slot(int slot) const { return sink + static_cast<std::size_t>(slot) * stride; }
};

}  // namespace wireproof

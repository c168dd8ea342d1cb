// One direction of a link, as on a real line: one frame after another, each for its transmission
// time.
#pragma once

#include <cstdint>

namespace wireproof::wire {

// Nanoseconds of CLOCK_MONOTONIC.
using Nanoseconds = std::int64_t;

// Preamble and delimiter 8, frame check 4, gap 12: the overhead of every frame on the line.
inline constexpr std::int64_t kFrameOverhead = 24;
// An Ethernet frame without its frame check is never shorter than this, because short frames are
// padded.
inline constexpr std::int64_t kShortestFrame = 60;

// The bytes that a frame of `bytes` (including headers, excluding frame check) takes on the line.
std::int64_t line_bytes(std::int64_t bytes);

// The time for which this frame occupies a line with that rate, rounded up, because no line is
// faster than its rate.
Nanoseconds line_time(std::int64_t bytes, std::int64_t bits_per_s);

struct LineSettings {
  std::int64_t bits_per_s = 0;
  Nanoseconds delay = 0;
  double loss = 0;  // share of the frames, 0 to 1
};

// A line consists only of due times: it contains no frames and reads no clock, so it can be tested.
class Line {
 public:
  Line() = default;
  Line(const LineSettings& settings, std::uint64_t seed) : settings_(settings), state_(seed) {}

  // New settings for the following frames; frames in flight keep their due times.
  void set(const LineSettings& settings) { settings_ = settings; }

  // Returns when the last bit of a frame that is ready at `now` arrives at the other end. The frame
  // waits for the previous one, and never overtakes it.
  Nanoseconds transmit(Nanoseconds now, std::int64_t bytes);

  // Bytes that are not yet on the line at `now`, as they count on the line.
  std::int64_t backlog(Nanoseconds now) const;

  // How long the line has been idle; 0 while it is busy.
  Nanoseconds idle_for(Nanoseconds now) const { return now > free_at_ ? now - free_at_ : 0; }

  // Whether the next frame is lost in transit. One draw for each frame, from the line's seed.
  bool loses();

 private:
  LineSettings settings_;
  std::uint64_t state_ = 0;
  Nanoseconds free_at_ = 0;
  Nanoseconds last_arrival_ = 0;
};

}  // namespace wireproof::wire

// One direction of a link as a real line has it: one frame after the other, each as long as it is.
#pragma once

#include <cstdint>

namespace wireproof::wire {

// Nanoseconds of CLOCK_MONOTONIC.
using Nanoseconds = std::int64_t;

// Preamble and delimiter 8, frame check 4, gap 12: what every frame takes beside its own bytes.
inline constexpr std::int64_t kFrameOverhead = 24;
// An Ethernet frame without its frame check is never shorter than this: short ones are padded.
inline constexpr std::int64_t kShortestFrame = 60;

// What a frame of `bytes` (headers counted, frame check not) takes of the line.
std::int64_t line_bytes(std::int64_t bytes);

// How long such a frame occupies a line of that rate, rounded up: no line is faster than its rate.
Nanoseconds line_time(std::int64_t bytes, std::int64_t bits_per_s);

struct LineSettings {
  std::int64_t bits_per_s = 0;
  Nanoseconds delay = 0;
  double loss = 0;  // share of the frames, 0 to 1
};

// A line is due times and nothing else: it holds no frame and reads no clock, so it can be tested.
class Line {
 public:
  Line() = default;
  Line(const LineSettings& settings, std::uint64_t seed) : settings_(settings), state_(seed) {}

  // New settings for the frames that come; those under way keep their due times.
  void set(const LineSettings& settings) { settings_ = settings; }

  // A frame is ready at `now`: when has its last bit arrived at the other end? It waits for the one
  // before it, and never overtakes it.
  Nanoseconds transmit(Nanoseconds now, std::int64_t bytes);

  // What is not yet on the line at `now`, in bytes of the line.
  std::int64_t backlog(Nanoseconds now) const;

  // How long the line has had nothing to carry; 0 while it is busy.
  Nanoseconds idle_for(Nanoseconds now) const { return now > free_at_ ? now - free_at_ : 0; }

  // Is the next frame lost on its way? One draw for each frame, from the line's own seed.
  bool loses();

 private:
  LineSettings settings_;
  std::uint64_t state_ = 0;
  Nanoseconds free_at_ = 0;
  Nanoseconds last_arrival_ = 0;
};

}  // namespace wireproof::wire

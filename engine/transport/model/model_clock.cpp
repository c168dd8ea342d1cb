#include "transport/model/model_clock.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "pattern/payload.hpp"

namespace wireproof {
namespace {

constexpr double kTicksPerNs =
    1000.0;  // virtual picoseconds, so that a gap below 1 ns is not rounded away
constexpr double kStallFactor = 20.0;

}  // namespace

double ModelClock::uniform() {
  random_ += 0x9E3779B97F4A7C15ULL;
  return (static_cast<double>(mix(random_) >> 11) + 0.5) * 0x1p-53;
}

double ModelClock::normal() {  // Box and Muller 1958
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

Ticks ModelClock::read(double now_ns) {
  double factor = 1.0;
  if (world_->noise > 0) factor = std::max(0.05, factor + world_->noise * normal());
  if (world_->stall > 0 && uniform() < world_->stall) factor *= kStallFactor;
  shown_ns_ += (now_ns - read_at_ns_) * factor;
  read_at_ns_ = now_ns;
  return static_cast<Ticks>(std::llround(shown_ns_ * kTicksPerNs));
}

const ClockFacts& ModelClock::facts() {
  static constexpr ClockFacts kFacts{ClockSource::virtual_time, 1.0 / kTicksPerNs,
                                     1.0 / kTicksPerNs, 0.0};
  return kFacts;
}

double occupancy_ns(const ModelWorld& w, std::size_t bytes, double gap_ns_per_byte) {
  const bool rendezvous = w.eager_limit_bytes > 0 && bytes > w.eager_limit_bytes;
  return gap_ns_per_byte * static_cast<double>(bytes) + (rendezvous ? w.rendezvous_ns : 0.0);
}

}  // namespace wireproof

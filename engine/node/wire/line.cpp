#include "line.hpp"

#include <algorithm>

namespace wireproof::wire {
namespace {

constexpr std::int64_t kBitNanoseconds = 8'000'000'000;  // of one byte at 1 bit/s

// splitmix64: a well-mixed stream from any seed, also from neighbouring seeds.
std::uint64_t next(std::uint64_t& state) {
  std::uint64_t value = state += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

std::int64_t line_bytes(std::int64_t bytes) {
  return std::max(bytes, kShortestFrame) + kFrameOverhead;
}

Nanoseconds line_time(std::int64_t bytes, std::int64_t bits_per_s) {
  return (line_bytes(bytes) * kBitNanoseconds + bits_per_s - 1) / bits_per_s;
}

Nanoseconds Line::transmit(Nanoseconds now, std::int64_t bytes) {
  free_at_ = std::max(now, free_at_) + line_time(bytes, settings_.bits_per_s);
  last_arrival_ = std::max(last_arrival_, free_at_ + settings_.delay);
  return last_arrival_;
}

std::int64_t Line::backlog(Nanoseconds now) const {
  if (free_at_ <= now) return 0;
  return static_cast<std::int64_t>(static_cast<double>(free_at_ - now) *
                                   static_cast<double>(settings_.bits_per_s) / kBitNanoseconds);
}

bool Line::loses() {
  const double draw = static_cast<double>(next(state_) >> 11) * 0x1p-53;
  return draw < settings_.loss;
}

}  // namespace wireproof::wire

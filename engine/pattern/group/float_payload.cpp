#include "pattern/group/float_payload.hpp"

#include <array>
#include <cstring>

#include "pattern/payload.hpp"

namespace wireproof {
namespace {

// prime: members that are not 31 apart never add the same value
constexpr std::uint64_t kValues = 31;

std::uint64_t place_value(std::uint64_t seed, std::size_t at) { return mix(seed + at) % kValues; }

}  // namespace

/// Member 0 adds the position's value once more, because the sum over 31 successive members would
/// not distinguish positions.
void fill_addends(std::span<std::byte> floats, std::uint64_t seed, int member) {
  for (std::size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float)) {
    const std::uint64_t place = place_value(seed, at);
    const std::uint64_t whole = (place + static_cast<std::uint64_t>(member)) % kValues;
    const auto value = static_cast<float>(whole + (member == 0 ? place : 0));
    std::memcpy(floats.data() + at, &value, sizeof value);
  }
}

bool sums_are(std::span<const std::byte> floats, std::uint64_t seed, int members) {
  const auto count = static_cast<std::uint64_t>(members);
  constexpr std::uint64_t kWhole = kValues * (kValues - 1) / 2;  // of 31 successive members
  std::array<float, kValues> expected{};
  for (std::uint64_t first = 0; first < kValues; ++first) {
    std::uint64_t sum = first + count / kValues * kWhole;
    for (std::uint64_t m = 0; m < count % kValues; ++m) sum += (first + m) % kValues;
    expected[first] = static_cast<float>(sum);
  }
  for (std::size_t at = 0; at + sizeof(float) <= floats.size(); at += sizeof(float)) {
    float found = 0;
    std::memcpy(&found, floats.data() + at, sizeof found);
    if (found != expected[place_value(seed, at)]) return false;
  }
  return true;
}

}  // namespace wireproof

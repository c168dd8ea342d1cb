// Seeded payload: written before and compared after an exchange that is not timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wireproof {

/// splitmix64 (Steele, Lea, Flood 2014): every 64-bit word is a function of seed and position only.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

void fill_payload(std::span<std::byte> payload, std::uint64_t seed);

/// The complement of the payload, so that no byte of it is right by accident.
void poison_payload(std::span<std::byte> payload, std::uint64_t seed);

bool payload_is(std::span<const std::byte> payload, std::uint64_t seed);

}  // namespace wireproof

// Payload between two members of a group.
#pragma once

#include "pattern/payload.hpp"

namespace wireproof {

/// The payload from one member to another; both compute it.
constexpr std::uint64_t payload_seed(std::uint64_t seed, int from, int to) {
  return mix(mix(seed ^ static_cast<std::uint64_t>(from)) + static_cast<std::uint64_t>(to));
}

}  // namespace wireproof

#include "pattern/group/permutation.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "pattern/payload.hpp"

namespace wireproof {
namespace {

/// Uniform in [0, bound): the high half of a product; the few draws that would favour low numbers
/// are rejected.
std::uint32_t below(std::uint32_t bound, std::uint64_t& state) {
  const std::uint32_t threshold = (0U - bound) % bound;
  for (;;) {
    state += 0x9E3779B97F4A7C15ULL;
    const std::uint64_t product = (mix(state) >> 32) * bound;
    if (static_cast<std::uint32_t>(product) >= threshold) {
      return static_cast<std::uint32_t>(product >> 32);
    }
  }
}

}  // namespace

std::vector<int> random_permutation(int count, std::uint64_t seed) {
  std::vector<int> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::uint64_t state = mix(seed);
  for (std::size_t left = places.size(); left > 1; --left) {
    std::swap(places[left - 1], places[below(static_cast<std::uint32_t>(left), state)]);
  }
  return places;
}

Neighbours neighbours_of(int member, const std::vector<int>& places) {
  const std::size_t count = places.size();
  const auto found = std::find(places.begin(), places.end(), member);
  const auto at = static_cast<std::size_t>(found - places.begin());
  return {places[(at + count - 1) % count], places[(at + 1) % count]};
}

Neighbours neighbours_of(int member, int members) {
  return {(member + members - 1) % members, (member + 1) % members};
}

}  // namespace wireproof

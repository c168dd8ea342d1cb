#include "pattern/payload.hpp"

#include <algorithm>
#include <cstring>

namespace wireproof {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

void write_words(std::span<std::byte> payload, std::uint64_t seed, std::uint64_t flip) {
  for (std::size_t at = 0; at < payload.size(); at += kWord) {
    const std::uint64_t word = mix(seed + at) ^ flip;
    std::memcpy(payload.data() + at, &word, std::min(kWord, payload.size() - at));
  }
}

}  // namespace

void fill_payload(std::span<std::byte> payload, std::uint64_t seed) {
  write_words(payload, seed, 0);
}

void poison_payload(std::span<std::byte> payload, std::uint64_t seed) {
  write_words(payload, seed, ~std::uint64_t{0});
}

bool payload_is(std::span<const std::byte> payload, std::uint64_t seed) {
  for (std::size_t at = 0; at < payload.size(); at += kWord) {
    const std::uint64_t word = mix(seed + at);
    if (std::memcmp(payload.data() + at, &word, std::min(kWord, payload.size() - at)) != 0) {
      return false;
    }
  }
  return true;
}

}  // namespace wireproof

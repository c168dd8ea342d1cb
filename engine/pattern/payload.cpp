#include "pattern/payload.hpp"

#include <cstring>

namespace wireproof {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

void write_words(std::span<std::byte> payload, std::uint64_t seed, std::uint64_t flip) {
  std::size_t at = 0;
  for (; at + kWord <= payload.size(); at += kWord) {  // a fixed size is no call of memcpy
    const std::uint64_t word = mix(seed + at) ^ flip;
    std::memcpy(payload.data() + at, &word, kWord);
  }
  if (at == payload.size()) return;
  const std::uint64_t last = mix(seed + at) ^ flip;
  std::memcpy(payload.data() + at, &last, payload.size() - at);
}

}  // namespace

void fill_payload(std::span<std::byte> payload, std::uint64_t seed) {
  write_words(payload, seed, 0);
}

void poison_payload(std::span<std::byte> payload, std::uint64_t seed) {
  write_words(payload, seed, ~std::uint64_t{0});
}

bool payload_is(std::span<const std::byte> payload, std::uint64_t seed) {
  std::size_t at = 0;
  for (; at + kWord <= payload.size(); at += kWord) {
    const std::uint64_t word = mix(seed + at);
    if (std::memcmp(payload.data() + at, &word, kWord) != 0) return false;
  }
  if (at == payload.size()) return true;
  const std::uint64_t last = mix(seed + at);
  return std::memcmp(payload.data() + at, &last, payload.size() - at) == 0;
}

}  // namespace wireproof

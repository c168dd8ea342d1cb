// Rank 0's side of the control plane: all other ranks at once. Any rank that is ready is served, so
// a late rank does not delay others, and a lost rank is reported at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

/// By rank; [0] stays closed. Throws Failure "tcp-lost" with the first lost rank or, after
/// `patience_ms` without a byte from any rank, with the missing ranks.
using Star = std::vector<Socket>;

/// One text (8 bytes of length, least significant first, then the bytes) from each; [0] is empty.
std::vector<std::string> receive_texts(const Star& star, std::int64_t patience_ms);
/// `bytes` bytes, unmodified, from each.
std::vector<std::string> receive_bytes(const Star& star, std::size_t bytes,
                                       std::int64_t patience_ms);
/// `bytes`, unmodified, to each.
void send_to_all(const Star& star, std::string_view bytes, std::int64_t patience_ms);

/// Longer texts count as garbage.
constexpr std::uint64_t kLongestText = 1ULL << 30;

}  // namespace wireproof::tcp

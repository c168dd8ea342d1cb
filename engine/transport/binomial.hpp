// A binomial tree over ranks 0 .. size-1, rooted at 0, and texts that are sent along it.
//
// The children of r are r + 1, r + 2, r + 4, .. below r's lowest set bit: each subtree contains
// successive ranks, so texts appended child by child are in order of rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wireproof::binomial {

inline int parent(int rank) { return rank & (rank - 1); }

/// In ascending order; the last one has the largest subtree.
inline std::vector<int> children(int rank, int size) {
  std::vector<int> found;
  for (std::int64_t bit = 1; rank + bit < size && (rank & bit) == 0; bit *= 2) {
    found.push_back(rank + static_cast<int>(bit));
  }
  return found;
}

}  // namespace wireproof::binomial

namespace wireproof {

/// A text preceded by its length (8 bytes, least significant first), so that bundles can be
/// appended.
inline std::string bundled(std::string_view text) {
  std::string bundle;
  bundle.reserve(8 + text.size());
  for (int i = 0; i < 8; ++i) {
    bundle += static_cast<char>(static_cast<std::uint64_t>(text.size()) >> (8 * i) & 0xFF);
  }
  return bundle.append(text);
}

/// The texts of a bundle; an incomplete last one is left out.
inline std::vector<std::string> unbundled(std::string_view bundle) {
  std::vector<std::string> texts;
  while (bundle.size() >= 8) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      length |= std::uint64_t{static_cast<unsigned char>(bundle[i])} << (8 * i);
    }
    bundle.remove_prefix(8);
    if (length > bundle.size()) break;
    texts.emplace_back(bundle.substr(0, length));
    bundle.remove_prefix(length);
  }
  return texts;
}

}  // namespace wireproof

// The positions of members in a random ring.
#pragma once

#include <cstdint>
#include <vector>

namespace wireproof {

/// A permutation of [0, count), each equally likely, a function of `seed` only (Fisher and Yates
/// 1938 with an unbiased draw below a bound: Lemire 2019).
std::vector<int> random_permutation(int count, std::uint64_t seed);

struct Neighbours {
  int left = 0;
  int right = 0;
};

/// The predecessor and the successor of `member` in the ring through `places` (member by position).
Neighbours neighbours_of(int member, const std::vector<int>& places);
/// In the ring in the order of the members.
Neighbours neighbours_of(int member, int members);

}  // namespace wireproof

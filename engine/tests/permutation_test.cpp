// Random orders of a ring: permutations, all as likely, the same for the same seed.
#include "pattern/group/permutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace wireproof {
namespace {

TEST(Permutation, IsOneAndFollowsItsSeed) {
  for (const int count : {1, 2, 3, 17, 1000}) {
    std::vector<int> places = random_permutation(count, 5);
    EXPECT_EQ(places, random_permutation(count, 5));
    EXPECT_EQ(count > 16, count > 16 && places != random_permutation(count, 6));
    std::sort(places.begin(), places.end());
    for (int i = 0; i < count; ++i) EXPECT_EQ(places[std::size_t(i)], i);
  }
}

TEST(Permutation, EveryOneOfFourIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  constexpr int kDraws = 24'000;
  for (int seed = 0; seed < kDraws; ++seed) ++seen[random_permutation(4, std::uint64_t(seed))];
  ASSERT_EQ(seen.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : seen) chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi_square, 49.7);  // 0.1 % quantile for 23 degrees of freedom
}

TEST(Permutation, NeighboursAreMutual) {
  const std::vector<int> places = random_permutation(9, 3);
  for (int member = 0; member < 9; ++member) {
    EXPECT_EQ(neighbours_of(neighbours_of(member, places).right, places).left, member);
    EXPECT_EQ(neighbours_of(neighbours_of(member, 9).left, 9).right, member);
  }
}

}  // namespace
}  // namespace wireproof

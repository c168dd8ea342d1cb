#include "transport/binomial.hpp"

#include <gtest/gtest.h>

namespace wireproof {
namespace {

std::string gathered(int rank, int size) {
  std::string bundle = bundled(std::to_string(rank));
  for (const int child : binomial::children(rank, size)) bundle += gathered(child, size);
  return bundle;
}

TEST(Binomial, GathersInOrderOfRank) {
  for (const int size : {1, 2, 3, 7, 8, 9, 63, 64, 65, 1000}) {
    const auto texts = unbundled(gathered(0, size));
    ASSERT_EQ(texts.size(), static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) {
      EXPECT_EQ(texts[static_cast<std::size_t>(rank)], std::to_string(rank));
    }
  }
}

TEST(Binomial, ParentsAndChildrenAgree) {
  for (int rank = 0; rank < 200; ++rank) {
    for (const int child : binomial::children(rank, 200)) EXPECT_EQ(binomial::parent(child), rank);
  }
  EXPECT_EQ(binomial::children(0, 10'000).size(), 14U);
}

TEST(Binomial, TextsOfAnyContentSurvive) {
  const std::string odd("a\0\n", 3);
  EXPECT_EQ(unbundled(bundled(odd) + bundled("") + bundled("b")),
            (std::vector<std::string>{odd, "", "b"}));
  EXPECT_EQ(unbundled((bundled("ab") + bundled("cd")).substr(0, 19)),
            (std::vector<std::string>{"ab"}));
  EXPECT_TRUE(unbundled("1234567").empty());
}

}  // namespace
}  // namespace wireproof

// Values as the kernel and commands print them.
#include <gtest/gtest.h>

#include "node/tune/value.hpp"

namespace wireproof::tune {
namespace {

struct Seen {
  Form form;
  const char* wanted;
  const char* text;
  Standing standing;
};
class Standings : public testing::TestWithParam<Seen> {};
TEST_P(Standings, AreToldApart) {
  const Seen& seen = GetParam();
  EXPECT_EQ(standing(seen.form, seen.wanted, seen.text), seen.standing)
      << seen.wanted << " and " << seen.text;
}
constexpr Form kPlain = Form::plain;
constexpr Form kChoice = Form::choice;
constexpr Standing kSame = Standing::same;
constexpr Standing kOther = Standing::other_form;
constexpr Standing kNot = Standing::different;
INSTANTIATE_TEST_SUITE_P(
    Values, Standings,
    testing::Values(Seen{kPlain, "1", "1\n", kSame}, Seen{kPlain, "1", "1", kSame},
                    Seen{kPlain, "1", "1\n\n", kOther}, Seen{kPlain, "1", "0\n", kNot},
                    Seen{kPlain, "1", "", kNot}, Seen{kPlain, "16", "0x10\n", kOther},
                    Seen{kPlain, "0x10", "16\n", kOther}, Seen{kPlain, "10", "0x10\n", kNot},
                    Seen{kPlain, "10", "16\n", kNot}, Seen{kPlain, "-1", "-1\n", kSame},
                    Seen{kPlain, "1", "-1\n", kNot}, Seen{kPlain, "1", "Y\n", kOther},
                    Seen{kPlain, "1", "N\n", kNot}, Seen{kPlain, "on", "Y\n", kOther},
                    Seen{kPlain, "1 2 3", "1\t2\t3\n", kOther},
                    Seen{kPlain, "1 2", "1 2 3\n", kNot}, Seen{kPlain, "1 2 3", "1 2\n", kNot},
                    Seen{kPlain, "ff", "00000000,000000ff\n", kOther},
                    Seen{kPlain, "ff", "ff,00000000\n", kNot}, Seen{kPlain, "FF", "ff\n", kOther},
                    Seen{kPlain, "0", "00000000\n", kOther}, Seen{kPlain, "9", "[9] 8\n", kOther},
                    Seen{kChoice, "never", "always madvise [never]\n", kSame},
                    Seen{kChoice, "never", "always [madvise] never\n", kNot},
                    Seen{kChoice, "always madvise never", "always [madvise] never\n", kNot},
                    Seen{kChoice, "none", "none\n", kSame}, Seen{kChoice, "a", "[]\n", kNot},
                    Seen{kPlain, "99999999999999999999", "99999999999999999998\n", kNot}));

TEST(FindValue, ReadsWhatCommandsPrint) {
  const std::string rings =
      "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nTX:\t\t8192\n"
      "Current hardware settings:\nRX:\t\t512\nRX Mini:\tn/a\n";
  EXPECT_EQ(find_value(rings, "Current hardware settings", "RX"), "512");
  EXPECT_EQ(find_value(rings, "", "RX"), "8192");
  EXPECT_EQ(find_value(rings, "Current hardware settings", "TX"), std::nullopt);
  EXPECT_EQ(find_value(rings, "No such section", "RX"), std::nullopt);
  EXPECT_EQ(find_value(rings, "", "RX Mini"), "n/a");
  const std::string link = "2: eth0: <UP> mtu 1500 qdisc mq state UP qlen 1000\n    link/ether\n";
  EXPECT_EQ(find_value(link, "", "mtu"), "1500");
  EXPECT_EQ(find_value(link, "", "qlen"), "1000");
  EXPECT_EQ(find_value(link, "", "ether"), std::nullopt);
  EXPECT_EQ(find_value("tso: off [fixed]\n", "", "tso"), "off [fixed]");
  EXPECT_EQ(find_value("name: a b\n", "", "name"), "a b");
  EXPECT_EQ(find_value("Adaptive RX: on  TX: off\n", "", "Adaptive RX"), "on");
}

TEST(AsArgument, DropsTheUnitThatTcDoesNotRead) {
  EXPECT_EQ(as_argument("tc", "100p"), "100");
  EXPECT_EQ(as_argument("ip", "100p"), "100p");
  EXPECT_EQ(as_argument("tc", "p"), "p");
  EXPECT_EQ(as_argument("tc", "fq_codelp"), "fq_codelp");
}

TEST(Restoring, WritesWhatGivesTheOldBytes) {
  EXPECT_EQ(restoring(Form::choice, "always [madvise] never\n"), "madvise\n");
  EXPECT_EQ(restoring(Form::plain, "always [madvise] never\n"), "always [madvise] never\n");
  EXPECT_EQ(restoring(Form::choice, "none\n"), "none\n");
  EXPECT_EQ(restoring(Form::plain, ""), "\n");
}

}  // namespace
}  // namespace wireproof::tune

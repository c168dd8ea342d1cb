// One line of a plan: escapes, fields, numbers, choices and what is left over.
#include "base/statement.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plan/members.hpp"

namespace wireproof {
namespace {

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status(), ExitStatus::bad_plan);
    return failure.what();
  }
  return "no failure";
}

struct Escape {
  std::string_view text;
  std::optional<std::string> decoded;
};
class Escapes : public testing::TestWithParam<Escape> {};
TEST_P(Escapes, AreDecodedOrRefused) {
  EXPECT_EQ(percent_decode(GetParam().text), GetParam().decoded);
}
INSTANTIATE_TEST_SUITE_P(Texts, Escapes,
                         testing::Values(Escape{"", ""}, Escape{"plain", "plain"},
                                         Escape{"a%20b", "a b"}, Escape{"%25", "%"},
                                         Escape{"%2c%2C", ",,"}, Escape{"%3D", "="},
                                         Escape{"%00", std::string(1, '\0')}, Escape{"%fF", "\xFF"},
                                         Escape{"%C3%A9", "\xC3\xA9"}, Escape{"%2525", "%25"},
                                         Escape{"end%41", "endA"}, Escape{"%", std::nullopt},
                                         Escape{"%4", std::nullopt}, Escape{"a%", std::nullopt},
                                         Escape{"%G0", std::nullopt}, Escape{"%0g", std::nullopt},
                                         Escape{"% 1", std::nullopt}, Escape{"%-1", std::nullopt},
                                         Escape{"%%20", std::nullopt}));

TEST(Statement, HasAKeywordAndFields) {
  Statement line("point id=7 pattern=put pairs=0-1", 12);
  EXPECT_EQ(line.keyword(), "point");
  EXPECT_EQ(line.number(), 12);
  EXPECT_EQ(line.take("id"), "7");
  EXPECT_EQ(line.take("pattern"), "put");
  EXPECT_EQ(line.take("pairs"), "0-1");
  EXPECT_EQ(line.take("window"), std::nullopt);
  line.finish();
}

TEST(Statement, AKeywordAloneHasNoFields) {
  Statement line("witness", 1);
  EXPECT_EQ(line.keyword(), "witness");
  line.finish();
}

TEST(Statement, AValueMayBeEmptyAndMayHoldEqualSigns) {
  Statement line("run id= expect=a=b=", 1);
  EXPECT_EQ(line.take("id"), "");
  EXPECT_EQ(line.take("expect"), "a=b=");
}

struct Torn {
  const char* text;
  const char* says;
};
class TornStatements : public testing::TestWithParam<Torn> {};
TEST_P(TornStatements, AreRefusedWithTheirField) {
  const std::string said = failure_of([] { Statement(GetParam().text, 4); });
  EXPECT_NE(said.find("plan line 4: "), std::string::npos) << said;
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(Texts, TornStatements,
                         testing::Values(Torn{"run id", "\"id\" is not key=value"},
                                         Torn{"run =x", "\"=x\" is not key=value"},
                                         Torn{"run  id=1", "\"\" is not key=value"},
                                         Torn{"run id=1 ", "\"\" is not key=value"},
                                         Torn{"run id=1 id=1", "id is given twice"},
                                         Torn{"run a=1 b=2 a=3", "a is given twice"},
                                         Torn{"run id=1\tseed=2 x", "\"x\" is not key=value"}));

TEST(Statement, ALeftOverFieldIsAnErrorThatNamesIt) {
  Statement line("run id=1 speed=9", 2);
  line.take("id");
  EXPECT_EQ(failure_of([&] { line.finish(); }), "plan line 2: unknown key \"speed\" for \"run\"");
}

TEST(Statement, AFieldThatWasAskedForRawIsTaken) {
  Statement line("fact argv=a%2Cb,c", 2);
  EXPECT_EQ(line.take_raw("argv"), "a%2Cb,c") << "not decoded";
  line.finish();
}

TEST(Statement, ABrokenEscapeNamesItsKey) {
  Statement line("run id=%zz", 9);
  EXPECT_EQ(failure_of([&] { line.take("id"); }), "plan line 9: id=%zz has a broken %XX escape");
}

template <class T>
std::optional<T> number(const std::string& text, T low, T high) {
  Statement line("policy x=" + text, 1);
  return line.take_number<T>("x", low, high);
}

TEST(StatementNumbers, WholeOnes) {
  EXPECT_EQ(number<int>("0", 0, 10), 0);
  EXPECT_EQ(number<int>("10", 0, 10), 10);
  EXPECT_EQ(number<int>("-3", -5, 5), -3);
  EXPECT_EQ(
      number<std::uint64_t>("18446744073709551615", 0, std::numeric_limits<std::uint64_t>::max()),
      18446744073709551615U);
  EXPECT_EQ(number<int>("%31%32", 0, 100), 12) << "also escaped";
}

TEST(StatementNumbers, Fractions) {
  EXPECT_EQ(number<double>("0.5", 0.0, 1.0), 0.5);
  EXPECT_EQ(number<double>("1e-3", 0.0, 1.0), 0.001);
  EXPECT_EQ(number<double>("1", 0.0, 1.0), 1.0);
}

class BadWholeNumbers : public testing::TestWithParam<const char*> {};
TEST_P(BadWholeNumbers, AreRefusedWithTheRange) {
  const std::string said = failure_of([] { number<int>(GetParam(), 0, 10); });
  EXPECT_NE(said.find("is not a number from 0 to 10"), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(Texts, BadWholeNumbers,
                         testing::Values("", "-1", "11", "1.0", "1e1", "0x1", "+1", "%201", "1%20",
                                         "ten", "99999999999999999999", "1,2"));

class BadFractions : public testing::TestWithParam<const char*> {};
TEST_P(BadFractions, AreRefused) {
  const std::string said = failure_of([] { number<double>(GetParam(), 0.0, 1.0); });
  EXPECT_NE(said.find("is not a number from"), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(Texts, BadFractions,
                         testing::Values("", "nan", "-nan", "inf", "-0.1", "1.1", "1e400", ".",
                                         "1f"));

TEST(StatementNumbers, AbsentIsNothing) {
  Statement line("policy", 1);
  EXPECT_EQ(line.take_number<int>("x", 0, 1), std::nullopt);
}

enum class Colour { red, green };
constexpr std::array<std::string_view, 2> kColours = {"red", "green"};

TEST(StatementChoices, AreTheNamesInTheirOrder) {
  Statement line("x a=red b=green", 1);
  EXPECT_EQ(line.take_choice<Colour>("a", kColours), Colour::red);
  EXPECT_EQ(line.take_choice<Colour>("b", kColours), Colour::green);
  EXPECT_EQ(line.take_choice<Colour>("c", kColours), std::nullopt);
}

TEST(StatementChoices, AnUnknownOneGetsTheListOfTheKnown) {
  for (const std::string text : {"blue", "Red", "", "redgreen"}) {
    Statement line("x a=" + text, 1);
    const std::string said = failure_of([&] { line.take_choice<Colour>("a", kColours); });
    EXPECT_EQ(said, "plan line 1: a=" + text + " is unknown; known: red, green");
  }
}

struct Rank {
  const char* text;
  std::optional<int> rank;
};
class Ranks : public testing::TestWithParam<Rank> {};
TEST_P(Ranks, AreReadWhole) { EXPECT_EQ(parse_rank(GetParam().text), GetParam().rank); }
INSTANTIATE_TEST_SUITE_P(Texts, Ranks,
                         testing::Values(Rank{"0", 0}, Rank{"7", 7}, Rank{"1048575", 1048575},
                                         Rank{"007", 7}, Rank{"1048576", std::nullopt},
                                         Rank{"-1", std::nullopt}, Rank{"", std::nullopt},
                                         Rank{"1x", std::nullopt}, Rank{" 1", std::nullopt},
                                         Rank{"1-2", std::nullopt},
                                         Rank{"99999999999", std::nullopt}));

std::vector<int> members(const std::string& text) {
  Statement line("point members=" + text, 1);
  return take_members(line);
}

TEST(Members, RangesAndSingleRanksInTheOrderWritten) {
  EXPECT_EQ(members("0:3"), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(members("5,3,4"), (std::vector<int>{5, 3, 4}));
  EXPECT_EQ(members("8:9,0,2:2"), (std::vector<int>{8, 9, 0, 2}));
  EXPECT_EQ(members(""), std::vector<int>{});
}

class BadMembers : public testing::TestWithParam<const char*> {};
TEST_P(BadMembers, AreRefused) {
  EXPECT_NE(failure_of([] { members(GetParam()); }).find("members"), std::string::npos);
}
INSTANTIATE_TEST_SUITE_P(Texts, BadMembers,
                         testing::Values("3:1", "0:3,2", "0,0", ",0", "0,", "0::2", "a", ":", "0:x",
                                         "1048576"));

}  // namespace
}  // namespace wireproof

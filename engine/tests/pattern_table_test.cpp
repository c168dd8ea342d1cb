// The catalogue of patterns: every row compared with the interface's page; the plan's reader, the
// loops and the printed list compared with the rows.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "base/failure.hpp"
#include "json_value.hpp"
#include "measure/floor.hpp"
#include "measure/pattern_list.hpp"
#include "plan/pattern.hpp"
#include "plan/plan.hpp"

namespace wireproof {
namespace {

using enum Pattern;

std::vector<Pattern> all() {
  std::vector<Pattern> found;
  for (std::size_t i = 0; i < kPatterns.size(); ++i) found.push_back(static_cast<Pattern>(i));
  return found;
}

struct Row {
  Pattern pattern;
  const char* name;
  bool latency;
  bool stream;
  bool group;
  bool collective;
  bool remote;
  bool word;
  bool beyond_messages;
};

class Rows : public testing::TestWithParam<Row> {};

TEST_P(Rows, SayWhatTheInterfaceSays) {
  const Row& row = GetParam();
  EXPECT_EQ(name_of(row.pattern), row.name);
  EXPECT_EQ(has_form(row.pattern, Form::latency), row.latency);
  EXPECT_EQ(has_form(row.pattern, Form::stream), row.stream);
  EXPECT_EQ(is_group(row.pattern), row.group);
  EXPECT_EQ(is_collective(row.pattern), row.collective);
  EXPECT_EQ(is_remote(row.pattern), row.remote);
  EXPECT_EQ(is_word_atomic(row.pattern), row.word);
  EXPECT_EQ(is_beyond_messages(row.pattern), row.beyond_messages);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(
    Catalogue, Rows,
    testing::Values(
        //  name                              latency stream group  coll   remote word   beyond
        Row{pingpong, "pingpong",                 true,  false, false, false, false, false, false},
        Row{stream, "stream",                     false, true,  false, false, false, false, false},
        Row{exchange, "exchange",                 false, true,  false, false, false, false, false},
        Row{put, "put",                           true,  true,  false, false, true,  false, true},
        Row{get, "get",                           true,  true,  false, false, true,  false, true},
        Row{accumulate, "accumulate",             true,  true,  false, false, true,  false, true},
        Row{fetch_and_op, "fetch_and_op",         true,  false, false, false, true,  true,  true},
        Row{compare_and_swap, "compare_and_swap", true,  false, false, false, true,  true,  true},
        Row{persistent, "persistent",             true,  true,  false, false, false, false, true},
        Row{partitioned, "partitioned",           true,  true,  false, false, false, false, true},
        Row{threads, "threads",                   true,  true,  false, false, false, false, true},
        Row{message_rate, "message_rate",         false, true,  true,  false, false, false, false},
        Row{ring, "ring",                         true,  false, true,  false, false, false, false},
        Row{incast, "incast",                     false, true,  true,  false, false, false, false},
        Row{all_to_all, "all_to_all",             false, true,  true,  false, false, false, false},
        Row{congestion, "congestion",             true,  false, true,  false, false, false, false},
        Row{barrier, "barrier",                   true,  false, true,  true,  false, false, false},
        Row{broadcast, "broadcast",               true,  false, true,  true,  false, false, false},
        Row{allreduce, "allreduce",               true,  false, true,  true,  false, false, false},
        Row{allgather, "allgather",               true,  false, true,  true,  false, false, false},
        Row{alltoall, "alltoall",                 true,  false, true,  true,  false, false, false}));
// clang-format on

TEST(Catalogue, NamesAreThereOnceAndInOrder) {
  std::set<std::string_view> seen;
  for (const Pattern pattern : all()) {
    EXPECT_TRUE(seen.insert(name_of(pattern)).second) << name_of(pattern);
    EXPECT_EQ(kPatternNames[static_cast<std::size_t>(pattern)], name_of(pattern));
  }
  EXPECT_EQ(seen.size(), 21U);
}

TEST(Catalogue, EveryPatternHasALoopAndNoLoopComesTwice) {
  std::set<std::tuple<Pattern, Form, Formula>> seen;
  std::set<Pattern> looped;
  for (const LoopRow& row : kLoops) {
    EXPECT_TRUE(seen.insert({row.pattern, row.form, row.formula}).second)
        << name_of(row.pattern) << " " << name_of(row.form) << " " << name_of(row.formula);
    looped.insert(row.pattern);
    EXPECT_TRUE(has_loop(row.pattern, row.form, Formula::robust))
        << "a suite's formula stands beside the robust one";
  }
  EXPECT_EQ(looped.size(), kPatterns.size());
}

struct Direction {
  Pattern pattern;
  Form form;
  bool forward;
  bool backward;
  bool round_trip;
};
class Directions : public testing::TestWithParam<Direction> {};
TEST_P(Directions, OfThePayload) {
  const Direction& d = GetParam();
  EXPECT_EQ(moves_forward(d.pattern), d.forward);
  EXPECT_EQ(moves_backward(d.pattern, d.form), d.backward);
  EXPECT_EQ(is_round_trip(d.pattern, d.form), d.round_trip);
}
INSTANTIATE_TEST_SUITE_P(OfPairs, Directions,
                         testing::Values(Direction{pingpong, Form::latency, true, true, true},
                                         Direction{stream, Form::stream, true, false, false},
                                         Direction{exchange, Form::stream, true, true, false},
                                         Direction{put, Form::latency, true, false, false},
                                         Direction{put, Form::stream, true, false, false},
                                         Direction{get, Form::latency, false, true, false},
                                         Direction{get, Form::stream, false, true, false},
                                         Direction{accumulate, Form::latency, true, false, false},
                                         Direction{accumulate, Form::stream, true, false, false},
                                         Direction{fetch_and_op, Form::latency, true, true, false},
                                         Direction{compare_and_swap, Form::latency, true, true,
                                                   false},
                                         Direction{persistent, Form::latency, true, true, true},
                                         Direction{persistent, Form::stream, true, false, false},
                                         Direction{partitioned, Form::latency, true, true, true},
                                         Direction{partitioned, Form::stream, true, false, false},
                                         Direction{threads, Form::latency, true, true, true},
                                         Direction{threads, Form::stream, true, false, false}));

struct Suite {
  Formula formula;
  std::set<Pattern> patterns;
};
class Suites : public testing::TestWithParam<Suite> {};
TEST_P(Suites, HaveThesePatternsAndNoOthers) {
  for (const Pattern pattern : all()) {
    const bool has = has_loop(pattern, Form::latency, GetParam().formula) ||
                     has_loop(pattern, Form::stream, GetParam().formula);
    EXPECT_EQ(has, GetParam().patterns.contains(pattern))
        << name_of(GetParam().formula) << " " << name_of(pattern);
  }
}
INSTANTIATE_TEST_SUITE_P(
    OfFormulas, Suites,
    testing::Values(Suite{Formula::osu,
                          {pingpong, stream, exchange, put, get, accumulate, fetch_and_op,
                           compare_and_swap, persistent, threads, message_rate, barrier, broadcast,
                           allreduce, allgather, alltoall}},
                    Suite{Formula::imb_mpi1,
                          {pingpong, stream, exchange, message_rate, barrier, broadcast, allreduce,
                           allgather, alltoall}},
                    Suite{Formula::imb_p2p, {pingpong}}, Suite{Formula::hpcc, {ring}}));

/// A point's line that is valid except for the part under test.
std::string point_line(Pattern pattern) {
  std::string line = "point id=1 pattern=" + std::string(name_of(pattern));
  line += pattern == barrier ? " message_bytes=0" : " message_bytes=8";
  if (pattern == congestion) return line + " pairs=0-1 load=2-3";
  return line + (is_group(pattern) ? " members=0:3" : " pairs=0-1");
}

TEST(Catalogue, ThePlansReaderKnowsEveryPatternInEachOfItsFormsAndFormulas) {
  for (const Pattern pattern : all()) {
    for (const Form form : {Form::latency, Form::stream}) {
      for (std::size_t i = 0; i < kFormulaNames.size(); ++i) {
        const auto formula = static_cast<Formula>(i);
        const std::string text = "wireproof-plan 1\ntransport kind=mpi\n" + point_line(pattern) +
                                 " form=" + std::string(name_of(form)) +
                                 " formula=" + std::string(name_of(formula)) + "\n";
        bool read = true;
        try {
          const Point point = parse_plan(text).points.at(0);
          EXPECT_EQ(point.pattern, pattern);
          EXPECT_EQ(point.form, form);
          EXPECT_EQ(point.formula, formula);
        } catch (const Failure&) {
          read = false;
        }
        EXPECT_EQ(read, has_loop(pattern, form, formula)) << text;
      }
    }
  }
}

TEST(Catalogue, TheDefaultFormIsLatencyWhereAPatternHasIt) {
  for (const Pattern pattern : all()) {
    const Plan plan =
        parse_plan("wireproof-plan 1\ntransport kind=mpi\n" + point_line(pattern) + "\n");
    EXPECT_EQ(plan.points.at(0).form,
              has_form(pattern, Form::latency) ? Form::latency : Form::stream)
        << name_of(pattern);
  }
}

TEST(Catalogue, EveryLoopRunsOnTheNullTransport) {
  const HostClock clock;
  for (const Pattern pattern : all()) {
    for (const Form form : {Form::latency, Form::stream}) {
      if (!has_form(pattern, form)) continue;
      EXPECT_GT(harness_floor_ns(pattern, form, clock), 0) << name_of(pattern);
    }
  }
}

TEST(PatternList, HasOneObjectPerRow) {
  const test::Json list = test::parse_json(pattern_list());
  EXPECT_EQ(list["members"].number, 4);
  ASSERT_EQ(list["patterns"].size(), kPatterns.size());
  for (std::size_t i = 0; i < kPatterns.size(); ++i) {
    EXPECT_EQ(list["patterns"][i]["name"].text, kPatterns[i].name);
    EXPECT_EQ(list["patterns"][i].has("sent"), is_group(static_cast<Pattern>(i)));
  }
}

const test::Json& listed(const test::Json& list, std::string_view name) {
  for (const test::Json& one : list["patterns"].list) {
    if (one["name"].text == name) return one;
  }
  throw std::runtime_error("not listed");
}

std::vector<double> numbers(const test::Json& list) {
  std::vector<double> found;
  for (const test::Json& one : list.list) found.push_back(one.number);
  return found;
}

TEST(PatternList, OfAGroupItsLoopsSayWhoSendsWhat) {
  const test::Json list = test::parse_json(pattern_list());
  const auto sent = [&](const char* name) { return numbers(listed(list, name)["sent"]); };
  const auto received = [&](const char* name) { return numbers(listed(list, name)["received"]); };
  EXPECT_EQ(sent("message_rate"), (std::vector<double>{1, 1, 0, 0}));
  EXPECT_EQ(received("message_rate"), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(sent("ring"), (std::vector<double>{2, 2, 2, 2}));
  EXPECT_EQ(sent("incast"), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(received("incast"), (std::vector<double>{3, 0, 0, 0}));
  EXPECT_EQ(sent("all_to_all"), (std::vector<double>{3, 3, 3, 3}));
  EXPECT_EQ(sent("broadcast"), (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(received("broadcast"), (std::vector<double>{0, 1, 1, 1}));
  EXPECT_EQ(sent("barrier"), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(received("allgather"), (std::vector<double>{3, 3, 3, 3}));
}

TEST(PatternList, OfAPairTheFormsSayWhoSends) {
  const test::Json list = test::parse_json(pattern_list());
  const test::Json& both = listed(list, "persistent");
  ASSERT_EQ(both["forms"].size(), 2U);
  EXPECT_EQ(both["forms"][0]["form"].text, "latency");
  EXPECT_EQ(both["forms"][0]["target_sends"].number, 1);
  EXPECT_EQ(both["forms"][1]["form"].text, "stream");
  EXPECT_EQ(both["forms"][1]["target_sends"].number, 0);
  const test::Json& get = listed(list, "get");
  EXPECT_EQ(get["access"].text, "memory");
  EXPECT_EQ(get["forms"][0]["origin_sends"].number, 0);
  EXPECT_EQ(get["forms"][0]["target_sends"].number, 1);
  EXPECT_EQ(listed(list, "accumulate")["unit_bytes"].number, 8);
}

}  // namespace
}  // namespace wireproof

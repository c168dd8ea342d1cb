// Atomics, prepared requests and threads: the closed-form answers of the model, the payload, and
// what a plan must not request.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <thread>

#include "base/failure.hpp"
#include "base/team.hpp"
#include "in_process.hpp"
#include "measure/floor.hpp"
#include "pattern/atomic.hpp"
#include "pattern/threads.hpp"
#include "transport/model/model_link.hpp"

namespace wireproof {
namespace {

constexpr double kLatency = 1500;
constexpr double kGap = 0.1;
constexpr double kOverhead = 100;
constexpr double kEager = 16384;
constexpr double kRendezvous = 3000;

constexpr const char* kModel =
    "wireproof-plan 1\nrun seed=3\ntransport kind=model\n"
    "model latency_ns=1500 gap_ns_per_byte=0.1 overhead_ns=100 eager_limit_bytes=16384 "
    "rendezvous_ns=3000\n"
    "policy warmup_min_operations=20 warmup_min_us=20 block_us=200\n";
constexpr const char* kNull =
    "wireproof-plan 1\ntransport kind=null\n"
    "policy warmup_min_operations=20 warmup_min_us=20 block_us=50 point_budget_ms=30\n";

double occupied(double bytes) { return kGap * bytes + (bytes > kEager ? kRendezvous : 0); }

std::string point(const std::string& text) { return "point id=1 pairs=0-1 " + text + "\n"; }

PairOutcome on_model(const std::string& text) { return run_in_process(kModel + point(text)).at(0); }

struct Answer {
  const char* text;
  double truth_ns;
};

class ClosedForm : public testing::TestWithParam<Answer> {};

TEST_P(ClosedForm, IsFoundWithinOnePercent) {
  const PairOutcome o = on_model(GetParam().text);
  EXPECT_NEAR(o.estimate->median_ns / GetParam().truth_ns, 1, 0.01) << o.estimate->median_ns;
  EXPECT_EQ(o.integrity, Integrity::ok);
}

const double kHalfTrip8 = kLatency + 2 * kOverhead + occupied(8);
const double kHalfTrip64K = kLatency + 2 * kOverhead + occupied(65536);

INSTANTIATE_TEST_SUITE_P(
    Atomics, ClosedForm,
    testing::Values(Answer{"pattern=accumulate message_bytes=8",
                           kOverhead + occupied(8) + 2 * kLatency},
                    Answer{"pattern=accumulate message_bytes=65536",
                           kOverhead + occupied(65536) + 2 * kLatency},
                    Answer{"pattern=accumulate message_bytes=65536 form=stream", occupied(65536)},
                    Answer{"pattern=accumulate message_bytes=8 formula=osu iterations=100",
                           kOverhead + occupied(8) + 2 * kLatency},
                    Answer{"pattern=fetch_and_op message_bytes=8",
                           2 * kOverhead + 2 * occupied(8) + 2 * kLatency},
                    Answer{"pattern=fetch_and_op message_bytes=8 formula=osu iterations=100",
                           2 * kOverhead + 2 * occupied(8) + 2 * kLatency},
                    Answer{"pattern=compare_and_swap message_bytes=8",
                           2 * kOverhead + 2 * occupied(8) + 2 * kLatency},
                    Answer{"pattern=compare_and_swap message_bytes=8 formula=osu iterations=100",
                           2 * kOverhead + 2 * occupied(8) + 2 * kLatency}));

INSTANTIATE_TEST_SUITE_P(
    Prepared, ClosedForm,
    testing::Values(
        Answer{"pattern=persistent message_bytes=8", kHalfTrip8},
        Answer{"pattern=persistent message_bytes=65536", kHalfTrip64K},
        Answer{"pattern=persistent message_bytes=8 formula=osu iterations=100", kHalfTrip8},
        Answer{"pattern=persistent message_bytes=65536 form=stream", occupied(65536)},
        Answer{"pattern=persistent message_bytes=8 form=stream", kOverhead},
        Answer{"pattern=partitioned message_bytes=65536", kHalfTrip64K},
        Answer{"pattern=partitioned message_bytes=65536 partitions=8",
               kLatency + 2 * kOverhead + 8 * occupied(8192)},
        Answer{"pattern=partitioned message_bytes=8 partitions=8",
               kLatency + 2 * kOverhead + occupied(1) + 7 * kOverhead},
        Answer{"pattern=partitioned message_bytes=65536 partitions=8 form=stream",
               8 * occupied(8192)},
        Answer{"pattern=partitioned message_bytes=64 partitions=64 form=stream", 64 * kOverhead}));

INSTANTIATE_TEST_SUITE_P(
    Threads, ClosedForm,
    testing::Values(
        Answer{"pattern=threads message_bytes=8", kHalfTrip8},
        Answer{"pattern=threads message_bytes=8 threads=4", kHalfTrip8},
        Answer{"pattern=threads message_bytes=65536 threads=3", kHalfTrip64K},
        Answer{"pattern=threads message_bytes=8 threads=4 formula=osu iterations=100", kHalfTrip8},
        Answer{"pattern=threads message_bytes=65536 threads=4 form=stream", occupied(65536)},
        Answer{"pattern=threads message_bytes=8 threads=4 form=stream", kOverhead}));

TEST(PairPatterns, AFullWindowOfTheOsuStreamIsThatOfPostedSends) {
  const double posted =
      on_model("pattern=stream formula=osu message_bytes=4096").formula_value_ns.value();
  EXPECT_DOUBLE_EQ(on_model("pattern=persistent form=stream formula=osu message_bytes=4096")
                       .formula_value_ns.value(),
                   posted);
}

struct Directions {
  const char* text;
  bool backward;
};
class EveryPairPattern : public testing::TestWithParam<Directions> {};

TEST_P(EveryPairPattern, CountsItsMessagesAndChecksThem) {
  const PairOutcome o = on_model(GetParam().text);
  EXPECT_EQ(o.integrity, Integrity::ok);
  EXPECT_GE(o.messages_forward, o.operations_per_batch * o.batch_ticks.size());
  EXPECT_EQ(o.messages_backward > 0, GetParam().backward);
}

TEST_P(EveryPairPattern, RunsOnNullWithAFloor) {
  const PairOutcome o = run_in_process(kNull + point(GetParam().text)).at(0);
  EXPECT_EQ(o.integrity, Integrity::unchecked);
  EXPECT_FALSE(o.batch_ticks.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryPairPattern,
    testing::Values(Directions{"pattern=accumulate message_bytes=4096", false},
                    Directions{"pattern=accumulate message_bytes=4096 form=stream", false},
                    Directions{"pattern=fetch_and_op message_bytes=8", true},
                    Directions{"pattern=compare_and_swap message_bytes=8", true},
                    Directions{"pattern=persistent message_bytes=0", true},
                    Directions{"pattern=persistent message_bytes=1 form=stream", false},
                    Directions{"pattern=persistent message_bytes=100 form=stream window=1", false},
                    Directions{"pattern=persistent message_bytes=100 form=stream window=7", false},
                    Directions{"pattern=persistent message_bytes=100 form=stream window=1 "
                               "formula=osu",
                               false},
                    Directions{"pattern=partitioned message_bytes=30 partitions=3", true},
                    Directions{"pattern=partitioned message_bytes=30 partitions=30 form=stream",
                               false},
                    Directions{"pattern=threads message_bytes=0 threads=5", true},
                    Directions{"pattern=threads message_bytes=100 threads=5 form=stream", false}));

/// Every thread's messages are on the wire, even if operations are counted per thread.
TEST(Threads, MessagesOfAllThreadsAreCounted) {
  const PairOutcome one = on_model("pattern=threads threads=1 message_bytes=8 iterations=100");
  const PairOutcome four = on_model("pattern=threads threads=4 message_bytes=8 iterations=100");
  EXPECT_GE(four.messages_forward, 4 * four.operations_per_batch * four.batch_ticks.size());
  EXPECT_GE(one.messages_forward, one.operations_per_batch * one.batch_ticks.size());
  EXPECT_EQ(four.payload_forward_bytes, 8 * four.messages_forward);
}

TEST(Threads, TheWindowOfEachIsBoundedByTheBytesOfAll) {
  const PairOutcome o = on_model(
      "pattern=threads threads=4 form=stream message_bytes=262144");  // 4 MiB may be in flight
  EXPECT_EQ(o.window_used, 4);
}

TEST(Threads, JointTimeOfReadings) {
  const std::vector<std::vector<Ticks>> edges{{0, 10, 30}, {5, 25, 26}};
  std::array<Ticks, 2> ticks{};
  JointTime{}.combine(edges, ticks);
  EXPECT_EQ(ticks, (std::array<Ticks, 2>{15, 10}));  // means of 10, 20 and of 20, 1
  JointTime{.stream = true}.combine(edges, ticks);
  EXPECT_EQ(ticks, (std::array<Ticks, 2>{20, 5}));  // last edges at 5, 25, 30
  JointTime{.stream = true, .in_turn = true}.combine(edges, ticks);
  EXPECT_EQ(ticks, (std::array<Ticks, 2>{30, 21}));
  const std::vector<std::vector<Ticks>> sums{{10, 30}, {20, 40}};
  JointTime{.sums = true}.combine(sums, ticks);
  EXPECT_EQ(ticks, (std::array<Ticks, 2>{15, 35}));
}

TEST(Team, EveryMemberWorksOnceInEveryJob) {
  Team team(3);
  std::array<std::atomic<int>, 3> done{};
  std::array<std::set<std::thread::id>, 3> threads;
  for (int job = 0; job < 50; ++job) {
    team.run([&](int member) {
      const auto at = static_cast<std::size_t>(member);
      done[at].fetch_add(1);
      threads[at].insert(std::this_thread::get_id());
    });
    for (const auto& count : done) ASSERT_EQ(count.load(), job + 1);
  }
  for (const auto& ids : threads) EXPECT_EQ(ids.size(), 1U);
  EXPECT_EQ(*threads[0].begin(), std::this_thread::get_id());
}

TEST(Team, OfOneNeedsNoThread) {
  int calls = 0;
  Team(1).run([&](int member) { calls += member + 1; });
  EXPECT_EQ(calls, 1);
}

// A link that corrupts its results: the integrity check must detect it.
enum class Spoil { nothing, last_word_of_a_sum, fetched_value, mismatch_swaps, lost_add };

class SpoiledLink : public ModelLink {
 public:
  SpoiledLink(ModelPairWorld& world, bool origin, Spoil spoil)
      : ModelLink(world, origin), world_(world), origin_(origin), spoil_(spoil) {}

  void accumulate(const std::byte* addends, std::size_t bytes, std::size_t offset) {
    ModelLink::accumulate(addends, bytes, offset);
    if (spoil_ == Spoil::last_word_of_a_sum) spoil(window()[bytes - 1]);
  }
  void fetch_add(const std::byte* operand, std::byte* result, std::size_t offset) {
    ModelLink::fetch_add(operand, result, offset);
    if (spoil_ == Spoil::fetched_value) result[0] ^= std::byte{2};
    if (spoil_ == Spoil::lost_add) std::memcpy(window(), result, sizeof(Word));
  }
  void compare_swap(const std::byte* operand, const std::byte* compare, std::byte* result,
                    std::size_t offset) {
    ModelLink::compare_swap(operand, compare, result, offset);
    if (spoil_ == Spoil::mismatch_swaps) std::memcpy(window(), operand, sizeof(Word));
  }
  SpoiledLink& member(int) { return *this; }

 private:
  static void spoil(std::byte& place) { place = std::byte(std::to_integer<int>(place) + 1); }
  std::byte* window() { return world_.exposed[origin_ ? 1 : 0].data(); }
  ModelPairWorld& world_;
  bool origin_;
  Spoil spoil_;
};

/// True if both ends found no error.
template <template <class, class> class Loops>
bool verified(Spoil spoil, std::size_t bytes) {
  ModelPairWorld world{{}};
  LinkPair<SpoiledLink> origin(test_clock(), world, true, spoil);
  LinkPair<SpoiledLink> target(test_clock(), world, false, spoil);
  const PointShape shape{.bytes = bytes};
  using C = VirtualClock<SpoiledLink>;
  const auto& loops = kPairLoops<SpoiledLink, C, Loops, false>;
  EndMemory memory[2];
  bool good[2] = {false, false};
  world.turns.run(
      [&] {
        auto runner = std::make_unique<PatternRunner<SpoiledLink, C>>(
            loops, origin.link(), C{&origin.link()}, memory[0], shape);
        good[0] = runner->verify_origin(77);
      },
      [&] {
        auto runner = std::make_unique<PatternRunner<SpoiledLink, C>>(
            loops, target.link(), C{&target.link()}, memory[1], shape);
        good[1] = runner->verify_target(77);
      });
  return good[0] && good[1];
}

TEST(Integrity, OfAtomicsSeesWhatIsWrong) {
  EXPECT_TRUE(verified<AccumulateLatency>(Spoil::nothing, 4096));
  EXPECT_FALSE(verified<AccumulateLatency>(Spoil::last_word_of_a_sum, 4096));
  EXPECT_TRUE(verified<FetchAndOp>(Spoil::nothing, 8));
  EXPECT_FALSE(verified<FetchAndOp>(Spoil::fetched_value, 8));
  EXPECT_FALSE(verified<FetchAndOp>(Spoil::lost_add, 8));
  EXPECT_TRUE(verified<CompareAndSwap>(Spoil::nothing, 8));
  EXPECT_FALSE(verified<CompareAndSwap>(Spoil::mismatch_swaps, 8));
}

class Refused : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(Refused, WithTheReason) {
  const auto& [text, reason] = GetParam();
  try {
    parse_plan(kModel + point(text));
    FAIL() << text;
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "bad-plan");
    EXPECT_NE(std::string(failure.what()).find(reason), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("line 6"), std::string::npos) << failure.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Plans, Refused,
    testing::Values(
        std::pair{"pattern=accumulate message_bytes=12", "multiple of 8"},
        std::pair{"pattern=accumulate message_bytes=0", "multiple of 8"},
        std::pair{"pattern=accumulate message_bytes=8 form=stream formula=osu", "known for it"},
        std::pair{"pattern=accumulate message_bytes=8 formula=imb-mpi1", "imb-mpi1 has no"},
        std::pair{"pattern=fetch_and_op message_bytes=16", "one word of 8 bytes"},
        std::pair{"pattern=fetch_and_op message_bytes=8 form=stream", "only the form latency"},
        std::pair{"pattern=compare_and_swap message_bytes=0", "one word of 8 bytes"},
        std::pair{"pattern=compare_and_swap message_bytes=8 form=stream", "only the form latency"},
        std::pair{"pattern=partitioned message_bytes=10 partitions=4", "multiple of partitions=4"},
        std::pair{"pattern=partitioned message_bytes=0", "a byte or more"},
        std::pair{"pattern=partitioned message_bytes=8 partitions=0", "is not a number"},
        std::pair{"pattern=partitioned message_bytes=8 formula=osu", "known for it: robust"},
        std::pair{"pattern=persistent message_bytes=8 partitions=2", "partitions"},
        std::pair{"pattern=persistent message_bytes=8 formula=imb-p2p", "imb-p2p"},
        std::pair{"pattern=threads message_bytes=8 threads=0", "is not a number"},
        std::pair{"pattern=threads message_bytes=8 threads=257", "is not a number"},
        std::pair{"pattern=threads message_bytes=8 form=stream formula=osu", "known for it"},
        std::pair{"pattern=pingpong message_bytes=8 threads=2", "threads"}));

TEST(Floor, IsPositiveForTheNewerPatterns) {
  using enum Pattern;
  for (const auto& [pattern, form] : {std::pair{accumulate, Form::latency},
                                      {accumulate, Form::stream},
                                      {fetch_and_op, Form::latency},
                                      {compare_and_swap, Form::latency},
                                      {persistent, Form::latency},
                                      {persistent, Form::stream},
                                      {partitioned, Form::latency},
                                      {partitioned, Form::stream},
                                      {threads, Form::latency},
                                      {threads, Form::stream}}) {
    EXPECT_GT(harness_floor_ns(pattern, form, test_clock()), 0);
  }
}

}  // namespace
}  // namespace wireproof

// Every pattern, form and formula on the transports that need one process.
#include <gtest/gtest.h>

#include <set>

#include "base/failure.hpp"
#include "in_process.hpp"
#include "measure/floor.hpp"
#include "pattern/payload.hpp"

namespace wireproof {
namespace {

constexpr const char* kModel =
    "wireproof-plan 1\ntransport kind=model\n"
    "model latency_ns=1000 gap_ns_per_byte=0.1 overhead_ns=50 eager_limit_bytes=8192 "
    "rendezvous_ns=2000\n"
    "policy warmup_min_operations=20 warmup_min_us=20 block_us=200\n";
constexpr const char* kNull =
    "wireproof-plan 1\ntransport kind=null\n"
    "policy warmup_min_operations=20 warmup_min_us=20 block_us=50 point_budget_ms=50\n";

struct Kind {
  const char* text;
  int forward;
  int backward;
};
class EveryPattern : public testing::TestWithParam<Kind> {
 protected:
  std::string points() const {
    std::string text;
    int id = 0;
    for (const char* bytes : {"0", "1", "8", "4097", "65536", "1048576"}) {
      text += "point id=" + std::to_string(++id) + " pairs=0-1 message_bytes=" + bytes + " " +
              GetParam().text + "\n";
    }
    return text;
  }
};

TEST_P(EveryPattern, RunsOnTheModelAndDeliversThePayload) {
  const auto outcomes = run_in_process(kModel + points());
  ASSERT_EQ(outcomes.size(), 6U);
  for (const PairOutcome& o : outcomes) {
    EXPECT_EQ(o.integrity, Integrity::ok);
    ASSERT_TRUE(o.estimate.has_value());
    EXPECT_GT(o.estimate->median_ns, 0);
    EXPECT_GE(o.estimate->blocks, 6U);
    EXPECT_EQ(o.messages_forward > 0, GetParam().forward > 0);
    EXPECT_EQ(o.messages_backward > 0, GetParam().backward > 0);
    std::size_t batches = 0;
    for (const std::uint32_t block : o.block_batches) batches += block;
    EXPECT_EQ(batches, o.batch_ticks.size());
  }
}

TEST_P(EveryPattern, RunsOnNullAndSaysThatNothingWasChecked) {
  for (const PairOutcome& o : run_in_process(kNull + points())) {
    EXPECT_EQ(o.integrity, Integrity::unchecked);
    EXPECT_FALSE(o.batch_ticks.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryPattern,
    testing::Values(
        Kind{"pattern=pingpong", 1, 1}, Kind{"pattern=pingpong formula=osu iterations=60", 1, 1},
        Kind{"pattern=pingpong formula=imb-mpi1 iterations=60", 1, 1},
        Kind{"pattern=pingpong formula=imb-p2p iterations=60", 1, 1}, Kind{"pattern=stream", 1, 0},
        Kind{"pattern=stream window=1", 1, 0}, Kind{"pattern=stream window=7", 1, 0},
        Kind{"pattern=stream formula=osu window=4", 1, 0},
        Kind{"pattern=stream formula=imb-mpi1 window=4 iterations=40", 1, 0},
        Kind{"pattern=exchange", 1, 1}, Kind{"pattern=exchange formula=osu window=4", 1, 1},
        Kind{"pattern=exchange formula=imb-mpi1 iterations=60", 1, 1}, Kind{"pattern=put", 1, 0},
        Kind{"pattern=put form=stream", 1, 0}, Kind{"pattern=put formula=osu iterations=60", 1, 0},
        Kind{"pattern=get", 0, 1}, Kind{"pattern=get form=stream", 0, 1},
        Kind{"pattern=get form=stream formula=osu window=4", 0, 1}));

TEST(Patterns, BothDirectionsAndSeveralPairs) {
  const auto outcomes = run_in_process(std::string(kModel) +
                                       "point id=1 pattern=stream message_bytes=8 pairs=3-1,0-2\n");
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_EQ(outcomes[0].origin, 3);
  EXPECT_EQ(outcomes[1].target, 2);
}

TEST(Patterns, AFixedCountIsKept) {
  const auto outcomes =
      run_in_process(std::string(kModel) +
                     "point id=1 pattern=pingpong message_bytes=8 pairs=0-1 iterations=500\n");
  EXPECT_EQ(outcomes.at(0).stop, Stop::iterations);
  EXPECT_GE(outcomes[0].operations_per_batch * outcomes[0].batch_ticks.size(), 500U);
}

/// The witness is compared with the message counts, so they must include everything that was sent.
TEST(Patterns, EveryMessageIsCounted) {
  const auto outcomes = run_in_process(std::string(kModel) +
                                       "point id=1 pattern=stream message_bytes=1000 pairs=0-1\n");
  const PairOutcome& o = outcomes.at(0);
  EXPECT_GT(o.messages_forward, o.operations_per_batch * o.batch_ticks.size());
  EXPECT_EQ(o.payload_forward_bytes, 1000 * o.messages_forward);
  EXPECT_EQ(o.payload_backward_bytes, 0U);
}

TEST(Payload, DifferencesAreSeenInEveryByte) {
  std::vector<std::byte> payload(37);
  fill_payload(payload, 5);
  EXPECT_TRUE(payload_is(payload, 5));
  EXPECT_FALSE(payload_is(payload, 6));
  for (std::byte& byte : payload) {
    byte ^= std::byte{1};
    EXPECT_FALSE(payload_is(payload, 5));
    byte ^= std::byte{1};
  }
  poison_payload(payload, 5);
  EXPECT_FALSE(payload_is(payload, 5));
}

TEST(Floor, IsPositiveForEveryPattern) {
  using enum Pattern;
  for (const auto& [pattern, form] : {std::pair{pingpong, Form::latency},
                                      {stream, Form::stream},
                                      {exchange, Form::stream},
                                      {put, Form::latency},
                                      {put, Form::stream},
                                      {get, Form::latency},
                                      {get, Form::stream}}) {
    EXPECT_GT(harness_floor_ns(pattern, form, test_clock()), 0);
  }
}

TEST(Payload, TargetThatSeesWrongBytesSaysSo) {
  // Two links whose worlds differ cannot agree on the payload; here the seed of one end is changed
  // instead.
  const Plan plan =
      parse_plan(std::string(kModel) + "point id=1 pattern=pingpong message_bytes=64 pairs=0-1\n");
  const auto transport = open_model({});
  transport->configure(plan);
  bool target_saw = true;
  transport->run_pair(
      0, 1, test_clock(),
      {.originate =
           [&](Pair& pair) {
             pair.make_runner(shape_of(plan.points[0], plan.policy))->verify_origin(1);
           },
       .answer =
           [&](Pair& pair) {
             target_saw = pair.make_runner(shape_of(plan.points[0], plan.policy))->verify_target(2);
           }});
  EXPECT_FALSE(target_saw);
}

}  // namespace
}  // namespace wireproof

// The frames as a JSON reader sees them (docs/reference/engine-interface.md).
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <thread>

#include "base/failure.hpp"
#include "base/version.hpp"
#include "json_value.hpp"
#include "measure/group_record.hpp"
#include "measure/point_record.hpp"
#include "record/frame_sink.hpp"
#include "record/frames.hpp"

namespace wireproof {
namespace {

using test::Json;
using test::parse_json;

using Keys = std::vector<std::string>;

Plan plan_of(TransportKind kind) {
  Plan plan;
  plan.run_id = "run 1";
  plan.seed = 18446744073709551615U;
  plan.transport = kind;
  return plan;
}

TEST(OpenFrame, SaysWhoMeasuresAndByWhichClock) {
  const ClockFacts clock{ClockSource::tsc, 0.384615384615, 10.00049, 7.25};
  const Json frame = parse_json(
      open_frame(plan_of(TransportKind::mpi), {.abi = "mpich", .ranks = 9, .clock = clock}));
  EXPECT_EQ(frame.keys, (Keys{"frame", "schema", "engine", "abi", "transport", "run_id", "seed",
                              "ranks", "clock"}));
  EXPECT_EQ(frame["frame"].text, "open");
  EXPECT_EQ(frame["schema"].number, 1);
  EXPECT_EQ(frame["engine"].text, kVersion);
  EXPECT_EQ(frame["abi"].text, "mpich");
  EXPECT_EQ(frame["transport"].text, "mpi");
  EXPECT_EQ(frame["run_id"].text, "run 1");
  EXPECT_EQ(frame["seed"].whole(), 18446744073709551615U) << "all 64 bits";
  EXPECT_EQ(frame["ranks"].number, 9);
  EXPECT_EQ(frame["clock"]["source"].text, "tsc");
  EXPECT_EQ(frame["clock"]["ns_per_tick"].number, 0.384615384615) << "not rounded";
  EXPECT_EQ(frame["clock"]["quantum_ns"].number, 10.0) << "whole picoseconds";
  EXPECT_EQ(frame["clock"]["read_cost_ns"].number, 7.25);
}

TEST(OpenFrame, NamesEveryTransportAndClock) {
  for (const auto& [kind, name] : {std::pair{TransportKind::null, "null"},
                                   {TransportKind::model, "model"},
                                   {TransportKind::mpi, "mpi"},
                                   {TransportKind::tcp, "tcp"}}) {
    const Json frame = parse_json(open_frame(plan_of(kind), {.abi = "nompi", .clock = {}}));
    EXPECT_EQ(frame["transport"].text, name);
  }
  for (const auto& [source, name] : {std::pair{ClockSource::tsc, "tsc"},
                                     {ClockSource::cntvct, "cntvct"},
                                     {ClockSource::monotonic, "monotonic"},
                                     {ClockSource::virtual_time, "virtual"}}) {
    const Json frame =
        parse_json(open_frame(plan_of(TransportKind::null), {.abi = "nompi", .clock = {source}}));
    EXPECT_EQ(frame["clock"]["source"].text, name);
  }
}

TEST(OpenFrame, AHostileRunIdStaysOneText) {
  Plan plan = plan_of(TransportKind::null);
  plan.run_id = "a\"},\n{\"frame\":\"close\"\xFF";
  const std::string text = open_frame(plan, {.abi = "nompi", .clock = {}});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(parse_json(text)["run_id"].text, "a\"},\n{\"frame\":\"close\"\xEF\xBF\xBD");
}

TEST(FloorFrame, HasPatternFormAndWholePicoseconds) {
  const Json frame = parse_json(floor_frame(Pattern::put, Form::stream, 12.34567));
  EXPECT_EQ(frame.keys, (Keys{"frame", "pattern", "form", "floor_ns"}));
  EXPECT_EQ(frame["frame"].text, "floor");
  EXPECT_EQ(frame["pattern"].text, "put");
  EXPECT_EQ(frame["form"].text, "stream");
  EXPECT_EQ(frame["floor_ns"].number, 12.346);
}

TEST(StartFrame, HasThePointsNumber) {
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const Json frame = parse_json(start_frame(largest));
  EXPECT_EQ(frame["frame"].text, "start");
  EXPECT_EQ(frame["id"].whole(), static_cast<std::uint64_t>(largest));
}

TEST(ErrorFrame, NamesAPointOnlyWhereOneWasUnderWay) {
  const Json without = parse_json(error_frame("bad-plan", "line 3: \"x\"", 0));
  EXPECT_EQ(without.keys, (Keys{"frame", "code", "message", "rank"}));
  EXPECT_EQ(without["code"].text, "bad-plan");
  EXPECT_EQ(without["message"].text, "line 3: \"x\"");
  const Json with = parse_json(error_frame("cannot-begin", "rank 3 \\ gone", 3, 0));
  EXPECT_EQ(with.keys, (Keys{"frame", "code", "message", "id", "rank"}));
  EXPECT_EQ(with["id"].digits, "0") << "the first point's number is no absence";
  EXPECT_EQ(with["rank"].number, 3);
}

TEST(CloseFrame, CountsWhatFailed) {
  const Json frame = parse_json(close_frame(7, 2, 1'234'567'890'123, 1ULL << 40));
  EXPECT_EQ(frame.keys, (Keys{"frame", "points", "failed", "elapsed_ns", "peak_rss_bytes"}));
  EXPECT_EQ(frame["points"].number, 7);
  EXPECT_EQ(frame["failed"].number, 2);
  EXPECT_EQ(frame["elapsed_ns"].whole(), 1'234'567'890'123U);
  EXPECT_EQ(frame["peak_rss_bytes"].whole(), 1ULL << 40);
}

PairOutcome outcome() {
  PairOutcome o;
  o.origin = 3;
  o.target = 1;
  o.stop = Stop::precision;
  o.operations_per_batch = 48;
  o.batch_ticks = {1000, 1001, 999};
  o.block_batches = {2, 1};
  o.warm_up = {1234, 5678.9, true};
  o.messages_forward = 100;
  o.messages_backward = 101;
  o.payload_forward_bytes = 800;
  o.payload_backward_bytes = 808;
  o.window_used = 4;
  o.ns_per_tick = 0.5;
  return o;
}

TEST(PairRecord, HasTheNumbersOfTheOutcome) {
  Point point;
  const Json pair = parse_json(pair_json(outcome(), point));
  EXPECT_EQ(pair["origin"].number, 3);
  EXPECT_EQ(pair["target"].number, 1);
  EXPECT_EQ(pair["status"].text, "ok");
  EXPECT_EQ(pair["stop"].text, "precision");
  EXPECT_EQ(pair["operations_per_batch"].number, 48);
  ASSERT_EQ(pair["batch_ns"].size(), 3U);
  EXPECT_EQ(pair["batch_ns"][0].number, 500);
  EXPECT_EQ(pair["batch_ns"][1].number, 500.5) << "ticks times their length";
  EXPECT_EQ(pair["block_batches"][0].number, 2);
  EXPECT_EQ(pair["messages_forward"].number, 100);
  EXPECT_EQ(pair["messages_backward"].number, 101);
  EXPECT_EQ(pair["payload_forward_bytes"].number, 800);
  EXPECT_EQ(pair["payload_backward_bytes"].number, 808);
  EXPECT_EQ(pair["warmup"]["operations"].number, 1234);
  EXPECT_EQ(pair["warmup"]["elapsed_ns"].number, 5678.9);
  EXPECT_TRUE(pair["warmup"]["stationary"].flag);
  EXPECT_EQ(pair["window_used"].number, 4);
  EXPECT_EQ(pair["integrity"].text, "unchecked");
}

TEST(PairRecord, WhatIsUnknownIsAbsent) {
  const Json pair = parse_json(pair_json(outcome(), Point{}));
  for (const char* key : {"estimate", "target_elapsed_ns", "origin_waited_ns", "target_waited_ns",
                          "formula_value_ns", "origin_core", "target_core"}) {
    EXPECT_FALSE(pair.has(key)) << key;
  }
}

TEST(PairRecord, WhatIsKnownIsThereThoughItIsZero) {
  PairOutcome o = outcome();
  o.target_elapsed_ns = 0;
  o.target_waited_ns = 0;
  o.origin_core = 0;
  o.target_core = 0;
  o.formula_value_ns = 0;
  Point point;
  point.formula = Formula::osu;
  const Json pair = parse_json(pair_json(o, point));
  for (const char* key : {"target_elapsed_ns", "target_waited_ns", "formula_value_ns",
                          "origin_core", "target_core"}) {
    EXPECT_EQ(pair[key].digits, "0") << key;
  }
}

TEST(PairRecord, AFormulasValueIsOfFormulasOnly) {
  PairOutcome o = outcome();
  o.formula_value_ns = 7;
  EXPECT_FALSE(parse_json(pair_json(o, Point{})).has("formula_value_ns"));
}

TEST(PairRecord, APairThatCouldNotBeginSaysSo) {
  PairOutcome o;
  o.begun = false;
  EXPECT_EQ(parse_json(pair_json(o, Point{}))["status"].text, "error");
}

struct StopName {
  Stop stop;
  const char* name;
};
class StopNames : public testing::TestWithParam<StopName> {};
TEST_P(StopNames, AreThoseOfTheInterface) {
  PairOutcome o = outcome();
  o.stop = GetParam().stop;
  EXPECT_EQ(parse_json(pair_json(o, Point{}))["stop"].text, GetParam().name);
}
INSTANTIATE_TEST_SUITE_P(All, StopNames,
                         testing::Values(StopName{Stop::none, "budget"},
                                         StopName{Stop::precision, "precision"},
                                         StopName{Stop::budget, "budget"},
                                         StopName{Stop::iterations, "iterations"}));

TEST(PairRecord, IntegrityHasThreeAnswers) {
  for (const auto& [integrity, name] : {std::pair{Integrity::ok, "ok"},
                                        {Integrity::corrupt, "corrupt"},
                                        {Integrity::unchecked, "unchecked"}}) {
    PairOutcome o = outcome();
    o.integrity = integrity;
    EXPECT_EQ(parse_json(pair_json(o, Point{}))["integrity"].text, name);
  }
}

Estimate estimate() {
  Estimate e;
  e.median_ns = 1234.56789;
  e.low_ns = 1200;
  e.high_ns = 1300;
  e.blocks = 12;
  e.effective_blocks = 8.25;
  e.autocorrelation = -0.125;
  e.half_width = 0.0405;
  e.interval_exists = true;
  e.label = Label::stable;
  return e;
}

TEST(EstimateRecord, IsRoundedToPicosecondsAndNothingElse) {
  PairOutcome o = outcome();
  o.estimate = estimate();
  const Json pair = parse_json(pair_json(o, Point{}));
  const Json& e = pair["estimate"];
  EXPECT_EQ(e["median_ns"].number, 1234.568);
  EXPECT_EQ(e["low_ns"].number, 1200);
  EXPECT_EQ(e["high_ns"].number, 1300);
  EXPECT_EQ(e["blocks"].number, 12);
  EXPECT_EQ(e["effective_blocks"].number, 8.25);
  EXPECT_EQ(e["autocorrelation"].number, -0.125);
  EXPECT_EQ(e["half_width"].number, 0.0405);
  EXPECT_EQ(e["label"].text, "stable");
}

TEST(EstimateRecord, WithoutAnIntervalItsHalfWidthIsOne) {
  PairOutcome o = outcome();
  o.estimate = estimate();
  o.estimate->interval_exists = false;
  o.estimate->label = Label::unstable;
  const Json pair = parse_json(pair_json(o, Point{}));
  EXPECT_EQ(pair["estimate"]["half_width"].number, 1);
  EXPECT_EQ(pair["estimate"]["label"].text, "unstable");
}

TEST(Sentinels, AreOnePerBlockAndAnAbsentBounceIsNull) {
  PairOutcome o = outcome();
  sentinel::Reading one;
  one.clock_read_ns = 7.12345;
  one.involuntary_switches = 2;
  one.waited_ns = 100;
  one.steal_ns = 3;
  one.bounce_ns = 55.5;
  o.sentinels = {one, one};
  o.sentinels[1].bounce_ns.reset();
  const Json pair = parse_json(pair_json(o, Point{}));
  ASSERT_EQ(pair["sentinels"].size(), 2U);
  EXPECT_EQ(pair["sentinels"][0]["clock_read_ns"].number, 7.123);
  EXPECT_EQ(pair["sentinels"][0]["involuntary_switches"].number, 2);
  EXPECT_EQ(pair["sentinels"][0]["steal_ns"].number, 3);
  EXPECT_EQ(pair["sentinels"][0]["bounce_ns"].number, 55.5);
  EXPECT_EQ(pair["sentinels"][1]["bounce_ns"].kind, Json::Kind::null);
  EXPECT_EQ(pair["origin_waited_ns"].number, 200);
}

TEST(Sentinels, AWaitThatIsUnknownInOneBlockIsUnknownInAll) {
  PairOutcome o = outcome();
  o.sentinels.resize(2);
  o.sentinels[0].waited_ns = 100;
  EXPECT_FALSE(parse_json(pair_json(o, Point{})).has("origin_waited_ns"));
}

TEST(BriefPoint, LeavesBatchesAndSentinelsOut) {
  Point point;
  point.detail = Detail::brief;
  PairOutcome o = outcome();
  o.sentinels.resize(2);
  const Json pair = parse_json(pair_json(o, point));
  EXPECT_EQ(pair["batch_ns"].size(), 0U);
  EXPECT_EQ(pair["block_batches"].size(), 0U);
  EXPECT_FALSE(pair.has("sentinels"));
  EXPECT_EQ(pair["payload_forward_bytes"].number, 800) << "the bytes are always there";
}

TEST(PointFrame, HasThePointAndItsParts) {
  Point point;
  point.id = 12;
  point.repeat = 3;
  point.pattern = Pattern::stream;
  point.form = Form::stream;
  point.message_bytes = 65536;
  point.window = 32;
  point.formula = Formula::imb_mpi1;
  const Json frame = parse_json(point_frame(point, {.started_unix_ns = 5,
                                                    .elapsed_ns = 6,
                                                    .pairs = "{\"origin\":0},{\"origin\":2}",
                                                    .witness = "{\"rank\":1}"}));
  EXPECT_EQ(frame["frame"].text, "point");
  EXPECT_EQ(frame["id"].number, 12);
  EXPECT_EQ(frame["repeat"].number, 3);
  EXPECT_EQ(frame["pattern"].text, "stream");
  EXPECT_EQ(frame["form"].text, "stream");
  EXPECT_EQ(frame["message_bytes"].number, 65536);
  EXPECT_EQ(frame["window"].number, 32);
  EXPECT_EQ(frame["formula"].text, "imb-mpi1");
  EXPECT_EQ(frame["started_unix_ns"].number, 5);
  EXPECT_EQ(frame["elapsed_ns"].number, 6);
  ASSERT_EQ(frame["pairs"].size(), 2U);
  EXPECT_EQ(frame["pairs"][1]["origin"].number, 2);
  EXPECT_EQ(frame["witness"][0]["rank"].number, 1);
  EXPECT_FALSE(frame.has("group"));
}

struct OwnKey {
  const char* key;
  Point point;
};

Point with(Pattern pattern) {
  Point point;
  point.pattern = pattern;
  return point;
}
Point threaded(int threads) {
  Point point = with(Pattern::threads);
  point.threads = threads;
  return point;
}
Point parted(int partitions) {
  Point point = with(Pattern::partitioned);
  point.partitions = partitions;
  return point;
}
Point nonblocking() {
  Point point = with(Pattern::allgather);
  point.blocking = false;
  return point;
}

TEST(PointFrame, KeysOfSomePatternsAreThereForThoseOnly) {
  const std::vector<OwnKey> owners = {{"window_kind", with(Pattern::put)},
                                      {"window_kind", with(Pattern::get)},
                                      {"window_kind", with(Pattern::accumulate)},
                                      {"window_kind", with(Pattern::fetch_and_op)},
                                      {"window_kind", with(Pattern::compare_and_swap)},
                                      {"threads", threaded(2)},
                                      {"partitions", parted(4)},
                                      {"order", with(Pattern::ring)},
                                      {"blocking", nonblocking()},
                                      {"load_bytes", with(Pattern::congestion)}};
  for (const OwnKey& owner : owners) {
    const Json frame = parse_json(point_frame(owner.point, {}));
    for (const char* key :
         {"window_kind", "threads", "partitions", "order", "blocking", "load_bytes"}) {
      EXPECT_EQ(frame.has(key), std::string(key) == owner.key) << owner.key << " " << key;
    }
  }
  for (const Point& plain : {with(Pattern::pingpong), threaded(1), parted(1),
                             with(Pattern::allgather), with(Pattern::incast)}) {
    EXPECT_EQ(parse_json(point_frame(plain, {})).size(), 12U) << name_of(plain.pattern);
  }
}

GroupOutcome group_outcome() {
  GroupOutcome o;
  o.stop = Stop::iterations;
  o.operations_per_batch = 4;
  o.batch_ticks = {2'000'500, 1'000'000};  // picoseconds
  o.block_batches = {1, 1};
  o.window_used = 2;
  o.messages_per_operation = 6;
  o.member_ns = {1.23456, 2, 3};
  o.sent_bytes = {8, 16, 1ULL << 50};
  o.received_bytes = {24, 0, 0};
  o.integrity = Integrity::ok;
  return o;
}

TEST(GroupRecord, HasItsMembersAndTheirBytes) {
  Point point = with(Pattern::ring);
  point.members = {4, 0, 9};
  const Json group = parse_json(group_json(group_outcome(), point));
  ASSERT_EQ(group["members"].size(), 3U);
  EXPECT_EQ(group["members"][0].number, 4);
  EXPECT_EQ(group["members"][2].number, 9);
  EXPECT_EQ(group["status"].text, "ok");
  EXPECT_EQ(group["stop"].text, "iterations");
  EXPECT_EQ(group["batch_ns"][0].number, 2000.5) << "of picoseconds";
  EXPECT_EQ(group["messages_per_operation"].number, 6);
  EXPECT_EQ(group["member_ns"][0].number, 1.235);
  EXPECT_EQ(group["sent_bytes"][2].whole(), 1ULL << 50);
  EXPECT_EQ(group["received_bytes"][0].number, 24);
  EXPECT_TRUE(group["exact"].flag);
  EXPECT_EQ(group["integrity"].text, "ok");
  for (const char* key : {"estimate", "overlap", "quiet", "loaded", "formula_value_ns"}) {
    EXPECT_FALSE(group.has(key)) << key;
  }
}

TEST(GroupRecord, HasTheOverlapAndBothPhases) {
  Point point = with(Pattern::congestion);
  point.members = {0, 1};
  GroupOutcome o = group_outcome();
  o.exact = false;
  o.estimate = estimate();
  o.overlap = Overlap{100, 101.00049, 150, 0.51};
  o.quiet = Quantiles{32768, 1, 2, 3, 4};
  o.loaded = Quantiles{7, 10, 20, 30, 40.0006};
  o.formula_value_ns = 9;
  const Json group = parse_json(group_json(o, point));
  EXPECT_FALSE(group["exact"].flag);
  EXPECT_EQ(group["overlap"]["pure_ns"].number, 100);
  EXPECT_EQ(group["overlap"]["compute_ns"].number, 101);
  EXPECT_EQ(group["overlap"]["total_ns"].number, 150);
  EXPECT_EQ(group["overlap"]["share"].number, 0.51);
  EXPECT_EQ(group["quiet"]["samples"].number, 32768);
  EXPECT_EQ(group["quiet"]["p95_ns"].number, 2);
  EXPECT_EQ(group["loaded"]["p50_ns"].number, 10);
  EXPECT_EQ(group["loaded"]["p99_ns"].number, 30);
  EXPECT_EQ(group["loaded"]["max_ns"].number, 40.001);
  EXPECT_EQ(group["formula_value_ns"].number, 9);
  EXPECT_EQ(group["estimate"]["blocks"].number, 12);
}

class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~Pipe() {
    close_reader();
    ::close(ends_[1]);
  }
  int writer() const { return ends_[1]; }
  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }
  std::string read(std::size_t most) const {
    std::string text(most, '\0');
    const ssize_t got = ::read(ends_[0], text.data(), most);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  int ends_[2] = {-1, -1};
};

TEST(FrameSink, WritesOneLineForEachFrame) {
  const Pipe pipe;
  FrameSink sink(pipe.writer());
  sink.write("{}");
  sink.write("{\"a\":1}");
  EXPECT_EQ(pipe.read(64), "{}\n{\"a\":1}\n");
  EXPECT_FALSE(FrameSink::mid_line());
}

TEST(FrameSink, AReaderThatLeftIsAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_reader();
  FrameSink sink(pipe.writer());
  try {
    sink.write("{}");
    FAIL() << "nobody reads";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), "output");
    EXPECT_EQ(failure.status(), ExitStatus::cannot_measure);
    EXPECT_NE(std::string(failure.what()).find("Broken pipe"), std::string::npos);
  }
  EXPECT_FALSE(FrameSink::mid_line()) << "also after an error";
}

TEST(FrameSink, AFrameLongerThanThePipeArrivesWhole) {
  const Pipe pipe;
  const std::string frame(300'000, 'x');
  std::string got;
  std::thread reader([&] {
    while (got.size() < frame.size() + 1) got += pipe.read(65536);
  });
  FrameSink sink(pipe.writer());
  sink.write(frame);
  reader.join();
  EXPECT_EQ(got, frame + '\n');
}

TEST(WriteAll, SaysNoToADescriptorThatIsNone) {
  EXPECT_FALSE(write_all(-1, "x"));
  EXPECT_TRUE(write_all(-1, "")) << "nothing is written everywhere";
}

}  // namespace
}  // namespace wireproof

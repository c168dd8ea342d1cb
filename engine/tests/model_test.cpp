// The model's truth is recovered: latency, gap and switch point within 1 %.
#include <gtest/gtest.h>

#include <cmath>

#include "in_process.hpp"

namespace wireproof {
namespace {

struct World {
  double latency_ns;
  double gap_ns_per_byte;
  double overhead_ns;
  double noise;
  int seed;
};

std::string statement(const World& w) {
  return "wireproof-plan 1\nrun seed=" + std::to_string(w.seed) +
         "\ntransport kind=model\nmodel latency_ns=" + std::to_string(w.latency_ns) +
         " gap_ns_per_byte=" + std::to_string(w.gap_ns_per_byte) +
         " overhead_ns=" + std::to_string(w.overhead_ns) +
         " eager_limit_bytes=16384 rendezvous_ns=3000 noise=" + std::to_string(w.noise) +
         " stall=0.001\n";
}

double measure(const World& w, const std::string& pattern, std::size_t bytes) {
  const auto outcomes =
      run_in_process(statement(w) + "point id=1 pairs=0-1 message_bytes=" + std::to_string(bytes) +
                     " " + pattern + "\n");
  return outcomes.at(0).estimate->median_ns;
}

class ModelTruth : public testing::TestWithParam<World> {};

TEST_P(ModelTruth, HalfRoundTrip) {
  const World& w = GetParam();
  for (const double bytes : {0.0, 1024.0, 16384.0, 16385.0, 1048576.0}) {
    const double truth =
        w.latency_ns + 2 * w.overhead_ns + w.gap_ns_per_byte * bytes + (bytes > 16384 ? 3000 : 0);
    EXPECT_NEAR(measure(w, "pattern=pingpong", static_cast<std::size_t>(bytes)) / truth, 1, 0.01);
  }
}

TEST_P(ModelTruth, StreamShowsTheGap) {
  const World& w = GetParam();
  const double truth = w.gap_ns_per_byte * 1048576 + 3000;
  EXPECT_NEAR(measure(w, "pattern=stream", 1048576) / truth, 1, 0.01);
  EXPECT_NEAR(measure(w, "pattern=exchange", 1048576) / truth, 1, 0.01);
}

TEST_P(ModelTruth, RemoteAccess) {
  const World& w = GetParam();
  const double occupied = w.gap_ns_per_byte * 8;
  EXPECT_NEAR(measure(w, "pattern=put", 8) / (2 * w.latency_ns + w.overhead_ns + occupied), 1,
              0.01);
  EXPECT_NEAR(measure(w, "pattern=get", 8) / (2 * w.latency_ns + 2 * w.overhead_ns + occupied), 1,
              0.01);
}

INSTANTIATE_TEST_SUITE_P(Worlds, ModelTruth,
                         testing::Values(World{1000, 0.08, 0, 0, 1}, World{1500, 0.1, 100, 0.01, 2},
                                         World{7400, 8.5, 200, 0.02, 3},
                                         World{300, 0.05, 20, 0.005, 4}));

constexpr const char* kFaulty =
    "model_fault rank=1 tx=0.8 rx=0.5 latency_ns=700\nmodel_fault rank=2 tx=0.25 latency_ns=40\n";

double measure_faulty(const std::string& point) {
  const World w{1000, 0.1, 50, 0.01, 3};
  return run_in_process(statement(w) + kFaulty + "point id=1 " + point + "\n")
      .at(0)
      .estimate->median_ns;
}

TEST(ModelFault, TheSlowerEndOfEachDirectionDecides) {
  const double whole = 0.1 * 1048576 + 3000;
  const auto slowed = [](double share) { return 0.1 / share * 1048576 + 3000; };
  const std::string stream = "pattern=stream message_bytes=1048576 pairs=";
  EXPECT_NEAR(measure_faulty(stream + "0-1") / slowed(0.5), 1, 0.01);   // its receiving
  EXPECT_NEAR(measure_faulty(stream + "1-0") / slowed(0.8), 1, 0.01);   // its sending
  EXPECT_NEAR(measure_faulty(stream + "2-1") / slowed(0.25), 1, 0.01);  // not the product
  EXPECT_NEAR(measure_faulty(stream + "0-2") / whole, 1, 0.01);
  EXPECT_NEAR(measure_faulty(stream + "0-3") / whole, 1, 0.01);
}

TEST(ModelFault, LatencyCountsForEachFaultyEnd) {
  const std::string pingpong = "pattern=pingpong message_bytes=0 pairs=";
  EXPECT_NEAR(measure_faulty(pingpong + "0-3") / 1100, 1, 0.01);
  EXPECT_NEAR(measure_faulty(pingpong + "0-1") / 1800, 1, 0.01);
  EXPECT_NEAR(measure_faulty(pingpong + "1-2") / 1840, 1, 0.01);
  const std::string bytes = "pattern=pingpong message_bytes=16000 pairs=";
  const double both = (0.1 / 0.5 + 0.1 / 0.8) / 2 * 16000;  // half of the way there and back
  EXPECT_NEAR(measure_faulty(bytes + "0-1") / (1800 + both), 1, 0.01);
}

TEST(ModelFault, RemoteAccessGoesTheWayOfItsBytes) {
  const std::string size = " message_bytes=16000 pairs=";
  EXPECT_NEAR(measure_faulty("pattern=put" + size + "0-1") / (2 * 1700 + 50 + 0.2 * 16000), 1,
              0.01);
  EXPECT_NEAR(measure_faulty("pattern=get" + size + "0-1") / (2 * 1700 + 100 + 0.125 * 16000), 1,
              0.01);
}

TEST(Model, APairMeasuredAgainHasOtherNoise) {
  const std::string point = " pattern=pingpong message_bytes=8 pairs=0-1\n";
  const auto outcomes = run_in_process(statement({1500, 0.1, 100, 0.05, 7}) + "point id=1" + point +
                                       "point id=2" + point);
  EXPECT_NE(outcomes.at(0).batch_ticks, outcomes.at(1).batch_ticks);
}

TEST(Model, TheSameSeedGivesTheSameRun) {
  const World w{1500, 0.1, 100, 0.05, 7};
  EXPECT_EQ(measure(w, "pattern=pingpong", 8), measure(w, "pattern=pingpong", 8));
  World other = w;
  other.seed = 8;
  EXPECT_NE(measure(w, "pattern=pingpong", 8), measure(other, "pattern=pingpong", 8));
}

TEST(Model, MuchNoiseIsNotCalledStable) {
  const auto outcomes = run_in_process(statement({1500, 0.1, 100, 0.9, 5}) +
                                       "policy block_us=50 min_blocks=6 max_batches=40\n"
                                       "point id=1 pattern=pingpong message_bytes=8 pairs=0-1\n");
  EXPECT_NE(outcomes.at(0).estimate->label, Label::stable);
  EXPECT_EQ(outcomes[0].stop, Stop::budget);
}

}  // namespace
}  // namespace wireproof

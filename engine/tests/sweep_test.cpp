// A whole run on the model, frame by frame.
#include "measure/sweep.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include "sweep_run.hpp"
#include "temporary_tree.hpp"

namespace wireproof {
namespace {

using test::run;

std::string kind_of(const std::string& frame) {
  constexpr std::string_view kHead = "{\"frame\":\"";
  return frame.substr(kHead.size(), frame.find('"', kHead.size()) - kHead.size());
}

constexpr const char* kHead =
    "wireproof-plan 1\nrun id=r seed=5\ntransport kind=model\nwitness idle_ms=1\n"
    "model latency_ns=1000 gap_ns_per_byte=0.1\n";

TEST(Sweep, WritesTheFramesInOrder) {
  const RunOutput r =
      run(std::string(kHead) +
          "rank index=0 host=first%22\nfact kind=file path=/proc/sys/kernel/ostype\n"
          "point id=4 pattern=pingpong message_bytes=8 pairs=0-1,3-2\n"
          "point id=2 pattern=stream message_bytes=8 pairs=1-0 repeat=3\n");
  std::string kinds;
  for (const std::string& frame : r.frames) kinds += kind_of(frame) + " ";
  EXPECT_EQ(kinds,
            "open host host host host fact floor floor idle idle idle idle start point start point "
            "total close ");
  EXPECT_EQ(r.status, ExitStatus::ok);
  EXPECT_NE(r.frames[0].find(R"("ranks":4)"), std::string::npos);
  EXPECT_NE(r.frames[0].find(R"("source":"virtual")"), std::string::npos);
  EXPECT_NE(r.frames[1].find(R"("host":"first\"")"), std::string::npos);
  const std::string& point = r.frames[13];
  EXPECT_NE(point.find(R"("id":4)"), std::string::npos);
  EXPECT_NE(point.find(R"("origin":3,"target":2,"status":"ok")"), std::string::npos);
  EXPECT_NE(r.frames[15].find(R"("repeat":3)"), std::string::npos);
  EXPECT_NE(r.frames.back().find(R"("points":2,"failed":0)"), std::string::npos);
}

TEST(Sweep, NumbersOfAPointAgreeWithEachOther) {
  const RunOutput r =
      run(std::string(kHead) + "point id=1 pattern=get message_bytes=8 pairs=0-1\n");
  const std::string point = r.of_kind("point", 0);
  EXPECT_NE(point.find(R"("messages_forward":0)"), std::string::npos) << point;
  EXPECT_NE(point.find(R"("window_kind":"allocate")"), std::string::npos);
  EXPECT_NE(point.find(R"("integrity":"ok")"), std::string::npos);
  EXPECT_EQ(point.find("formula_value_ns"), std::string::npos);
}

TEST(FrameSink, SaysWhenTheDiskIsFull) {
  FILE* full = fopen("/dev/full", "w");
  ASSERT_NE(full, nullptr);
  FrameSink sink(fileno(full));
  EXPECT_THROW(sink.write("{}"), Failure);
  fclose(full);
}

std::size_t longest(const std::vector<std::string>& frames) {
  std::size_t most = 0;
  for (const std::string& frame : frames) {
    if (kind_of(frame) == "point") most = std::max(most, frame.size());
  }
  return most;
}

TEST(Sweep, ABriefPointLeavesTheBatchesOut) {
  const std::string point = "point id=1 pattern=pingpong message_bytes=8 pairs=0-1 detail=";
  const RunOutput full = run(std::string(kHead) + point + "full\n");
  const RunOutput brief = run(std::string(kHead) + point + "brief\n");
  const std::string frame = brief.of_kind("point", 0);
  for (const char* part :
       {R"("batch_ns":[])", R"("block_batches":[])", R"("median_ns":)",
        R"("payload_forward_bytes":)", R"("integrity":"ok")", R"("witness":[{)"}) {
    EXPECT_NE(frame.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(frame.find("sentinels"), std::string::npos);
  EXPECT_LT(2 * longest(brief.frames), longest(full.frames));
}

TEST(Sweep, ABriefWitnessAlwaysHasTheClaimedBytes) {
  const test::TemporaryTree tree;
  for (const char* nic : {"hsn0", "eth0"}) {
    const std::string folder = std::string("sys/class/net/") + nic + "/";
    tree.write(folder + "ifindex", "2\n");
    for (const char* name : {"tx_bytes", "rx_bytes", "tx_packets"}) {
      tree.write(folder + "statistics/" + name, "5\n");
    }
  }
  const std::string text =
      "wireproof-plan 1\nrun id=r seed=5\ntransport kind=model\nwitness idle_ms=1 root=" +
      tree.root() +
      "\nmodel latency_ns=1000 gap_ns_per_byte=0.1\nrank index=0 host=a nic=hsn0\n"
      "point id=1 pattern=pingpong message_bytes=8 pairs=0-1 detail=";
  const RunOutput full = run(text + "full\n");
  const RunOutput brief = run(text + "brief\n");
  const std::string frame = brief.of_kind("point", 0);
  EXPECT_NE(frame.find(R"("net/hsn0/tx_bytes":[5,5])"), std::string::npos) << frame;
  EXPECT_NE(frame.find(R"("net/hsn0/rx_bytes":[5,5])"), std::string::npos);
  EXPECT_EQ(frame.find("tx_packets"), std::string::npos);  // did not change, and counts no bytes
  EXPECT_EQ(frame.find("net/eth0"), std::string::npos);    // nobody claimed it
  EXPECT_NE(full.of_kind("point", 0).find(R"("net/hsn0/tx_bytes":[5,5])"), std::string::npos);
  EXPECT_EQ(full.of_kind("point", 0).find("net/eth0"), std::string::npos);
  EXPECT_NE(full.of_kind("total", 0).find(R"("net/eth0/tx_bytes":[5,5])"), std::string::npos);
}

TEST(Sweep, ACounterAtItsEndIsToldThoughItStandsStill) {
  const test::TemporaryTree tree;
  tree.write("sys/class/infiniband/old/ports/1/counters/port_xmit_data", "4294967295\n");
  tree.write("sys/class/infiniband/old/ports/1/counters/port_rcv_data", "4294967294\n");
  const RunOutput r =
      run("wireproof-plan 1\ntransport kind=model\nwitness idle_ms=1 root=" + tree.root() +
          "\nmodel latency_ns=1000 gap_ns_per_byte=0.1\n"
          "point id=1 pattern=pingpong message_bytes=8 pairs=0-1\n");
  const std::string point = r.of_kind("point", 0);
  EXPECT_NE(point.find(R"(port_xmit_data":[4294967295,4294967295])"), std::string::npos) << point;
  EXPECT_EQ(point.find("port_rcv_data"), std::string::npos);
}

/// Peak memory proves nothing (other tests have raised it); memory in use does.
std::size_t heap_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

TEST(Sweep, AThousandPartnersLeaveNothingBehind) {
  std::string points;
  for (int i = 1; i <= 1000; ++i) {
    points += "point id=" + std::to_string(i) + " pattern=stream message_bytes=4096 pairs=0-" +
              std::to_string(i) + " iterations=64 detail=brief\n";
  }
  const Plan plan = parse_plan(std::string(kHead) +
                               "policy warmup_min_us=1 warmup_min_operations=1"
                               " min_blocks=1 block_us=1\n" +
                               points);
  const auto transport = open_model({});
  transport->configure(plan);
  std::size_t after_ten = 0;
  for (const Point& point : plan.points) {
    const auto [origin, target] = point.pairs.at(0);
    const EndContext context{
        .point = &point, .policy = &plan.policy, .origin = origin, .target = target};
    transport->run_pair(origin, target, test_clock(),
                        {.originate = [&](Pair& pair) { Origin(pair, context).run(); },
                         .answer = [&](Pair& pair) { serve_target(pair, context); }});
    if (point.id == 10) after_ten = heap_in_use();
  }
  EXPECT_LT(heap_in_use(), after_ten + 256 * 1024);  // 990 pairs: some 100 bytes each
}

}  // namespace
}  // namespace wireproof

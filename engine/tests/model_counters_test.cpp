// Counter files that the model updates, and a whole run that reads them: each root is a machine.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/failure.hpp"
#include "sweep_run.hpp"
#include "temporary_tree.hpp"
#include "transport/model/counters.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;

constexpr const char* kXmit = "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data";
constexpr const char* kRecv = "sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data";

TEST(CounterValue, CountsBytesAndMessagesInItsUnit) {
  const ModelTally tally{.tx_bytes = 4000, .rx_bytes = 80, .tx_messages = 4, .rx_messages = 3};
  ModelCounter c;
  c.start = 7;
  c.tx_byte = 0.25;
  c.tx_message = 7.5;
  c.rx_message = 2;
  EXPECT_EQ(counter_value(c, tally, 0), 7U + 1000 + 30 + 6);
  c.rx_byte = 1;
  EXPECT_EQ(counter_value(c, tally, 0), 7U + 1000 + 30 + 6 + 80);
}

TEST(CounterValue, WrapsOrPegsAtItsWidth) {
  const ModelTally tally{.tx_bytes = 10};
  ModelCounter c;
  c.start = 4294967290;
  c.width = 32;
  c.tx_byte = 1;
  EXPECT_EQ(counter_value(c, tally, 0), 4U);
  c.pegs = true;
  EXPECT_EQ(counter_value(c, tally, 0), 4294967295U);
  c.start = UINT64_MAX - 5;
  c.width = 64;
  EXPECT_EQ(counter_value(c, tally, 0), UINT64_MAX);
  c.pegs = false;
  EXPECT_EQ(counter_value(c, tally, 0), 4U);
}

TEST(CounterValue, OtherTrafficHasItsTime) {
  ModelCounter c;
  c.per_second = 1000;
  EXPECT_EQ(counter_value(c, {}, 500), 500U);
  c.from_ms = 200;
  EXPECT_EQ(counter_value(c, {}, 100), 0U);
  EXPECT_EQ(counter_value(c, {}, 500), 300U);
  c.to_ms = 300;
  EXPECT_EQ(counter_value(c, {}, 500), 100U);
}

std::string head(const TemporaryTree& tree) {
  return "wireproof-plan 1\nrun id=r seed=5\ntransport kind=model\nwitness idle_ms=1 root=" +
         tree.root() +
         "/{rank}\nmodel latency_ns=1000 gap_ns_per_byte=0.1\n"
         "rank index=0 host=a nic=mlx5_0\nrank index=1 host=b nic=mlx5_0\n";
}

void add_host(const TemporaryTree& tree, const std::string& rank, const std::string& boot) {
  tree.write(rank + "/proc/sys/kernel/random/boot_id", boot + "\n");
  tree.write(rank + "/netns", "1\n");
  tree.write(rank + "/" + kXmit, "0\n");
  tree.write(rank + "/" + kRecv, "0\n");
}

std::string counters_of(int rank, const std::string& rest = "") {
  const std::string line = "model_counter rank=" + std::to_string(rank) + " path=";
  return line + kXmit + " tx_byte=0.25" + rest + "\n" + line + kRecv + " rx_byte=0.25" + rest +
         "\n";
}

constexpr const char* kStream =
    "point id=1 pattern=stream message_bytes=65536 iterations=64 pairs=0-1\n";

TEST(ModelCounters, EachRootIsAMachineOfItsOwn) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  const RunOutput r = test::run(head(tree) + counters_of(0) + counters_of(1) + kStream);
  EXPECT_NE(r.of_kind("host", 0).find(R"("boot_id":"boot-a")"), std::string::npos);
  EXPECT_NE(r.of_kind("host", 1).find(R"("boot_id":"boot-b")"), std::string::npos);
  const std::string point = r.of_kind("point", 0);
  const std::uint64_t payload = r.number(point, "payload_forward_bytes");
  const std::string sent =
      "\"ib/mlx5_0/1/counters/port_xmit_data\":[0," + std::to_string(payload / 4) + "]";
  const std::string received =
      "\"ib/mlx5_0/1/counters/port_rcv_data\":[0," + std::to_string(payload / 4) + "]";
  EXPECT_NE(point.find(sent), std::string::npos) << point;
  EXPECT_NE(point.find(received), std::string::npos) << point;
  EXPECT_EQ(point.find("shared_with"), std::string::npos);
  EXPECT_NE(point.find(R"("quiet":{"interval_ns":)"), std::string::npos);
  EXPECT_NE(r.of_kind("total", 0).find(sent), std::string::npos);
  EXPECT_NE(r.of_kind("total", 1).find(received), std::string::npos);
}

TEST(ModelCounters, RanksOfOneMachineShareItsReader) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-a");
  const RunOutput r = test::run(head(tree) + counters_of(0) + kStream);
  EXPECT_NE(r.of_kind("point", 0).find(R"("shared_with":0)"), std::string::npos);
  EXPECT_EQ(r.of_kind("total", 1), "");
}

TEST(ModelCounters, LateOnesAreWaitedForOnce) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  const std::string late = " refresh_ms=300";
  const RunOutput r = test::run(head(tree) + counters_of(0, late) + counters_of(1, late) + kStream);
  const std::string total = r.of_kind("total", 0);
  const std::uint64_t payload = r.number(r.of_kind("point", 0), "payload_forward_bytes");
  EXPECT_NE(total.find("[0," + std::to_string(payload / 4) + "]"), std::string::npos) << total;
  EXPECT_GT(r.number(total, "settled_ns"), 0U) << "learnt: nobody has said how late they are";
  const std::string tail = total.substr(std::min(total.find(R"("tail":)"), total.size()));
  EXPECT_EQ(r.number(tail, "ib/mlx5_0/1/counters/port_xmit_data"), payload / 4) << total;
  EXPECT_EQ(tail.rfind("port_xmit_data"), tail.find("port_xmit_data")) << "late, and no flow";
}

TEST(ModelCounters, ADriverThatIsKnownToBeLateIsWaitedForAsLongAsThePlanSays) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  std::string plan = head(tree);
  const std::size_t place = plan.find("witness ") + 8;
  ASSERT_NE(place, std::string::npos + 8) << plan;
  plan.insert(place, "late=*:1700 ");
  const std::string late = " refresh_ms=1600";
  const RunOutput r = test::run(plan + counters_of(0, late) + counters_of(1, late) + kStream);
  EXPECT_GE(r.number(r.of_kind("total", 0), "settled_ns"), 1'700'000'000U);
  const RunOutput quick = test::run(plan + counters_of(0) + counters_of(1) + kStream);
  EXPECT_GE(quick.number(quick.of_kind("total", 0), "settled_ns"), 1'700'000'000U)
      << "what a late driver's counters show is no proof that all is shown";
}

TEST(ModelCounters, NothingIsWaitedForWhereCountersAreUpToDate) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  const RunOutput r = test::run(head(tree) + counters_of(0) + counters_of(1) + kStream);
  EXPECT_EQ(r.number(r.of_kind("total", 0), "settled_ns"), 0U);
}

TEST(ModelCounters, OtherTrafficIsSeenInTheQuietWindows) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  std::string plan = head(tree) + counters_of(0, " per_second=1e9");
  std::string text = "NIC statistics:\n";
  for (const std::string name : {"tx_bytes_phy", "mac_tx_total_oct_num", "tx_prio_3_bytes"}) {
    text += "     " + name + ": 5\n";
    plan += "model_counter rank=0 path=ethtool/hsn0#" + name + " per_second=1e9\n";
  }
  tree.write("0/ethtool/hsn0", text);
  const RunOutput r = test::run(plan + kStream);
  const std::string point = r.of_kind("point", 0);
  const std::size_t quiet = point.find(R"("quiet":)");
  ASSERT_NE(quiet, std::string::npos);
  for (const char* name : {"ib/mlx5_0/1/counters/port_xmit_data", "ethtool/hsn0/tx_bytes_phy",
                           "ethtool/hsn0/mac_tx_total_oct_num", "ethtool/hsn0/tx_prio_3_bytes"})
    EXPECT_GT(r.number(point.substr(quiet), name), 1'000'000U) << name;
}

TEST(ModelCounters, AFlowThatGoesOnIsReadASecondTimeAfterTheWait) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  std::string plan = head(tree);
  plan.insert(plan.find("witness ") + 8, "late=*:1000 ");
  const RunOutput quiet = test::run(plan + counters_of(0) + kStream);
  EXPECT_EQ(quiet.of_kind("total", 0).find("tail"), std::string::npos) << "nobody waits for it";
  const RunOutput loud = test::run(plan + counters_of(0, " per_second=1e9 from_ms=600") + kStream);
  const std::string total = loud.of_kind("total", 0);
  const std::string tail = total.substr(std::min(total.find(R"("tail":)"), total.size()));
  const std::size_t second = tail.rfind("interval_ns");
  ASSERT_GT(second, tail.find("interval_ns")) << total;
  for (const std::string& window : {tail, tail.substr(second - 1)}) {
    EXPECT_GE(loud.number(window, "interval_ns"), 1'000'000'000U);
    EXPECT_GT(loud.number(window, "ib/mlx5_0/1/counters/port_xmit_data"), 100'000'000U);
  }
}

TEST(ModelCounters, DriverStatisticsAreOneFile) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  tree.write("0/ethtool/hsn0",
             "NIC statistics:\n     tx_bytes_phy: 5\n     rx_bytes_phy: 6\n     other: 7\n");
  const RunOutput r =
      test::run(head(tree) +
                "model_counter rank=0 path=ethtool/hsn0#tx_bytes_phy start=100 tx_byte=1\n"
                "model_counter rank=0 path=ethtool/hsn0#rx_bytes_phy\n" +
                kStream);
  const std::string point = r.of_kind("point", 0);
  const std::uint64_t payload = r.number(point, "payload_forward_bytes");
  const std::string end = std::to_string(100 + payload);
  EXPECT_NE(point.find("\"ethtool/hsn0/tx_bytes_phy\":[100," + end + "]"), std::string::npos);
  EXPECT_EQ(
      read_bounded(tree.path("0/ethtool/hsn0"), 1000).text,
      "NIC statistics:\n     tx_bytes_phy: " + end + "\n     rx_bytes_phy: 0\n     other: 7\n");
}

TEST(ModelCounters, PacketsOfRdmaInSoftwareAreToldHoweverFew) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  const std::string packets = "sys/class/infiniband/rxe0/ports/1/hw_counters/";
  tree.write("0/" + packets + "sent_pkts", "7\n");
  tree.write("0/" + packets + "rcvd_pkts", "9\n");
  tree.write("0/" + packets + "link_downed", "9\n");
  const RunOutput r = test::run(
      head(tree) + "model_counter rank=0 path=" + packets + "sent_pkts start=7 tx_message=1\n" +
      "point id=1 pattern=stream message_bytes=65536 iterations=64 pairs=0-1 detail=brief\n");
  const std::string idle = r.of_kind("idle", 0);
  EXPECT_NE(idle.find(R"("ib/rxe0/1/hw_counters/sent_pkts":7)"), std::string::npos) << idle;
  EXPECT_NE(idle.find(R"("ib/rxe0/1/hw_counters/rcvd_pkts":9)"), std::string::npos);
  EXPECT_EQ(idle.find("link_downed"), std::string::npos);
  const std::string point = r.of_kind("point", 0);
  EXPECT_NE(point.find(R"("ib/rxe0/1/hw_counters/sent_pkts":[7,)"), std::string::npos) << point;
  EXPECT_EQ(point.find("rcvd_pkts"), std::string::npos);  // did not change, as `standing` shows
}

TEST(ModelCounters, AGroupMovesThemToo) {
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  add_host(tree, "1", "boot-b");
  const RunOutput r = test::run(head(tree) + counters_of(0) + counters_of(1) +
                                "point id=1 pattern=ring message_bytes=4096 members=0:1\n");
  EXPECT_GT(*parse_unsigned(read_line(tree.path(std::string("0/") + kXmit))), 4096U / 4);
}

class RefusedCounter : public testing::TestWithParam<const char*> {};

TEST_P(RefusedCounter, IsABadPlan) {
  TemporaryTree outside;
  outside.write("victim", "0\n");
  TemporaryTree tree;
  add_host(tree, "0", "boot-a");
  tree.link("0/out", outside.path("victim"));
  tree.link("0/folder", outside.root());
  tree.link("0/inside", kXmit);
  ASSERT_EQ(::mkfifo(tree.path("0/fifo").c_str(), 0600), 0);
  tree.write("0/ethtool/hsn0", "     x: 1\n");
  EXPECT_THROW(test::run(head(tree) + "model_counter rank=0 path=" + GetParam() + "\n" + kStream),
               Failure);
  EXPECT_EQ(read_line(outside.path("victim")), "0");
  EXPECT_FALSE(std::filesystem::exists(tree.path("0/none")));
}

INSTANTIATE_TEST_SUITE_P(Paths, RefusedCounter,
                         testing::Values("none", "out", "folder/victim", "inside", "fifo",
                                         "sys/class", "../1/x", "ethtool/hsn0#y",
                                         "ethtool/none#x"));

}  // namespace
}  // namespace wireproof

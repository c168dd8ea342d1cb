// Counters as text of the kernel and of ethtool, snapshots and their differences.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>

#include "json_value.hpp"
#include "temporary_tree.hpp"
#include "witness/device_counters.hpp"
#include "witness/file_counters.hpp"
#include "witness/frames.hpp"
#include "witness/protocol_counters.hpp"
#include "witness/reader.hpp"
#include "witness/snapshot.hpp"

namespace wireproof::witness {
namespace {

using test::Json;
using test::parse_json;
using test::TemporaryTree;

using Values = std::map<std::string, std::uint64_t>;

Values values_of(const NameTable& names, const Snapshot& snapshot) {
  Values found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const auto value = snapshot.at(i)) found[std::string(names.name(i))] = *value;
  }
  return found;
}

TEST(NameTable, ANameHasOneNumberForGood) {
  NameTable names;
  const std::size_t first = names.index("net/eth0/tx_bytes");
  const std::string_view kept = names.name(first);
  for (int i = 0; i < 10'000; ++i) names.index("net/eth" + std::to_string(i) + "/rx_bytes");
  EXPECT_EQ(names.index("net/eth0/tx_bytes"), first);
  EXPECT_EQ(kept, "net/eth0/tx_bytes") << "views stay valid";
  EXPECT_EQ(names.size(), 10'001U);
  EXPECT_EQ(names.index("net/eth9/rx_bytes"), 10U);
}

TEST(Snapshot, WhatWasNotReadIsNothing) {
  Snapshot snapshot;
  EXPECT_EQ(snapshot.at(0), std::nullopt);
  snapshot.set(5, 7);
  EXPECT_EQ(snapshot.at(5), 7U);
  EXPECT_EQ(snapshot.at(4), std::nullopt);
  EXPECT_EQ(snapshot.at(6), std::nullopt);
  snapshot.set(5, std::nullopt);
  EXPECT_EQ(snapshot.at(5), std::nullopt);
}

TEST(Snapshot, ItsTimeIsTheMiddleOfItsReading) {
  Snapshot snapshot;
  snapshot.started_ns = 1'000;
  snapshot.finished_ns = 3'001;
  EXPECT_EQ(snapshot.middle_ns(), 2'000);
  snapshot.started_ns = std::numeric_limits<std::int64_t>::max() - 10;
  snapshot.finished_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(snapshot.middle_ns(), std::numeric_limits<std::int64_t>::max() - 5);
}

struct Kind {
  const char* name;
  bool bytes;
};
class Kinds : public testing::TestWithParam<Kind> {};
TEST_P(Kinds, OfCountersAreKnownByTheirNames) {
  EXPECT_EQ(tells_bytes(GetParam().name), GetParam().bytes);
}
INSTANTIATE_TEST_SUITE_P(
    Names, Kinds,
    testing::Values(Kind{"net/eth0/rx_bytes", true}, Kind{"net/eth0/tx_bytes", true},
                    Kind{"net/tx_bytes/rx_packets", false}, Kind{"net/eth0/bytes", false},
                    Kind{"ib/mlx5_0/1/counters/port_xmit_data", true},
                    Kind{"ib/mlx5_0/1/counters/port_rcv_data", true},
                    Kind{"ib/mlx5_0/1/counters/port_xmit_packets", false},
                    Kind{"ib/mlx5_0/1/counters/port_rcv_errors", false},
                    Kind{"ib/irdma0/hw_counters/ip6InOctets", true},
                    Kind{"cxi/cxi0/hni_sts_tx_ok_octets", true},
                    Kind{"cxi/cxi0/hni_tx_ok_64", false},
                    Kind{"cxi/cxi0/parbs_tarb_pi_posted_pkts", true},
                    Kind{"cxi/cxi0/hni_pcs_corrected_cw", false},
                    Kind{"ethtool/hsn0/rx_bytes_phy", false}, Kind{"ethtool/hsn0/tx_bytes", true}));

TEST(ProcNetDevText, AnInterfaceWithoutColumnsIsSeenAndHasNoValue) {
  NameTable names;
  Snapshot snapshot;
  EXPECT_EQ(parse_proc_net_dev("eth0:\n", names, snapshot), std::vector<std::string>{"eth0"});
  EXPECT_EQ(values_of(names, snapshot), Values{});
}

TEST(ProcNetDevText, AnAliasKeepsItsColon) {
  NameTable names;
  Snapshot snapshot;
  EXPECT_EQ(parse_proc_net_dev("  eth0:1: 7 8\n", names, snapshot),
            std::vector<std::string>{"eth0:1"});
  EXPECT_EQ(values_of(names, snapshot),
            (Values{{"net/eth0:1/rx_bytes", 7}, {"net/eth0:1/rx_packets", 8}}));
}

TEST(ProcNetDevText, AColumnThatIsNoNumberIsUnreadable) {
  NameTable names;
  Snapshot snapshot;
  parse_proc_net_dev("eth0: 18446744073709551615 x 3\n", names, snapshot);
  EXPECT_EQ(values_of(names, snapshot),
            (Values{{"net/eth0/rx_bytes", UINT64_MAX}, {"net/eth0/rx_errors", 3}}));
}

TEST(ProcNetDevText, SixteenColumnsGiveElevenStatisticsAndNoSum) {
  NameTable names;
  Snapshot snapshot;
  parse_proc_net_dev("e: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n", names, snapshot);
  const Values values = values_of(names, snapshot);
  EXPECT_EQ(values.at("net/e/rx_fifo_errors"), 5U);
  EXPECT_EQ(values.at("net/e/multicast"), 8U);
  EXPECT_EQ(values.at("net/e/tx_packets"), 10U);
  EXPECT_EQ(values.at("net/e/tx_dropped"), 12U);
  EXPECT_EQ(values.at("net/e/collisions"), 14U);
  EXPECT_FALSE(values.contains("net/e/rx_dropped"));
  EXPECT_FALSE(values.contains("net/e/rx_frame_errors"));
}

Values ethtool(std::string_view text) {
  NameTable names;
  Snapshot snapshot;
  parse_ethtool_text(text, "hsn0", names, snapshot);
  return values_of(names, snapshot);
}

TEST(EthtoolText, IsReadAsEthtoolPrintsIt) {
  EXPECT_EQ(ethtool("NIC statistics:\n     rx_packets: 12\n     tx_bytes_phy: 34\n"),
            (Values{{"ethtool/hsn0/rx_packets", 12}, {"ethtool/hsn0/tx_bytes_phy", 34}}));
}

TEST(EthtoolText, NamesMayHoldColonsAndBlanks) {
  EXPECT_EQ(ethtool(" rx[0]: packets: 1\n [0]: tx drops: 2\n"),
            (Values{{"ethtool/hsn0/rx[0]: packets", 1}, {"ethtool/hsn0/[0]: tx drops", 2}}));
}

TEST(EthtoolText, WhatIsNoNumberIsNoCounter) {
  EXPECT_EQ(ethtool("NIC statistics:\n a: -1\n b: \n c: 1.5\n d: x\n : 7\n e 8\n\n"), Values{});
}

TEST(EthtoolText, TheLastLineNeedsNoNewline) {
  EXPECT_EQ(ethtool("a: 1"), (Values{{"ethtool/hsn0/a", 1}}));
}

TEST(EthtoolText, AnEndlessOneIsBounded) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "s" + std::to_string(i) + ": 1\n";
  EXPECT_LT(ethtool(text).size(), 100'000U);
}

TEST(ProtocolText, EveryTakenNameIsOfItsOwnPairOfLines) {
  NameTable names;
  Snapshot snapshot;
  parse_protocol_counters(
      "TcpExt: SyncookiesSent TCPTimeouts TCPLostRetransmit TCPSACKReorder TCPDSACKRecv\n"
      "TcpExt: 1 2 3 10 11\n"
      "IpExt: InNoRoutes InECTPkts\n"
      "IpExt: 4 5\n"
      "Udp: InDatagrams NoPorts InErrors OutDatagrams\n"
      "Udp: 6 7 8 9\n",
      names, snapshot);
  EXPECT_EQ(values_of(names, snapshot), (Values{{"ip/TcpExt/TCPTimeouts", 2},
                                                {"ip/TcpExt/TCPLostRetransmit", 3},
                                                {"ip/TcpExt/TCPSACKReorder", 10},
                                                {"ip/TcpExt/TCPDSACKRecv", 11},
                                                {"ip/IpExt/InECTPkts", 5},
                                                {"ip/Udp/InDatagrams", 6},
                                                {"ip/Udp/InErrors", 8},
                                                {"ip/Udp/OutDatagrams", 9}}));
}

TEST(ProtocolText, MoreNamesThanValuesEndsWithTheValues) {
  NameTable names;
  Snapshot snapshot;
  parse_protocol_counters("Tcp: InSegs OutSegs InErrs\nTcp: 1 2\n", names, snapshot);
  EXPECT_EQ(values_of(names, snapshot), (Values{{"ip/Tcp/InSegs", 1}, {"ip/Tcp/OutSegs", 2}}));
}

constexpr const char* kData = "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data";

TEST(Differences, OfACounterThatStandsStillThereIsNone) {
  const TemporaryTree tree;
  tree.write(kData, "7\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_TRUE(delta.changed.empty());
  EXPECT_TRUE(delta.unreadable.empty());
  EXPECT_GE(delta.interval_ns, 0);
}

TEST(Differences, ACounterThatWentBackIsShownAsItIs) {
  const TemporaryTree tree;
  tree.write(kData, "900\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write(kData, "5\n");
  const Delta delta = reader.delta(before, reader.read());
  ASSERT_EQ(delta.changed.size(), 1U);
  EXPECT_EQ(delta.changed[0].before, 900U);
  EXPECT_EQ(delta.changed[0].after, 5U);
}

TEST(Differences, AHeaderHasNoCounters) {
  const TemporaryTree tree;
  tree.write(kData, "1\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write(kData, "2\n");
  const Delta header = reader.header(before, reader.read());
  EXPECT_TRUE(header.changed.empty());
  EXPECT_EQ(header.source, "sysfs");
}

TEST(Differences, ByBytesOnlyBytesAreRead) {
  const TemporaryTree tree;
  tree.write(kData, "1\n");
  tree.write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "1\n");
  Reader reader(tree.root());
  const Snapshot all = reader.read();
  const Snapshot bytes = reader.read(Depth::bytes);
  std::size_t read_all = 0;
  std::size_t read_bytes = 0;
  for (std::size_t i = 0; i < reader.counter_count(); ++i) {
    read_all += all.at(i).has_value() ? 1U : 0U;
    read_bytes += bytes.at(i).has_value() ? 1U : 0U;
  }
  EXPECT_EQ(read_all, 2U);
  EXPECT_EQ(read_bytes, 1U);
}

Json written(const std::function<void(JsonWriter&)>& work) {
  JsonWriter json;
  work(json);
  return parse_json(json.take());
}

Delta delta_of(std::uint64_t before, std::uint64_t after) {
  Delta delta;
  delta.interval_ns = 1.5e6;
  delta.source = "netlink";
  delta.changed = {{"net/eth0/tx_bytes", before, after}};
  delta.unreadable = {"net/eth0/rx_bytes"};
  return delta;
}

TEST(WitnessRecords, OfAPointHaveBothReadings) {
  const Json found =
      written([](JsonWriter& json) { write_point(json, 3, delta_of(5, UINT64_MAX)); });
  EXPECT_EQ(found.keys,
            (std::vector<std::string>{"rank", "interval_ns", "source", "counters", "unreadable"}));
  EXPECT_EQ(found["rank"].number, 3);
  EXPECT_EQ(found["interval_ns"].number, 1.5e6);
  EXPECT_EQ(found["source"].text, "netlink");
  const Json& counter = found["counters"]["net/eth0/tx_bytes"];
  EXPECT_EQ(counter[0].whole(), 5U);
  EXPECT_EQ(counter[1].whole(), UINT64_MAX) << "all 64 bits";
  EXPECT_EQ(found["unreadable"][0].text, "net/eth0/rx_bytes");
}

TEST(WitnessRecords, QuietWindowsStandBesideThePoint) {
  const Quiet quiet{2e6, {{"net/eth0/tx_bytes", -7}}};
  const Json found =
      written([&](JsonWriter& json) { write_point(json, 0, delta_of(1, 2), &quiet); });
  EXPECT_EQ(found["quiet"]["interval_ns"].number, 2e6);
  EXPECT_EQ(found["quiet"]["counters"]["net/eth0/tx_bytes"].number, -7);
}

TEST(WitnessRecords, ASharedNamespaceNamesItsReader) {
  const Json found = written([](JsonWriter& json) { write_shared(json, 5, 2, 10); });
  EXPECT_EQ(found.keys, (std::vector<std::string>{"rank", "interval_ns", "shared_with"}));
  EXPECT_EQ(found["shared_with"].number, 2);
}

Json fields(const std::function<void(JsonWriter&)>& work) {
  return written([&](JsonWriter& json) {
    json.begin_object();
    work(json);
    json.end_object();
  });
}

struct Difference {
  std::uint64_t before;
  std::uint64_t after;
  const char* written;
};
class IdleDifferences : public testing::TestWithParam<Difference> {};
TEST_P(IdleDifferences, AreSigned) {
  const Json found = fields([](JsonWriter& json) {
    write_idle_fields(json, 0, delta_of(GetParam().before, GetParam().after), {});
  });
  EXPECT_EQ(found["counters"]["net/eth0/tx_bytes"].digits, GetParam().written);
}
INSTANTIATE_TEST_SUITE_P(Counters, IdleDifferences,
                         testing::Values(Difference{5, 12, "7"}, Difference{12, 5, "-7"},
                                         Difference{0, INT64_MAX, "9223372036854775807"},
                                         Difference{UINT64_MAX, 0, "1"},
                                         Difference{UINT64_MAX - 2, 4, "7"}));

TEST(WitnessRecords, OfIdleHaveWhatStandsStill) {
  const Json found = fields([](JsonWriter& json) {
    write_idle_fields(json, 1, delta_of(1, 2), {{"net/eth1/rx_bytes", UINT64_MAX}});
  });
  EXPECT_EQ(found["standing"]["net/eth1/rx_bytes"].whole(), UINT64_MAX);
}

TEST(WitnessRecords, OfTheTotalHaveHowLongItSettled) {
  const Json found =
      fields([](JsonWriter& json) { write_total_fields(json, 1, delta_of(1, 2), 1.5e9, {}); });
  EXPECT_EQ(found["settled_ns"].number, 1.5e9);
  EXPECT_EQ(found["counters"]["net/eth0/tx_bytes"][1].number, 2);
}

TEST(ReaderOfRanks, UnknownHostsReadForThemselves) {
  const HostIdentity unknown;
  const HostIdentity half{"boot", 0};
  EXPECT_FALSE(unknown.known());
  EXPECT_FALSE(half.known());
  const std::vector<HostIdentity> hosts = {unknown, unknown, half, half};
  for (int rank = 0; rank < 4; ++rank) EXPECT_TRUE(is_reader(hosts, rank)) << rank;
}

TEST(ReaderOfRanks, KernelAndNamespaceBothCount) {
  const std::vector<HostIdentity> hosts = {{"a", 1}, {"a", 2}, {"b", 1}, {"a", 1}, {"b", 1}};
  EXPECT_EQ(reader_of(hosts, 0), 0);
  EXPECT_EQ(reader_of(hosts, 1), 1) << "another namespace of the same kernel";
  EXPECT_EQ(reader_of(hosts, 2), 2) << "the same number on another kernel";
  EXPECT_EQ(reader_of(hosts, 3), 0);
  EXPECT_EQ(reader_of(hosts, 4), 2);
}

}  // namespace
}  // namespace wireproof::witness

// The watch: its options, its frames, and the kernel's protocol counters.
#include "measure/watch.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/failure.hpp"
#include "measure/watch_writer.hpp"
#include "tests/temporary_tree.hpp"
#include "witness/protocol_counters.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;
using witness::Depth;

constexpr const char* kXmit = "sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data";
constexpr const char* kErrors = "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error";

WatchOptions parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "watch");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return parse_watch_options(static_cast<int>(argv.size()), argv.data());
}

TEST(WatchOptions, DefaultsAndValues) {
  EXPECT_EQ(parsed({}).interval_ms, 100);
  EXPECT_EQ(parsed({"--interval-ms", "25", "--seconds", "9"}).interval_ms, 25);
  EXPECT_EQ(parsed({"--interval-ms", "25", "--seconds", "9"}).seconds, 9);
}

TEST(WatchOptions, WhatCannotBeIsRefused) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"--interval-ms"},
                                             {"--interval-ms", "0"},
                                             {"--interval-ms", "-1"},
                                             {"--interval-ms", "1e3"},
                                             {"--interval-ms", "60001"},
                                             {"--seconds", "99999999999999999999"},
                                             {"--forever", "1"}}) {
    EXPECT_THROW(parsed(words), Failure) << words.front();
  }
}

std::string without_time(std::string line) {
  const std::size_t from = line.find("\"t_ns\":");
  const std::size_t to = line.find(',', from);
  return line.erase(from, to - from + 1);
}

TEST(WatchWriter, TellsWhatChangedAndWhatWasLost) {
  TemporaryTree tree;
  tree.write(kXmit, "1000\n");
  tree.write(kErrors, "7\n");
  witness::Reader reader(tree.root());
  WatchWriter writer(reader);
  const auto line = [&](Depth depth, int asked) {
    return without_time(writer.reading(reader.read(depth), depth, asked));
  };
  const std::string head = R"({"frame":"reading","source":"sysfs","counters":{)";
  EXPECT_EQ(line(Depth::everything, 0), head + R"("ib/mlx5_0/1/counters/port_xmit_data":1000,)" +
                                            R"("ib/mlx5_0/1/counters/symbol_error":7}})");
  EXPECT_EQ(line(Depth::bytes, 0), head + "}}");
  tree.write(kXmit, "5000\n");
  tree.write(kErrors, "8\n");
  EXPECT_EQ(line(Depth::bytes, 0), head + R"("ib/mlx5_0/1/counters/port_xmit_data":5000}})");
  EXPECT_EQ(line(Depth::everything, 3),
            R"({"frame":"reading","asked":3,"source":"sysfs","counters":{)"
            R"("ib/mlx5_0/1/counters/symbol_error":8}})");
  tree.remove(kErrors);
  EXPECT_EQ(line(Depth::everything, 4),
            R"({"frame":"reading","asked":4,"source":"sysfs","counters":{},)"
            R"("lost":["ib/mlx5_0/1/counters/symbol_error"]})");
}

TEST(TellsBytes, TrafficAndNoTrouble) {
  for (const char* name : {"net/eth0/tx_bytes", "ib/hfi1_0/1/counters/port_rcv_data",
                           "ib/irdma0/hw_counters/ip4OutOctets", "ib/efa_0/1/hw_counters/rx_bytes"})
    EXPECT_TRUE(witness::tells_bytes(name)) << name;
  for (const char* name : {"net/eth0/tx_packets", "ib/x/1/counters/port_xmit_wait", "lonely", ""})
    EXPECT_FALSE(witness::tells_bytes(name)) << name;
}

std::size_t count(const witness::Snapshot& snapshot) {
  std::size_t found = 0;
  for (const auto& value : snapshot.values) found += value.has_value() ? 1 : 0;
  return found;
}

TEST(ProtocolCounters, PairsOfLinesGiveWhatIsTaken) {
  witness::NameTable names;
  witness::Snapshot snapshot;
  witness::parse_protocol_counters(
      "Ip: Forwarding InDiscards\nIp: 1 4\n"
      "Tcp: RtoAlgorithm MaxConn RetransSegs InErrs\nTcp: 1 -1 33 2\n",
      names, snapshot);
  EXPECT_EQ(snapshot.at(names.index("ip/Tcp/RetransSegs")), 33U);
  EXPECT_EQ(snapshot.at(names.index("ip/Tcp/InErrs")), 2U);
  EXPECT_EQ(snapshot.at(names.index("ip/Ip/InDiscards")), 4U);
  EXPECT_EQ(count(snapshot), 3U);
}

TEST(ProtocolCounters, OtherTextGivesNothing) {
  for (const char* text :
       {"", "Tcp: RetransSegs\n", "Tcp: RetransSegs\nUdp: 7\n", "Tcp: RetransSegs\nTcp:\n", "\n\n",
        "RetransSegs\nRetransSegs\n", "Tcp: RetransSegs\nTcp: many\n",
        "Tcp: RetransSegs\nTcp: 99999999999999999999999\n"}) {
    witness::NameTable names;
    witness::Snapshot snapshot;
    witness::parse_protocol_counters(text, names, snapshot);
    EXPECT_EQ(count(snapshot), 0U) << text;
  }
}

}  // namespace
}  // namespace wireproof

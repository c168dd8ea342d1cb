// The sources of the witness's counters: simulated drivers, texts of /proc, and netlink of this
// host.
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <cstring>

#include "base/network_devices.hpp"
#include "tests/temporary_tree.hpp"
#include "witness/device_counters.hpp"
#include "witness/ethtool_counters.hpp"

namespace wireproof::witness {
namespace {

using test::TemporaryTree;

// A driver that answers ethtool requests from memory.
struct FakeDriver {
  std::vector<std::string> strings;
  std::vector<std::uint64_t> values;
  bool refuses_values = false;

  int operator()(void* request) const {
    auto* words = static_cast<std::uint32_t*>(request);
    const auto count = static_cast<std::uint32_t>(strings.size());
    if (words[0] == ETHTOOL_GSSET_INFO) {
      words[4] = count;
      return 0;
    }
    if (words[0] == ETHTOOL_GSTRINGS) {
      words[2] = count;
      auto* text = static_cast<char*>(request) + sizeof(ethtool_gstrings);
      for (const std::string& name : strings) {
        std::memcpy(text, name.data(), std::min<std::size_t>(name.size(), ETH_GSTRING_LEN));
        text += ETH_GSTRING_LEN;
      }
      return 0;
    }
    if (words[0] != ETHTOOL_GSTATS || refuses_values) return -1;
    words[1] = count;
    std::memcpy(static_cast<char*>(request) + sizeof(ethtool_stats), values.data(),
                values.size() * sizeof(values[0]));
    return 0;
  }
};

TEST(EthtoolCounters, NamesTwinsAndUnterminatedStrings) {
  const std::string full(ETH_GSTRING_LEN, 'x');
  FakeDriver driver{{"tx_bytes_phy", "queue", "queue", full, ""}, {10, 20, 30, 40, 50}};
  EthtoolCounters counters([&](const std::string&, void* request) { return driver(request); });
  NameTable names;
  Snapshot snapshot;
  counters.read({"eth0"}, names, snapshot);
  EXPECT_EQ(snapshot.at(names.index("ethtool/eth0/tx_bytes_phy")), 10U);
  EXPECT_EQ(snapshot.at(names.index("ethtool/eth0/queue")), 20U);
  EXPECT_EQ(snapshot.at(names.index("ethtool/eth0/queue#2")), 30U);
  EXPECT_EQ(snapshot.at(names.index("ethtool/eth0/" + full)), 40U);
  EXPECT_EQ(snapshot.at(names.index("ethtool/eth0/unnamed")), 50U);
  EXPECT_EQ(names.size(), 5U);
}

TEST(EthtoolCounters, LearnsNewNamesWhenTheDriverChangesItsQueues) {
  FakeDriver driver{{"q0", "total"}, {1, 2}};
  EthtoolCounters counters([&](const std::string&, void* request) { return driver(request); });
  NameTable names;
  Snapshot before;
  counters.read({"eth0"}, names, before);
  driver = {{"q0", "q1", "total"}, {5, 6, 11}};
  Snapshot after;
  counters.read({"eth0"}, names, after);
  EXPECT_EQ(after.at(names.index("ethtool/eth0/total")), 11U);
  EXPECT_EQ(after.at(names.index("ethtool/eth0/q1")), 6U);
}

TEST(EthtoolCounters, RefusedValuesAreNotZero) {
  FakeDriver driver{{"a"}, {1}};
  EthtoolCounters counters([&](const std::string&, void* request) { return driver(request); });
  NameTable names;
  Snapshot before;
  counters.read({"eth0"}, names, before);
  driver.refuses_values = true;
  Snapshot after;
  counters.read({"eth0"}, names, after);
  EXPECT_TRUE(before.at(0).has_value());
  EXPECT_FALSE(after.at(0).has_value());
}

TEST(EthtoolCounters, DriverWithoutStatisticsHasNone) {
  EthtoolCounters counters([](const std::string&, void*) { return -1; });
  NameTable names;
  Snapshot snapshot;
  counters.read({"lo", "eth0"}, names, snapshot);
  EXPECT_EQ(names.size(), 0U);
}

TEST(ProcNetDev, TakesOnlyColumnsThatAreOneStatistic) {
  NameTable names;
  Snapshot snapshot;
  const auto interfaces = parse_proc_net_dev(
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs "
      "drop fifo colls carrier "
      "compressed\n"
      "    lo:     1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "garbage without a colon\n"
      " short: 5\n",
      names, snapshot);
  EXPECT_EQ(interfaces, (std::vector<std::string>{"lo", "short"}));
  EXPECT_EQ(snapshot.at(names.index("net/lo/rx_bytes")), 1U);
  EXPECT_EQ(snapshot.at(names.index("net/lo/tx_bytes")), 9U);
  EXPECT_EQ(snapshot.at(names.index("net/lo/tx_compressed")), 16U);
  EXPECT_EQ(snapshot.at(names.index("net/short/rx_bytes")), 5U);
  EXPECT_FALSE(snapshot.at(names.index("net/lo/rx_dropped")).has_value());
}

TEST(DeviceCounters, NetlinkAndProcAgreeOnThisHost) {
  NameTable names;
  Snapshot netlink;
  Snapshot proc;
  DeviceCounters by_netlink;
  DeviceCounters by_proc(/*allow_netlink=*/false);
  const auto interfaces = by_netlink.read(names, netlink);
  EXPECT_EQ(by_proc.read(names, proc), interfaces);
  EXPECT_EQ(by_proc.source(), "proc");
  for (const std::string& interface : interfaces) {
    const std::size_t index = names.index("net/" + interface + "/rx_bytes");
    ASSERT_TRUE(netlink.at(index).has_value());
    EXPECT_GE(proc.at(index).value(), netlink.at(index).value());
    EXPECT_TRUE(netlink.at(names.index("net/" + interface + "/carrier_changes")).has_value());
  }
}

TEST(SysfsShows, ComparesNamesIndicesAndHardwareAddresses) {
  TemporaryTree tree;
  const auto add = [&](const std::string& name, const std::string& index, const std::string& mac) {
    tree.write("sys/class/net/" + name + "/ifindex", index + "\n");
    tree.write("sys/class/net/" + name + "/address", mac + "\n");
  };
  add("lo", "1", "00:00:00:00:00:00");
  add("eth0", "2", "02:00:00:00:00:01");
  tree.write("sys/class/net/bonding_masters", "\n");
  const auto link = [](int index, const std::string& name, const std::string& mac) {
    NetworkDevice result;
    result.index = index;
    result.name = name;
    result.mac = mac;
    return result;
  };
  const NetworkDevice lo = link(1, "lo", "00:00:00:00:00:00");
  EXPECT_TRUE(sysfs_shows(Tree(tree.root()), {lo, link(2, "eth0", "02:00:00:00:00:01")}));
  EXPECT_FALSE(sysfs_shows(Tree(tree.root()), {lo, link(2, "eth0", "02:00:00:00:00:02")}))
      << "twin node, other address";
  EXPECT_FALSE(sysfs_shows(Tree(tree.root()), {lo, link(3, "eth0", "02:00:00:00:00:01")}));
  EXPECT_FALSE(sysfs_shows(Tree(tree.root()), {lo})) << "/sys lists more than we have";
  EXPECT_FALSE(sysfs_shows(Tree(tree.root()),
                           {lo, link(2, "eth0", "02:00:00:00:00:01"), link(4, "hsn0", "")}));
}

}  // namespace
}  // namespace wireproof::witness

// What is reported of a machine's counters around a point and over a run, on a synthetic tree.
#include "measure/site.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "temporary_tree.hpp"

namespace wireproof {
namespace {

using test::TemporaryTree;

const std::string kEth = "sys/class/net/eth0/statistics/";
const std::string kOther = "sys/class/net/eth1/statistics/";
const std::string kPort = "sys/class/infiniband/mlx5_0/ports/1/counters/";

class Counters {
 public:
  Counters() {
    for (const char* name : {"tx_bytes", "rx_bytes", "tx_packets", "rx_errors", "rx_dropped"}) {
      set(kEth + name, 1000);
      set(kOther + name, 1000);
    }
    for (const char* name : {"port_xmit_data", "port_rcv_data", "port_xmit_wait", "link_downed"}) {
      set(kPort + name, 1000);
    }
  }
  void set(const std::string& path, std::uint64_t value) {
    values_[path] = value;
    tree_.write(path, std::to_string(value) + "\n");
  }
  void add(const std::string& path, std::uint64_t rise) { set(path, values_.at(path) + rise); }
  void remove(const std::string& path) { tree_.remove(path); }
  const TemporaryTree& tree() const { return tree_; }

 private:
  TemporaryTree tree_;
  std::map<std::string, std::uint64_t> values_;
};

std::set<std::string> names(const witness::Delta& delta) {
  std::set<std::string> found;
  for (const witness::Change& change : delta.changed) found.insert(std::string(change.name));
  return found;
}

TEST(Site, AFullPointHasEverythingThatChangedAndNothingElse) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.add(kEth + "tx_bytes", 1);
  counters.add(kEth + "rx_errors", 1);
  counters.add(kPort + "port_xmit_wait", 5);
  site.read_after();
  const witness::Delta delta = site.point(std::nullopt);
  EXPECT_EQ(names(delta), (std::set<std::string>{"net/eth0/tx_bytes", "net/eth0/rx_errors",
                                                 "ib/mlx5_0/1/counters/port_xmit_wait"}));
  EXPECT_TRUE(delta.unreadable.empty());
}

TEST(Site, ABriefPointLeavesOutWhatCannotExplainIt) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.add(kEth + "tx_bytes", 64'000);
  counters.add(kEth + "rx_bytes", 999);  // less than 1/64
  counters.add(kOther + "tx_bytes", 1'000);
  site.read_after();
  EXPECT_EQ(names(site.point(64'000)),
            (std::set<std::string>{"net/eth0/tx_bytes", "net/eth1/tx_bytes"}));
}

TEST(Site, ABriefPointHasEveryTroubleHoweverSmall) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.add(kEth + "rx_errors", 1);
  counters.add(kEth + "rx_dropped", 1);
  counters.add(kEth + "tx_packets", 1);
  counters.add(kPort + "port_xmit_wait", 1);
  counters.add(kPort + "link_downed", 1);
  site.read_after();
  EXPECT_EQ(names(site.point(1 << 20)),
            (std::set<std::string>{"net/eth0/rx_errors", "net/eth0/rx_dropped",
                                   "ib/mlx5_0/1/counters/port_xmit_wait",
                                   "ib/mlx5_0/1/counters/link_downed"}));
}

TEST(Site, ByteCountersOfAClaimedPortAreAlwaysThere) {
  Counters counters;
  Site site(counters.tree().root());
  site.claim("eth1");
  site.read_before();
  site.read_after();
  EXPECT_EQ(names(site.point(1 << 20)),
            (std::set<std::string>{"net/eth1/tx_bytes", "net/eth1/rx_bytes"}));
}

TEST(Site, AClaimIsOfThatPortOnly) {
  Counters counters;
  counters.set("sys/class/net/eth10/statistics/tx_bytes", 1);
  Site site(counters.tree().root());
  site.claim("eth1");
  site.read_before();
  site.read_after();
  EXPECT_FALSE(names(site.point(1)).contains("net/eth10/tx_bytes"));
}

TEST(Site, ACounterAtItsEndIsAlwaysThere) {
  for (const std::uint64_t end : {std::uint64_t{UINT32_MAX}, UINT64_MAX}) {
    Counters counters;
    counters.set(kPort + "port_xmit_data", end);
    Site site(counters.tree().root());
    site.read_before();
    site.read_after();
    EXPECT_EQ(names(site.point(1 << 20)),
              (std::set<std::string>{"ib/mlx5_0/1/counters/port_xmit_data"}));
  }
}

TEST(Site, WhatCannotBeReadIsToldOfBytesInABriefPointOfAllInAFullOne) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.remove(kEth + "tx_bytes");
  counters.remove(kEth + "tx_packets");
  site.read_after();
  const auto unreadable = [](const witness::Delta& delta) {
    return std::set<std::string>(delta.unreadable.begin(), delta.unreadable.end());
  };
  EXPECT_EQ(unreadable(site.point(1 << 20)), (std::set<std::string>{"net/eth0/tx_bytes"}));
  EXPECT_EQ(unreadable(site.point(std::nullopt)),
            (std::set<std::string>{"net/eth0/tx_bytes", "net/eth0/tx_packets"}));
}

struct Explained {
  std::string counter;
  std::uint64_t rise;
  std::uint64_t payload;
  bool explains;
};
class Explanations : public testing::TestWithParam<Explained> {};
TEST_P(Explanations, AreAPortsBytesInKnownUnits) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.add(GetParam().counter, GetParam().rise);
  site.read_after();
  EXPECT_EQ(site.explains({.sent_bytes = GetParam().payload}), GetParam().explains);
}
INSTANTIATE_TEST_SUITE_P(
    OfAPort, Explanations,
    testing::Values(Explained{kEth + "tx_bytes", 4096, 4096, true},
                    Explained{kEth + "tx_bytes", 4095, 4096, false},
                    Explained{kEth + "rx_bytes", 5000, 4096, true},
                    Explained{kPort + "port_xmit_data", 1024, 4096, true},  // words of four
                    Explained{kPort + "port_xmit_data", 1023, 4096, false},
                    Explained{kPort + "port_rcv_data", 2048, 4096, true},
                    Explained{kEth + "tx_packets", 1 << 20, 4096, false},
                    Explained{kPort + "port_xmit_wait", 1 << 20, 4096, false}));

TEST(Site, EachDirectionOfOnePortExplainsItsPayloadTwoPortsDoNot) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  counters.add(kEth + "tx_bytes", 4000);
  counters.add(kEth + "rx_bytes", 200);  // acknowledgements
  counters.add(kOther + "rx_bytes", 4096);
  site.read_after();
  EXPECT_FALSE(site.explains({.sent_bytes = 4096, .received_bytes = 4096}));
  EXPECT_FALSE(site.explains({.sent_bytes = 4097}));
  counters.add(kEth + "tx_bytes", 96);
  counters.add(kEth + "rx_bytes", 3896);
  site.read_after();
  EXPECT_TRUE(site.explains({.sent_bytes = 4096, .received_bytes = 4096}));
}

TEST(Site, APortOfALateDriverDoesNotExplainAtOnce) {
  Counters counters;
  counters.tree().write("sys/bus/pci/drivers/bnxt_en/bind", "");
  const std::string device = "sys/devices/pci0000:00/0000:3b:00.0";
  counters.tree().link(device + "/driver", "/sys/bus/pci/drivers/bnxt_en");
  counters.tree().link("sys/class/net/eth0/device", "/" + device);
  counters.tree().write("sys/class/net/eth0/ifindex", "2\n");
  Site site(counters.tree().root());
  site.know_late({{"tg3", 1300}, {"bnxt*", 2500}});
  EXPECT_EQ(site.settle_ms(), 2500);
  site.read_before();
  counters.add(kEth + "tx_bytes", 5000);
  site.read_after();
  EXPECT_TRUE(site.explains({.sent_bytes = 4096}));
  EXPECT_FALSE(site.explains_at_once({.sent_bytes = 4096}));
}

TEST(Site, OnlyAClaimedPortExplainsAtOnce) {
  Counters counters;
  Site site(counters.tree().root());
  site.claim("eth0");
  site.read_before();
  counters.add(kOther + "tx_bytes", 5000);
  site.read_after();
  EXPECT_TRUE(site.explains({.sent_bytes = 4096}));
  EXPECT_FALSE(site.explains_at_once({.sent_bytes = 4096}));
  counters.add(kEth + "tx_bytes", 5000);
  site.read_after();
  EXPECT_TRUE(site.explains_at_once({.sent_bytes = 4096}));
}

TEST(Site, ACounterThatStillRisesIsSeenUntilItStands) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  site.read_after();
  EXPECT_FALSE(site.still_rises(1 << 20));
  counters.add(kEth + "tx_bytes", 1 << 15);
  EXPECT_TRUE(site.still_rises(1 << 20));
  EXPECT_FALSE(site.still_rises(1 << 20)) << "against the look before";
  counters.add(kEth + "tx_bytes", 100);
  EXPECT_FALSE(site.still_rises(1 << 20)) << "less than a share";
}

TEST(Site, AReadingAfterAPointIsWhatItIsHeldAgainstAnew) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_after();
  counters.add(kEth + "tx_bytes", 1 << 15);
  site.read_after();
  EXPECT_FALSE(site.still_rises(1 << 20));
}

TEST(Site, TheRunGoesFromItsBeginningToItsEnd) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_before();
  site.read_after();
  site.begin_run();
  counters.add(kEth + "tx_bytes", 10);
  site.read_before();
  counters.add(kEth + "tx_bytes", 20);
  site.read_after();
  counters.add(kEth + "tx_bytes", 30);
  site.read_end();
  const witness::Delta run = site.run(std::nullopt);
  const auto found = std::find_if(run.changed.begin(), run.changed.end(), [](const auto& change) {
    return change.name == "net/eth0/tx_bytes";
  });
  ASSERT_NE(found, run.changed.end());
  EXPECT_EQ(found->before, 1000U);
  EXPECT_EQ(found->after, 1060U);
  EXPECT_TRUE(names(run).contains("net/eth1/rx_bytes")) << "bytes, moved or not";
  EXPECT_FALSE(names(run).contains("net/eth1/rx_errors"));
}

TEST(Site, StandingAreTheBytesThatCanBeRead) {
  Counters counters;
  counters.remove(kEth + "rx_bytes");
  Site site(counters.tree().root());
  site.read_after();
  std::map<std::string, std::uint64_t> standing;
  for (const witness::Standing& one : site.standing()) standing[std::string(one.name)] = one.value;
  EXPECT_EQ(standing.at("net/eth0/tx_bytes"), 1000U);
  EXPECT_EQ(standing.at("ib/mlx5_0/1/counters/port_xmit_data"), 1000U);
  EXPECT_FALSE(standing.contains("net/eth0/rx_bytes"));
  EXPECT_FALSE(standing.contains("net/eth0/tx_packets"));
}

TEST(Site, QuietIsBothWindowsBesideThePoint) {
  Counters counters;
  Site site(counters.tree().root());
  site.read_open();
  counters.add(kEth + "rx_bytes", 7);
  site.read_before();
  counters.add(kEth + "rx_bytes", 1'000'000);  // the point's own
  site.read_after();
  counters.add(kEth + "rx_bytes", 5);
  site.read_close();
  const witness::Quiet quiet = site.quiet();
  std::map<std::string, std::int64_t> changed;
  for (const auto& [name, rise] : quiet.changed) changed[std::string(name)] = rise;
  EXPECT_EQ(changed, (std::map<std::string, std::int64_t>{{"net/eth0/rx_bytes", 12}}));
}

TEST(Site, OnlyRealAdaptersMayLag) {
  Counters counters;
  counters.remove("sys/class/infiniband");
  EXPECT_FALSE(Site(counters.tree().root()).may_lag());
}

}  // namespace
}  // namespace wireproof

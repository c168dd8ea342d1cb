// The witness on synthetic trees, simulated drivers and this host.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/network_devices.hpp"
#include "facts/collect.hpp"
#include "tests/temporary_tree.hpp"
#include "witness/frames.hpp"
#include "witness/reader.hpp"

namespace wireproof::witness {
namespace {

using test::TemporaryTree;

constexpr std::int64_t kNoDeadline = INT64_MAX;
constexpr const char* kPort = "sys/class/infiniband/mlx5_0/ports/1/";

std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> changed(const Delta& delta) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> result;
  for (const Change& change : delta.changed)
    result[std::string(change.name)] = {change.before, change.after};
  return result;
}

bool is_unreadable(const Delta& delta, std::string_view name) {
  return std::find(delta.unreadable.begin(), delta.unreadable.end(), name) !=
         delta.unreadable.end();
}

TEST(Witness, ReadsPortAndHardwareCountersAndOnlyReportsWhatChanged) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/port_xmit_data", "1000\n");
  tree.write(std::string(kPort) + "counters/symbol_error", "7\n");
  tree.write(std::string(kPort) + "hw_counters/out_of_sequence", "1\n");
  tree.write(std::string(kPort) + "hw_counters/lifespan", "10\n");
  tree.write("sys/class/infiniband/mlx5_0/hw_counters/ip4OutOctets", "5\n");
  tree.write("sys/class/net/eth0/statistics/tx_bytes", "100\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write(std::string(kPort) + "counters/port_xmit_data", "4000\n");
  tree.write(std::string(kPort) + "hw_counters/out_of_sequence", "3\n");
  tree.write(std::string(kPort) + "hw_counters/lifespan", "11\n");
  tree.write("sys/class/infiniband/mlx5_0/hw_counters/ip4OutOctets", "6\n");
  tree.write("sys/class/net/eth0/statistics/tx_bytes", "250\n");
  const Delta delta = reader.delta(before, reader.read());
  const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> expected = {
      {"ib/mlx5_0/1/counters/port_xmit_data", {1000, 4000}},
      {"ib/mlx5_0/1/hw_counters/out_of_sequence", {1, 3}},
      {"ib/mlx5_0/hw_counters/ip4OutOctets", {5, 6}},
      {"net/eth0/tx_bytes", {100, 250}}};
  EXPECT_EQ(changed(delta), expected);
  EXPECT_TRUE(delta.unreadable.empty());
  EXPECT_EQ(delta.source, "sysfs");
  EXPECT_GT(delta.interval_ns, 0);
}

TEST(Witness, VanishedCounterIsListedAndComesBack) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth1/statistics/tx_bytes", "10\n");
  tree.write("sys/class/net/eth2/statistics/tx_bytes", "10\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.remove("sys/class/net/eth1");
  const Snapshot without = reader.read();
  EXPECT_TRUE(is_unreadable(reader.delta(before, without), "net/eth1/tx_bytes"));
  EXPECT_FALSE(is_unreadable(reader.delta(before, without), "net/eth2/tx_bytes"));
  tree.write("sys/class/net/eth1/statistics/tx_bytes", "30\n");
  EXPECT_EQ(changed(reader.delta(before, reader.read())).at("net/eth1/tx_bytes").second, 30U);
}

TEST(Witness, CounterThatAppearsHasNoBefore) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth1/statistics/tx_bytes", "10\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write("sys/class/net/new0/statistics/tx_bytes", "99\n");
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_TRUE(delta.changed.empty());
  EXPECT_TRUE(is_unreadable(delta, "net/new0/tx_bytes"));
}

class WitnessHostileContent : public ::testing::TestWithParam<std::string> {};

TEST_P(WitnessHostileContent, IsUnreadableNotZero) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/port_xmit_data", GetParam());
  tree.write(std::string(kPort) + "counters/port_rcv_data", "5\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write(std::string(kPort) + "counters/port_rcv_data", "6\n");
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_TRUE(is_unreadable(delta, "ib/mlx5_0/1/counters/port_xmit_data"));
  EXPECT_EQ(delta.changed.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Texts, WitnessHostileContent,
                         ::testing::Values("", "\n", "N/A (no PMA)\n", "-1\n", "0x10\n", "12 34\n",
                                           "1e9\n", "18446744073709551616\n",
                                           std::string(4096, '9'), std::string("1\0002", 3),
                                           "\xff\xfe\n"));

TEST(Witness, LargestValueSurvives) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/port_xmit_data", "18446744073709551615\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write(std::string(kPort) + "counters/port_xmit_data", "4\n");
  const Delta delta = reader.delta(before, reader.read());
  ASSERT_EQ(delta.changed.size(), 1U);
  JsonWriter json;
  write_point(json, 3, delta);
  EXPECT_NE(json.text().find("\"ib/mlx5_0/1/counters/port_xmit_data\":[18446744073709551615,4]"),
            std::string::npos);
}

TEST(Witness, DeniedCounterIsUnreadable) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/port_xmit_data", "1\n");
  std::filesystem::permissions(tree.path(std::string(kPort) + "counters/port_xmit_data"),
                               std::filesystem::perms::none);
  const test::WithoutPrivilege unprivileged(tree);
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  EXPECT_TRUE(
      is_unreadable(reader.delta(before, reader.read()), "ib/mlx5_0/1/counters/port_xmit_data"));
}

TEST(Witness, FifoAndFolderInPlaceOfACounterDoNotBlock) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/folder/file", "1\n");
  ASSERT_EQ(::mkfifo(tree.path(std::string(kPort) + "counters/fifo").c_str(), 0600), 0);
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_TRUE(is_unreadable(delta, "ib/mlx5_0/1/counters/folder"));
  EXPECT_TRUE(is_unreadable(delta, "ib/mlx5_0/1/counters/fifo"));
}

TEST(Witness, SlingshotTelemetryHasATimeBehindItsValue) {
  TemporaryTree tree;
  tree.write("sys/devices/pci/x/telemetry/hni_sts_tx_ok_octets", "1000@17000.5\n");
  tree.write("sys/devices/pci/x/telemetry/hni_pcs_corrected_cw", "7@17000.5\n");
  tree.write("sys/devices/pci/x/telemetry/reset_counters", "\n");
  tree.write("sys/devices/pci/x/telemetry/ALL-in-binary", "\n");
  tree.link("sys/class/cxi/cxi0/device", "/sys/devices/pci/x");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  tree.write("sys/devices/pci/x/telemetry/hni_sts_tx_ok_octets", "5000@17001.5\n");
  tree.write("sys/devices/pci/x/telemetry/hni_pcs_corrected_cw", "9@17001.5\n");
  const Delta bytes = reader.delta(before, reader.read(Depth::bytes));
  EXPECT_EQ(changed(bytes), (std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>{
                                {"cxi/cxi0/hni_sts_tx_ok_octets", {1000, 5000}}}));
  EXPECT_EQ(changed(reader.delta(before, reader.read())).size(), 2U);
  EXPECT_EQ(reader.counter_count(), 2U);
}

TEST(Witness, DriverStatisticsOfATreeAreTextAsEthtoolPrintsIt) {
  TemporaryTree tree;
  tree.write("ethtool/hsn0",
             "NIC statistics:\n     tx_bytes_phy: 123\n     rx[0]: packets: 7\n"
             "     link_down: many\n  : 5\n     rx_bytes_phy: 18446744073709551615");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  std::map<std::string, std::uint64_t> found;
  for (std::size_t i = 0; i < reader.counter_count(); ++i)
    found[std::string(reader.counter_name(i))] = before.at(i).value_or(0);
  EXPECT_EQ(found, (std::map<std::string, std::uint64_t>{
                       {"ethtool/hsn0/tx_bytes_phy", 123},
                       {"ethtool/hsn0/rx[0]: packets", 7},
                       {"ethtool/hsn0/rx_bytes_phy", 18446744073709551615ULL}}));
}

TEST(Witness, NoFileOutsideTheTreeIsACounter) {
  TemporaryTree outside;
  outside.write("port_xmit_data", "5\n");
  TemporaryTree tree;
  tree.link(std::string(kPort) + "counters", outside.root());
  Reader reader(tree.root());
  reader.read();
  EXPECT_EQ(reader.counter_count(), 0U);
}

TEST(Witness, WhatIsNotReadInTimeIsUnreadable) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth0/statistics/tx_bytes", "10\n");
  const Tree files(tree.root());
  FileCounters counters(files, FileScope::all, /*keep_open=*/false);
  NameTable names;
  Snapshot snapshot;
  counters.read(names, snapshot, Depth::everything, kNoDeadline);
  EXPECT_EQ(snapshot.at(0), 10U);
  Snapshot late;
  counters.read(names, late, Depth::everything, 0);
  EXPECT_FALSE(late.at(0).has_value());
}

TEST(Witness, EmptyTreeGivesNoCounters) {
  TemporaryTree tree;
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_TRUE(delta.changed.empty());
  EXPECT_EQ(reader.counter_count(), 0U);
}

TEST(Witness, ManyInterfacesAreAllRead) {
  TemporaryTree tree;
  for (int i = 0; i < 300; ++i)
    tree.write("sys/class/net/v" + std::to_string(i) + "/statistics/rx_bytes", "1\n");
  Reader reader(tree.root());
  const Snapshot before = reader.read();
  for (int i = 0; i < 300; ++i)
    tree.write("sys/class/net/v" + std::to_string(i) + "/statistics/rx_bytes", "2\n");
  EXPECT_EQ(reader.delta(before, reader.read()).changed.size(), 300U);
}

TEST(Witness, HeldFilesFollowADeviceThatIsReplaced) {
  TemporaryTree tree;
  tree.write(std::string(kPort) + "counters/port_xmit_data", "1\n");
  NameTable names;
  const Tree files(tree.root());
  FileCounters counters(files, FileScope::fabric, /*keep_open=*/true);
  Snapshot first;
  counters.read(names, first, Depth::everything, kNoDeadline);
  tree.write("sys/class/infiniband/mlx5_1/ports/1/counters/port_xmit_data", "8\n");
  Snapshot second;
  counters.read(names, second, Depth::everything, kNoDeadline);
  EXPECT_EQ(second.at(names.index("ib/mlx5_1/1/counters/port_xmit_data")), 8U);
  tree.remove("sys/class/infiniband/mlx5_0");
  Snapshot third;
  counters.read(names, third, Depth::everything, kNoDeadline);
  EXPECT_FALSE(third.at(names.index("ib/mlx5_0/1/counters/port_xmit_data")).has_value());
}

TEST(Reader, LiveHostHasLoopback) {
  Reader reader;
  const Snapshot before = reader.read();
  const Delta delta = reader.delta(before, reader.read());
  EXPECT_GE(reader.counter_count(), kDeviceStatistics.size());
  EXPECT_FALSE(is_unreadable(delta, "net/lo/rx_bytes"));
}

// Runs `check` in a child process in a separate network namespace, whose /sys is still ours.
template <class F>
void in_own_namespace(F&& check) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr int kCannot = 77;
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
      ::_exit(kCannot);
    check();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  if (WIFEXITED(state) && WEXITSTATUS(state) == 77)
    GTEST_SKIP() << "needs: network namespaces that may be made and the ip command";
  EXPECT_EQ(state, 0);
}

TEST(Reader, ForeignSysfsIsNoticedAndNotUsed) {
  in_own_namespace([] {
    Reader reader;
    const Snapshot before = reader.read();
    const Delta delta = reader.delta(before, reader.read());
    EXPECT_TRUE(delta.foreign_sysfs);
    EXPECT_EQ(delta.source, "netlink");
    EXPECT_EQ(reader.counter_count(), kDeviceStatistics.size() + 1)
        << "loopback with its carrier_changes is all that a new namespace has";
  });
}

bool ip(std::vector<std::string> arguments) {
  FactRequest request;
  request.kind = FactRequest::Kind::command;
  request.argv = std::move(arguments);
  request.argv.insert(request.argv.begin(), "ip");
  return facts::collect(request).front().status == facts::Status::ok;
}

TEST(Reader, LiveInterfaceThatVanishesAndComesBack) {
  in_own_namespace([] {
    if (!ip({"link", "add", "va", "type", "veth", "peer", "name", "vb"})) ::_exit(77);
    Reader reader;
    const Snapshot before = reader.read();
    EXPECT_TRUE(ip({"link", "del", "va"}));
    const Snapshot without = reader.read();
    EXPECT_TRUE(is_unreadable(reader.delta(before, without), "net/va/tx_bytes"));
    EXPECT_FALSE(is_unreadable(reader.delta(before, without), "net/lo/tx_bytes"));
    EXPECT_TRUE(ip({"link", "add", "va", "type", "veth", "peer", "name", "vb"}));
    EXPECT_FALSE(is_unreadable(reader.delta(before, reader.read()), "net/va/tx_bytes"));
  });
}

TEST(ReaderOf, LowestRankOfANamespaceReads) {
  const std::vector<HostIdentity> identities = {{"boot-a", 10}, {"boot-b", 10}, {"boot-a", 10},
                                                {"boot-a", 11}, {"", 0},        {"", 0}};
  EXPECT_EQ(reader_of(identities, 0), 0);
  EXPECT_EQ(reader_of(identities, 1), 1) << "equal inode on another kernel";
  EXPECT_EQ(reader_of(identities, 2), 0);
  EXPECT_EQ(reader_of(identities, 3), 3) << "another namespace on the same kernel";
  EXPECT_TRUE(is_reader(identities, 4));
  EXPECT_TRUE(is_reader(identities, 5)) << "two unknowns are not known to be one";
}

TEST(WitnessFrames, IdleDifferencesAreSigned) {
  Delta delta;
  delta.interval_ns = 5;
  delta.source = "netlink";
  delta.changed = {{"net/a\"b/rx", 10, 14}, {"net/c/rx", 10, 4}};
  JsonWriter json;
  json.begin_object();
  write_idle_fields(json, 2, delta, {{"net/c/rx_bytes", 7}});
  json.end_object();
  EXPECT_EQ(
      json.text(),
      R"({"rank":2,"interval_ns":5,"source":"netlink","counters":{"net/a\"b/rx":4,"net/c/rx":-6},)"
      R"("standing":{"net/c/rx_bytes":7}})");
}

TEST(WitnessFrames, ForeignSysfsIsSaid) {
  Delta delta;
  delta.source = "netlink";
  delta.foreign_sysfs = true;
  delta.unreadable = {"x"};
  JsonWriter json;
  write_point(json, 0, delta);
  EXPECT_EQ(
      json.text(),
      R"({"rank":0,"interval_ns":0,"source":"netlink","foreign_sysfs":true,"counters":{},"unreadable":["x"]})");
}

}  // namespace
}  // namespace wireproof::witness

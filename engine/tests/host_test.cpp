// The host frame on made-up trees and on this very host.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "host/gather.hpp"
#include "tests/temporary_tree.hpp"

namespace wireproof::host {
namespace {

using test::TemporaryTree;

Nic named(const std::vector<Nic>& nics, const std::string& name) {
  const auto found =
      std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.name == name; });
  EXPECT_NE(found, nics.end()) << name;
  return found == nics.end() ? Nic{} : *found;
}

// A ConnectX port as /sys shows it: net and RDMA device below one PCI device.
void add_connectx(const TemporaryTree& tree, const std::string& interface,
                  const std::string& device, const std::string& pci, const std::string& dev_port) {
  const std::string folder = "sys/devices/pci0000:00/" + pci;
  tree.write(folder + "/numa_node", "1\n");
  tree.write("sys/bus/pci/drivers/mlx5_core/bind", "");
  tree.link(folder + "/driver", tree.path("sys/bus/pci/drivers/mlx5_core"));
  tree.link(folder + "/subsystem", tree.path("sys/bus/pci"));
  tree.write(folder + "/infiniband/" + device + "/node_type", "1: CA\n");
  const std::string net = "sys/class/net/" + interface;
  tree.write(net + "/ifindex", "7\n");
  tree.write(net + "/type", "1\n");
  tree.write(net + "/mtu", "9000\n");
  tree.write(net + "/speed", "100000\n");
  tree.write(net + "/carrier", "1\n");
  tree.write(net + "/operstate", "up\n");
  tree.write(net + "/dev_port", dev_port + "\n");
  tree.link(net + "/device", tree.path(folder));
  for (const std::string port : {"1", "2"}) {
    const std::string base = "sys/class/infiniband/" + device + "/ports/" + port;
    tree.write(base + "/rate", port == "1" ? "100 Gb/sec (4X EDR)\n" : "25 Gb/sec (1X EDR)\n");
    tree.write(base + "/link_layer", "Ethernet\n");
    tree.write(base + "/state", "4: ACTIVE\n");
  }
}

TEST(Nics, PhysicalPortWithItsRdmaDevice) {
  TemporaryTree tree;
  add_connectx(tree, "ens1f0", "mlx5_0", "0000:3b:00.0", "0");
  const Nic nic = named(list_nics(tree.root()), "ens1f0");
  EXPECT_EQ(nic.driver, "mlx5_core");
  EXPECT_EQ(nic.mtu, 9000);
  EXPECT_EQ(nic.speed_mbps, 100000);
  EXPECT_EQ(nic.carrier, true);
  EXPECT_EQ(nic.operstate, "up");
  EXPECT_EQ(nic.numa_node, 1);
  EXPECT_EQ(nic.pci, "0000:3b:00.0");
  EXPECT_EQ(nic.kind, "ethernet");
  ASSERT_TRUE(nic.rdma.has_value());
  EXPECT_EQ(nic.rdma->device, "mlx5_0");
  EXPECT_EQ(nic.rdma->port, 1);
  EXPECT_EQ(nic.rdma->rate, "100 Gb/sec (4X EDR)");
  EXPECT_EQ(nic.rdma->state, "4: ACTIVE");
  EXPECT_TRUE(nic.addresses.empty()) << "this host's addresses are not those of a saved tree";
}

TEST(Nics, SecondPortOfOneDevice) {
  TemporaryTree tree;
  add_connectx(tree, "ib1", "mlx4_0", "0000:3b:00.0", "1");
  tree.write("sys/class/net/ib1/type", "32\n");
  const Nic nic = named(list_nics(tree.root()), "ib1");
  EXPECT_EQ(nic.kind, "infiniband");
  ASSERT_TRUE(nic.rdma.has_value());
  EXPECT_EQ(nic.rdma->port, 2);
  EXPECT_EQ(nic.rdma->rate, "25 Gb/sec (1X EDR)");
}

TEST(Nics, SoftRoceIsFoundByTheGidTable) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth0/ifindex", "2\n");
  tree.write("sys/class/net/eth0/type", "1\n");
  tree.write("sys/class/net/eth1/ifindex", "3\n");
  tree.write("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0\n");
  tree.write("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
  const auto nics = list_nics(tree.root());
  ASSERT_TRUE(named(nics, "eth0").rdma.has_value());
  EXPECT_EQ(named(nics, "eth0").rdma->device, "rxe0");
  EXPECT_EQ(named(nics, "eth0").kind, "virtual");
  EXPECT_FALSE(named(nics, "eth1").rdma.has_value());
}

TEST(Nics, UnknownIsAbsentNotZero) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth0/ifindex", "2\n");
  tree.write("sys/class/net/eth0/speed", "-1\n");
  tree.write("sys/class/net/eth0/mtu", "many\n");
  tree.write("sys/class/net/eth0/device/numa_node", "-1\n");
  tree.write("sys/class/net/bonding_masters", "bond0\n");
  const auto nics = list_nics(tree.root());
  ASSERT_EQ(nics.size(), 1U);
  JsonWriter json;
  write(json, nics.front());
  EXPECT_EQ(
      json.text(),
      R"({"name":"eth0","address":[],"driver":"","operstate":"","pci":"","kind":"ethernet"})");
}

TEST(Nics, SortedByIndex) {
  TemporaryTree tree;
  tree.write("sys/class/net/a/ifindex", "10\n");
  tree.write("sys/class/net/z/ifindex", "2\n");
  const auto nics = list_nics(tree.root());
  ASSERT_EQ(nics.size(), 2U);
  EXPECT_EQ(nics[0].name, "z");
}

TEST(Nics, LoopbackOfThisHost) {
  const Nic lo = named(list_nics(), "lo");
  EXPECT_EQ(lo.kind, "loopback");
  EXPECT_TRUE(lo.mtu.has_value());
}

TEST(Host, ThisHostKnowsItself) {
  const Host host = gather();
  EXPECT_EQ(host.pid, ::getpid());
  EXPECT_NE(host.netns, 0U);
  EXPECT_GE(host.cpu_count, 1);
  EXPECT_FALSE(host.cpus_allowed.empty());
  EXPECT_FALSE(host.boot_id.empty());
  EXPECT_EQ(share_memory(host, gather()), host.shm_device != 0);
}

TEST(Host, MemoryIsSharedOnlyOnOneKernelAndOneTmpfs) {
  Host one;
  one.boot_id = "a";
  one.shm_device = 5;
  Host other = one;
  EXPECT_TRUE(share_memory(one, other));
  other.shm_device = 6;
  EXPECT_FALSE(share_memory(one, other));
  other = one;
  other.boot_id = "b";
  EXPECT_FALSE(share_memory(one, other));
  one.shm_device = 0;
  EXPECT_FALSE(share_memory(one, one)) << "unknown is not shared";
}

TEST(Host, IdentityComesFromTheTree) {
  TemporaryTree tree;
  tree.write("etc/machine-id", "0123456789abcdef\n");
  const Host host = gather(tree.root());
  EXPECT_EQ(host.machine_id, "0123456789abcdef");
  EXPECT_EQ(host.boot_id, "");
  EXPECT_TRUE(host.nics.empty());
}

TEST(Host, FoldsCpuLists) {
  EXPECT_EQ(fold_cpu_list({}), "");
  EXPECT_EQ(fold_cpu_list({3}), "3");
  EXPECT_EQ(fold_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
}

}  // namespace
}  // namespace wireproof::host

// The network interfaces of synthetic trees and of this host.
#include "host/nics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  tree.link(folder + "/driver", "/sys/bus/pci/drivers/mlx5_core");
  tree.link(folder + "/subsystem", "/sys/bus/pci");
  tree.write(folder + "/infiniband/" + device + "/node_type", "1: CA\n");
  const std::string net = "sys/class/net/" + interface;
  tree.write(net + "/ifindex", "7\n");
  tree.write(net + "/type", "1\n");
  tree.write(net + "/mtu", "9000\n");
  tree.write(net + "/speed", "100000\n");
  tree.write(net + "/carrier", "1\n");
  tree.write(net + "/operstate", "up\n");
  tree.write(net + "/dev_port", dev_port + "\n");
  tree.link(net + "/device", "/" + folder);
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
  const Nic nic = named(list_nics(Tree(tree.root())), "ens1f0");
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
  const Nic nic = named(list_nics(Tree(tree.root())), "ib1");
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
  const auto nics = list_nics(Tree(tree.root()));
  ASSERT_TRUE(named(nics, "eth0").rdma.has_value());
  EXPECT_EQ(named(nics, "eth0").rdma->device, "rxe0");
  EXPECT_EQ(named(nics, "eth0").kind, "virtual");
  EXPECT_FALSE(named(nics, "eth1").rdma.has_value());
}

// A network interface of a tree; the test sets the interfaces below it.
void add_interface(const TemporaryTree& tree, const std::string& name, int index) {
  tree.write("sys/class/net/" + name + "/ifindex", std::to_string(index) + "\n");
  tree.write("sys/class/net/" + name + "/type", "1\n");
}

void add_rdma_device(const TemporaryTree& tree, const std::string& device, const std::string& pci,
                     const std::string& driver, const std::string& link_layer) {
  const std::string folder = "sys/devices/pci0000:00/" + pci;
  tree.write(folder + "/infiniband/" + device + "/node_type", "1: CA\n");
  tree.write("sys/bus/pci/drivers/" + driver + "/bind", "");
  tree.link(folder + "/driver", "/sys/bus/pci/drivers/" + driver);
  const std::string base = "sys/class/infiniband/" + device;
  tree.link(base + "/device", "/" + folder);
  tree.write(base + "/ports/1/link_layer", link_layer + "\n");
  tree.write(base + "/ports/1/state", "4: ACTIVE\n");
  tree.write(base + "/sys_image_guid", "b859:9f03:00a0:1234\n");
  tree.write(base + "/node_guid", "0000:0000:0000:0000\n");
}

TEST(Nics, DriverOfTheRdmaDeviceIsItsOwn) {
  TemporaryTree tree;
  add_connectx(tree, "ens1f0", "mlx5_0", "0000:3b:00.0", "0");
  tree.link("sys/class/infiniband/mlx5_0/device", "/sys/devices/pci0000:00/0000:3b:00.0");
  const Nic nic = named(list_nics(Tree(tree.root())), "ens1f0");
  ASSERT_TRUE(nic.rdma.has_value());
  EXPECT_EQ(nic.rdma->driver, "mlx5_core");
}

TEST(Nics, PortsWithoutAnInterfaceAreListed) {
  TemporaryTree tree;
  add_rdma_device(tree, "efa_0", "0000:10:1d.0", "efa", "Unspecified");
  add_connectx(tree, "ib0", "mlx4_0", "0000:3b:00.0", "0");
  const auto nics = list_nics(Tree(tree.root()));
  ASSERT_EQ(nics.size(), 3U);
  const Nic efa = named(nics, "efa_0:1");
  EXPECT_EQ(efa.kind, "infiniband");
  EXPECT_EQ(efa.driver, "efa");
  EXPECT_EQ(efa.pci, "0000:10:1d.0");
  EXPECT_EQ(efa.carrier, true);
  EXPECT_EQ(efa.adapter.system_guid, "b859:9f03:00a0:1234");
  EXPECT_EQ(efa.adapter.node_guid, "") << "all zeros say nothing";
  EXPECT_EQ(named(nics, "mlx4_0:2").rdma->port, 2) << "the interface has port 1";
}

TEST(Nics, SoftwareRdmaIsKnownByWhatItIs) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  add_interface(tree, "eth1", 3);
  tree.write("sys/class/net/eth1/address", "00:11:22:33:44:55\n");
  tree.write("sys/class/infiniband/mlx5_9/parent", "eth0\n");  // users give names
  tree.write("sys/class/infiniband/mlx5_9/node_type", "1: CA\n");
  tree.write("sys/class/infiniband/mlx5_9/ports/1/hw_counters/rcvd_rnr_err", "0\n");
  tree.write("sys/class/infiniband/fast/node_type", "4: RNIC\n");
  tree.write("sys/class/infiniband/fast/node_guid", "0211:22ff:fe33:4455\n");
  tree.write("sys/class/infiniband/fast/ports/1/state", "4: ACTIVE\n");
  const auto nics = list_nics(Tree(tree.root()));
  ASSERT_EQ(nics.size(), 2U);
  EXPECT_EQ(named(nics, "eth0").rdma->driver, "rdma_rxe");
  EXPECT_EQ(named(nics, "eth0").rdma->device, "mlx5_9");
  EXPECT_EQ(named(nics, "eth1").rdma->driver, "siw");
}

// Older kernels put soft-RoCE and software iWARP below the adapter's own PCI device.
TEST(Nics, SoftwareRdmaBelowAnAdapterIsNoHardwareOfIts) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  add_interface(tree, "eth1", 3);
  add_interface(tree, "eth2", 4);
  add_rdma_device(tree, "a_soft", "0000:01:00.0", "igb", "Ethernet");
  add_rdma_device(tree, "b_soft", "0000:02:00.0", "igb", "Ethernet");
  add_rdma_device(tree, "hard", "0000:03:00.0", "hinic3", "Ethernet");
  tree.write("sys/class/infiniband/a_soft/parent", "eth0\n");
  tree.write("sys/class/infiniband/b_soft/node_desc", "Software iWARP stack\n");
  tree.write("sys/class/infiniband/hard/node_type", "4: RNIC\n");
  tree.write("sys/class/infiniband/b_soft/ports/1/gid_attrs/ndevs/0", "eth1\n");
  tree.write("sys/class/infiniband/hard/ports/1/gid_attrs/ndevs/0", "eth2\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(named(nics, "eth0").rdma->driver, "rdma_rxe");
  EXPECT_EQ(named(nics, "eth1").rdma->driver, "siw");
  EXPECT_EQ(named(nics, "eth2").rdma->driver, "hinic3");
}

TEST(Nics, SoftwareBelowAnRdmaAdapterLeavesTheInterfaceItsHardware) {
  TemporaryTree tree;
  add_connectx(tree, "ens1f0", "mlx5_0", "0000:3b:00.0", "0");
  tree.link("sys/class/infiniband/mlx5_0/device", "/sys/devices/pci0000:00/0000:3b:00.0");
  tree.link("sys/class/infiniband/a_soft/device", "/sys/devices/pci0000:00/0000:3b:00.0");
  tree.write("sys/devices/pci0000:00/0000:3b:00.0/infiniband/a_soft/node_type", "1: CA\n");
  tree.write("sys/class/infiniband/a_soft/ports/1/state", "4: ACTIVE\n");
  tree.write("sys/class/infiniband/a_soft/parent", "ens1f0\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(named(nics, "ens1f0").rdma->device, "mlx5_0");
  EXPECT_EQ(named(nics, "a_soft:1").lower, std::vector<std::string>{"ens1f0"});
}

TEST(Nics, HardwareComesBeforeSoftwareOnOneInterface) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  add_rdma_device(tree, "rocep24s0f0", "0000:18:00.0", "ice", "Ethernet");
  tree.write("sys/class/infiniband/rocep24s0f0/ports/1/gid_attrs/ndevs/3", "eth0\n");
  tree.write("sys/class/infiniband/a_soft/ports/1/gid_attrs/ndevs/0", "eth0\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(named(nics, "eth0").rdma->device, "rocep24s0f0");
  EXPECT_EQ(named(nics, "a_soft:1").lower, std::vector<std::string>{"eth0"});
}

TEST(Nics, AVlanHasThePortThatTheGidTableNamesFarDown) {
  TemporaryTree tree;
  add_rdma_device(tree, "rocep24s0f0", "0000:18:00.0", "mlx5_core", "Ethernet");
  add_interface(tree, "ens1", 2);
  add_interface(tree, "storage", 3);
  add_interface(tree, "mgmt", 4);
  for (const char* vlan : {"storage", "mgmt"}) {
    tree.write(std::string("sys/class/net/") + vlan + "/uevent",
               std::string("DEVTYPE=vlan\nINTERFACE=") + vlan + "\n");
    tree.link(std::string("sys/class/net/") + vlan + "/lower_ens1", "../ens1");
  }
  tree.write("sys/class/infiniband/rocep24s0f0/ports/1/gid_attrs/ndevs/0", "ens1\n");
  tree.write("sys/class/infiniband/rocep24s0f0/ports/1/gid_attrs/ndevs/120", "storage\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(nics.size(), 3U);
  EXPECT_EQ(named(nics, "ens1").rdma->device, "rocep24s0f0");
  EXPECT_EQ(named(nics, "storage").rdma->device, "rocep24s0f0");
  EXPECT_EQ(named(nics, "storage").link_kind, "vlan");
  EXPECT_FALSE(named(nics, "mgmt").rdma.has_value());
  EXPECT_EQ(named(nics, "mgmt").lower, std::vector<std::string>{"ens1"});
}

TEST(Nics, ABondOfIpoibStandsOnItsMembers) {
  TemporaryTree tree;
  add_connectx(tree, "ib0", "mlx5_0", "0000:3b:00.0", "0");
  add_interface(tree, "bond0", 9);
  tree.write("sys/class/net/bond0/bonding/slaves", "ib0 ib1\n");
  tree.link("sys/class/net/ib0/master", "../bond0");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(named(nics, "ib0").master, "bond0");
  EXPECT_TRUE(named(nics, "ib0").rdma.has_value()) << "a member keeps its port";
  EXPECT_EQ(named(nics, "bond0").lower, (std::vector<std::string>{"ib0", "ib1"}));
  EXPECT_EQ(named(nics, "bond0").link_kind, "bond");
  EXPECT_FALSE(named(nics, "bond0").rdma.has_value());
}

TEST(Nics, ARepresentorIsNotThePortOfItsAdapter) {
  TemporaryTree tree;
  add_connectx(tree, "ens1f0", "mlx5_0", "0000:3b:00.0", "0");
  add_interface(tree, "ens1f0npf0vf3", 9);
  tree.link("sys/class/net/ens1f0npf0vf3/device", "/sys/devices/pci0000:00/0000:3b:00.0");
  tree.write("sys/class/net/ens1f0npf0vf3/phys_port_name", "pf0vf3\n");
  tree.write("sys/class/net/ens1f0npf0vf3/phys_switch_id", "b8599f0300a01234\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_TRUE(named(nics, "ens1f0").rdma.has_value());
  EXPECT_FALSE(named(nics, "ens1f0npf0vf3").rdma.has_value());
  EXPECT_EQ(named(nics, "ens1f0npf0vf3").adapter.switch_id, "b8599f0300a01234");
  EXPECT_EQ(named(nics, "ens1f0npf0vf3").kind, "virtual") << "it leads to a guest";
  EXPECT_EQ(named(nics, "ens1f0npf0vf3").link_kind, "representor");
  EXPECT_EQ(named(nics, "ens1f0").kind, "ethernet");
}

TEST(Nics, FunctionsOfOneAdapter) {
  TemporaryTree tree;
  const std::string pf = "sys/devices/pci0000:00/0000:3b:00.0";
  const std::string vf = "sys/devices/pci0000:00/0000:3b:00.5";
  tree.write(pf + "/sriov_totalvfs", "8\n");
  tree.write(pf + "/current_link_speed", "16.0 GT/s PCIe\n");
  tree.write(pf + "/current_link_width", "8\n");
  tree.write(pf + "/mlx5_core.sf.4/sfnum", "88\n");
  tree.link(pf + "/mlx5_core.sf.4/subsystem", "/sys/bus/auxiliary");
  tree.link(vf + "/physfn", "../0000:3b:00.0");
  tree.write(vf + "/current_link_speed", "Unknown\n");
  tree.write(vf + "/current_link_width", "0\n");
  tree.write(pf + "/net/pf/ifindex", "2\n");
  tree.write(vf + "/net/vf/ifindex", "3\n");
  tree.write(pf + "/mlx5_core.sf.4/net/sf/ifindex", "4\n");
  for (const auto& [name, device] :
       {std::pair{"pf", pf}, std::pair{"vf", vf}, std::pair{"sf", pf + "/mlx5_core.sf.4"}}) {
    const std::string net = device + "/net/" + name;
    tree.link(std::string("sys/class/net/") + name, "../../../" + net);
    tree.link(net + "/device", "/" + device);
  }
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_EQ(named(nics, "pf").function, "physical");
  EXPECT_EQ(named(nics, "pf").pcie, "gen4x8");
  EXPECT_EQ(named(nics, "vf").function, "virtual");
  EXPECT_EQ(named(nics, "vf").adapter.physical, "0000:3b:00.0");
  EXPECT_EQ(named(nics, "vf").pcie, "gen4x8") << "of its adapter";
  EXPECT_EQ(named(nics, "sf").function, "scalable");
  EXPECT_EQ(named(nics, "sf").adapter.physical, "0000:3b:00.0");
}

TEST(Nics, SlingshotHasItsTelemetrysDevice) {
  TemporaryTree tree;
  add_interface(tree, "hsn0", 2);
  tree.write("sys/devices/pci/0000:c1:00.0/cxi/cxi1/dev", "1\n");
  tree.link("sys/class/net/hsn0/device", "/sys/devices/pci/0000:c1:00.0");
  EXPECT_EQ(named(list_nics(Tree(tree.root())), "hsn0").rdma->device, "cxi1");
}

TEST(Nics, ADeviceThatLeadsNowhereIsSaid) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  tree.link("sys/class/net/eth0/device", "../../../0000:3b:00.0");
  const Nic nic = named(list_nics(Tree(tree.root())), "eth0");
  EXPECT_EQ(nic.kind, "ethernet") << "it has a device, wherever";
  EXPECT_NE(nic.hidden, "");
}

TEST(Nics, HiddenRdmaIsSaid) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  EXPECT_EQ(list_nics(Tree(tree.root())).front().hidden, "");
  tree.write("dev/infiniband/uverbs0", "");
  EXPECT_NE(list_nics(Tree(tree.root())).front().hidden.find("/dev/infiniband"), std::string::npos);
  add_rdma_device(tree, "efa_0", "0000:10:1d.0", "efa", "Unspecified");
  EXPECT_EQ(list_nics(Tree(tree.root())).front().hidden, "") << "now it shows";
}

TEST(Nics, ALoadedModuleWithoutItsDeviceIsSaidOfItsOwnAdapterOnly) {
  TemporaryTree tree;
  add_connectx(tree, "ens1f0", "mlx5_0", "0000:3b:00.0", "0");
  tree.remove("sys/class/infiniband");
  add_interface(tree, "eth0", 9);
  tree.write("proc/modules", "tls 1 0 - Live 0x0\nmlx5_ib 450560 0 - Live 0x0\n");
  const auto nics = list_nics(Tree(tree.root()));
  EXPECT_NE(named(nics, "ens1f0").hidden.find("mlx5_ib"), std::string::npos);
  EXPECT_EQ(named(nics, "eth0").hidden, "");
}

TEST(Nics, HiddenRdmaIsSaidOfEachMakersAdapter) {
  TemporaryTree tree;
  add_interface(tree, "eth0", 2);
  tree.write("sys/devices/pci0000:00/0000:18:00.0/numa_node", "0\n");
  tree.link("sys/devices/pci0000:00/0000:18:00.0/driver", "/sys/bus/pci/drivers/hisdk3");
  tree.write("sys/bus/pci/drivers/hisdk3/bind", "");
  tree.link("sys/class/net/eth0/device", "/sys/devices/pci0000:00/0000:18:00.0");
  tree.write("proc/modules", "hiroce3 450560 0 - Live 0x0\n");
  EXPECT_NE(named(list_nics(Tree(tree.root())), "eth0").hidden.find("hiroce3"), std::string::npos);
}

TEST(Adapter, SerialNumberIsInTheExtendedCapabilities) {
  std::string configuration(4096, '\0');
  const auto put = [&](std::size_t at, std::uint32_t word) {
    for (int i = 0; i < 4; ++i) configuration[at + i] = static_cast<char>(word >> 8 * i);
  };
  put(0x100, 0x15010001);  // another capability, the next at 0x150
  put(0x150, 0x00010003);
  put(0x154, 0x33445566);
  put(0x158, 0x001122ff);
  EXPECT_EQ(serial_number(configuration), "00-11-22-ff-33-44-55-66");
  EXPECT_EQ(serial_number(configuration.substr(0, 64)), "") << "what a user may read";
  EXPECT_EQ(serial_number(configuration.substr(0, 0x15a)), "");
  put(0x150, 0x10010001);  // back to the first: an endless list
  EXPECT_EQ(serial_number(configuration), "");
}

TEST(Nics, EverythingIsWritten) {
  Nic nic;
  nic.name = "ens1.7";
  nic.lower = {"ens1"};
  nic.master = "bond0";
  nic.link_kind = "vlan";
  nic.adapter.serial = "00-01";
  nic.pcie = "gen4x16";
  nic.mac = "00:11:22:33:44:55";
  nic.function = "virtual";
  nic.hidden = "why";
  nic.rdma = Rdma{.device = "mlx5_0", .driver = "mlx5_core"};
  JsonWriter json;
  write(json, nic);
  EXPECT_EQ(json.text(),
            R"({"name":"ens1.7","address":[],"driver":"","operstate":"","pci":"","kind":"",)"
            R"("rdma":{"device":"mlx5_0","port":1,"rate":"","link_layer":"","state":"",)"
            R"("driver":"mlx5_core"},"mac":"00:11:22:33:44:55","lower":["ens1"],)"
            R"("master":"bond0","link_kind":"vlan","function":"virtual",)"
            R"("adapter":{"serial":"00-01"},"pcie":"gen4x16","hidden":"why"})");
}

TEST(Nics, UnknownIsAbsentNotZero) {
  TemporaryTree tree;
  tree.write("sys/class/net/eth0/ifindex", "2\n");
  tree.write("sys/class/net/eth0/speed", "-1\n");
  tree.write("sys/class/net/eth0/mtu", "many\n");
  tree.write("sys/class/net/eth0/device/numa_node", "-1\n");
  tree.write("sys/class/net/bonding_masters", "bond0\n");
  const auto nics = list_nics(Tree(tree.root()));
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
  const auto nics = list_nics(Tree(tree.root()));
  ASSERT_EQ(nics.size(), 2U);
  EXPECT_EQ(nics[0].name, "z");
}

TEST(Nics, LoopbackOfThisHost) {
  const Nic lo = named(list_nics(Tree()), "lo");
  EXPECT_EQ(lo.kind, "loopback");
  EXPECT_TRUE(lo.mtu.has_value());
}

}  // namespace
}  // namespace wireproof::host

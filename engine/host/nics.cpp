#include "host/nics.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "base/network_devices.hpp"
#include "host/hidden.hpp"
#include "host/rdma.hpp"
#include "host/stack.hpp"

namespace wireproof::host {
namespace {

constexpr std::size_t kMostInterfaces = 16384;

std::string kind_of(std::uint64_t hardware_type, bool has_device) {
  if (hardware_type == ARPHRD_LOOPBACK) return "loopback";
  if (hardware_type == ARPHRD_INFINIBAND) return "infiniband";
  return has_device ? "ethernet" : "virtual";
}

std::map<std::string, std::vector<std::string>> own_addresses() {
  std::map<std::string, std::vector<std::string>> result;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return result;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    const void* address = nullptr;
    if (family == AF_INET)
      address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    if (family == AF_INET6)
      address = &reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
    char text[INET6_ADDRSTRLEN];
    if (address == nullptr || ::inet_ntop(family, address, text, sizeof text) == nullptr) continue;
    const std::string label = entry->ifa_name;  // an IPv4 alias is labelled "eth0:1"
    result[label.substr(0, label.find(':'))].emplace_back(text);
  }
  return result;
}

// Driver and bus address by the ethtool ioctl, which is right for our namespace even if /sys is
// not.
struct DriverInfo {
  std::string driver;
  std::string bus;
};

DriverInfo ask_driver(const std::string& interface) {
  DriverInfo result;
  const int descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(),
              std::min(interface.size(), sizeof request.ifr_name - 1));
  request.ifr_data = reinterpret_cast<char*>(&info);
  if (descriptor >= 0 && ::ioctl(descriptor, SIOCETHTOOL, &request) == 0) {
    result.driver.assign(info.driver, ::strnlen(info.driver, sizeof info.driver));
    result.bus.assign(info.bus_info, ::strnlen(info.bus_info, sizeof info.bus_info));
  }
  if (descriptor >= 0) ::close(descriptor);
  return result;
}

// cxi devices have no RDMA class; their telemetry is found through the device that both share.
void give_cxi(const Tree& tree, Nic& nic) {
  const auto names = tree.list("sys/class/net/" + nic.name + "/device/cxi");
  if (nic.rdma || names.empty()) return;
  nic.rdma = Rdma{.device = names.front(), .driver = nic.driver};
}

// Everything that /sys shows of one interface, except its RDMA port.
Nic from_sysfs(const Tree& tree, const std::string& name) {
  const std::string base = "sys/class/net/" + name;
  Nic nic;
  nic.name = name;
  nic.driver = tree.target_name(base + "/device/driver");
  if (const auto mtu = tree.number(base + "/mtu")) nic.mtu = static_cast<int>(*mtu);
  const auto speed = static_cast<std::int64_t>(tree.number(base + "/speed").value_or(0));
  if (speed > 0 && speed != 0xFFFFFFFF) nic.speed_mbps = speed;  // else SPEED_UNKNOWN
  if (const auto carrier = tree.number(base + "/carrier")) nic.carrier = *carrier != 0;
  nic.operstate = tree.line(base + "/operstate");
  nic.mac = tree.line(base + "/address");
  const bool linked = !tree.target(base + "/device").empty();
  const bool has_device = tree.exists(base + "/device");
  nic.kind = kind_of(tree.number(base + "/type").value_or(0), linked || has_device);
  if (linked && !has_device) nic.hidden = "its device in /sys leads nowhere";
  describe_device(tree, base, nic);
  nic.adapter.switch_id = tree.line(base + "/phys_switch_id");
  nic.adapter.port_id = tree.line(base + "/phys_port_id");
  stack_from_tree(tree, nic);
  return nic;
}

Nic from_kernel(const Tree& tree, const NetworkDevice& device, bool sysfs_is_ours) {
  Nic nic;
  if (sysfs_is_ours) nic = from_sysfs(tree, device.name);
  nic.name = device.name;
  nic.mac = device.mac;
  nic.mtu = device.mtu;
  nic.carrier = device.carrier;
  nic.operstate = device.operstate;
  if (!nic.driver.empty()) return nic;
  const DriverInfo info = ask_driver(device.name);
  nic.driver = info.driver;
  const bool hardware = is_pci_address(info.bus);
  if (!sysfs_is_ours) {
    nic.kind = kind_of(device.hardware_type, hardware);
    if (nic.kind != "loopback") nic.hidden = "/sys shows another network namespace";
  } else if (hardware && nic.hidden.empty()) {
    nic.hidden = "/sys shows no driver of it";
    if (nic.kind == "virtual") nic.kind = "ethernet";
  }
  if (nic.pci.empty() && hardware) nic.pci = info.bus;
  return nic;
}

std::vector<Nic> list_from_tree(const Tree& tree) {
  std::multimap<std::uint64_t, std::string> by_index;
  for (const std::string& name : tree.list("sys/class/net")) {
    const std::string index = tree.line("sys/class/net/" + name + "/ifindex");
    if (!index.empty() && by_index.size() < kMostInterfaces)  // bonding_masters has none
      by_index.emplace(parse_unsigned(index).value_or(0), name);
  }
  std::vector<Nic> nics;
  for (const auto& [index, name] : by_index) nics.push_back(from_sysfs(tree, name));
  return nics;
}

std::vector<Nic> list_from_kernel(const Tree& tree, const std::vector<NetworkDevice>& devices,
                                  bool ours) {
  std::vector<Nic> nics;
  for (const NetworkDevice& device : devices) nics.push_back(from_kernel(tree, device, ours));
  stack_from_kernel(devices, nics);
  return nics;
}

void add_rdma(const Tree& tree, std::vector<Nic>& nics) {
  RdmaTable table(tree);
  for (Nic& nic : nics) table.give_port(nic);
  for (Nic& nic : nics) give_cxi(tree, nic);
  tell_hidden(tree, !table.empty(), nics);
  for (Nic& other : table.others()) nics.push_back(std::move(other));
}

}  // namespace

std::vector<Nic> list_nics(const Tree& tree) {
  const auto devices = tree.live() ? NetworkDeviceTable().read() : std::nullopt;
  const bool ours = !devices || sysfs_shows(tree, *devices);
  // Netlink is unavailable, so /sys is the only source.
  std::vector<Nic> nics = devices ? list_from_kernel(tree, *devices, ours) : list_from_tree(tree);
  if (ours) add_rdma(tree, nics);
  if (!tree.live()) return nics;
  auto addresses = own_addresses();
  for (Nic& nic : nics) nic.addresses = std::move(addresses[nic.name]);
  return nics;
}

}  // namespace wireproof::host

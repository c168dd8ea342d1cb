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
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <memory>

#include "base/bounded_file.hpp"
#include "base/links.hpp"
#include "host/rdma.hpp"

namespace wireproof::host {
namespace {

std::string link_target_name(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  if (length <= 0) return {};
  const std::string_view text(target, static_cast<std::size_t>(length));
  return std::string(text.substr(text.rfind('/') + 1));
}

template <class T>
std::optional<T> read_number(const std::string& path) {
  const auto value = parse_unsigned(read_line(path));
  return value ? std::optional<T>(static_cast<T>(*value)) : std::nullopt;
}

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

// Driver and bus address by the ethtool ioctl: right in our namespace even where /sys is not.
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

// Everything that /sys knows of one interface.
Nic from_sysfs(const std::string& root, const std::string& name) {
  const std::string base = under_root(root, "sys/class/net/" + name);
  Nic nic;
  nic.name = name;
  nic.driver = link_target_name(base + "/device/driver");
  nic.mtu = read_number<int>(base + "/mtu");
  const std::int64_t speed = read_number<std::int64_t>(base + "/speed").value_or(-1);
  if (speed > 0 && speed != 0xFFFFFFFF) nic.speed_mbps = speed;  // else SPEED_UNKNOWN
  if (const auto carrier = read_number<int>(base + "/carrier")) nic.carrier = *carrier != 0;
  nic.operstate = read_line(base + "/operstate");
  nic.numa_node = read_number<int>(base + "/device/numa_node");
  const std::string bus = link_target_name(base + "/device/subsystem");
  if (bus == "pci") nic.pci = link_target_name(base + "/device");
  struct stat device {};
  nic.kind = kind_of(parse_unsigned(read_line(base + "/type")).value_or(0),
                     ::stat((base + "/device").c_str(), &device) == 0);
  nic.rdma = find_rdma(root, name);
  return nic;
}

Nic from_kernel(const Link& link, bool sysfs_is_ours) {
  Nic nic;
  if (sysfs_is_ours) nic = from_sysfs("/", link.name);
  const DriverInfo info = ask_driver(link.name);
  nic.name = link.name;
  if (nic.driver.empty()) nic.driver = info.driver;
  nic.mtu = link.mtu;
  nic.carrier = link.carrier;
  nic.operstate = link.operstate;
  if (!sysfs_is_ours) nic.kind = kind_of(link.hardware_type, !info.bus.empty());
  return nic;
}

bool is_interface(const std::string& root, const std::string& name) {
  return !read_line(under_root(root, "sys/class/net/" + name + "/ifindex")).empty();
}

std::vector<Nic> list_from_tree(const std::string& root) {
  std::vector<std::pair<std::uint64_t, Nic>> found;
  for (const std::string& name : list_directory(under_root(root, "sys/class/net"))) {
    if (!is_interface(root, name)) continue;  // bonding_masters
    const auto index =
        parse_unsigned(read_line(under_root(root, "sys/class/net/" + name + "/ifindex")));
    found.emplace_back(index.value_or(0), from_sysfs(root, name));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Nic> nics;
  for (auto& [index, nic] : found) nics.push_back(std::move(nic));
  return nics;
}

}  // namespace

std::vector<Nic> list_nics(const std::string& root) {
  if (root != "/" && !root.empty()) return list_from_tree(root);
  const auto links = LinkTable().read();
  std::vector<Nic> nics;
  if (links) {
    const bool ours = sysfs_shows("/", *links);
    for (const Link& link : *links) nics.push_back(from_kernel(link, ours));
  } else {
    nics = list_from_tree("/");  // no netlink: /sys is all there is
  }
  auto addresses = own_addresses();
  for (Nic& nic : nics) nic.addresses = std::move(addresses[nic.name]);
  return nics;
}

void write(JsonWriter& json, const Nic& nic) {
  json.begin_object().field("name", nic.name).key("address").begin_array();
  for (const std::string& address : nic.addresses) json.value(address);
  json.end_array()
      .field("driver", nic.driver)
      .field("mtu", nic.mtu)
      .field("speed_mbps", nic.speed_mbps);
  json.field("carrier", nic.carrier)
      .field("operstate", nic.operstate)
      .field("numa_node", nic.numa_node);
  json.field("pci", nic.pci).field("kind", nic.kind);
  if (nic.rdma) {
    json.key("rdma").begin_object().field("device", nic.rdma->device).field("port", nic.rdma->port);
    json.field("rate", nic.rdma->rate).field("link_layer", nic.rdma->link_layer);
    json.field("state", nic.rdma->state).end_object();
  }
  json.end_object();
}

}  // namespace wireproof::host

#include "base/network_devices.hpp"

#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace wireproof {
namespace {

constexpr std::array<const char*, 7> kOperstates = {
    "unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"};

std::string format_mac(const unsigned char* bytes, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) {
    char pair[4];
    std::snprintf(pair, sizeof pair, "%s%02x", i == 0 ? "" : ":", bytes[i]);
    text += pair;
  }
  return text;
}

/// An index or another small number.
int to_index(const void* data, std::size_t size) {
  std::int32_t index = 0;
  if (size >= sizeof index) std::memcpy(&index, data, sizeof index);
  return index;
}

std::string to_text(const void* data, std::size_t size) {
  const char* text = static_cast<const char*>(data);
  return std::string(text, ::strnlen(text, size));
}

/// "vlan" of IFLA_LINKINFO, whose attributes are nested.
std::string kind_in(const rtattr* info) {
  auto length = static_cast<int>(RTA_PAYLOAD(info));
  for (const auto* inner = static_cast<const rtattr*>(RTA_DATA(info)); RTA_OK(inner, length);
       inner = RTA_NEXT(inner, length)) {
    if (inner->rta_type == IFLA_INFO_KIND) return to_text(RTA_DATA(inner), RTA_PAYLOAD(inner));
  }
  return "";
}

std::string to_operstate(const void* data, std::size_t size) {
  const unsigned state = size >= 1 ? *static_cast<const unsigned char*>(data) : 0;
  return state < kOperstates.size() ? kOperstates[state] : "";
}

/// The interface below it and the one that it is a member of; returns whether `attribute` was of
/// that kind.
bool apply_stack(NetworkDevice& device, const rtattr* attribute) {
  const void* data = RTA_DATA(attribute);
  const std::size_t size = RTA_PAYLOAD(attribute);
  switch (attribute->rta_type) {
    case IFLA_LINK:
      device.lower = to_index(data, size);
      return true;
    case IFLA_MASTER:
      device.master = to_index(data, size);
      return true;
    case IFLA_LINK_NETNSID:
      device.lower_elsewhere = true;
      return true;
    case IFLA_LINKINFO:
      device.kind = kind_in(attribute);
      return true;
    default:
      return false;
  }
}

void apply(NetworkDevice& device, const rtattr* attribute) {
  if (apply_stack(device, attribute)) return;
  const void* data = RTA_DATA(attribute);
  const std::size_t size = RTA_PAYLOAD(attribute);
  switch (attribute->rta_type) {
    case IFLA_IFNAME:
      device.name = to_text(data, size);
      break;
    case IFLA_ADDRESS:
      device.mac = format_mac(static_cast<const unsigned char*>(data), size);
      break;
    case IFLA_MTU:
      if (size >= sizeof(std::uint32_t)) device.mtu = to_index(data, size);
      break;
    case IFLA_CARRIER:
      if (size >= 1) device.carrier = *static_cast<const unsigned char*>(data) != 0;
      break;
    case IFLA_CARRIER_CHANGES:
      if (size >= sizeof(std::uint32_t)) device.carrier_changes = to_index(data, size);
      break;
    case IFLA_OPERSTATE:
      device.operstate = to_operstate(data, size);
      break;
    case IFLA_STATS64:
      device.statistic_count = std::min(size / sizeof(std::uint64_t), device.statistics.size());
      std::memcpy(device.statistics.data(), data, device.statistic_count * sizeof(std::uint64_t));
      break;
    default:
      break;
  }
}

NetworkDevice parse_device(const nlmsghdr* header) {
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  NetworkDevice device;
  device.index = info->ifi_index;
  device.hardware_type = info->ifi_type;
  auto length = static_cast<int>(IFLA_PAYLOAD(header));
  for (const rtattr* attribute = IFLA_RTA(info); RTA_OK(attribute, length);
       attribute = RTA_NEXT(attribute, length)) {
    apply(device, attribute);
  }
  // The other end of a veth is not an interface below it, nor is an index in another namespace.
  const bool has_twin = device.kind == "veth" || device.kind == "netkit" || device.kind == "vxcan";
  if (has_twin || device.lower_elsewhere || device.lower == device.index) device.lower = 0;
  if ((info->ifi_flags & IFF_UP) == 0)
    device.carrier.reset();  // sysfs answers EINVAL here: unknown, not false
  return device;
}

}  // namespace

NetworkDeviceTable::NetworkDeviceTable() : buffer_(1 << 16) {
  socket_ = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket_ < 0) return;
  const timeval patience{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

NetworkDeviceTable::~NetworkDeviceTable() {
  if (socket_ >= 0) ::close(socket_);
}

bool NetworkDeviceTable::request() {
  struct {
    nlmsghdr header;
    ifinfomsg body;
  } message{};
  message.header.nlmsg_len = sizeof message;
  message.header.nlmsg_type = RTM_GETLINK;
  message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  message.header.nlmsg_seq = ++sequence_;
  return ::send(socket_, &message, sizeof message, 0) == static_cast<ssize_t>(sizeof message);
}

int NetworkDeviceTable::receive(std::vector<NetworkDevice>& devices) {
  const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
  if (got < 0) return errno == EINTR ? 0 : -1;
  auto left = static_cast<unsigned>(got);
  bool interrupted = false;
  for (auto* header = reinterpret_cast<nlmsghdr*>(buffer_.data()); NLMSG_OK(header, left);
       header = NLMSG_NEXT(header, left)) {
    if (header->nlmsg_seq != sequence_) continue;
    interrupted = interrupted || (header->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (header->nlmsg_type == NLMSG_ERROR) return -1;
    if (header->nlmsg_type == NLMSG_DONE) return interrupted ? -2 : 1;
    if (header->nlmsg_type == RTM_NEWLINK) devices.push_back(parse_device(header));
  }
  return interrupted ? -2 : 0;
}

std::optional<std::vector<NetworkDevice>> NetworkDeviceTable::read() {
  for (int attempt = 0; attempt < 3 && socket_ >= 0; ++attempt) {
    std::vector<NetworkDevice> devices;
    if (!request()) return std::nullopt;
    int state = 0;
    while (state == 0) state = receive(devices);
    if (state == 1) return devices;
    if (state == -1) return std::nullopt;
  }
  return std::nullopt;
}

bool sysfs_shows(const Tree& tree, const std::vector<NetworkDevice>& devices) {
  const std::string base = "sys/class/net/";
  std::set<std::string> expected;
  for (const NetworkDevice& device : devices) {
    expected.insert(device.name);
    if (tree.number(base + device.name + "/ifindex") != static_cast<std::uint64_t>(device.index))
      return false;
    if (tree.line(base + device.name + "/address") != device.mac) return false;
  }
  for (const std::string& name : tree.list("sys/class/net")) {
    const bool interface =
        !tree.line(base + name + "/ifindex").empty();  // bonding_masters is a plain file
    if (interface && !expected.contains(name)) return false;
  }
  return true;
}

}  // namespace wireproof

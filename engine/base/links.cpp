#include "base/links.hpp"

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

/// What it stands on and is a member of; whether `attribute` was of that kind.
bool apply_stack(KernelLink& link, const rtattr* attribute) {
  const void* data = RTA_DATA(attribute);
  const std::size_t size = RTA_PAYLOAD(attribute);
  switch (attribute->rta_type) {
    case IFLA_LINK:
      link.lower = to_index(data, size);
      return true;
    case IFLA_MASTER:
      link.master = to_index(data, size);
      return true;
    case IFLA_LINK_NETNSID:
      link.lower_elsewhere = true;
      return true;
    case IFLA_LINKINFO:
      link.kind = kind_in(attribute);
      return true;
    default:
      return false;
  }
}

void apply(KernelLink& link, const rtattr* attribute) {
  if (apply_stack(link, attribute)) return;
  const void* data = RTA_DATA(attribute);
  const std::size_t size = RTA_PAYLOAD(attribute);
  switch (attribute->rta_type) {
    case IFLA_IFNAME:
      link.name = to_text(data, size);
      break;
    case IFLA_ADDRESS:
      link.mac = format_mac(static_cast<const unsigned char*>(data), size);
      break;
    case IFLA_MTU:
      if (size >= sizeof(std::uint32_t)) link.mtu = to_index(data, size);
      break;
    case IFLA_CARRIER:
      if (size >= 1) link.carrier = *static_cast<const unsigned char*>(data) != 0;
      break;
    case IFLA_OPERSTATE:
      link.operstate = to_operstate(data, size);
      break;
    case IFLA_STATS64:
      link.statistic_count = std::min(size / sizeof(std::uint64_t), link.statistics.size());
      std::memcpy(link.statistics.data(), data, link.statistic_count * sizeof(std::uint64_t));
      break;
    default:
      break;
  }
}

KernelLink parse_link(const nlmsghdr* header) {
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(header));
  KernelLink link;
  link.index = info->ifi_index;
  link.hardware_type = info->ifi_type;
  auto length = static_cast<int>(IFLA_PAYLOAD(header));
  for (const rtattr* attribute = IFLA_RTA(info); RTA_OK(attribute, length);
       attribute = RTA_NEXT(attribute, length)) {
    apply(link, attribute);
  }
  // A veth's other end is no interface that it stands on; nor is an index of another namespace.
  const bool has_twin = link.kind == "veth" || link.kind == "netkit" || link.kind == "vxcan";
  if (has_twin || link.lower_elsewhere || link.lower == link.index) link.lower = 0;
  if ((info->ifi_flags & IFF_UP) == 0)
    link.carrier.reset();  // sysfs answers EINVAL here: unknown, not false
  return link;
}

}  // namespace

LinkTable::LinkTable() : buffer_(1 << 16) {
  socket_ = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (socket_ < 0) return;
  const timeval patience{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

LinkTable::~LinkTable() {
  if (socket_ >= 0) ::close(socket_);
}

bool LinkTable::request() {
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

int LinkTable::receive(std::vector<KernelLink>& links) {
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
    if (header->nlmsg_type == RTM_NEWLINK) links.push_back(parse_link(header));
  }
  return interrupted ? -2 : 0;
}

std::optional<std::vector<KernelLink>> LinkTable::read() {
  for (int attempt = 0; attempt < 3 && socket_ >= 0; ++attempt) {
    std::vector<KernelLink> links;
    if (!request()) return std::nullopt;
    int state = 0;
    while (state == 0) state = receive(links);
    if (state == 1) return links;
    if (state == -1) return std::nullopt;
  }
  return std::nullopt;
}

bool sysfs_shows(const Tree& tree, const std::vector<KernelLink>& links) {
  const std::string base = "sys/class/net/";
  std::set<std::string> expected;
  for (const KernelLink& link : links) {
    expected.insert(link.name);
    if (tree.number(base + link.name + "/ifindex") != static_cast<std::uint64_t>(link.index))
      return false;
    if (tree.line(base + link.name + "/address") != link.mac) return false;
  }
  for (const std::string& name : tree.list("sys/class/net")) {
    const bool interface =
        !tree.line(base + name + "/ifindex").empty();  // bonding_masters is a plain file
    if (interface && !expected.contains(name)) return false;
  }
  return true;
}

}  // namespace wireproof

#include "transport/meeting/nic.hpp"

#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "base/failure.hpp"

namespace wireproof::tcp {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kProbeMs = 3'000;  // an answer from the same network takes a millisecond

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Interfaces above `interface`: its bond or bridge, its VLANs.
std::vector<std::string> upper_of(const std::string& interface) {
  std::vector<std::string> found;
  for (const std::string& name : names_in(fs::path("/sys/class/net") / interface)) {
    if (name.starts_with("upper_")) found.push_back(name.substr(6));
  }
  return found;
}

std::vector<LocalAddress> every_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<LocalAddress> found;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    LocalAddress local{one->ifa_name, {}};
    local.address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    std::memcpy(&local.address.storage, one->ifa_addr, local.address.length);
    found.push_back(std::move(local));
  }
  return found;
}

const in6_addr& bits6(const Address& address) {
  return reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr;
}

bool same_host(const Address& one, const Address& other) {
  if (one.storage.ss_family != other.storage.ss_family) return false;
  if (one.storage.ss_family == AF_INET6) return IN6_ARE_ADDR_EQUAL(&bits6(one), &bits6(other)) != 0;
  return reinterpret_cast<const sockaddr_in&>(one.storage).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(other.storage).sin_addr.s_addr;
}

/// Smaller is better.
int rank_of(const Address& address) {
  if (address.storage.ss_family == AF_INET) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&bits6(address)) != 0 ? 2 : 1;
}

std::optional<LocalAddress> best_of(const std::vector<std::string>& interfaces,
                                    const std::vector<LocalAddress>& known) {
  std::optional<LocalAddress> best;
  for (const LocalAddress& local : known) {
    if (std::find(interfaces.begin(), interfaces.end(), local.interface) == interfaces.end())
      continue;
    if (!best || rank_of(local.address) < rank_of(best->address)) best = local;
  }
  return best;
}

/// The bytes of an address without family and port.
std::span<const std::byte> octets(const Address& address) {
  if (address.storage.ss_family == AF_INET6) return std::as_bytes(std::span(&bits6(address), 1));
  return std::as_bytes(
      std::span(&reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr, 1));
}

/// The request to the kernel for the interface of a route. (rtnetlink(7), RTM_GETROUTE)
struct RouteRequest {
  nlmsghdr head{};
  rtmsg route{};
  std::array<std::byte, 64> attributes{};

  RouteRequest(const Address& from, const Address& to) {
    head.nlmsg_len = NLMSG_LENGTH(sizeof route);
    head.nlmsg_type = RTM_GETROUTE;
    head.nlmsg_flags = NLM_F_REQUEST;
    route.rtm_family = static_cast<unsigned char>(to.storage.ss_family);
    route.rtm_dst_len = add(RTA_DST, octets(to));
    route.rtm_src_len = add(RTA_SRC, octets(from));
  }

 private:
  unsigned char add(unsigned short type, std::span<const std::byte> value) {
    const rtattr attribute{static_cast<unsigned short>(RTA_LENGTH(value.size())), type};
    std::byte* at = attributes.data() + (head.nlmsg_len - NLMSG_LENGTH(sizeof route));
    std::memcpy(at, &attribute, sizeof attribute);
    std::memcpy(at + RTA_LENGTH(0), value.data(), value.size());
    head.nlmsg_len += static_cast<unsigned>(RTA_ALIGN(attribute.rta_len));
    return static_cast<unsigned char>(8 * value.size());
  }
};

/// The interface in the kernel's answer; 0, with errno set, if there is no route.
unsigned interface_in(std::span<std::byte> answer) {
  auto left = static_cast<int>(answer.size());
  const auto* head = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (!NLMSG_OK(head, static_cast<unsigned>(left))) return 0;
  if (head->nlmsg_type == NLMSG_ERROR) {
    errno = -static_cast<const nlmsgerr*>(NLMSG_DATA(head))->error;
    return 0;
  }
  left = static_cast<int>(RTM_PAYLOAD(head));
  for (const rtattr* at = RTM_RTA(NLMSG_DATA(head)); RTA_OK(at, left); at = RTA_NEXT(at, left)) {
    unsigned index = 0;
    if (at->rta_type != RTA_OIF || RTA_PAYLOAD(at) < sizeof index) continue;
    std::memcpy(&index, RTA_DATA(at), sizeof index);
    return index;
  }
  return 0;
}

/// The interface through which the kernel sends from `from` to `to`; "", with errno set, if there
/// is no route.
std::string route_of(const Address& from, const Address& to) {
  const Socket socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  const RouteRequest request(from, to);
  std::array<std::byte, 4096> answer{};
  errno = 0;
  if (::send(socket.descriptor(), &request, request.head.nlmsg_len, 0) < 0) return "";
  const ssize_t got = ::recv(socket.descriptor(), answer.data(), answer.size(), 0);
  if (got <= 0) return "";
  std::array<char, IF_NAMESIZE> name{};
  const unsigned index = interface_in(std::span(answer).first(static_cast<std::size_t>(got)));
  return index != 0 && ::if_indextoname(index, name.data()) != nullptr ? name.data() : "";
}

/// Whether both addresses belong to one network of `local`'s interface.
bool is_on_link(const LocalAddress& local, const Address& remote) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr ||
        local.interface != one->ifa_name || one->ifa_addr->sa_family != remote.storage.ss_family)
      continue;
    Address mine, mask;
    const socklen_t length = remote.length;
    std::memcpy(&mine.storage, one->ifa_addr, length);
    std::memcpy(&mask.storage, one->ifa_netmask, length);
    mask.storage.ss_family = remote.storage.ss_family;
    const auto a = octets(mine), b = octets(remote), m = octets(mask);
    bool same = true;
    for (std::size_t i = 0; i < a.size(); ++i)
      same = same && ((a[i] ^ b[i]) & m[i]) == std::byte{0};
    if (same) return true;
  }
  return false;
}

std::string bare(const Address& address) {
  const std::string text = address.text();
  return text.substr(0, text.rfind(':'));
}

/// The other NICs of this host, for the error message.
std::string others(const std::vector<LocalAddress>& known) {
  std::string text;
  for (const LocalAddress& local : known) {
    if (local.address.storage.ss_family != AF_INET || local.interface == "lo") continue;
    text += (text.empty() ? "" : ", ") + local.interface + " " + bare(local.address);
  }
  return text.empty() ? "no interface here has an IPv4 address" : "addresses here: " + text;
}

}  // namespace

std::vector<std::string> interfaces_of(const std::string& nic) {
  if (nic.empty() || nic.find('/') != std::string::npos) return {};
  if (::if_nametoindex(nic.c_str()) != 0) return {nic};
  const std::string device = nic.substr(0, nic.find(':'));
  return names_in(fs::path("/sys/class/infiniband") / device / "device/net");
}

LocalAddress local_address_of(const std::string& nic) {
  const std::vector<std::string> interfaces = interfaces_of(nic);
  const std::vector<LocalAddress> known = every_address();
  if (interfaces.empty()) {
    throw cannot_measure("tcp-no-nic", "the claimed NIC " + nic +
                                           " is not on this host, or has no " +
                                           "network interface; " + others(known));
  }
  if (auto found = best_of(interfaces, known)) return *found;
  for (const std::string& interface : interfaces) {
    if (auto found = best_of(upper_of(interface), known)) return *found;
  }
  throw cannot_measure(
      "tcp-no-address",
      "the claimed NIC " + nic + " has no IP address, so TCP cannot use it; " + others(known));
}

std::string interface_with(const std::string& nic, const Address& address) {
  const std::vector<std::string> interfaces = interfaces_of(nic);
  for (const LocalAddress& local : every_address()) {
    const bool meant =
        std::find(interfaces.begin(), interfaces.end(), local.interface) != interfaces.end();
    if (meant && same_host(local.address, address)) return local.interface;
  }
  return "";
}

bool is_own(const Address& address) {
  const std::vector<LocalAddress> known = every_address();
  return std::any_of(known.begin(), known.end(),
                     [&](const LocalAddress& local) { return same_host(local.address, address); });
}

bool bind_to_interface(const Socket& socket, const std::string& interface) {
  return ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                      static_cast<socklen_t>(interface.size())) == 0;
}

std::string obstacle(const LocalAddress& local, const Address& remote) {
  if (is_own(remote)) return "";
  const std::string where = bare(remote);
  const std::string from = local.interface + " (" + bare(local.address) + ")";
  if (remote.storage.ss_family != local.address.storage.ss_family) {
    return from + " and " + where + " are addresses of different families";
  }
  const std::string interface = route_of(local.address, remote);
  if (interface == local.interface) return "";
  if (interface.empty()) {
    const std::string why = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
    return "there is no route by " + from + " to " + where + why;
  }
  // Two interfaces in one network: the sockets are bound to their interface, if that is permitted.
  const Socket probe(
      ::socket(remote.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!is_on_link(local, remote) || !bind_to_interface(probe, local.interface))
    return "the route to " + where + " leaves by " + interface + ", not by " + from;
  try {
    connect_to(remote, with_port(local.address, 0), deadline_in_ms(kProbeMs), local.interface);
  } catch (const Failure& failure) {
    return "sockets bound to " + from + " have no answer from " + where + " (" + failure.what() +
           "): what it sends back enters " + interface + ", which is of the same network";
  }
  return "";
}

std::string interface_to_bind(const LocalAddress& local, const Address& remote) {
  if (local.interface.empty() || is_own(remote)) return "";
  return route_of(local.address, remote) == local.interface ? "" : local.interface;
}

}  // namespace wireproof::tcp

#include "base/packet_probe.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace wireproof {
namespace {

constexpr int kMostDescriptors = 1024;  // a look interrupts a measurement, for 0.1 ms
constexpr int kStuckAfter = 3;  // timeouts in a row: 1.4 s with the kernel's shortest timeout
constexpr int kAgreeing = 3;
constexpr int kPatienceMs = 100;
constexpr int kTcpHeaders = 52;              // of IPv4, with time stamps
constexpr int kSmall[] = {1500, 1280, 576};  // bytes
constexpr in_port_t kPort = 33434;           // where traceroute begins: nobody listens there
char g_zeros[65536];

in_port_t& port_of(sockaddr_storage& address) {
  // Both families have the port at the same place.
  return reinterpret_cast<sockaddr_in&>(address).sin_port;
}

int headers_of(const sockaddr_storage& address) {
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  const bool long_header = address.ss_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
  return long_header ? 48 : 28;
}

}  // namespace

bool PacketProbe::find_stuck() {
  for (int i = 0; i < kMostDescriptors; ++i, descriptor_ = (descriptor_ + 1) % kMostDescriptors) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(descriptor_, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    if (info.tcpi_state != TCP_ESTABLISHED || info.tcpi_retransmits < kStuckAfter) continue;
    socklen_t own = sizeof own_;
    length_ = sizeof peer_;
    sockaddr_storage peer{};
    if (::getpeername(descriptor_, reinterpret_cast<sockaddr*>(&peer), &length_) != 0 ||
        ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&own_), &own) != 0 ||
        ::ioctl(descriptor_, SIOCOUTQ, &queued_) != 0) {
      continue;
    }
    port_of(own_) = 0;
    port_of(peer) = htons(kPort);
    if (std::memcmp(&peer, &peer_, sizeof peer) != 0) agreeing_ = 0;
    peer_ = peer;
    dropped_ =
        static_cast<int>(std::min({info.tcpi_pmtu, info.tcpi_snd_mss + kTcpHeaders, 65535U}));
    return true;
  }
  return false;
}

bool PacketProbe::answers(int bytes) const {
  const int probe = ::socket(peer_.ss_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return true;
  const int whole = IP_PMTUDISC_PROBE;  // not in fragments, whatever the kernel remembers
  ::setsockopt(probe, IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
  ::setsockopt(probe, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &whole, sizeof whole);
  const auto payload = static_cast<std::size_t>(bytes - headers_of(peer_));
  const bool sent = ::bind(probe, reinterpret_cast<const sockaddr*>(&own_), length_) == 0 &&
                    ::connect(probe, reinterpret_cast<const sockaddr*>(&peer_), length_) == 0 &&
                    ::send(probe, g_zeros, payload, 0) >= 0;
  pollfd wait{probe, POLLIN, 0};
  // A packet that does not leave this host is not lost on the way.
  const bool answered = !sent || ::poll(&wait, 1, kPatienceMs) != 0;
  ::close(probe);
  return answered;
}

/// A kernel that answers rarely must not look like a path that drops: large packets are tried
/// before and after the small ones.
bool PacketProbe::drops_large() {
  if (answers(dropped_)) return false;
  passed_ = 0;
  for (const int bytes : kSmall) {
    // What is stuck must be larger than what passes.
    if (bytes >= dropped_ || queued_ + kTcpHeaders <= bytes || passed_ != 0) continue;
    if (answers(bytes)) passed_ = bytes;
  }
  return passed_ != 0 && !answers(dropped_);
}

bool PacketProbe::look() {
  if (!find_stuck()) {
    agreeing_ = 0;
    return false;
  }
  if (!drops_large()) {
    agreeing_ = 0;
    descriptor_ = (descriptor_ + 1) % kMostDescriptors;  // the next connection, next time
    return false;
  }
  return ++agreeing_ >= kAgreeing;
}

}  // namespace wireproof

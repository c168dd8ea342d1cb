#include "transport/meeting/socket.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/clock.hpp"
#include "base/failure.hpp"

namespace wireproof::tcp {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

int new_socket(int family) {
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0)
    throw cannot_measure("tcp-socket", std::string("no TCP socket: ") + std::strerror(errno));
  return descriptor;
}

void set_option(int descriptor, int level, int option, int value) {
  ::setsockopt(descriptor, level, option, &value, sizeof value);
}

// Small messages are sent at once; a host that died silently is detected within half a minute.
void tune(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
}

void pause_ms(int ms) { ::poll(nullptr, 0, ms); }

std::optional<Address> resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0)
    return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  Address address;
  std::memcpy(&address.storage, list->ai_addr, list->ai_addrlen);
  address.length = list->ai_addrlen;
  return address;
}

bool is_wildcard(const Address& address) {
  if (address.storage.ss_family == AF_INET6) {
    return IN6_IS_ADDR_UNSPECIFIED(
               &reinterpret_cast<const sockaddr_in6&>(address.storage).sin6_addr) != 0;
  }
  return reinterpret_cast<const sockaddr_in&>(address.storage).sin_addr.s_addr == htonl(INADDR_ANY);
}

// "10.0.0.1:4000" or "[fd00::1]:4000". An IPv6 address without brackets is refused, because its
// last group would silently be used as the port.
std::optional<std::pair<std::string, int>> split_host_port(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  int port = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || stop != end || port <= 0 || port > 65535) return std::nullopt;
  std::string host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!bracketed && host.find(':') != std::string::npos)) return std::nullopt;
  return std::pair(host, port);
}

// One attempt: 0, or its error.
int try_connect(int descriptor, const Address& remote, Deadline deadline) {
  if (::connect(descriptor, remote.raw(), remote.length) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(descriptor, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

bool is_passing(int error) {
  return error == ECONNREFUSED || error == ETIMEDOUT || error == ECONNRESET ||
         error == EHOSTUNREACH || error == ENETUNREACH || error == EAGAIN || error == EINTR;
}

}  // namespace

Deadline deadline_in_ms(std::int64_t ms) { return monotonic_ns() + ms * kMillisecond; }

std::string Address::text() const {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(raw(), length, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown address";
  }
  const std::string name = host.data();
  return (storage.ss_family == AF_INET6 ? "[" + name + "]" : name) + ":" + port.data();
}

std::string Address::host() const {
  std::array<char, NI_MAXHOST> host{};
  const int failed =
      ::getnameinfo(raw(), length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return failed == 0 ? host.data() : "";
}

Address numeric_address(const std::string& host, int port, const std::string& what) {
  const auto address = resolve(host, port, AI_NUMERICHOST);
  if (!address) throw bad_plan(what + " '" + host + "' is not a numeric IPv4 or IPv6 address");
  return *address;
}

Address parse_meeting_point(const std::string& text) {
  const auto parts = split_host_port(text);
  if (!parts) {
    throw bad_plan("--meet '" + text +
                   "' is not ADDRESS:PORT; write 10.0.0.1:4000 or [fd00::1]:4000");
  }
  const auto address = resolve(parts->first, parts->second, 0);
  if (!address)
    throw bad_plan("--meet: the address of '" + parts->first +
                   "' is unknown here; use a numeric one");
  if (is_wildcard(*address))
    throw bad_plan("--meet '" + text +
                   "' names no host; give an address that every rank can reach");
  return *address;
}

Address peer_address(const std::string& text, const Address& own) {
  const auto parts = split_host_port(text);
  if (!parts) throw cannot_measure("tcp-garbled", "a peer's address '" + text + "' cannot be read");
  const std::string host = parts->first.substr(0, parts->first.find('%'));
  Address address = numeric_address(host, parts->second, "a peer's address");
  if (address.storage.ss_family == AF_INET6 && own.storage.ss_family == AF_INET6) {
    auto& theirs = reinterpret_cast<sockaddr_in6&>(address.storage);
    const auto& ours = reinterpret_cast<const sockaddr_in6&>(own.storage);
    if (IN6_IS_ADDR_LINKLOCAL(&theirs.sin6_addr)) theirs.sin6_scope_id = ours.sin6_scope_id;
  }
  return address;
}

Address with_port(Address address, int port) {
  if (address.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port =
        htons(static_cast<std::uint16_t>(port));
  } else {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port =
        htons(static_cast<std::uint16_t>(port));
  }
  return address;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Address Socket::local() const {
  Address address;
  address.length = sizeof address.storage;
  ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  return address;
}

Address Socket::remote() const {
  Address address;
  address.length = sizeof address.storage;
  ::getpeername(descriptor_, reinterpret_cast<sockaddr*>(&address.storage), &address.length);
  return address;
}

Socket listen_on(const Address& address) {
  Socket socket(new_socket(address.storage.ss_family));
  set_option(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.descriptor(), address.raw(), address.length) != 0 ||
      ::listen(socket.descriptor(), 1024) != 0) {
    const std::string advice =
        errno == EADDRNOTAVAIL ? "; the address belongs to no interface of this host" : "";
    throw cannot_measure(
        "tcp-listen", "cannot listen on " + address.text() + ": " + std::strerror(errno) + advice);
  }
  return socket;
}

Socket accept_one(const Socket& listener) {
  const int descriptor =
      ::accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (descriptor >= 0) tune(descriptor);
  return Socket(descriptor);
}

Socket connect_to(const Address& remote, const std::optional<Address>& local, Deadline deadline,
                  const std::string& interface) {
  for (int pause = 10;; pause = std::min(2 * pause, 200)) {
    Socket socket(new_socket(remote.storage.ss_family));
    // If the kernel does not permit it, only the address decides, and the counters show the path.
    if (!interface.empty()) {
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                   static_cast<socklen_t>(interface.size()));
    }
    if (local && ::bind(socket.descriptor(), local->raw(), local->length) != 0) {
      throw cannot_measure("tcp-bind",
                           "cannot bind to " + local->text() + ": " + std::strerror(errno) +
                               "; the claimed address belongs to no interface of this host");
    }
    const int error = try_connect(socket.descriptor(), remote, deadline);
    if (error == 0) {
      tune(socket.descriptor());
      return socket;
    }
    if (!is_passing(error) || monotonic_ns() + pause * kMillisecond >= deadline) {
      throw cannot_measure("tcp-connect",
                           "cannot connect to " + remote.text() + ": " + std::strerror(error));
    }
    pause_ms(pause);
  }
}

bool wait_for(int descriptor, short events, Deadline deadline) {
  for (;;) {
    const std::int64_t left = deadline - monotonic_ns();
    if (left <= 0) return false;
    pollfd wait{descriptor, events, 0};
    const int ms =
        static_cast<int>(std::min<std::int64_t>((left + kMillisecond - 1) / kMillisecond, 60'000));
    const int ready = ::poll(&wait, 1, ms);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Transfer send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    const int error = sent < 0 ? errno : 0;
    if (error == 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (error == EAGAIN || error == EINTR) {
      if (!wait_for(socket.descriptor(), POLLOUT, deadline)) return Transfer::late;
    } else {
      return error == EPIPE || error == ECONNRESET ? Transfer::closed : Transfer::failed;
    }
  }
  return Transfer::done;
}

Transfer receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0) {
      return Transfer::closed;
    } else if (errno == EAGAIN || errno == EINTR) {
      if (!wait_for(socket.descriptor(), POLLIN, deadline)) return Transfer::late;
    } else {
      return errno == ECONNRESET ? Transfer::closed : Transfer::failed;
    }
  }
  return Transfer::done;
}

std::string sentence(Transfer transfer) {
  switch (transfer) {
    case Transfer::done:
      return "done";
    case Transfer::closed:
      return "closed the connection (its process ended)";
    case Transfer::late:
      return "did not answer in time";
    case Transfer::failed:
      break;
  }
  return std::string("lost the connection: ") + std::strerror(errno);
}

}  // namespace wireproof::tcp

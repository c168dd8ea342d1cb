// Kernel TCP sockets, always non-blocking, every wait bounded by a deadline.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace wireproof::tcp {

/// CLOCK_MONOTONIC, nanoseconds: the deadline.
using Deadline = std::int64_t;
Deadline deadline_in_ms(std::int64_t ms);

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  std::string text() const;  ///< "10.0.0.1:4000", "[fe80::1%eth0]:4000"
  std::string host() const;  ///< "10.0.0.1", "fe80::1%eth0"
};

/// Numeric IPv4 or IPv6 address (with %scope for link-local ones). Otherwise throws Failure with
/// `what`.
Address numeric_address(const std::string& host, int port, const std::string& what);
/// "10.0.0.1:4000", "[::1]:4000" or "name:4000". Throws Failure (bad_plan) if it is not an address
/// and port.
Address parse_meeting_point(const std::string& text);
Address with_port(Address address, int port);
/// The address that a peer wrote by Address::text(). The scope of a link-local address is the
/// peer's interface; it is replaced by the local interface from `own`. Throws Failure if it is not
/// an address.
Address peer_address(const std::string& text, const Address& own);

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket();

  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  Address local() const;
  Address remote() const;

 private:
  int descriptor_ = -1;
};

/// Listens on exactly `address` (port 0: any free port). Throws Failure if that address is not
/// local or is in use.
Socket listen_on(const Address& address);
/// The next waiting connection, or a closed socket if there is none.
Socket accept_one(const Socket& listener);
/// Connects from `local` (if given), through `interface` (if given and permitted) to `remote`,
/// repeatedly until the deadline while the other side refuses, because it may not listen yet.
/// Throws Failure with the last error.
Socket connect_to(const Address& remote, const std::optional<Address>& local, Deadline deadline,
                  const std::string& interface = "");

enum class Transfer { done, closed, late, failed };

/// Sleeping (never spinning) transfers of exactly these bytes.
Transfer send_all(const Socket& socket, std::span<const std::byte> bytes, Deadline deadline);
Transfer receive_all(const Socket& socket, std::span<std::byte> bytes, Deadline deadline);
/// Waits until the descriptor has one of `events` (POLLIN, POLLOUT); false at the deadline.
bool wait_for(int descriptor, short events, Deadline deadline);
std::string sentence(Transfer transfer);

}  // namespace wireproof::tcp

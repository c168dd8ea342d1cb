// The claimed NIC for sockets: an address of it to bind to, and whether it reaches a peer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

/// Network interfaces that `nic` refers to: the interface itself, those of an RDMA device
/// ("mlx5_0", "mlx5_0:1"), or none.
std::vector<std::string> interfaces_of(const std::string& nic);

/// The address to bind to: an IPv4 address of the claimed NIC before an IPv6 address, link-local
/// last; if it has none, an address of the interface above it (a bond, bridge or VLAN).
struct LocalAddress {
  std::string interface;
  Address address;
};
/// Throws Failure if there is no such NIC here, or it has no address.
LocalAddress local_address_of(const std::string& nic);
/// The interface that has `address`, if `nic` is claimed and refers to it; "" otherwise.
std::string interface_with(const std::string& nic, const Address& address);

bool is_own(const Address& address);
/// Makes the kernel send only through this interface. False if that is not permitted.
bool bind_to_interface(const Socket& socket, const std::string& interface);
/// Why `local` does not reach `remote` (a peer's address), in words; "" if it does.
std::string obstacle(const LocalAddress& local, const Address& remote);
/// The interface that a socket must be bound to so that it reaches `remote`; "" if the routes
/// suffice.
std::string interface_to_bind(const LocalAddress& local, const Address& remote);

}  // namespace wireproof::tcp

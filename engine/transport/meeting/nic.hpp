// The claimed NIC as sockets need it: an address of it to bind to, and whether it reaches a peer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transport/meeting/socket.hpp"

namespace wireproof::tcp {

/// Network interfaces that `nic` means: itself, those of an RDMA device ("mlx5_0", "mlx5_0:1"),
/// else none.
std::vector<std::string> interfaces_of(const std::string& nic);

/// Where to bind: an IPv4 address of the claimed NIC before an IPv6 one, link-local last; an
/// address of what stands on it (a bond, bridge or VLAN) where it has none itself.
struct LocalAddress {
  std::string interface;
  Address address;
};
/// Throws Failure: there is no such NIC here, or it has no address.
LocalAddress local_address_of(const std::string& nic);
/// The interface that has `address`, if `nic` is claimed and means it; "" otherwise.
std::string interface_with(const std::string& nic, const Address& address);

bool is_own(const Address& address);
/// Makes the kernel send by this interface only. False where that is not allowed.
bool bind_to_interface(const Socket& socket, const std::string& interface);
/// Why `local` does not lead to `remote` (where somebody listens), in words; "" when it does.
std::string obstacle(const LocalAddress& local, const Address& remote);
/// The interface to bind a socket to so that it leads to `remote`; "" where the routes do it.
std::string interface_to_bind(const LocalAddress& local, const Address& remote);

}  // namespace wireproof::tcp

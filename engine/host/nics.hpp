// The network interfaces of this host: what they are, what they stand on, which addresses, RDMA
// port and adapter they have.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// Interfaces sorted by index, then RDMA ports that have none (as `device:port`). On the live tree
/// the list, mtu, carrier, addresses and what stands on what are those of our own network namespace
/// (rtnetlink, getifaddrs); what only /sys knows (speed, driver, PCI, RDMA) is left out where /sys
/// shows another namespace, and `hidden` says so.
std::vector<Nic> list_nics(const Tree& tree);

}  // namespace wireproof::host

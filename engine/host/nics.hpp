// The network interfaces of this host: their properties, the interfaces below them, and their
// addresses, RDMA ports and adapters.
#pragma once

#include <string>
#include <vector>

#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// Interfaces sorted by index, followed by RDMA ports without an interface (as `device:port`). On
/// the live system, the list, mtu, carrier, addresses and stacking are those of our own network
/// namespace (rtnetlink, getifaddrs). What only /sys shows (speed, driver, PCI, RDMA) is left out
/// if /sys shows another namespace, and `hidden` says so.
std::vector<Nic> list_nics(const Tree& tree);

}  // namespace wireproof::host

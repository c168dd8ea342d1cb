// What containers hide: a part of sysfs that is missing although the hardware is there.
#pragma once

#include <vector>

#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// Says in `hidden` of each interface why a part of what sysfs should say of it is missing.
/// `rdma_seen`: sysfs lists RDMA devices.
void tell_hidden(const Tree& tree, bool rdma_seen, std::vector<Nic>& nics);

}  // namespace wireproof::host

// What containers hide: a part of sysfs that is missing although the hardware is present.
#pragma once

#include <vector>

#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// Sets `hidden` of each interface to the reason why a part of its sysfs is missing. `rdma_seen`:
/// sysfs lists RDMA devices.
void tell_hidden(const Tree& tree, bool rdma_seen, std::vector<Nic>& nics);

}  // namespace wireproof::host

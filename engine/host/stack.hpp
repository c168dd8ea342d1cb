// What stands on what: VLANs, bonds, bridges and their members.
#pragma once

#include <string>
#include <vector>

#include "base/network_devices.hpp"
#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// `lower`, `master` and `link_kind` as sysfs shows them; for a kind that sysfs does not name, "".
void stack_from_tree(const Tree& tree, Nic& nic);

/// The same as the kernel says; `nics` are those of `devices`, in the same order.
void stack_from_kernel(const std::vector<NetworkDevice>& devices, std::vector<Nic>& nics);

}  // namespace wireproof::host

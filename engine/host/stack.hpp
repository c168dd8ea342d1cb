// How interfaces are stacked: VLANs, bonds, bridges and their members.
#pragma once

#include <string>
#include <vector>

#include "base/network_devices.hpp"
#include "base/tree.hpp"
#include "host/nic.hpp"

namespace wireproof::host {

/// Whether a port of the adapter's switch represents a function (pf0vf3, pf0sf88, pf0hpf): its
/// device is the adapter's, and the GID table names its RDMA port, if any.
bool is_representor(const Tree& tree, const std::string& interface);

/// `lower`, `master` and `link_kind` from sysfs; "" for a kind that sysfs does not name. A
/// representor is not a port of the adapter, whatever its device: its kind is virtual.
void stack_from_tree(const Tree& tree, Nic& nic);

/// The same from netlink; `nics` are those of `devices`, in the same order.
void stack_from_kernel(const std::vector<NetworkDevice>& devices, std::vector<Nic>& nics);

}  // namespace wireproof::host

// Which RDMA device and port belong to a network interface.
#pragma once

#include <optional>
#include <string>

#include "host/nics.hpp"

namespace wireproof::host {

/// From /sys under `root`: by the PCI device that both share (port = dev_port + 1, as IPoIB and mlx
/// numbers them), else by the GID table's network devices (soft-RoCE, bonds, VLANs). Nothing when
/// the interface has none.
std::optional<Rdma> find_rdma(const std::string& root, const std::string& interface);

}  // namespace wireproof::host

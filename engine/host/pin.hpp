// Which core a rank should run on: one of the socket that its NIC hangs on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"

namespace wireproof::host {

struct Pin {
  std::optional<int> numa_node;  ///< of the NIC, where /sys knows it
  std::optional<int> core;       ///< nothing: stay where the launcher put us
};

/// `allowed`: processors that this process may use, sorted. `ordinal`: 0 for the first rank of this
/// host, 1 for the next.
///
/// A core is chosen only when `allowed` spans more than one socket and the NIC's NUMA node is
/// known: a launcher that has bound its ranks knows better. Of the allowed processors of that node
/// the first threads of each core come before the second ones, and core 0 with its siblings (the
/// kernel's own work runs there) only when there is no other. More ranks than processors share them
/// in turn.
Pin choose_pin(const Tree& tree, const std::string& nic, const std::vector<int>& allowed,
               int ordinal);

/// Binds the calling process to one processor; false when the kernel refuses.
bool bind_to(int core);

/// {0,1,2,3,8} from "0-3,8"; nothing after the first word that is no such list.
std::vector<int> unfold_cpu_list(const std::string& text);

}  // namespace wireproof::host

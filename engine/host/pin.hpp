// Chooses the core of a rank: one on the socket that its NIC is attached to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/tree.hpp"

namespace wireproof::host {

struct Pin {
  std::optional<int> numa_node;  ///< of the NIC, if /sys shows it
  std::optional<int> core;       ///< nothing: keep the launcher's placement
};

/// `allowed`: processors that this process may use, sorted. `ordinal`: 0 for the first rank of this
/// host, 1 for the next.
///
/// A core is chosen only if `allowed` spans more than one socket and the NIC's NUMA node is known;
/// a launcher that has bound its ranks takes precedence. Among the allowed processors of that node,
/// the first threads of each core come before the second threads; core 0 and its siblings (the
/// kernel's own work runs there) are used only if there is no other. If there are more ranks than
/// processors, they share them in turn.
Pin choose_pin(const Tree& tree, const std::string& nic, const std::vector<int>& allowed,
               int ordinal);

/// Binds the calling process to one processor; false if the kernel refuses.
bool bind_to(int core);

/// {0,1,2,3,8} from "0-3,8"; stops at the first word that is not such a list.
std::vector<int> unfold_cpu_list(const std::string& text);

}  // namespace wireproof::host

// Network interfaces as facts: what they are and stand on, and what a /sys that is another network
// namespace's must not be asked for.
#pragma once

#include <vector>

#include "base/tree.hpp"
#include "facts/collect.hpp"
#include "plan/plan.hpp"

namespace wireproof::facts {

/// The path that asks for all interfaces: their list as the host frame has it (host/nics.hpp), in
/// JSON.
inline constexpr std::string_view kInterfaces = "interfaces";

Fact read_interfaces(const Tree& tree);

/// True where the answer to `request` would be that of other interfaces than ours: it asks for
/// /sys/class/net on the live tree, and /sys shows another network namespace.
bool shows_others(const Tree& tree, const FactRequest& request);

/// The same answers as far as rtnetlink has them (mtu, operstate, carrier, address, ifindex, type,
/// statistics); what else is asked for is `failed` and says why.
std::vector<Fact> from_kernel(const FactRequest& request);

}  // namespace wireproof::facts

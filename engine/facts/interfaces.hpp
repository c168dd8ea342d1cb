// Network interfaces as facts: their properties and the interfaces below them, and which requests a
// /sys of another network namespace must not answer.
#pragma once

#include <vector>

#include "base/tree.hpp"
#include "facts/collect.hpp"
#include "plan/plan.hpp"

namespace wireproof::facts {

/// The path that requests the list of all interfaces, as in the host frame (host/nics.hpp), in
/// JSON.
inline constexpr std::string_view kInterfaces = "interfaces";

Fact read_interfaces(const Tree& tree);

/// True if the answer to `request` would describe interfaces other than ours: it asks for
/// /sys/class/net on the live system, and /sys shows another network namespace.
bool shows_others(const Tree& tree, const FactRequest& request);

/// The same answers as far as rtnetlink provides them (mtu, operstate, carrier, address, ifindex,
/// type, statistics); any other request is `failed`, with the reason.
std::vector<Fact> from_kernel(const FactRequest& request);

}  // namespace wireproof::facts

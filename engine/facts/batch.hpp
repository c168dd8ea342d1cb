// All requests of a spec: files one after another, commands concurrently, all within one time
// limit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "facts/collect.hpp"
#include "plan/plan.hpp"

namespace wireproof::facts {

/// Maximum number of concurrent commands on a host.
inline constexpr std::size_t kMostCommands = 8;
/// The caller waits 30 s for the facts (instrument/facts.py), so a host that hangs returns the
/// facts that it has by then.
inline constexpr std::chrono::milliseconds kPatience{20'000};

/// The facts of each request, in their order. A request whose turn comes after `patience` is not
/// carried out and becomes a timeout.
std::vector<std::vector<Fact>> collect_all(const std::vector<FactRequest>& requests,
                                           const std::string& root,
                                           std::chrono::milliseconds patience = kPatience);

}  // namespace wireproof::facts

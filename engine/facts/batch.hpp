// All requests of a spec: files one after the other, commands beside them, all within one time.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "facts/collect.hpp"
#include "plan/plan.hpp"

namespace wireproof::facts {

/// Commands that run at once on one host.
inline constexpr std::size_t kMostCommands = 8;
/// What asks for the facts waits 30 s (instrument/facts.py): a host that hangs answers what it has.
inline constexpr std::chrono::milliseconds kPatience{20'000};

/// The facts of each request, in their order. A request whose turn comes after `patience` is not
/// asked any more and is a timeout.
std::vector<std::vector<Fact>> collect_all(const std::vector<FactRequest>& requests,
                                           const std::string& root,
                                           std::chrono::milliseconds patience = kPatience);

}  // namespace wireproof::facts

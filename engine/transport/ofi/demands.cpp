#include "transport/ofi/demands.hpp"

#include <array>

#include "base/clock.hpp"
#include "base/failure.hpp"
#include "pattern/group/registry.hpp"
#include "plan/window.hpp"
#include "transport/ofi/group_link.hpp"

namespace wireproof::ofi {
namespace {

constexpr std::size_t kWordBytes = 8;

std::string point_name(const Point& point) { return "point " + std::to_string(point.id); }

/// The maximum number of operations that a member has in progress.
std::size_t operations_of(const Point& point, const Policy& policy) {
  const GroupShape shape{.pattern = point.pattern,
                         .formula = point.formula,
                         .bytes = point.message_bytes,
                         .window = bounded_window(point, policy),
                         .members = static_cast<int>(point.members.size()),
                         .load_bytes = point.load_bytes};
  const GroupLayout layout = group_layout_of<OfiGroupLink<Tagged>, MonotonicClock>(shape);
  return static_cast<std::size_t>(layout.slots);
}

/// The number of 64-bit integers that one operation of this pattern handles; 0: the provider does
/// not support it.
std::size_t numbers_at_a_time(const abi::Endpoint& endpoint, Pattern pattern) {
  if (endpoint.atomics == nullptr) return 0;
  auto* const end = const_cast<abi::Endpoint*>(&endpoint);
  const abi::AtomicCalls& calls = *endpoint.atomics;
  std::size_t count = 0;
  int result = 0;
  if (row_of(pattern).access == Access::sum) {
    result = calls.can_write(end, abi::Number::uint64, abi::Operation::sum, &count);
  } else if (pattern == Pattern::fetch_and_op) {
    result = calls.can_fetch(end, abi::Number::uint64, abi::Operation::sum, &count);
  } else {
    result = calls.can_compare(end, abi::Number::uint64, abi::Operation::compare_swap, &count);
  }
  return result == 0 ? count : 0;
}

bool is_atomic(Pattern pattern) {
  const Access access = row_of(pattern).access;
  return access == Access::sum || access == Access::word;
}

}  // namespace

Demands demands_of(const Plan& plan) {
  Demands found;
  for (const Point& point : plan.points) {
    found.remote = found.remote || is_remote(point.pattern);
    found.atomics = found.atomics || is_atomic(point.pattern);
    found.groups = found.groups || is_group(point.pattern);
  }
  return found;
}

std::uint64_t capabilities_of(const Plan& plan, const Demands& demands) {
  const bool untagged = plan.libfabric.messages == "msg";
  return abi::kTagged | (untagged ? abi::kMessages : 0) |
         (untagged && demands.groups ? abi::kDirectedReceive : 0) |
         (demands.remote ? abi::kRemoteAccess : 0) | (demands.atomics ? abi::kAtomics : 0);
}

std::string_view name_of(Remote remote) {
  constexpr auto kNames = std::to_array<std::string_view>({"", "delivery", "read-back", "local"});
  return kNames[static_cast<std::size_t>(remote)];
}

std::vector<Level> levels_of(const Libfabric& wanted, const Demands& demands) {
  const Level delivery{abi::kDeliveryComplete, 0, demands.remote ? Remote::delivery : Remote::none};
  const Level transmit{abi::kTransmitComplete, 0, demands.remote ? Remote::local : Remote::none};
  if (wanted.completion == "delivery") return {delivery};
  if (wanted.completion == "transmit") return {transmit};
  if (!demands.remote) return {Level{}};
  if (wanted.messages == "msg") return {delivery, transmit};  // links without tags do no read-back
  const Level read_back{abi::kTransmitComplete, abi::kReadAfterWrite, Remote::read_back};
  return {delivery, read_back, transmit};
}

void check_sizes(const Plan& plan, std::size_t largest) {
  for (const Point& point : plan.points) {
    const std::size_t bytes =
        std::max(point.message_bytes, point.pattern == Pattern::congestion ? point.load_bytes : 0);
    if (bytes <= largest) continue;
    throw cannot_measure("ofi-size", "the provider takes messages of up to " +
                                         std::to_string(largest) + " bytes, and " +
                                         point_name(point) + " has " + std::to_string(bytes) +
                                         ": lower the sizes");
  }
}

void check_depths(const Plan& plan, std::size_t depth) {
  for (const Point& point : plan.points) {
    if (!is_group(point.pattern) || is_collective(point.pattern)) continue;
    const std::size_t wanted = operations_of(point, plan.policy);
    if (wanted <= depth) continue;
    throw cannot_measure(
        "ofi-depth", "the provider takes " + std::to_string(depth) + " operations at a time, and " +
                         point_name(point) + " (" + std::string(name_of(point.pattern)) + " of " +
                         std::to_string(point.members.size()) + ") wants " +
                         std::to_string(wanted) + "; lower the window or take fewer ranks");
  }
}

void check_atomics(const Plan& plan, const Endpoint& endpoint) {
  for (const Point& point : plan.points) {
    if (!is_atomic(point.pattern)) continue;
    const std::string name(name_of(point.pattern));
    const std::size_t count = numbers_at_a_time(*endpoint.raw(), point.pattern);
    if (count == 0) {
      throw cannot_measure("ofi-provider", "provider " + endpoint.facts().provider + " has no " +
                                               name + " of 64-bit integers");
    }
    const std::size_t largest = count * kWordBytes;
    if (point.message_bytes <= largest) continue;
    throw cannot_measure("ofi-size", "provider " + endpoint.facts().provider + " takes " + name +
                                         " of up to " + std::to_string(largest) + " bytes, and " +
                                         point_name(point) + " has " +
                                         std::to_string(point.message_bytes) + ": lower the sizes");
  }
}

}  // namespace wireproof::ofi

// A plan's requirements of a provider, and whether an endpoint meets them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.hpp"
#include "transport/ofi/endpoint.hpp"

namespace wireproof::ofi {

/// For each feature, whether a point of the plan needs it.
struct Demands {
  bool remote = false;
  bool atomics = false;
  bool groups = false;
};
Demands demands_of(const Plan& plan);

/// The capabilities to request. Acknowledgements and control are tagged, whatever the payload is;
/// in a group, untagged messages are received from a given sender.
std::uint64_t capabilities_of(const Plan& plan, const Demands& demands);

/// The event that completes a remote write: the provider's completion at delivery, a read that
/// follows the write, or nothing beyond this end.
enum class Remote { none, delivery, read_back, local };
std::string_view name_of(Remote remote);

/// A request, best first: the completion of sends and writes (0: the provider's default) and the
/// order of remote accesses that a read-back needs.
struct Level {
  std::uint64_t completion = 0;
  std::uint64_t order = 0;
  Remote remote = Remote::none;
};
std::vector<Level> levels_of(const Libfabric& wanted, const Demands& demands);

/// Throws Failure if a point's message is larger than the provider supports.
void check_sizes(const Plan& plan, std::size_t largest);
/// Throws Failure if a member of a group has more operations in progress than the provider
/// supports.
void check_depths(const Plan& plan, std::size_t depth);
/// Throws Failure if the provider lacks an atomic operation of the plan, or supports fewer numbers.
void check_atomics(const Plan& plan, const Endpoint& endpoint);

}  // namespace wireproof::ofi

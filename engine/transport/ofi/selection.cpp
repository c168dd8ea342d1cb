#include "transport/ofi/selection.hpp"

#include <algorithm>

#include "base/failure.hpp"
#include "transport/meeting/nic.hpp"

namespace wireproof::ofi {
namespace {

bool is_remote_access(const Point& point) { return is_remote(point.pattern); }

/// Acknowledgements and control are tagged, whatever the payload is.
std::uint64_t capabilities_of(const Plan& plan, bool remote) {
  return abi::kTagged | (plan.libfabric.messages == "msg" ? abi::kMessages : 0) |
         (remote ? abi::kRemoteAccess : 0);
}

}  // namespace

Claim claim_of(const Plan& plan, int rank, const tcp::Address& own) {
  Claim claim;
  const bool by_address = goes_by_address(plan.libfabric.provider);
  for (const RankPlace& place : plan.ranks) {
    if (place.index != rank) continue;
    claim.nic = place.nic;
    // rails: the provider was told them by its own variables, and no domain has their name
    if (place.nic.find(',') != std::string::npos) claim.nic.clear();
    if (!place.address.empty()) {
      claim.address = tcp::numeric_address(place.address, 0, "the claimed address").host();
    } else if (!place.nic.empty() && by_address) {
      claim.address = tcp::local_address_of(place.nic).address.host();
    }
  }
  if (claim.address.empty() && claim.nic.empty() && own.length > 0) claim.address = own.host();
  if (!by_address) claim.address.clear();
  return claim;
}

std::vector<std::uint64_t> completion_levels(const std::string& wanted, bool remote) {
  if (wanted == "delivery") return {abi::kDeliveryComplete};
  if (wanted == "transmit") return {abi::kTransmitComplete};
  if (remote) return {abi::kDeliveryComplete, abi::kTransmitComplete};
  return {0};
}

std::unique_ptr<Endpoint> open_endpoint(const Library& library, const Plan& plan,
                                        const Claim& claim) {
  const bool remote = std::any_of(plan.points.begin(), plan.points.end(), is_remote_access);
  Wishes wishes{.provider = plan.libfabric.provider,
                .capabilities = capabilities_of(plan, remote),
                .completion = 0,
                .address = claim.address};
  const auto levels = completion_levels(plan.libfabric.completion, remote);
  for (const std::uint64_t level : levels) {
    wishes.completion = level;
    if (level == levels.back() || !library.offers(wishes).empty()) break;
  }
  return std::make_unique<Endpoint>(library, wishes, claim.nic);
}

void check_sizes(const Plan& plan, std::size_t largest) {
  for (const Point& point : plan.points) {
    if (point.message_bytes <= largest) continue;
    throw cannot_measure("ofi-size", "the provider takes messages of up to " +
                                         std::to_string(largest) + " bytes, and point " +
                                         std::to_string(point.id) + " has " +
                                         std::to_string(point.message_bytes));
  }
}

}  // namespace wireproof::ofi

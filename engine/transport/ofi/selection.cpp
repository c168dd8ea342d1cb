#include "transport/ofi/selection.hpp"

#include "transport/meeting/nic.hpp"

namespace wireproof::ofi {

Claim claim_of(const Plan& plan, int rank, const std::string& own) {
  Claim claim;
  const bool by_address = goes_by_address(plan.libfabric.provider);
  for (const RankPlace& place : plan.ranks) {
    if (place.index != rank) continue;
    claim.nic = place.nic;
    // rails: the provider gets them through its own variables, and no domain has their name
    if (place.nic.find(',') != std::string::npos) claim.nic.clear();
    if (!place.address.empty()) {
      claim.address = tcp::numeric_address(place.address, 0, "the claimed address").host();
    } else if (!place.nic.empty() && by_address) {
      claim.address = tcp::local_address_of(place.nic).address.host();
    }
  }
  if (claim.address.empty() && claim.nic.empty()) claim.address = own;
  if (!by_address) claim.address.clear();
  return claim;
}

Opened open_endpoint(const Library& library, const Plan& plan, const Claim& claim) {
  const Demands demands = demands_of(plan);
  Wishes wishes{.provider = plan.libfabric.provider,
                .capabilities = capabilities_of(plan, demands),
                .address = claim.address};
  const std::vector<Level> levels = levels_of(plan.libfabric, demands);
  Remote remote = Remote::none;
  for (const Level& level : levels) {
    wishes.completion = level.completion;
    wishes.order = level.order;
    remote = level.remote;
    if (&level == &levels.back() || !library.offers(wishes).empty()) break;
  }
  return {std::make_unique<Endpoint>(library, wishes, claim.nic), remote};
}

}  // namespace wireproof::ofi

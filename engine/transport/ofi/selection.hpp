// From the plan to an endpoint: the request to libfabric, and the NIC.
#pragma once

#include <memory>
#include <string>

#include "plan/plan.hpp"
#include "transport/ofi/demands.hpp"
#include "transport/ofi/endpoint.hpp"

namespace wireproof::ofi {

/// Where this rank is claimed to communicate: `address` is numeric, without a port.
struct Claim {
  std::string nic;
  std::string address;
};
/// The plan's claim for `rank`; the address is the given one, else one of the claimed NIC, else
/// `own`. For a provider that does not select by address it stays empty, and no NIC needs one.
/// Throws Failure: there is no such NIC here, or it has no address.
Claim claim_of(const Plan& plan, int rank, const std::string& own);

/// An endpoint, and what completes its remote writes.
struct Opened {
  std::unique_ptr<Endpoint> endpoint;
  Remote remote = Remote::none;
};
/// Throws Failure with the unavailable item.
Opened open_endpoint(const Library& library, const Plan& plan, const Claim& claim);

}  // namespace wireproof::ofi

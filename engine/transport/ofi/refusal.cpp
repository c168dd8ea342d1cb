#include "transport/ofi/refusal.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/failure.hpp"

namespace wireproof::ofi {
namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
  return list.empty() ? "none" : list;
}

/// A variable that the user set may be the reason.
std::string filter() {
  const char* const value = std::getenv("FI_PROVIDER");
  return value == nullptr ? "" : std::string(" (FI_PROVIDER=") + value + " is set)";
}

struct Less {
  std::uint64_t capabilities;  // not asked for
  bool any_completion;
  bool any_address;
  std::string_view lacks;
};
/// Tried one by one; if an offer then appears, the omitted wish was the obstacle.
constexpr auto kLess = std::to_array<Less>({
    {abi::kAtomics, false, false, "has no atomic operations (FI_ATOMIC) as they are asked for"},
    {abi::kAtomics | abi::kRemoteAccess, false, false, "has no remote access (FI_RMA)"},
    {abi::kDirectedReceive, false, false,
     "cannot receive from a named sender (FI_DIRECTED_RECV), which groups without tags need: use "
     "--messages tagged"},
    {abi::kMessages | abi::kDirectedReceive, false, false, "has no messages without tags (FI_MSG)"},
    {0, true, false, "has no such completion of a send: leave --completion to it"},
    {0, false, true, "has no endpoint at the claimed address"},
});

struct Demand {
  int registration;
  std::string_view name;
};
constexpr auto kRefused = std::to_array<Demand>({
    {1 << 3, "FI_MR_RAW"},
    {1 << 7, "FI_MR_MMU_NOTIFY"},
    {1 << 8, "FI_MR_RMA_EVENT"},
    {1 << 10, "FI_MR_HMEM"},
    {1 << 11, "FI_MR_COLLECTIVE"},
});

std::string missing(const Library& library, const Wishes& wishes) {
  for (const Less& less : kLess) {
    Wishes fewer = wishes;
    fewer.capabilities &= ~less.capabilities;
    if (less.any_completion) fewer.completion = 0;
    if (less.any_address) fewer.address.clear();
    const bool changed = fewer.capabilities != wishes.capabilities ||
                         fewer.completion != wishes.completion || fewer.address != wishes.address;
    if (!changed || library.offers(fewer).empty()) continue;
    const std::string where = less.any_address ? " " + wishes.address : "";
    return std::string(less.lacks) + where;
  }
  return "has no reliable datagram endpoint for what the plan asks";
}

/// The provider's requirements of its callers that the engine does not meet; "" for none.
std::string demanded(const Library& library, const std::string& provider) {
  const Offers all = library.everything();
  for (const abi::Info* info = all.first(); info != nullptr; info = info->next) {
    if (info->endpoint->type != abi::EndpointType::reliable_datagram ||
        !is_provider(info->fabric->provider, provider)) {
      continue;
    }
    for (const Demand& demand : kRefused) {
      if ((info->domain->registration & demand.registration) != 0) {
        return "demands memory registration by " + std::string(demand.name) +
               ", which wireproof does not do";
      }
    }
    if ((info->mode & ~(abi::kNeedsContext | abi::kNeedsContext2)) != 0) {
      return "demands a mode of its callers that wireproof does not have";
    }
  }
  return "";
}

}  // namespace

void refuse(const Library& library, const Wishes& wishes) {
  const std::vector<std::string> here = library.providers();
  const std::string who = "libfabric " + library.version() + " at " + library.path();
  const bool known = std::any_of(here.begin(), here.end(), [&](const std::string& name) {
    return is_provider(name, wishes.provider);
  });
  const std::string provider = wishes.provider.empty() ? "any" : wishes.provider;
  if (known) {
    throw cannot_measure(
        "ofi-provider", who + ": provider " + provider + " " + missing(library, wishes) + filter());
  }
  const std::string demand = demanded(library, wishes.provider);
  if (!demand.empty()) {
    throw cannot_measure("ofi-provider", who + ": provider " + provider + " " + demand);
  }
  throw cannot_measure("ofi-provider", who + " offers no provider " + wishes.provider +
                                           " here; it offers " + listed(here) + filter());
}

}  // namespace wireproof::ofi

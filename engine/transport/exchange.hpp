// How ranks of transport ofi find each other before they can communicate over the provider, and
// meet between points: over kernel sockets (transport/meeting), or through the MPI that started
// them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport/concept.hpp"

namespace wireproof {

struct AddressExchange {
  std::unique_ptr<Group> group;
  std::string means;    ///< "meeting" or "mpi"
  std::string library;  ///< the MPI's own description; "" without an MPI
  std::string own{};    ///< our address on the way to rank 0, without a port; "" if unknown
  /// Throws Failure if it is not the one that the plan expects; an empty expectation accepts any.
  std::function<void(const Plan&)> check = {};
  std::function<void()> end = {};  ///< after everything else, collective
};

/// Transport ofi over this exchange.
std::unique_ptr<Transport> open_ofi_over(AddressExchange exchange);

}  // namespace wireproof

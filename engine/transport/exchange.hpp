// The means by which ranks of transport ofi find each other before they can communicate over the
// provider, and meet between points: over kernel sockets (transport/meeting), or through the MPI
// that started them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport/concept.hpp"

namespace wireproof {

struct AddressExchange {
  std::unique_ptr<Group> group;
  std::string means;    ///< "meeting" or "mpi"
  std::string library;  ///< the MPI's description; "" without an MPI
  std::string own{};    ///< the local address on the route to rank 0, without a port; "" if unknown
  /// Throws Failure if it is not the MPI that the plan expects; an empty expectation accepts any
  /// MPI.
  std::function<void(const Plan&)> check = {};
  std::function<void()> end = {};  ///< after everything else, collective
};

/// Transport ofi over this exchange.
std::unique_ptr<Transport> open_ofi_over(AddressExchange exchange);

}  // namespace wireproof

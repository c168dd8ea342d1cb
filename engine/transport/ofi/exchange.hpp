// How ranks find each other before they can talk over the provider, and meet between points: over
// sockets of the kernel (transport/meeting), or through the MPI that started them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "transport/concept.hpp"
#include "transport/meeting/socket.hpp"

namespace wireproof::ofi {

struct Exchange {
  std::unique_ptr<Group> group;
  std::string means;    ///< "meeting" or "mpi"
  std::string library;  ///< the MPI's, as it names itself; "" without
  tcp::Address own{};   ///< ours on the way to rank 0; of length 0 where that is not known
  /// Throws Failure when it is not the one that the plan expects; empty: it always is.
  std::function<void(const Plan&)> check = {};
  std::function<void()> end = {};  ///< after everything else, collective
};

/// The transport over this exchange.
std::unique_ptr<Transport> open_over(Exchange exchange);

}  // namespace wireproof::ofi

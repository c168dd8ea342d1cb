// The library that answered, for the host frame.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace wireproof {

/// libfabric's choices, with its names ("" = it does not report them). `inject_bytes`: messages up
/// to this size are sent without a completion. `completion`: what the completion of a send
/// guarantees.
struct FabricFacts {
  std::string provider;
  std::string provider_version;
  std::string domain;
  std::string fabric;
  std::string nic;
  std::string api_version{};
  std::string messages;  ///< "tagged" or "msg"
  std::string completion;
  std::string progress;
  std::size_t inject_bytes = 0;
  int protocol = 0;
  int protocol_version = 0;
  std::string remote{};            ///< what completes a remote write; "" if there were none
  std::string exchange{};          ///< how addresses were exchanged: "meeting" or "mpi"
  std::string exchange_library{};  ///< the MPI that exchanged them
};

/// Empty or nullopt if the transport has none.
struct LibraryFacts {
  std::string version;  ///< the library's description of itself, first line
  std::string path;     ///< the file that the dynamic linker loaded
  std::string standard;
  /// ranks that share memory with this rank according to the library
  std::optional<int> shared_ranks;
  ///< one, itself included
  std::optional<FabricFacts> fabric = std::nullopt;
};

}  // namespace wireproof

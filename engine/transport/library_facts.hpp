// Which library answered, for the host frame.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace wireproof {

/// What libfabric chose, as it names it ("" = it does not say). `inject_bytes`: up to that size a
/// message is sent without a completion. `completion`: what a send's completion promises.
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
  std::string remote{};            ///< what completes a remote write; "": there were none
  std::string exchange{};          ///< how addresses were exchanged: "meeting" or "mpi"
  std::string exchange_library{};  ///< the MPI that did it
};

/// Empty or nullopt: the transport has none.
struct LibraryFacts {
  std::string version;  ///< as the library names itself, first line
  std::string path;     ///< file that the dynamic linker took
  std::string standard;
  std::optional<int> shared_ranks;  ///< ranks that the library believes to share memory with this
                                    ///< one, itself included
  std::optional<FabricFacts> fabric = std::nullopt;
};

}  // namespace wireproof

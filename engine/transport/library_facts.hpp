// Which library answered, for the host frame.
#pragma once

#include <optional>
#include <string>

namespace wireproof {

/// Empty or nullopt: the transport has none.
struct LibraryFacts {
  std::string version;  ///< as the library names itself, first line
  std::string path;     ///< file that the dynamic linker took
  std::string standard;
  std::optional<int> shared_ranks;  ///< ranks that the library believes to share memory with this
                                    ///< one, itself included
};

}  // namespace wireproof

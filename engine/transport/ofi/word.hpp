// The report of a rank about its endpoint before any pair is created.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wireproof::ofi {

struct Word {
  std::string provider;
  int protocol = 0;
  int protocol_version = 0;
  int format = 0;  ///< the format of the address, by libfabric's number
  std::string messages;
  std::string completion;
  std::string remote;  ///< what completes a remote write; "" if there are none
  std::string memory;  ///< the shared memory that it reaches; "" if the provider leaves the machine
  std::string address;  ///< bytes

  /// As one line of words; `read` parses it and throws Failure if it is anything else.
  std::string line() const;
  static Word read(std::string_view line);
};

/// Identity of the memory that processes of this machine share through /dev/shm, for a provider
/// that reaches no further; "" for others.
std::string shared_memory(std::string_view provider);

/// Throws Failure with the first rank whose endpoint cannot communicate with rank 0's.
void check_alike(const std::vector<Word>& words);

}  // namespace wireproof::ofi

// What a rank says of its endpoint before any pair is made.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wireproof::ofi {

struct Word {
  std::string provider;
  int protocol = 0;
  int protocol_version = 0;
  int format = 0;  ///< of the address, as libfabric numbers them
  std::string messages;
  std::string completion;
  std::string remote;  ///< what completes a remote write; "" where there are none
  std::string memory;  ///< which shared memory it reaches; "" where the provider leaves the machine
  std::string address;  ///< bytes

  /// As one line of words; `read` takes it apart and throws Failure when it is something else.
  std::string line() const;
  static Word read(std::string_view line);
};

/// Identity of the memory that processes of this machine share by /dev/shm, for a provider that
/// reaches no further; "" for others.
std::string shared_memory(std::string_view provider);

/// Throws Failure that names the first rank whose endpoint cannot talk to rank 0's.
void check_alike(const std::vector<Word>& words);

}  // namespace wireproof::ofi

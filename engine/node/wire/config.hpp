// The lab's configuration of the wire: a text file, read at the start and again on SIGHUP.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "switch.hpp"

namespace wireproof::wire {

// One port: the device of that name in the namespace of that node.
struct PortConfig {
  std::string node;
  std::string device;
  std::int64_t mtu = 1500;
  PortSettings settings;
};

struct Config {
  std::int64_t revision = 0;  // incremented by the writer, repeated in the status
  std::uint64_t seed = 0;
  Nanoseconds late = 1'000'000;  // a frame that is delivered later than this counts as late
  std::vector<PortConfig> ports;

  std::vector<PortSettings> settings() const;
};

// Lines `revision N`, `seed N`, `late_ns N` and
// `port NODE DEVICE domain=N mtu=N queue=BYTES {tx,rx}_{rate=BITS,delay=NS,loss=PPB} ...`. Throws
// Failure with the line.
Config parse_config(std::string_view text);

}  // namespace wireproof::wire

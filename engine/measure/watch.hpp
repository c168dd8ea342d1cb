// `watch`: prints the port counters of this host periodically while another program runs.
//
// Everything is a line of JSON: first the identity of this host, then readings. A line on standard
// input requests an immediate full reading. The watch ends at the end of standard input, when its
// reader goes away, or at its time limit.
#pragma once

#include <cstdint>
#include <string>

namespace wireproof {

struct WatchOptions {
  std::int64_t interval_ms = 100;
  std::int64_t seconds = 7LL * 24 * 3600;
  std::string root = "/";
};

/// Parses the words after `watch`. Throws Failure (bad plan: exit 2) that names the option.
WatchOptions parse_watch_options(int argc, char** argv);

/// The program. Returns the exit status.
int watch_main(int argc, char** argv);

}  // namespace wireproof

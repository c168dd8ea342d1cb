// `watch`: prints the port counters of this host again and again, while another program runs.
//
// Everything is a line of JSON: first who this host is, then readings. A line on standard input
// asks for a full reading at once; the end of standard input, of whoever reads us, or of the
// bounded time ends the watch.
#pragma once

#include <cstdint>
#include <string>

namespace wireproof {

struct WatchOptions {
  std::int64_t interval_ms = 100;
  std::int64_t seconds = 7LL * 24 * 3600;
  std::string root = "/";
};

/// From the words behind `watch`. Throws Failure (bad plan: exit 2) naming the option.
WatchOptions parse_watch_options(int argc, char** argv);

/// The program. Returns the exit status.
int watch_main(int argc, char** argv);

}  // namespace wireproof

// Ends this process when time is up or when it is told to go, and says so in a frame first.
//
// A rank that hangs in a library cannot be helped from inside; a timer signal can still write a
// prepared line and leave.
#pragma once

#include <cstdint>

namespace wireproof::watchdog {

/// Dies with the parent, and takes SIGTERM and SIGINT: rank 0 writes an `interrupted` frame, every
/// rank leaves with 4. Call it before and, since libraries put their own handlers, again after
/// opening the transport.
void install();

/// From here on rank 0 writes frames on expiry, other ranks only leave (half a second later, so
/// that rank 0's word is out). `run_deadline_ms` counts from now.
void begin_run(int rank, int run_deadline_ms);

/// The point under way; its deadline counts from now.
void begin_point(std::int64_t id, int point_deadline_ms);
void end_point();

/// No more deadlines.
void end_run();

}  // namespace wireproof::watchdog

// Ends this process when time is up or when it is told to go, and says so in a frame first.
//
// A rank that hangs in a library cannot be helped from inside; a timer signal can still write a
// prepared line and leave.
#pragma once

#include <cstdint>
#include <string>

namespace wireproof::watchdog {

/// Dies with the parent, and takes SIGTERM and SIGINT: rank 0 writes an `interrupted` frame, every
/// rank leaves with 4. Call it before and, since libraries put their own handlers, again after
/// opening the transport.
void install();

/// Who this process is to those who read its last words.
struct Identity {
  int rank = 0;
  int ranks = 1;
  std::string host;  ///< as the user calls it
};

/// From here on every rank says on expiry, on standard error, where it is and whom it waits for;
/// rank 0 writes a frame too. All leave a second later or more: a launcher ends the others
/// when the first one leaves. `run_deadline_ms` counts from now. Between two of the calls
/// below every rank of several also gives a sign of life on standard error every 1.5 s.
void begin_run(const Identity& identity, int run_deadline_ms);

/// The point under way; its deadline counts from now.
void begin_point(std::int64_t id, int point_deadline_ms);
void end_point();

/// What the process is at, for its last words. Never called in a timed region.
void wait_for(int rank);
void wait_for_others();
void busy();

/// "rank 3 on n4 at point 12", "rank 3 on n4 between points"; "" before begin_run.
std::string position();

/// No more deadlines.
void end_run();

}  // namespace wireproof::watchdog

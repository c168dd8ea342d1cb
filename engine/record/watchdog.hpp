// Ends this process at its deadline or on a signal, after writing a frame that reports it.
//
// A rank that hangs in a library cannot free itself, but a timer signal can still write a prepared
// line and exit.
#pragma once

#include <cstdint>
#include <string>

namespace wireproof::watchdog {

/// Dies with the parent, and handles SIGTERM and SIGINT: rank 0 writes an `interrupted` frame, and
/// every rank exits with 4; a rank that a launcher did not end names the sender on standard error.
/// Call it before opening the transport and again afterwards, because
/// libraries install their own handlers.
void install();

/// The identity of this process in its last line.
struct Identity {
  int rank = 0;
  int ranks = 1;
  std::string host;  ///< the name that the user gave
};

/// Until `begin_run`, as in a run, a path that drops large packets is reported; there is neither a
/// deadline nor a sign of life. Call it before opening the transport, and again once it is open.
void begin_meeting(const Identity& identity);

/// From here on, every rank whose time expires reports on standard error where it is and which rank
/// it waits for; rank 0 also writes a frame. All exit at least a second later, because a launcher
/// ends the others when the first rank exits. `run_deadline_ms` counts from now. If there are
/// several ranks, each also sends a sign of life on standard error every 1.5 s between two of the
/// calls below.
void begin_run(const Identity& identity, int run_deadline_ms);

/// The point in progress; its deadline counts from now.
void begin_point(std::int64_t id, int point_deadline_ms);
void end_point();

/// The current activity of the process, for its last line. Never called in a timed region.
void wait_for(int rank);
void wait_for_others();
void busy();

/// "rank 3 on n4 at point 12", "rank 3 on n4 between points"; "" before begin_run.
std::string position();

/// No more deadlines.
void end_run();

}  // namespace wireproof::watchdog

// The process that reverts a change set at its deadline unless it was confirmed. It outlives the
// process that starts it, and that process's session and connection.
#pragma once

#include <optional>
#include <string>

#include "node/tune/journal.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// Starts the timer of a set whose journal is on disk. Throws Failure.
TimerProcess start_timer(const Options& options, const Story& story);

bool is_alive(const std::optional<TimerProcess>& timer);

// Ends the timer, unless the caller is that timer.
void end_timer(const std::optional<TimerProcess>& timer);

}  // namespace wireproof::tune

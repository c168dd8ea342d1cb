// The process that reverts a change set at its deadline unless it was confirmed. It outlives the
// one that starts it, its session and its connection.
#pragma once

#include <optional>
#include <string>

#include "node/tune/journal.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// Starts it for a set whose journal is on the disk. Throws Failure.
TimerProcess start_timer(const Options& options, const Story& story);

bool is_alive(const std::optional<TimerProcess>& timer);

// Ends it; not when the caller is that timer.
void end_timer(const std::optional<TimerProcess>& timer);

}  // namespace wireproof::tune

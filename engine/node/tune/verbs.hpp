// `tune confirm`, `revert` and `status`. Each returns the exit status.
#pragma once

#include "node/tune/answers.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// 0 confirmed, its drop-ins are written; 1 there is nothing to confirm, or a drop-in was refused
// and none was written: the set then stays armed.
int confirm(const Options& options, const Answers& answers);

// The newest set that is not reverted, or the set of --id. 0 if everything is restored, else 1.
int revert(const Options& options, const Answers& answers);

// Every set, and the current values. Writes nothing and never waits for the lock.
int status(const Options& options, const Answers& answers);

}  // namespace wireproof::tune

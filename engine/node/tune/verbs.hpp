// `tune confirm`, `revert` and `status`. Each gives the exit status.
#pragma once

#include "node/tune/answers.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// 0 confirmed, its drop-ins written; 1 there is nothing to confirm, or a drop-in was refused and
// none is there: the set is still armed then.
int confirm(const Options& options, const Answers& answers);

// The newest set that is not reverted, or the one of --id. 0 all is back, 1 something is not.
int revert(const Options& options, const Answers& answers);

// Every set, and what stands there now. Writes nothing and waits for nobody.
int status(const Options& options, const Answers& answers);

}  // namespace wireproof::tune

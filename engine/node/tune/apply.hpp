// `tune apply`: a whole request or nothing.
#pragma once

#include <string_view>

#include "node/tune/answers.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// Exit status: 0 applied and armed, 1 refused and reverted. Throws Failure: 2 for a bad request, 4
// if it cannot be done here; in both cases nothing was written.
int apply(const Options& options, std::string_view request, const Answers& answers);

}  // namespace wireproof::tune

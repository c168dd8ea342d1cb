// `tune apply`: all of a request or nothing of it.
#pragma once

#include <string_view>

#include "node/tune/answers.hpp"
#include "node/tune/sets.hpp"

namespace wireproof::tune {

// Exit status: 0 applied and armed, 1 refused and reverted. Throws Failure: 2 for a bad request,
// 4 where it cannot be done here; nothing was written then.
int apply(const Options& options, std::string_view request, const Answers& answers);

}  // namespace wireproof::tune

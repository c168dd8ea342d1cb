// `--patterns`: the catalogue as the rest of the product may hold its own against it.
#pragma once

#include <string>

namespace wireproof {

/// One JSON object. Of a pair pattern each form with its formulas and the messages that origin and
/// target send in one operation; of a group what its loops say that a group of four sends and
/// receives, in messages.
std::string pattern_list();

}  // namespace wireproof

// `--patterns`: the engine's catalogue, so that other parts of wireproof can compare theirs with
// it.
#pragma once

#include <string>

namespace wireproof {

/// One JSON object. For a pair pattern, each form with its formulas and the messages that origin
/// and target send in one operation; for a group, the numbers of messages that a group of four
/// sends and receives according to its loops.
std::string pattern_list();

}  // namespace wireproof

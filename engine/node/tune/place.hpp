// The path of an open descriptor.
#pragma once

#include <string>

namespace wireproof::tune {

// Its path relative to `root`; "" if it is not below `root` or cannot be determined.
std::string place_of(int descriptor, const std::string& root);

}  // namespace wireproof::tune

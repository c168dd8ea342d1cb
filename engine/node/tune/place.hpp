// Where an open descriptor leads.
#pragma once

#include <string>

namespace wireproof::tune {

// Its path seen from `root`; "" when it is not below it or cannot be known.
std::string place_of(int descriptor, const std::string& root);

}  // namespace wireproof::tune

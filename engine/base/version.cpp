#include "base/version.hpp"

namespace wireproof {

const char* const kVersion = WIREPROOF_VERSION;

}  // namespace wireproof

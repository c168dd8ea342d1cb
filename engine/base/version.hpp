// The package's version, or X.Y.Z.dev0 in a checkout.
#pragma once

namespace wireproof {

extern const char* const kVersion;

}  // namespace wireproof

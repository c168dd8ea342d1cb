// Each program has exactly one definition of these.
#pragma once

#include "measure/run.hpp"

namespace wireproof {

extern const Variant kVariant;

}  // namespace wireproof

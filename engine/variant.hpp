// Of which there is one definition per program.
#pragma once

#include "measure/run.hpp"

namespace wireproof {

extern const Variant kVariant;

}  // namespace wireproof

// Why a provider has no endpoint for what was asked: by asking for less.
#pragma once

#include "transport/ofi/library.hpp"

namespace wireproof::ofi {

/// Throws Failure: there is no such provider here, or what it lacks.
[[noreturn]] void refuse(const Library& library, const Wishes& wishes);

}  // namespace wireproof::ofi

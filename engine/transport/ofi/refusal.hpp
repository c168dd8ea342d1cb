// Finds out why a provider has no endpoint for a request, by requesting less.
#pragma once

#include "transport/ofi/library.hpp"

namespace wireproof::ofi {

/// Throws Failure: the provider does not exist here, or it lacks features.
[[noreturn]] void refuse(const Library& library, const Wishes& wishes);

}  // namespace wireproof::ofi

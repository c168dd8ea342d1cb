// Numbers for sums that are checked: small whole floats, so that every order of addition gives the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wireproof {

/// Fills in the addends of `member`, a function of `seed`, position and member: whole numbers from
/// 0 to 30.
void fill_addends(std::span<std::byte> floats, std::uint64_t seed, int member);

/// Whether these are the sums over members 0 .. members - 1. Below 2^19 members every partial sum
/// is exact.
bool sums_are(std::span<const std::byte> floats, std::uint64_t seed, int members);

}  // namespace wireproof

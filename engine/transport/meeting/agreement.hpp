// All ranks send one word each and leave together: with the words of all ranks, or with the failure
// of the first rank that has one.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "transport/concept.hpp"

namespace wireproof::meeting {

/// "-STATUS CODE SENTENCE": sent instead of the word by a rank that cannot comply.
std::string refusal(const Failure& failure, int rank);

/// "+WORD", the word that `task` returns, or a refusal, so that a rank that cannot comply still
/// takes part in the exchange.
template <class Task>
std::string word_of(int rank, Task task) {
  try {
    return "+" + task();
  } catch (const Failure& failure) {
    return refusal(failure, rank);
  }
}

/// The words of all ranks, by rank; collective. A word is one line. Throws the failure of the first
/// rank that has one, on every rank.
std::vector<std::string> agreed(Group& group, const std::string& own);

}  // namespace wireproof::meeting

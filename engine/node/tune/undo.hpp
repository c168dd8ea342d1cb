// Restores what a change set has altered.
#pragma once

#include <string>

#include "node/tune/answers.hpp"
#include "node/tune/journal.hpp"
#include "node/tune/machine.hpp"

namespace wireproof::tune {

struct UndoOptions {
  bool force = false;  // also values that someone else has changed since
  // a change that was already reported: it is reported again only if it is not restored
  std::string quiet;
};

// Drop-ins first, then the changes in reverse order. A value that is neither the old value nor a
// value that wireproof left belongs to someone else: it is kept and reported. Files that alter each
// other are written in up to three passes. Ends with the new phase in the journal: reverted if
// every file that a write of wireproof may have changed has its old content, else partly.
Phase undo_set(const Machine& machine, Journal& journal, const Story& story,
               const UndoOptions& options, const Answers& answers);

// Only the drop-ins; true if all are in their previous state.
bool undo_keeps(const Machine& machine, Journal& journal, const Story& story, bool force,
                const Answers& answers);

}  // namespace wireproof::tune

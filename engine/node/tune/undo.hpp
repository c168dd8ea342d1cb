// Brings back what a change set has altered.
#pragma once

#include <string>

#include "node/tune/answers.hpp"
#include "node/tune/journal.hpp"
#include "node/tune/machine.hpp"

namespace wireproof::tune {

struct UndoOptions {
  bool force = false;  // also what someone else has changed since
  std::string quiet;   // a change that has been answered for already: said only when it is not back
};

// Drop-ins first, then the changes in reverse order. A value that is neither the old one nor one
// that we left is someone else's: it stays, and is reported. Files that alter each other are written
// in up to three passes. Ends with the new phase in the journal: reverted when every file that a
// write of ours may have touched has its old bytes, else partly.
Phase undo_set(const Machine& machine, Journal& journal, const Story& story,
               const UndoOptions& options, const Answers& answers);

// The drop-ins alone; true when all are as they were.
bool undo_keeps(const Machine& machine, Journal& journal, const Story& story, bool force,
                const Answers& answers);

}  // namespace wireproof::tune

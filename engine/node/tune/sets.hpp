// The change sets of a state folder, and the information about each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/tune/answers.hpp"
#include "node/tune/journal.hpp"
#include "node/tune/machine.hpp"

namespace wireproof::tune {

struct Options {
  std::string state;  // absolute
  std::string root = "/";
  std::string id;  // "": the only possible one
  bool force = false;
};

struct StoredSet {
  Fd folder;
  Story story;
};

// In the order in which they were applied. A folder without a journal is not a set, because nothing
// was written.
std::vector<StoredSet> load_sets(const Fd& state);
std::optional<StoredSet> load_set(const Fd& state, const std::string& id);

// Milliseconds since the machine's boot, including sleep; setting the clock does not change it.
std::int64_t boot_ms();
// Identity of the machine's boot; "" if unknown.
std::string boot_of(const Machine& machine);

// The timer no longer exists, and the deadline has passed.
bool is_overdue(const Story& story, const std::string& boot);

SetAnswer describe(const Story& story, const std::string& boot);

// Reverts the sets whose timers are gone; called before any change. True if a set was reverted.
bool revert_overdue(const Fd& state, const Machine& machine, const Answers& answers);

// Deletes the oldest reverted sets; 100 are kept for people to look at.
void prune(const Fd& state);

// Reverts one set, ends its timer and reports its new state.
Phase revert_set(StoredSet& set, const Machine& machine, const struct UndoOptions& how,
                 const std::string& reason, const Answers& answers);

}  // namespace wireproof::tune

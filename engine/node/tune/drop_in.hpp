// Wireproof's drop-in files below /etc, which are replaced as a whole or not at all. Each function
// throws Failure; none follows links.
#pragma once

#include <string>

#include "node/tune/journal.hpp"

namespace wireproof::tune {

// The current state of the file.
OldKeep read_drop_in(const std::string& root, const std::string& path);

// Temporary file, fsync, rename; a missing folder is created first.
void write_drop_in(const std::string& root, const std::string& path, const OldKeep& wanted);

// Restores the previous state, also after an interrupted write: the old file, or no file, and no
// folder that did not exist before.
void restore_drop_in(const std::string& root, const std::string& path, const OldKeep& old);

bool same_drop_in(const OldKeep& one, const OldKeep& other);

}  // namespace wireproof::tune

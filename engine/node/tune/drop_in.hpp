// Drop-in files of our own below /etc: replaced as a whole or not at all. Each function throws
// Failure; none follows a link.
#pragma once

#include <string>

#include "node/tune/journal.hpp"

namespace wireproof::tune {

// What stands there now.
OldKeep read_drop_in(const std::string& root, const std::string& path);

// Temporary file, fsync, rename; a missing folder is made first.
void write_drop_in(const std::string& root, const std::string& path, const OldKeep& wanted);

// Brings back what stood there, also when a write was cut short: the old file, or none, and no
// folder that had not been there.
void restore_drop_in(const std::string& root, const std::string& path, const OldKeep& old);

bool same_drop_in(const OldKeep& one, const OldKeep& other);

}  // namespace wireproof::tune

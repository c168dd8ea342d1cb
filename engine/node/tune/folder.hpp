// The state folder: one folder for each change set, readable only by its owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/system.hpp"

namespace wireproof::tune {

// Opens `path` (absolute) step by step. Every folder on the path must belong to root or to the
// caller and must not be writable by other users (except a sticky folder such as /tmp), no link of
// another user is followed, and the last folder must be the caller's with mode 0700. With `create`,
// missing folders are created in this way. Not open if it is missing and must not be created;
// throws Failure otherwise.
Fd open_private_folder(const std::string& path, bool create);

// A regular file in a private folder, without following links; new ones have mode 0600. Not open,
// with errno set, if that fails.
Fd open_private_file(const Fd& folder, const std::string& name, int flags);

// Names of the sets in the state folder, sorted.
std::vector<std::string> list_sets(const Fd& state);

// The folder of one set; not open if it does not exist. `create`: creates a missing folder.
Fd open_set(const Fd& state, const std::string& id, bool create);

// Removes a set that has no effect any more.
void remove_set(const Fd& state, const std::string& id);

// The content of a small file; nothing if it is missing or longer than `limit`.
std::optional<std::string> read_private(const Fd& folder, const std::string& name,
                                        std::size_t limit);

}  // namespace wireproof::tune

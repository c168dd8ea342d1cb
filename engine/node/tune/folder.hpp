// The state folder: one folder for each change set, readable by its owner alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/system.hpp"

namespace wireproof::tune {

// Opens `path` (absolute), step by step. Every folder on it belongs to root or to us and can be
// written by nobody else (a sticky one such as /tmp excepted), no link of another user is followed,
// and the last one is ours with mode 0700. With `create`, what is missing is made so. Not open when
// it is missing and not to be made; throws Failure otherwise.
Fd open_private_folder(const std::string& path, bool create);

// A regular file in a private folder, without following links; new ones have mode 0600. Not open,
// with errno, when that fails.
Fd open_private_file(const Fd& folder, const std::string& name, int flags);

// Names of the sets in the state folder, sorted.
std::vector<std::string> list_sets(const Fd& state);

// The folder of one set; not open when there is none. With `create` it is made when missing.
Fd open_set(const Fd& state, const std::string& id, bool create);

// Removes a set of which nothing stands any more.
void remove_set(const Fd& state, const std::string& id);

// Everything of a small file; nothing when it is missing or longer than `limit`.
std::optional<std::string> read_private(const Fd& folder, const std::string& name,
                                        std::size_t limit);

}  // namespace wireproof::tune

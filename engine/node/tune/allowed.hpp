// The targets that a change set may write. Pure: each function returns the reason why a target is
// forbidden, "" if it is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wireproof::tune {

// A file below /proc/sys or /sys that contains a setting: not a file that runs programs, loads
// code, removes hardware, or locks the kernel until the next boot.
std::string wrong_target(std::string_view path);

// For a path in a journal: an earlier version may have written a file that is refused now, and its
// old value must still be restored.
std::string outside_settings(std::string_view path);

// One of wireproof's drop-ins: a name that contains "wireproof", in one of the folders for
// drop-ins.
std::string wrong_drop_in(std::string_view path);

// A value whose undo would not restore everything: forwarding for all interfaces at once, IPv6
// switched off, an MTU below the 1280 of IPv6.
std::string lossy_value(std::string_view path, std::string_view value);
std::string lossy_command(const std::vector<std::string>& argv, std::string_view value);

// Commands of ethtool, ip and tc that show settings, and commands that set them.
std::string wrong_read(const std::vector<std::string>& argv);
std::string wrong_write(const std::vector<std::string>& argv);

// A value that a command printed and that can be passed back: one word of a few safe characters.
bool is_restorable(std::string_view value);

// Valid UTF-8 without control characters except newline and tab.
bool is_text(std::string_view text);

}  // namespace wireproof::tune

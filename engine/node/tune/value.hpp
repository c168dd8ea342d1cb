// Values as the kernel and commands print them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "node/tune/request.hpp"

namespace wireproof::tune {

// How what was read stands to what was wanted: the same text but for its end of line (of a choice,
// the word in brackets), the same value in another form (0x10 for 16, blanks, Y for 1), or not.
enum class Standing { same, other_form, different };
Standing standing(Form form, std::string_view wanted, std::string_view text);

// The word in brackets of "always [madvise] never"; nothing when there is none.
std::optional<std::string> chosen(std::string_view text);

// The value behind KEY: or KEY= or KEY and a blank, at a line's start, else within a line, after
// the line that begins with `section`. Behind a blank it is one word, else the rest of the line up
// to another KEY:.
std::optional<std::string> find_value(std::string_view output, std::string_view section,
                                      std::string_view key);

// As the command takes it: tc prints packets as "100p" and reads "100".
std::string as_argument(std::string_view program, std::string_view value);

// What has to be written so that the file has `old` again: of a choice the word in brackets; a
// newline for an empty file, because a write of nothing does not reach the kernel.
std::string restoring(Form form, std::string_view old);

}  // namespace wireproof::tune

// Values as the kernel and commands print them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "node/tune/request.hpp"

namespace wireproof::tune {

// How the value that was read relates to the requested value: the same text except for its newline
// (for a choice, the word in brackets), the same value in another form (0x10 for 16, spaces, Y for
// 1), or different.
enum class Standing { same, other_form, different };
Standing standing(Form form, std::string_view wanted, std::string_view text);

// The word in brackets of "always [madvise] never"; nothing if there is none.
std::optional<std::string> chosen(std::string_view text);

// The value after KEY: or KEY= or KEY and a space, at the start of a line, else within a line,
// after the line that begins with `section`. After a space it is one word, otherwise the rest of
// the line up to the next KEY:.
std::optional<std::string> find_value(std::string_view output, std::string_view section,
                                      std::string_view key);

// In the form that the command accepts: tc prints packets as "100p" and reads "100".
std::string as_argument(std::string_view program, std::string_view value);

// The text to write so that the file has the value `old` again: for a choice the word in brackets;
// for an empty file a newline, because writing nothing does not reach the kernel.
std::string restoring(Form form, std::string_view old);

}  // namespace wireproof::tune

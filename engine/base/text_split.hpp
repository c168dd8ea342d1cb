// Splits text of other programs and of the kernel from the left, without copies and without
// streams: libstdc++'s streams add half a megabyte of locales to every program.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace wireproof {

/// The word separators, which are the same in every locale.
inline constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Removes the part before `mark` from `text`, and the mark too, and returns that part; all of
/// `text` if there is no mark.
inline std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t length = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

/// Removes and returns the first line of `text`, without its newline; the last line needs none.
/// Nothing if `text` is empty.
inline std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  return take_until(text, '\n');
}

/// Removes and returns the first word of `text`, and removes the white space before it; "" if only
/// white space is left.
inline std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace wireproof

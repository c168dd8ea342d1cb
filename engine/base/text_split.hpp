// Text of other programs and of the kernel, taken apart from the left without copies and without
// streams: libstdc++'s streams bring half a megabyte of locales into every program.
#pragma once

#include <algorithm>
#include <optional>
#include <string_view>

namespace wireproof {

/// What separates words; the same in every locale.
inline constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Takes what is ahead of `mark` off `text`, and the mark with it; all of it where there is none.
inline std::string_view take_until(std::string_view& text, char mark) {
  const std::size_t length = std::min(text.find(mark), text.size());
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return taken;
}

/// Takes the first line off `text`, without its newline; the last line needs none. Nothing when
/// `text` is empty.
inline std::optional<std::string_view> take_line(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  return take_until(text, '\n');
}

/// Takes the first word off `text`, with the blanks before it; "" when only blanks are left.
inline std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace wireproof

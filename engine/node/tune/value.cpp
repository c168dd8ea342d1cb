#include "node/tune/value.hpp"

#include <algorithm>
#include <charconv>

#include "base/text_split.hpp"

namespace wireproof::tune {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<long long> whole_number(std::string_view word) {
  const bool negative = word.starts_with('-');
  if (negative) word.remove_prefix(1);
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  long long number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number, hexadecimal ? 16 : 10);
  if (word.empty() || word.front() == '-' || error != std::errc() || stop != end)
    return std::nullopt;
  return negative ? -number : number;
}

std::optional<bool> flag(std::string_view word) {
  constexpr std::string_view kOn[] = {"1", "Y", "y", "on"};
  constexpr std::string_view kOff[] = {"0", "N", "n", "off"};
  if (std::find(std::begin(kOn), std::end(kOn), word) != std::end(kOn)) return true;
  if (std::find(std::begin(kOff), std::end(kOff), word) != std::end(kOff)) return false;
  return std::nullopt;
}

// A bit mask as the kernel prints it, 00000000,000000ff, without commas and leading zeros.
std::optional<std::string> mask(std::string_view word) {
  std::string digits;
  for (const char c : word) {
    if (c == ',') continue;
    const char low = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    if (!((low >= '0' && low <= '9') || (low >= 'a' && low <= 'f'))) return std::nullopt;
    if (!digits.empty() || low != '0') digits += low;
  }
  return digits;
}

bool same_word(std::string_view wanted, std::string_view seen) {
  if (wanted == seen) return true;
  const auto number = whole_number(wanted);
  if (number && number == whole_number(seen)) return true;
  const auto on = flag(wanted);
  if (on && on == flag(seen)) return true;
  const auto bits = mask(wanted);
  return bits && !wanted.empty() && !seen.empty() && bits == mask(seen);
}

bool same_words(std::string_view wanted, std::string_view seen) {
  for (;;) {
    const std::string_view one = take_word(wanted);
    const std::string_view other = take_word(seen);
    if (one.empty() || other.empty()) return one.empty() && other.empty();
    if (!same_word(one, other)) return false;
  }
}

// Two settings on one line, "on TX: on": returns the first one's word.
std::string first_of_two(std::string_view text) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  return std::string(take_word(rest).ends_with(':') ? word : text);
}

std::optional<std::string> behind_key(std::string_view line, std::string_view key) {
  if (!line.starts_with(key)) return std::nullopt;
  line.remove_prefix(key.size());
  if (line.empty()) return std::nullopt;
  const bool marked = line.front() == ':' || line.front() == '=';
  if (!marked && kBlanks.find(line.front()) == std::string_view::npos) return std::nullopt;
  if (marked) return first_of_two(trimmed(line.substr(1)));
  return std::string(take_word(line));
}

std::optional<std::string> within(std::string_view line, std::string_view key) {
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    if (word == key) return std::string(take_word(line));
  }
  return std::nullopt;
}

std::string_view behind_section(std::string_view output, std::string_view section) {
  if (section.empty()) return output;
  while (const auto line = take_line(output)) {
    if (trimmed(*line).starts_with(section)) return output;
  }
  return {};
}

}  // namespace

std::optional<std::string> chosen(std::string_view text) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    if (word.size() > 2 && word.front() == '[' && word.back() == ']')
      return std::string(word.substr(1, word.size() - 2));
  }
  return std::nullopt;
}

Standing standing(Form form, std::string_view wanted, std::string_view text) {
  const auto word = chosen(text);
  if (form == Form::choice && word) {
    return *word == wanted ? Standing::same : Standing::different;
  }
  if (text == wanted || (text.ends_with('\n') && text.substr(0, text.size() - 1) == wanted))
    return Standing::same;
  if (same_words(wanted, text) || (word && *word == wanted)) return Standing::other_form;
  return Standing::different;
}

std::optional<std::string> find_value(std::string_view output, std::string_view section,
                                      std::string_view key) {
  const std::string_view part = behind_section(output, section);
  for (std::string_view rest = part; const auto line = take_line(rest);) {
    if (auto value = behind_key(trimmed(*line), key)) return value;
  }
  for (std::string_view rest = part; const auto line = take_line(rest);) {
    if (auto value = within(*line, key)) return value;
  }
  return std::nullopt;
}

std::string as_argument(std::string_view program, std::string_view value) {
  const bool packets = program == "tc" && value.size() > 1 && value.ends_with('p') &&
                       value.find_first_not_of("0123456789") == value.size() - 1;
  return std::string(value.substr(0, value.size() - (packets ? 1 : 0)));
}

std::string restoring(Form form, std::string_view old) {
  const auto word = form == Form::choice ? chosen(old) : std::nullopt;
  if (word) return *word + "\n";
  return old.empty() ? "\n" : std::string(old);
}

}  // namespace wireproof::tune

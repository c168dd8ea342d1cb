// One line of a plan, a request or a journal: a keyword and key=value fields, which are taken one
// by one so that a left-over field is an error.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/failure.hpp"

namespace wireproof {

/// Decodes %XX. Nothing if an escape is invalid.
std::optional<std::string> percent_decode(std::string_view text);

/// The reverse: spaces, %, =, commas, control characters and non-ASCII bytes become %XX.
std::string percent_encode(std::string_view text);

class Statement {
 public:
  /// Splits `line`; throws Failure that names the `document` and `number` if a field is not
  /// `key=value` or a key occurs twice.
  Statement(std::string_view line, int number, std::string_view document = "plan");

  const std::string& keyword() const { return keyword_; }
  int number() const { return number_; }

  /// Decoded value of `key`, or nothing if it is missing. Every take_* function marks its key as
  /// known.
  std::optional<std::string> take(std::string_view key);
  /// As `take`, but not decoded: for lists, whose items are decoded after splitting.
  std::optional<std::string> take_raw(std::string_view key);
  /// Splits at commas; items are decoded afterwards, so that an item may contain a comma as %2C.
  std::vector<std::string> take_list(std::string_view key);

  template <class T>
  std::optional<T> take_number(std::string_view key, T low, T high) {
    const auto text = take(key);
    if (!text) return std::nullopt;
    T number{};
    const char* end = text->data() + text->size();
    const auto result = std::from_chars(text->data(), end, number);
    if (result.ec != std::errc() || result.ptr != end || !(number >= low && number <= high)) {
      fail(std::string(key) + "=" + *text + " is not a number from " + std::to_string(low) +
           " to " + std::to_string(high));
    }
    return number;
  }

  /// Value of `key` as an index into `words`.
  template <class E, std::size_t N>
  std::optional<E> take_choice(std::string_view key, const std::array<std::string_view, N>& words) {
    const auto text = take(key);
    if (!text) return std::nullopt;
    std::string known;
    for (std::size_t i = 0; i < N; ++i) {
      if (words[i] == *text) return static_cast<E>(i);
      known.append(i == 0 ? "" : ", ").append(words[i]);
    }
    fail(std::string(key) + "=" + *text + " is unknown; known: " + known);
  }

  /// Throws if a field was not taken.
  void finish() const;

  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Field {
    std::string key;
    std::string value;
    bool taken = false;
  };
  std::string keyword_;
  std::vector<Field> fields_;
  int number_;
  std::string document_;
};

/// Takes a field if the statement has it; otherwise `place` stays unchanged.
template <class T>
void assign(T& place, std::optional<T>&& value) {
  if (value) place = std::move(*value);
}

}  // namespace wireproof

// Append-only JSON text. Every byte that comes from a host (names, files, counters) passes through
// here, so escaping is done once and correctly: control characters as \uXXXX, invalid UTF-8 as
// U+FFFD, NaN and infinities as null.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wireproof {

/// Appends `text` to `out` as a quoted JSON string.
void append_json_string(std::string& out, std::string_view text);

/// Appends the shortest decimal text that reads back as the same double; `null` if it is not
/// finite.
void append_json_number(std::string& out, double number);

/// Writes one JSON value. The writer places commas; the caller is responsible for correct nesting.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name) {
    separate();
    append_json_string(text_, name);
    text_ += ':';
    fresh_ = true;
    return *this;
  }

  JsonWriter& value(std::string_view text) {
    separate();
    append_json_string(text_, text);
    return *this;
  }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(std::same_as<bool> auto flag) { return raw(flag ? "true" : "false"); }
  JsonWriter& value(std::floating_point auto number) {
    separate();
    append_json_number(text_, static_cast<double>(number));
    return *this;
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T number) {
    return raw(std::to_string(number));
  }
  JsonWriter& null() { return raw("null"); }

  /// Appends `json`, which must be one complete JSON value.
  JsonWriter& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }

  /// `"name": value`
  template <class T>
  JsonWriter& field(std::string_view name, const T& field_value) {
    return key(name).value(field_value);
  }
  /// `"name": value`, or nothing if the value is unknown (absent means unknown, never 0).
  template <class T>
  JsonWriter& field(std::string_view name, const std::optional<T>& field_value) {
    return field_value ? key(name).value(*field_value) : *this;
  }

  const std::string& text() const { return text_; }
  std::string take() { return std::exchange(text_, {}); }

 private:
  void separate() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
  }
  JsonWriter& open(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonWriter& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }

  std::string text_;
  bool fresh_ = true;  // no value precedes, so the next one needs no comma
};

}  // namespace wireproof

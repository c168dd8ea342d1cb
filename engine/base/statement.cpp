#include "base/statement.hpp"

namespace wireproof {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::string percent_encode(std::string_view text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && byte < 127 && c != '%' && c != '=' && c != ',') {
      out += c;
    } else {
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
    }
  }
  return out;
}

Statement::Statement(std::string_view line, int number, std::string_view document)
    : number_(number), document_(document) {
  std::size_t space = line.find(' ');
  keyword_ = line.substr(0, space);
  while (space != std::string_view::npos) {
    line.remove_prefix(space + 1);
    space = line.find(' ');
    const std::string_view field = line.substr(0, space);
    const std::size_t equals = field.find('=');
    if (equals == 0 || equals == std::string_view::npos) {
      fail("\"" + std::string(field) + "\" is not key=value (fields are separated by one space)");
    }
    const std::string key(field.substr(0, equals));
    for (const Field& known : fields_) {
      if (known.key == key) fail(key + " is given twice");
    }
    fields_.push_back({key, std::string(field.substr(equals + 1))});
  }
}

std::optional<std::string> Statement::take_raw(std::string_view key) {
  for (Field& field : fields_) {
    if (field.key != key) continue;
    field.taken = true;
    return field.value;
  }
  return std::nullopt;
}

std::optional<std::string> Statement::take(std::string_view key) {
  const auto raw = take_raw(key);
  if (!raw) return std::nullopt;
  auto text = percent_decode(*raw);
  if (!text) fail(std::string(key) + "=" + *raw + " has a broken %XX escape");
  return text;
}

std::vector<std::string> Statement::take_list(std::string_view key) {
  std::vector<std::string> items;
  const auto raw = take_raw(key);
  if (!raw || raw->empty()) return items;
  std::string_view rest = *raw;
  for (;;) {
    const std::size_t comma = rest.find(',');
    auto item = percent_decode(rest.substr(0, comma));
    if (!item) fail(std::string(key) + " has a broken %XX escape");
    items.push_back(*item);
    if (comma == std::string_view::npos) return items;
    rest.remove_prefix(comma + 1);
  }
}

void Statement::finish() const {
  for (const Field& field : fields_) {
    if (!field.taken) fail("unknown key \"" + field.key + "\" for \"" + keyword_ + "\"");
  }
}

void Statement::fail(const std::string& what) const {
  throw bad_plan(document_ + " line " + std::to_string(number_) + ": " + what);
}

}  // namespace wireproof

// A strict reader of JSON for the tests, which sees the output as any reader does.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace wireproof::test {

struct Json {
  enum class Kind { null, flag, number, text, list, object };
  Kind kind = Kind::null;
  bool flag = false;
  double number = 0;
  std::string digits;  // of a number, as written
  std::string text;
  std::vector<Json> list;
  std::map<std::string, Json> object;
  std::vector<std::string> keys;  // in the order of the text

  bool has(const std::string& key) const { return object.contains(key); }
  const Json& operator[](const std::string& key) const {
    const auto found = object.find(key);
    if (found == object.end()) throw std::runtime_error("no key \"" + key + "\"");
    return found->second;
  }
  const Json& operator[](std::size_t place) const { return list.at(place); }
  std::size_t size() const { return kind == Kind::object ? object.size() : list.size(); }
  std::uint64_t whole() const { return std::stoull(digits); }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : left_(text) {}

  Json read() {
    const Json found = value();
    if (!left_.empty()) fail("more text follows");
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at: " + std::string(left_.substr(0, 40)));
  }
  bool take(std::string_view word) {
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word) {
    if (!take(word)) fail("expected " + std::string(word));
  }

  Json value() {
    Json found;
    if (take("null")) return found;
    if (left_.starts_with("\"")) return text();
    if (left_.starts_with("{")) return object();
    if (left_.starts_with("[")) return list();
    if (left_.starts_with("true") || left_.starts_with("false")) {
      found.kind = Json::Kind::flag;
      found.flag = take("true");
      if (!found.flag) expect("false");
      return found;
    }
    return number();
  }
  Json number() {
    constexpr std::string_view kDigits = "0123456789+-.eE";
    Json found;
    found.kind = Json::Kind::number;
    const std::size_t length = std::min(left_.find_first_not_of(kDigits), left_.size());
    found.digits = left_.substr(0, length);
    if (found.digits.empty()) fail("no value");
    char* end = nullptr;
    found.number = std::strtod(found.digits.c_str(), &end);
    if (*end != '\0') fail("no number");
    left_.remove_prefix(length);
    return found;
  }
  Json object() {
    Json found;
    found.kind = Json::Kind::object;
    expect("{");
    if (take("}")) return found;
    do {
      const std::string key = text().text;
      expect(":");
      if (!found.object.emplace(key, value()).second) fail("key \"" + key + "\" comes twice");
      found.keys.push_back(key);
    } while (take(","));
    expect("}");
    return found;
  }
  Json list() {
    Json found;
    found.kind = Json::Kind::list;
    expect("[");
    if (take("]")) return found;
    do {
      found.list.push_back(value());
    } while (take(","));
    expect("]");
    return found;
  }
  Json text() {
    Json found;
    found.kind = Json::Kind::text;
    expect("\"");
    while (!left_.starts_with("\"")) {
      if (left_.empty()) fail("a text without its end");
      found.text += character();
    }
    expect("\"");
    return found;
  }
  std::string character() {
    const char c = left_.front();
    left_.remove_prefix(1);
    if (static_cast<unsigned char>(c) < 0x20) fail("a control character");
    if (c != '\\') return {c};
    for (const auto& [escape, meaning] : {std::pair{"\"", '"'},
                                          {"\\", '\\'},
                                          {"/", '/'},
                                          {"n", '\n'},
                                          {"t", '\t'},
                                          {"r", '\r'},
                                          {"b", '\b'},
                                          {"f", '\f'}}) {
      if (take(escape)) return {meaning};
    }
    expect("u");
    const auto code = std::stoul(std::string(left_.substr(0, 4)), nullptr, 16);
    left_.remove_prefix(4);
    if (code > 0x7F) fail("an escape that is not written here");
    return {static_cast<char>(code)};
  }

  std::string_view left_;
};

inline Json parse_json(std::string_view text) { return JsonReader(text).read(); }

}  // namespace wireproof::test

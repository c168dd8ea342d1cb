#include "base/json_writer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace wireproof {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(JsonWriter, PlacesCommasAndNests) {
  JsonWriter json;
  json.begin_object().field("a", 1).key("b").begin_array().value(true).value("x").begin_object();
  json.end_object().end_array().field("c", std::optional<int>{}).field("d", -2.5).end_object();
  EXPECT_EQ(json.take(), R"({"a":1,"b":[true,"x",{}],"d":-2.5})");
}

TEST(JsonWriter, StartsAnewAfterTake) {
  JsonWriter json;
  json.begin_array().value(1).end_array();
  EXPECT_EQ(json.take(), "[1]");
}

TEST(JsonWriter, EscapesControlBytesQuotesAndBackslash) {
  EXPECT_EQ(quoted("a\"\\\n\t\r\x01\x7f"), R"("a\"\\\n\t\r\u0001\u007f")");
  EXPECT_EQ(quoted(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(JsonWriter, KeepsValidUtf8) {
  EXPECT_EQ(quoted("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
            "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
}

TEST(JsonWriter, ReplacesInvalidUtf8) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(quoted("\xFF"), "\"" + r + "\"");
  EXPECT_EQ(quoted("\xC0\xAF"), "\"" + r + r + "\"");                  // overlong
  EXPECT_EQ(quoted("\xED\xA0\x80"), "\"" + r + r + r + "\"");          // surrogate
  EXPECT_EQ(quoted("\xF4\x90\x80\x80"), "\"" + r + r + r + r + "\"");  // above U+10FFFF
  EXPECT_EQ(quoted("\xE2\x82"), "\"" + r + r + "\"");                  // torn at the end
}

TEST(JsonWriter, NumbersReadBackTheSame) {
  for (const double number : {0.1, 1.0 / 3, 1e-300, 123456789.123456789, -0.0, 5e-324}) {
    std::string text;
    append_json_number(text, number);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
  }
}

TEST(JsonWriter, NotANumberIsNull) {
  std::string text;
  append_json_number(text, std::numeric_limits<double>::quiet_NaN());
  append_json_number(text, std::numeric_limits<double>::infinity());
  EXPECT_EQ(text, "nullnull");
}

}  // namespace
}  // namespace wireproof

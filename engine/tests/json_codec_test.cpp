// A strict reader accepts everything that the writer writes: every byte, every number, any nesting.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "base/json_writer.hpp"
#include "json_value.hpp"

namespace wireproof {
namespace {

using test::Json;
using test::parse_json;

const std::string kReplacement = "\xEF\xBF\xBD";

std::string through(const std::string& text) {
  JsonWriter json;
  json.value(text);
  return parse_json(json.take()).text;
}

TEST(JsonCodec, EveryAsciiByteComesBack) {
  for (int byte = 0; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    EXPECT_EQ(through(text), text) << byte;
    EXPECT_EQ(through("a" + text + "b"), "a" + text + "b") << byte;
  }
}

TEST(JsonCodec, ALoneByteAboveIsReplaced) {
  for (int byte = 128; byte < 256; ++byte) {
    EXPECT_EQ(through(std::string(1, static_cast<char>(byte))), kReplacement) << byte;
  }
}

std::string utf8(std::uint32_t code) {
  std::string text;
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) {
    text += static_cast<char>(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | code >> 12);
    tail(6);
  } else {
    text += static_cast<char>(0xF0 | code >> 18);
    tail(12);
    tail(6);
  }
  tail(0);
  return text;
}

TEST(JsonCodec, EveryCharacterOfUnicodeComesBack) {
  for (std::uint32_t code = 0x80; code < 0x110000; code += code < 0x3000 ? 1 : 97) {
    if (code >= 0xD800 && code < 0xE000) continue;
    const std::string text = utf8(code);
    ASSERT_EQ(through(text), text) << std::hex << code;
  }
  for (const std::uint32_t edge :
       {0x7FFU, 0x800U, 0xD7FFU, 0xE000U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    EXPECT_EQ(through(utf8(edge)), utf8(edge)) << std::hex << edge;
  }
}

TEST(JsonCodec, SurrogatesAreNoCharacters) {
  for (std::uint32_t code = 0xD800; code < 0xE000; code += 13) {
    EXPECT_EQ(through(utf8(code)), kReplacement + kReplacement + kReplacement) << std::hex << code;
  }
}

struct Torn {
  const char* bytes;
  const char* read;
};
class TornTexts : public testing::TestWithParam<Torn> {};
TEST_P(TornTexts, LoseNoByteThatIsGood) {
  std::string expected = GetParam().read;
  for (std::size_t at = 0; (at = expected.find('?', at)) != std::string::npos;) {
    expected.replace(at, 1, kReplacement);
    at += kReplacement.size();
  }
  EXPECT_EQ(through(GetParam().bytes), expected);
}
INSTANTIATE_TEST_SUITE_P(Bytes, TornTexts,
                         testing::Values(Torn{"a\xC3", "a?"},
                                         Torn{"\xC3"
                                              "a",
                                              "?a"},
                                         Torn{"\xE2\x82"
                                              "a",
                                              "??a"},
                                         Torn{"\xF0\x9F\x98", "???"}, Torn{"\x80\x80", "??"},
                                         Torn{"\xC0\x80", "??"}, Torn{"\xC1\xBF", "??"},
                                         Torn{"\xE0\x80\x80", "???"},
                                         Torn{"\xF0\x80\x80\x80", "????"},
                                         Torn{"\xF5\x80\x80\x80", "????"}, Torn{"\xFE\xFF", "??"},
                                         Torn{"ok\xFFok", "ok?ok"}));

TEST(JsonCodec, RandomBytesAlwaysGiveOneValidText) {
  std::mt19937 random(17);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 40, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    JsonWriter json;
    json.begin_object().field(text, text).field("b", 1).end_object();
    const Json read = parse_json(json.take());
    EXPECT_GE(read.size(), 1U);
    EXPECT_EQ(read[through(text)].text, through(text));
  }
}

double number_through(double number) {
  std::string text;
  append_json_number(text, number);
  return parse_json(text).number;
}

TEST(JsonCodec, EveryFiniteNumberComesBackExactly) {
  std::mt19937_64 random(23);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    EXPECT_EQ(number_through(number), number);
  }
}

TEST(JsonCodec, NumbersAreAsShortAsTheyCanBe) {
  const auto written = [](double number) {
    std::string text;
    append_json_number(text, number);
    return text;
  };
  EXPECT_EQ(written(0.1), "0.1");
  EXPECT_EQ(written(1), "1");
  EXPECT_EQ(written(-2.5), "-2.5");
  EXPECT_EQ(written(1e100), "1e+100");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), "null");
}

TEST(JsonCodec, WholeNumbersKeepAllTheirBits) {
  JsonWriter json;
  json.begin_array()
      .value(std::numeric_limits<std::uint64_t>::max())
      .value(std::numeric_limits<std::int64_t>::min())
      .value(std::uint8_t{200})
      .value(std::int8_t{-100})
      .end_array();
  const Json list = parse_json(json.take());
  EXPECT_EQ(list[0].digits, "18446744073709551615");
  EXPECT_EQ(list[1].digits, "-9223372036854775808");
  EXPECT_EQ(list[2].digits, "200") << "a number, no character";
  EXPECT_EQ(list[3].digits, "-100");
}

TEST(JsonCodec, FlagsNullsAndRawValuesStandInTheirPlaces) {
  JsonWriter json;
  json.begin_array().value(true).null().raw("{\"a\":[1]}").value(false).end_array();
  const Json list = parse_json(json.take());
  ASSERT_EQ(list.size(), 4U);
  EXPECT_TRUE(list[0].flag);
  EXPECT_EQ(list[1].kind, Json::Kind::null);
  EXPECT_EQ(list[2]["a"][0].number, 1);
  EXPECT_FALSE(list[3].flag);
}

TEST(JsonCodec, AnUnknownFieldIsNotThereAZeroOneIs) {
  JsonWriter json;
  json.begin_object()
      .field("unknown", std::optional<double>())
      .field("zero", std::optional<double>(0))
      .field("none", std::optional<std::string>())
      .field("empty", std::optional<std::string>(""))
      .end_object();
  EXPECT_EQ(parse_json(json.take()).keys, (std::vector<std::string>{"zero", "empty"}));
}

TEST(JsonCodec, EmptyContainersAtAnyPlaceNeedNoComma) {
  JsonWriter json;
  json.begin_array().begin_array().end_array().begin_object().end_object();
  json.begin_array().begin_array().end_array().end_array().end_array();
  const std::string text = json.take();
  EXPECT_EQ(text, "[[],{},[[]]]");
  EXPECT_EQ(parse_json(text).size(), 3U);
}

/// A random value, written and stored in the order of its parts.
class RandomValue {
 public:
  explicit RandomValue(unsigned seed) : random_(seed) {}

  void write(JsonWriter& json, int depth) {
    switch (random_() % (depth > 4 ? 3 : 5)) {
      case 0:
        json.value(static_cast<int>(random_() % 1000));
        break;
      case 1:
        json.value("t" + std::to_string(random_() % 10));
        break;
      case 2:
        json.value(random_() % 2 == 0);
        break;
      case 3: {
        json.begin_array();
        for (unsigned i = random_() % 4; i > 0; --i) write(json, depth + 1);
        json.end_array();
        break;
      }
      default: {
        json.begin_object();
        for (unsigned i = random_() % 4; i > 0; --i) {
          json.key("k" + std::to_string(i));
          write(json, depth + 1);
        }
        json.end_object();
      }
    }
  }

 private:
  std::mt19937 random_;
};

std::string again(const Json& value) {
  JsonWriter json;
  const std::function<void(const Json&)> write = [&](const Json& one) {
    if (one.kind == Json::Kind::number) json.value(std::stoi(one.digits));
    if (one.kind == Json::Kind::text) json.value(one.text);
    if (one.kind == Json::Kind::flag) json.value(one.flag);
    if (one.kind == Json::Kind::null) json.null();
    if (one.kind == Json::Kind::list) {
      json.begin_array();
      for (const Json& part : one.list) write(part);
      json.end_array();
    }
    if (one.kind == Json::Kind::object) {
      json.begin_object();
      for (const std::string& key : one.keys) {
        json.key(key);
        write(one[key]);
      }
      json.end_object();
    }
  };
  write(value);
  return json.take();
}

TEST(JsonCodec, WrittenReadAndWrittenAgainIsTheSame) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    JsonWriter json;
    RandomValue(seed).write(json, 0);
    const std::string text = json.take();
    EXPECT_EQ(again(parse_json(text)), text);
  }
}

TEST(TestReader, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "{\"a\"}", "[1 2]", "tru", "\"a", "01x",
                           "{\"a\":1,\"a\":2}", "[1]]", "\"a\nb\""}) {
    EXPECT_THROW(parse_json(text), std::exception) << text;
  }
}

}  // namespace
}  // namespace wireproof

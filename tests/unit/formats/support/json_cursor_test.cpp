#include "formats/support/json_cursor.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/support/text.h"
#include "tests/support/catch.h"

using profd::ErrorCode;
using profd::JsonCursor;
using profd::JsonKind;

namespace {

// Walks a whole text by reading every value strictly; "" or the description of the error.
std::string walk(std::string_view text, std::uint32_t max_depth = 64) {
  JsonCursor in(text, max_depth);
  std::vector<bool> in_object;
  const auto value = [&] {
    switch (in.kind()) {
      case JsonKind::array:
        if (in.begin_array()) in_object.push_back(false);
        break;
      case JsonKind::object:
        if (in.begin_object()) in_object.push_back(true);
        break;
      case JsonKind::string:
        in.string();
        break;
      case JsonKind::number:
        in.number();
        break;
      case JsonKind::boolean:
        in.boolean();
        break;
      default:
        in.skip();
    }
  };
  value();
  std::string_view key;
  while (!in_object.empty() && in.ok()) {
    if (in_object.back() ? in.next_key(key) : in.next_element())
      value();
    else
      in_object.pop_back();
  }
  const auto result = in.finish();
  return result ? "" : describe(result.error());
}

std::string skipped(std::string_view text) {
  JsonCursor in(text, 64);
  in.skip();
  const auto result = in.finish();
  return result ? "" : describe(result.error());
}

std::string string_of(std::string_view text) {
  JsonCursor in(text);
  const std::string out(in.string());
  const auto result = in.finish();
  return result ? out : "error: " + describe(result.error());
}

}  // namespace

TEST_CASE("the JSON cursor reads what it is given") {
  JsonCursor in(R"( {"a": [1, -2 ,3], "b": {}, "c": "x", "d": true, "e": null, "f": 2.5e1, "g": []} )");
  std::string_view key;
  std::int64_t sum = 0;
  std::string keys, text;
  bool flag = false;
  double fraction = 0;
  for (in.begin_object(); in.next_key(key);) {
    keys += key;
    if (key == "a") {
      for (in.begin_array(); in.next_element();) sum = sum * 10 + in.integer();
    } else if (key == "c") {
      text = in.string();
    } else if (key == "d") {
      flag = in.boolean();
    } else if (key == "f") {
      fraction = in.number().value;
    } else {
      in.skip();
    }
  }
  REQUIRE(in.finish());
  CHECK(keys == "abcdefg");
  CHECK(sum == 83);
  CHECK(text == "x");
  CHECK(flag);
  CHECK(fraction == 25);
}

TEST_CASE("the JSON cursor undoes escapes") {
  CHECK(string_of(R"("a\"b\\c\/d\b\f\n\r\t")") == "a\"b\\c/d\b\f\n\r\t");
  CHECK(string_of(R"("\u0041\u00e9\u20AC")") == "A\xC3\xA9\xE2\x82\xAC");
  CHECK(string_of(R"("\ud83d\ude00 long enough to be scanned in blocks \u0041")") ==
        "\xF0\x9F\x98\x80 long enough to be scanned in blocks A");
  CHECK(string_of("\"a\\u0000b\"") == std::string("a\0b", 3));
}

TEST_CASE("whole numbers are read the same whatever follows them") {
  constexpr std::array<std::int64_t, 14> kNumbers{
      0, 1, 9, 10, 99, 100, 4095, 99'999, 999'999, 1'000'000, 9'999'999, 10'000'000, 123'456'789, -7};
  for (const std::int64_t number : kNumbers) {
    const std::string digits = std::to_string(number);
    CAPTURE(digits);
    for (const std::string after : {"", " ", "        ", "\n]", ",", ",2,3,4,5,6,7", "]]]]]]]]]", "}"}) {
      CAPTURE(after);
      const std::string text = digits + after;
      JsonCursor in(text);
      CHECK(in.integer() == number);
      CHECK(in.ok());
      CHECK(in.offset() == std::min(text.find_first_not_of(" \n", digits.size()), text.size()));
    }
    for (const std::string after : {".0", "e0", "E0", ".000000000", "e+0,      "}) {
      const std::string text = digits + after;
      JsonCursor in(text);
      CHECK(in.integer() == number);
    }
    for (const std::string after : {".5", ".5        ", "e-9       "}) {
      const std::string text = digits + after;
      JsonCursor in(text);
      in.integer();
      CHECK(in.ok() == (number == 0 && after[0] == 'e'));
    }
    if (number > 0) {
      const std::string text = "0" + digits + ",       ";
      JsonCursor in(text);
      in.integer();
      CHECK_FALSE(in.ok());
    }
  }
}

TEST_CASE("lone surrogates and ill-formed UTF-8 in JSON strings become U+FFFD and are counted") {
  JsonCursor in(
      "[\"\\ud800\", \"\\udc00x\", \"\\ud800\\u0041\", \"\xFF\xFE\", \"ok \xC3\xA9\", \"\\n\xC3\"]");
  std::vector<std::string> texts;
  for (in.begin_array(); in.next_element();) texts.emplace_back(in.string());
  REQUIRE(in.finish());
  CHECK(in.n_repaired() == 5);
  CHECK(texts[0] == "\xEF\xBF\xBD");
  CHECK(texts[1] == "\xEF\xBF\xBDx");
  CHECK(texts[2] ==
        "\xEF\xBF\xBD"
        "A");
  for (const std::string& text : texts) CHECK(profd::is_valid_utf8(text));
}

TEST_CASE("JSON numbers are exact where they can be and refused where they cannot") {
  const auto integer = [](std::string_view text) {
    JsonCursor in(text);
    const std::int64_t value = in.integer();
    return in.finish() ? std::optional(value) : std::nullopt;
  };
  CHECK(integer("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
  CHECK(integer("-0") == 0);
  CHECK(integer("5.0") == 5);
  CHECK(integer("12e2") == 1200);
  CHECK(integer("1200e-2") == 12);
  for (const char* bad : {"9223372036854775808", "1.5", "1e30", "01", "-", "+1", ".5", "1.", "1e", "1e+",
                          "0x10", "NaN", "Infinity", "1 2", "", "\"1\"", "1a"})
    CHECK_FALSE(integer(bad));

  const auto number = [](std::string_view text) {
    JsonCursor in(text);
    const double value = in.number().value;
    return in.finish() ? std::optional(value) : std::nullopt;
  };
  CHECK(number("1e308") == 1e308);
  CHECK(number("-2.5E-3") == -0.0025);
  CHECK(number("1e-400") == 0.0);
  CHECK(number("0e999999999999999999999") == 0.0);
  CHECK(number("18446744073709551616") == 18446744073709551616.0);
  CHECK_FALSE(number("1e309"));
  CHECK_FALSE(number("1e999999999999999999999"));
  CHECK_FALSE(number("-1" + std::string(400, '0')));
}

TEST_CASE("decimals are scaled without rounding") {
  std::int64_t out = 0;
  CHECK((profd::scaled_decimal("0.01", 9, out) && out == 10000000));
  CHECK((profd::scaled_decimal("-1.5e-3", 9, out) && out == -1500000));
  CHECK((profd::scaled_decimal("163140.599286", 9, out) && out == 163140599286000));
  CHECK((profd::scaled_decimal("0.000", 0, out) && out == 0));
  CHECK((profd::scaled_decimal("1.0000000000000000000000000000", 9, out) && out == 1000000000));
  CHECK_FALSE(profd::scaled_decimal("0.0010042490000614634", 9, out));
  CHECK((profd::scaled_decimal(".5", 1, out) && out == 5));
  CHECK((profd::scaled_decimal("2.", 1, out) && out == 20));
  CHECK((profd::scaled_decimal("007", 1, out) && out == 70));
  for (const char* no_number :
       {"", "-", ".", "1.2.3", "12a5", "1e", "1e+", "1e5x", "1 5", "e5", "0x10", "1/1111111111111111111111"})
    CHECK_FALSE(profd::scaled_decimal(no_number, 9, out));
  CHECK_FALSE(profd::scaled_decimal("1e300", 9, out));
  CHECK_FALSE(profd::scaled_decimal("1e-99999999999999999999", 9, out));
  CHECK_FALSE(profd::scaled_decimal("9223372036854775807", 1, out));
}

TEST_CASE("malformed JSON is refused with the place") {
  struct Row {
    const char* text;
    const char* error;
  };
  const Row rows[] = {
      {"", "the JSON text ends where a value must follow (at byte 0)"},
      {"[1,]", "expected a value, found ']' (at byte 3)"},
      {"[1, ]", "expected a value, found ']' (at byte 4)"},
      {"[,1]", "expected a value, found ',' (at byte 1)"},
      {"[1 2]", "expected ',' or ']', found '2' (at byte 3)"},
      {"[1}", "expected ',' or ']', found '}' (at byte 2)"},
      {"[1", "the JSON text ends where ',' or ']' must follow (at byte 2)"},
      {"[1,", "the JSON text ends where a value must follow (at byte 3)"},
      {"[", "the JSON text ends where a value must follow (at byte 1)"},
      {"{\"a\" 1}", "expected ':', found '1' (at byte 5)"},
      {"{\"a\":1,}", "expected a key in quotes, found '}' (at byte 7)"},
      {"{a:1}", "expected a key in quotes, found 'a' (at byte 1)"},
      {"{,}", "expected a key in quotes, found ',' (at byte 1)"},
      {"{\"a\":}", "expected a value, found '}' (at byte 5)"},
      {"{\"a\":1]", "expected ',' or '}', found ']' (at byte 6)"},
      {"[tru]", "expected a value, found 't' (at byte 1)"},
      {"[nul", "the JSON text ends where a value must follow (at byte 4)"},
      {"\"abc", "the JSON text ends inside a string (at byte 0)"},
      {"\"a\\", "the JSON text ends inside a string (at byte 2)"},
      {"\"a\nb\"", "a control character stands unescaped in a string (at byte 2)"},
      {"\"\\x\"", "unknown escape in a string (at byte 1)"},
      {"\"\\u12G4\"", "\\u needs four hexadecimal digits (at byte 1)"},
      {"\"\\u12", "\\u needs four hexadecimal digits (at byte 1)"},
      {"[1] x", "expected the end of the JSON text, found 'x' (at byte 4)"},
      {"[1]\x01", "expected the end of the JSON text, found byte 0x01 (at byte 3)"},
      {"[-]", "expected a number, found ']' (at byte 2)"},
  };
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(walk(row.text) == row.error);
  }
}

TEST_CASE("nesting is bounded, read or skipped, without recursion") {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(walk(deep, 100000).empty());
  CHECK(walk(deep, 99999).find("nested deeper than 99999") != std::string::npos);
  CHECK(skipped(deep).find("nested deeper than 64 levels (limit: nesting) (at byte 64)") !=
        std::string::npos);
}

TEST_CASE("skipping steps over exactly one value") {
  for (const char* value :
       {"1", "-2.5e3", "\"a\\\"b]\"", "true", "null", "[]", "{}", "[[1,\"]\"],{\"}\":[]}]",
        "{\"a long key that fills blocks\":\"{[{[{[{[{[{[{[{[{[\", \"b\":[1,2,3]}"}) {
    const std::string text = "[" + std::string(value) + " , 7]";
    JsonCursor in(text);
    in.begin_array();
    REQUIRE(in.next_element());
    in.skip();
    REQUIRE(in.next_element());
    CHECK(in.integer() == 7);
    CHECK_FALSE(in.next_element());
    CHECK(in.finish());
  }
  CHECK(skipped("[1,{\"a\":]}") == "expected ',' or '}', found ']' (at byte 8)");
  CHECK(skipped("[1,[2]") == "the JSON text ends inside the array that began at byte 0 (at byte 6)");
}

TEST_CASE("every prefix of a JSON text is truncated and says so within the text") {
  const std::string text = R"({"a": [1, 2.5e3, {"b": "x\u00e9y"}], "c": [true, null, "\ud83d\ude00"]})";
  CHECK(walk(text).empty());
  for (std::size_t n = 0; n < text.size(); ++n) {
    JsonCursor in(std::string_view(text).substr(0, n));
    in.skip();
    const auto result = in.finish();
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::truncated);
    CHECK(result.error().offset.value() <= n);
    CHECK_FALSE(walk(std::string_view(text).substr(0, n)).empty());
  }
}

TEST_CASE("a copied cursor goes its own way and seek returns to a place") {
  JsonCursor in("[10, [20, 21], 30]", 64, 3);
  in.begin_array();
  REQUIRE(in.next_element());
  in.skip();
  REQUIRE(in.next_element());
  const std::uint64_t place = in.offset();
  CHECK(place == 3 + 5);
  JsonCursor second = in;
  second.seek(place, 1);
  second.begin_array();
  REQUIRE(second.next_element());
  CHECK(second.integer() == 20);
  in.skip();
  REQUIRE(in.next_element());
  CHECK(in.integer() == 30);
}

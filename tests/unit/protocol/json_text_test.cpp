#include "protocol/json_text.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/codec.h"
#include "protocol/generated/psp_messages.h"
#include "protocol/json_parse.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::protocol;
using nlohmann::json;

namespace {

std::string written(std::string_view text) {
  JsonText out;
  out.string(text);
  return std::move(out).take();
}
// As dump_json has it, but for the control characters that it leaves.
std::string dumped(std::string_view text) {
  return without_controls(dump_json(json(std::string(text))));
}

std::string written(double value) {
  JsonText out;
  out.real(value);
  return std::move(out).take();
}

// Of all strings of up to `length` of these pieces, those that are not written as dump_json writes them.
std::vector<std::string> different(const std::vector<std::string>& pieces, int length) {
  std::vector<std::string> bad, texts = {""};
  for (int i = 0; i < length; ++i) {
    std::vector<std::string> longer;
    for (const auto& text : texts)
      for (const auto& piece : pieces) {
        longer.push_back(text + piece);
        if (written(longer.back()) != dumped(longer.back())) bad.push_back(longer.back());
      }
    texts = std::move(longer);
  }
  return bad;
}

}  // namespace

TEST_CASE("json_text: every byte is written as nlohmann writes it, wherever it stands") {
  for (int byte = 0; byte < 256; ++byte)
    for (std::size_t place = 0; place < 20; ++place) {
      std::string text(20, 'x');
      text[place] = static_cast<char>(byte);
      INFO(byte << " at " << place);
      REQUIRE(written(text) == dumped(text));
      REQUIRE(written(text.substr(0, place + 1)) == dumped(text.substr(0, place + 1)));
    }
  CHECK(written("a\"b\\c/\b\f\n\r\t\x01\x1f\x7f") == "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
  CHECK(written(std::string_view("\0", 1)) == R"("\u0000")");
  CHECK(written("") == R"("")");
  CHECK(written("push_back(int&&)") == "\"push_back(int&&)\"");
  CHECK(written("h\xc3\xa9 \xf0\x9f\x94\xa5") == "\"h\xc3\xa9 \xf0\x9f\x94\xa5\"");
}

TEST_CASE("json_text: what is not UTF-8 is replaced as nlohmann replaces it") {
  CHECK(written("a\xff"
                "b") ==
        "\"a\xef\xbf\xbd"
        "b\"");
  CHECK(written("\xe2\x82") == "\"\xef\xbf\xbd\"");                              // cut short: one mark
  CHECK(written("\xed\xa0\x80") == "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");  // a surrogate: three
  // The bytes at the ends of every range of the encoding, in every order.
  std::vector<std::string> pieces = {"a", "\"", "\n"};
  for (const int byte : {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
                         0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff})
    pieces.emplace_back(1, static_cast<char>(byte));
  CHECK(different(pieces, 4) == std::vector<std::string>{});
}

TEST_CASE("json_text: doubles read back as the same double") {
  for (const double value : {0.0,
                             -0.0,
                             1.0,
                             -1.0,
                             0.1,
                             1.0 / 3,
                             100.0,
                             1e15,
                             -1e15,
                             1e15 - 1,
                             999999999999999.9,
                             1e16,
                             1e17,
                             1e22,
                             1e300,
                             -1e300,
                             5e-324,
                             2.2250738585072014e-308,
                             1.7976931348623157e308,
                             9007199254740993.0,
                             9223372036854775808.0,
                             18446744073709551616.0,
                             123456789.125,
                             1e-5}) {
    const std::string text = written(value);
    INFO(text);
    const json read = json::parse(text);
    REQUIRE(read.is_number_float());  // as when nlohmann wrote it
    CHECK(read.get<double>() == value);
    CHECK(std::signbit(read.get<double>()) == std::signbit(value));
    CHECK(read == json::parse(json(value).dump()));
  }
  CHECK(written(0.1) == "0.1");
  CHECK(written(-0.0) == "-0.0");
  CHECK(written(42.0) == "42.0");
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity()})
    CHECK(written(value) == "null");
}

TEST_CASE("json_text: integers are exact") {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 53, (std::int64_t{1} << 53) + 1,
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    JsonText out;
    out.integer(value);
    CHECK(std::move(out).take() == json(value).dump());
  }
}

TEST_CASE("json_text: containers, empty ones and nested ones, keep their commas") {
  CHECK(text_of(std::vector<std::string>{}) == "[]");
  CHECK(text_of(std::map<std::string, bool>{}) == "{}");
  CHECK(text_of(std::vector<std::vector<std::int64_t>>{{}, {1, 2}, {}}) == "[[],[1,2],[]]");
  // Values that end in an opening bracket but open nothing.
  CHECK(text_of(std::vector<std::string>{"[", "{", "["}) == R"(["[","{","["])");
  CHECK(text_of(std::vector<std::optional<Number>>{Number(1), std::nullopt, Number(2.5), Number(3.0)}) ==
        "[1,null,2.5,3.0]");
  CHECK(text_of(std::vector<bool>{true, false}) == "[true,false]");
  CHECK(text_of(std::map<std::string, std::vector<double>>{{"a\"\n", {}}, {"\xff", {0.5}}}) ==
        "{\"a\\\"\\n\":[],\"\xef\xbf\xbd\":[0.5]}");
  CHECK(text_of(std::variant<std::int64_t, std::string>("x")) == R"("x")");
  CHECK(text_of(psp::Null{}) == "null");
}

TEST_CASE("json_text: no control character stays in a text, and it reads back the same") {
  for (char32_t c = 1; c < 0x120; ++c) {
    const std::string one =
        c < 0x80 ? std::string(1, static_cast<char>(c))
                 : std::string{static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    const std::string text = "a" + one +
                             "\xc2"
                             "b" +
                             one;  // a broken sequence in between
    for (const std::string& out : {written(text), without_controls(dump_json(json(text)))}) {
      const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
      CHECK((out.find(one) == std::string::npos) == control);
      CHECK(json::parse(out) == json::parse(dump_json(json(text))));
    }
  }
}

TEST_CASE("json_text: an Any is written as dump_json does") {
  const json value = {{"a", {1, -2, 0.5, nullptr, true}}, {"b", "\x01\xff"}, {"c", json::object()}};
  CHECK(text_of(std::vector<Any>{value, Any()}) == "[" + dump_json(value) + ",null]");
}

TEST_CASE("json_text: structures have their fields in order and none for what is absent") {
  psp::Measure measure{7, "7 s"};
  CHECK(text_of(measure) == R"({"value":7,"text":"7 s"})");
  CHECK(text_of(psp::SyncParams{}) == "{}");
  CHECK(psp::ShutdownRequest::result_text({}) == "null");
  CHECK(psp::ExitNotification::params_text({}) == "null");
  const json params = json::parse(psp::InitializeRequest::params_text({}));
  CHECK_FALSE(params.contains("rootUri"));
  CHECK(params.contains("capabilities"));
}

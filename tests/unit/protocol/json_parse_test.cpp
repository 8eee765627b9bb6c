#include "protocol/json_parse.h"

#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace profd::protocol;
using nlohmann::json;

namespace {
std::string nested(std::size_t depth, char open, char close) {
  return std::string(depth, open) + std::string(depth, close);
}
}  // namespace

TEST_CASE("json_parse: reads what nlohmann reads") {
  for (const std::string text :
       {R"(null)", R"(true)", R"(-7)", R"(18446744073709551615)", R"(-9223372036854775808)", R"(1.5e3)",
        R"("a\u00e9\n")", R"([])", R"({})", R"([1,[2,{"a":[{}]}],"x"])", R"({"a":{"b":[1,2]},"c":null})",
        R"({"a":1,"a":2})", R"(  [ 1 , 2 ]  )"}) {
    INFO(text);
    const auto parsed = parse_json(text);
    REQUIRE(parsed);
    CHECK(*parsed == json::parse(text));
  }
}

TEST_CASE("json_parse: depth is bounded for arrays, objects and mixtures") {
  JsonLimits limits;
  limits.max_depth = 4;
  CHECK(parse_json(nested(4, '[', ']'), limits));
  const auto deep = parse_json(nested(5, '[', ']'), limits);
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message == "nested deeper than 4 levels (byte 4)");
  CHECK(deep.error().byte == 4);
  CHECK(parse_json(R"({"a":{"a":{"a":{"a":1}}}})", limits));
  CHECK_FALSE(parse_json(R"({"a":{"a":{"a":{"a":{}}}}})", limits));
  CHECK_FALSE(parse_json(R"([{"a":[{"a":[]}]}])", limits));
  CHECK(parse_json("[[[[]]],[[[]]],[[[[]]]]]", {limits.max_bytes, 5, limits.max_values}));
}

TEST_CASE("json_parse: two megabytes of brackets are refused at once") {
  const auto parsed = parse_json(std::string(2'000'000, '['));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().byte == 128);
  std::string objects;
  for (int i = 0; i < 300'000; ++i) objects += R"({"a":)";
  CHECK_FALSE(parse_json(objects));
}

TEST_CASE("json_parse: size and number of values are bounded") {
  JsonLimits limits;
  limits.max_bytes = 10;
  CHECK(parse_json("[1,2,3,45]", limits));
  CHECK(parse_json("[1,2,3,456]", limits).error().message == "message of 11 bytes; at most 10 are taken");
  limits = {};
  limits.max_values = 4;
  CHECK(parse_json("[1,2,3]", limits));
  CHECK(parse_json("[1,2,3,4]", limits).error().message == "more than 4 values (byte 8)");
  CHECK_FALSE(parse_json(R"({"a":1,"b":2,"c":3,"d":4})", limits));
}

TEST_CASE("json_parse: errors name the byte and nothing throws") {
  struct Case {
    std::string text;
    std::size_t byte;
  };
  for (const auto& bad :
       {Case{"", 0}, Case{"[1,]", 3}, Case{"{\"a\" 1}", 5}, Case{"[1] x", 4}, Case{"nul", 3},
        Case{"\"a\xff\"", 2}, Case{"[1e999]", 5}, Case{"\"\x01\"", 1}, Case{"\"a", 2}, Case{"'a'", 0},
        Case{"[NaN]", 1}, Case{std::string("[\0]", 3), 1}}) {
    INFO(bad.text);
    const auto parsed = parse_json(bad.text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().byte == bad.byte);
    CHECK(parsed.error().message.find("json.exception") == std::string::npos);
  }
}

TEST_CASE("json_parse: every prefix of a document is refused, the whole is not") {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e9",{"b":null}],"c":true})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto parsed = parse_json(text.substr(0, size));
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().byte <= size);
  }
  CHECK(parse_json(text));
}

TEST_CASE("json_parse: dump_json repairs what is not UTF-8") {
  CHECK(dump_json(json("a\xff"
                       "b")) ==
        "\"a\xef\xbf\xbd"
        "b\"");
  CHECK(dump_json(json({{"k", {1, 2.5, nullptr}}})) == R"({"k":[1,2.5,null]})");
}

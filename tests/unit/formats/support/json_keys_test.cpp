#include "formats/support/json_keys.h"

#include "tests/support/catch.h"

using profd::JsonKeys;
using profd::JsonKind;

TEST_CASE("outermost keys and kinds of a JSON object are seen") {
  const JsonKeys keys = profd::json_keys(R"( {"a": 1, "b": [ {"x": {}} , 2], "c": {"d": "}"}, "e": "f"})");
  CHECK(keys.kind() == JsonKind::object);
  CHECK(keys.complete());
  REQUIRE(keys.keys().size() == 4);
  CHECK(keys.has("a", JsonKind::number));
  CHECK(keys.has("b", JsonKind::array));
  CHECK(keys.has("e", JsonKind::string));
  CHECK_FALSE(keys.has("d", JsonKind::string));
  CHECK(keys.find("c")->value == R"({"d": "}"})");
  CHECK(profd::json_keys(keys.find("b")->value).has("x", JsonKind::object));
}

TEST_CASE("a prefix shows the keys it holds, the last one unfinished") {
  const std::string text = R"({"a": 1, "long": [[1, 2], [3, "x"]], "z": 1})";
  const JsonKeys keys = profd::json_keys(std::string_view(text).substr(0, 25));
  CHECK_FALSE(keys.complete());
  REQUIRE(keys.keys().size() == 2);
  CHECK(keys.has("long", JsonKind::array));
  for (std::size_t n = 0; n <= text.size(); ++n)
    CHECK(profd::json_keys(std::string_view(text).substr(0, n)).complete() == (n == text.size()));
}

TEST_CASE("what is no JSON object has no keys") {
  for (const char* text : {"", "  ", "main;a;b 3", "[1,2]", "\"x\"", "{]", "{1:2}", "{\"a\" 1}", "<svg>"})
    CHECK(profd::json_keys(text).keys().empty());
}

TEST_CASE("names and texts are compared as they are meant, not as they are written") {
  const JsonKeys keys = profd::json_keys(
      R"({"\u0024sch\u0065ma": "https:\/\/x.app\/y.json", "q": "a\"b\\", "n": 12, "cut": "ab\u00)");
  REQUIRE(keys.find("$schema") != nullptr);
  const profd::JsonKey& schema = *keys.find("$schema");
  CHECK(schema.value_is("https://x.app/y.json"));
  CHECK(schema.value_contains("https://x.app/"));
  CHECK(schema.value_contains("y.json"));
  CHECK_FALSE(schema.value_is("https://x.app/y"));
  CHECK_FALSE(schema.value_contains("y.jsonx"));
  CHECK(schema.name_contains("$sch"));
  CHECK(keys.find("q")->value_is("a\"b\\"));
  CHECK_FALSE(keys.find("n")->value_contains("1"));
  CHECK(keys.find("cut")->value_contains("ab"));
  CHECK_FALSE(keys.find("cut")->value_contains("abu"));
}

TEST_CASE("more keys than any profile has stop the look") {
  std::string text = "{";
  for (int i = 0; i < 1000; ++i) text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  CHECK(profd::json_keys(text).keys().size() == JsonKeys::kMaxKeys);
}

TEST_CASE("byte order marks do not hide the keys") {
  const auto keys_of = [](const std::string& bytes) {
    const profd::JsonPrefix prefix(std::as_bytes(std::span(bytes)));
    return profd::json_keys(prefix.text()).keys().size();
  };
  CHECK(keys_of("\xEF\xBB\xBF{\"a\":1}") == 1);
}

#include "server/cli/json_writer.h"

#include <limits>

#include <nlohmann/json.hpp>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("what is written parses to the same values", "[json_writer]") {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  const std::string odd("quote \" slash \\ tab \t nul \0 del \x7F λ 日", 40);
  json.field("odd \" key", odd);
  json.key("list");
  json.begin_array();
  json.value(std::numeric_limits<std::int64_t>::min());
  json.value(std::numeric_limits<std::uint64_t>::max());
  json.value(0.1);
  json.value(1e300);
  json.value(std::numeric_limits<double>::quiet_NaN());
  json.value(true);
  json.begin_object();
  json.end_object();
  json.begin_array();
  json.end_array();
  json.null();
  json.end_array();
  json.field("after", Value{1.5});
  json.end_object();
  const nlohmann::json parsed = nlohmann::json::parse(out);
  CHECK(parsed["odd \" key"] == odd);
  CHECK(parsed["list"][0] == std::numeric_limits<std::int64_t>::min());
  CHECK(parsed["list"][1] == std::numeric_limits<std::uint64_t>::max());
  CHECK(parsed["list"][2] == 0.1);
  CHECK(parsed["list"][3] == 1e300);
  CHECK(parsed["list"][4].is_null());
  CHECK(parsed["list"].size() == 9);
  CHECK(parsed["after"] == 1.5);
  CHECK(out.find('\x7F') == std::string::npos);
}

TEST_CASE("a character to escape is found wherever it stands", "[json_writer]") {
  for (const char odd : {'"', '\\', '\n', '\x01', '\x7F'}) {
    for (std::size_t size = 1; size < 40; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, 'x');
        text[at] = odd;
        if (at + 2 < size) text.replace(at + 1, 2, "é");
        std::string out;
        JsonWriter json(out);
        json.begin_array();
        json.value(text);
        json.end_array();
        REQUIRE(nlohmann::json::parse(out)[0] == text);
        REQUIRE(out.find(odd == '"' || odd == '\\' ? '\0' : odd) == std::string::npos);
      }
    }
  }
}

TEST_CASE("a document is written after what the buffer holds, and grows past its room", "[json_writer]") {
  std::string out = "before\n";
  JsonWriter json(out);
  json.begin_array();
  for (int i = 0; i < 10000; ++i) json.value(-i);
  json.end_array();
  REQUIRE(out.substr(0, 7) == "before\n");
  const nlohmann::json parsed = nlohmann::json::parse(out.substr(7));
  CHECK(parsed.size() == 10000);
  CHECK(parsed[9999] == -9999);
}

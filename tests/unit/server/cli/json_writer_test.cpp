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

// The texts that every reader and writer of views is tested with; clients/web/test/spec_vectors.test.ts is
// the other.
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/view/spec.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

nlohmann::json vectors() {
  std::ifstream file(PROFD_SOURCE_DIR "/tests/fixtures/view_specs.json");
  return nlohmann::json::parse(file);
}

}  // namespace

TEST_CASE("shared texts of views are read, and written in their canonical form") {
  const nlohmann::json all = vectors();
  CHECK(all["valid"].size() > 50);
  for (const nlohmann::json& one : all["valid"]) {
    const std::string text = one["text"], canonical = one["canonical"];
    CAPTURE(text);
    const auto spec = parse_view_spec(text);
    if (!spec) {
      FAIL_CHECK(describe(spec.error()));
      continue;
    }
    CHECK(to_text(*spec) == canonical);
    const auto again = parse_view_spec(canonical);
    REQUIRE(again);
    CHECK(*again == *spec);
  }
}

TEST_CASE("shared texts of views are as long as they may be") {
  const nlohmann::json all = vectors();
  CHECK(all["lengths"].size() > 5);
  for (const nlohmann::json& one : all["lengths"]) {
    std::string text = one["before"];
    const std::string fill = one["fill"];
    for (int n = one["times"]; n > 0; --n) text += fill;
    CAPTURE(fill, text.size());
    const auto spec = parse_view_spec(text);
    CHECK(spec.has_value() == one["fits"].get<bool>());
    if (!spec) CHECK(spec.error().code == ErrorCode::limit);
  }
}

TEST_CASE("shared texts that are no view are refused at the place that is wrong") {
  const nlohmann::json all = vectors();
  CHECK(all["invalid"].size() > 40);
  for (const nlohmann::json& one : all["invalid"]) {
    const std::string text = one["text"];
    CAPTURE(text);
    const auto spec = parse_view_spec(text);
    if (spec) {
      FAIL_CHECK("taken for " << to_text(*spec));
      continue;
    }
    CHECK(spec.error().code == ErrorCode::invalid);
    CHECK(spec.error().offset == one["offset"].get<std::uint64_t>());
  }
}

// Which origin a URI means.
#include "server/engine/origins.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("files are always known, as URIs and as absolute paths") {
  const Origins origins;
  const OriginPtr file = *origins.make("file:///a/b%20c.pprof", {});
  CHECK(file->place() == "/a/b c.pprof");
  CHECK(file->key() == (*origins.make("/a/x/../b c.pprof", {}))->key());
  OpenOptions other;
  other.format = "folded";
  CHECK(file->key() != (*origins.make("/a/b c.pprof", other))->key());
}

TEST_CASE("a scheme that nobody knows is refused with those that are known") {
  Origins origins;
  CHECK(origins.make("s3://bucket/key", {}).error().message ==
        "only aggregate:, diff:, file:, http:, join:, pairs:, script: URIs and absolute paths can be opened");
  CHECK(origins.make("relative.pprof", {}).error().code == ErrorCode::invalid);
  std::string asked;
  origins.add("twice", [&](std::string_view uri, const OpenOptions& options) -> Result<OriginPtr> {
    asked = uri;
    return file_origin("/a", options);
  });
  CHECK((*origins.make("twice:anything%20at all", {}))->place() == "/a");
  CHECK(asked == "twice:anything%20at all");
  CHECK(origins.make("s3:x", {}).error().message ==
        "only aggregate:, diff:, file:, http:, join:, pairs:, script:, twice: URIs and absolute paths can be "
        "opened");
}

TEST_CASE("a scheme begins a text with a letter and ends at the first colon") {
  CHECK(scheme_of("file:///a") == "file");
  CHECK(scheme_of("clickhouse+tls:x:y") == "clickhouse+tls");
  CHECK(scheme_of("/a:b").empty());
  CHECK(scheme_of("9p:x").empty());
  CHECK(scheme_of("a b:c").empty());
  CHECK(scheme_of(":x").empty());
  CHECK(scheme_of("plain").empty());
}

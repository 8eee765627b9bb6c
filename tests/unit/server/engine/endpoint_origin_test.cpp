// Addresses as text: what they name, and what is none.
#include "server/engine/endpoint_origin.h"

#include "server/engine/origins.h"
#include "server/engine/previous_origin.h"
#include "server/engine/uri.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

std::optional<std::int64_t> recorded(const std::string& uri) {
  const Endpoint endpoint = parse_endpoint(uri).value();
  return endpoint.recorded ? std::optional<std::int64_t>(endpoint.recorded->count()) : std::nullopt;
}

}  // namespace

TEST_CASE("an address has a host, a port and a target, and one spelling") {
  const Endpoint endpoint = parse_endpoint("http://LocalHost:6060/debug/pprof/heap?gc=1#x").value();
  CHECK(endpoint.host == "localhost");
  CHECK(endpoint.port == "6060");
  CHECK(endpoint.target == "/debug/pprof/heap?gc=1");
  CHECK(endpoint.uri == "http://localhost:6060/debug/pprof/heap?gc=1");
  CHECK(endpoint.name == "localhost:6060/debug/pprof/heap");
  CHECK(parse_endpoint("http://host").value().uri == "http://host/");
  CHECK(parse_endpoint("http://host:80/a").value().uri == "http://host/a");
  CHECK(parse_endpoint("http://host?a=1").value().target == "/?a=1");
  const Endpoint v6 = parse_endpoint("http://[::1]:6060/a").value();
  CHECK(v6.host == "::1");
  CHECK(v6.uri == "http://[::1]:6060/a");
}

TEST_CASE("what is no address is refused in a sentence") {
  for (const char* uri :
       {"http://", "http:///a", "http:host", "http://a b/", "http://h:0/", "http://h:65536/", "http://h:x/",
        "http://h:/", "http://[::1/", "http://[::1]x/", "http://h/a b", "http://h/\r\nHost: x",
        "http://h/\xC3\xA9", "http://user:secret@h/a", "http://h%2e/", "file:///a"})
    CHECK(parse_endpoint(uri).error().code == ErrorCode::invalid);
  CHECK(parse_endpoint("http://h/" + std::string(9000, 'a')).error().code == ErrorCode::limit);
  CHECK(Origins().make("https://h/a", {}).error().message.find("download it") != std::string::npos);
}

TEST_CASE("how long a program records is told as Go reads it") {
  const std::string cpu = "http://h/debug/pprof/profile";
  CHECK(recorded(cpu) == 30);
  CHECK(recorded(cpu + "?seconds=5") == 5);
  CHECK(recorded(cpu + "?debug=0&seconds=7") == 7);
  for (const char* otherwise :
       {"?seconds=0", "?seconds=1.5", "?seconds=-1", "?seconds=", "?seconds", "?seconds=x"})
    CHECK(recorded(cpu + otherwise) == 30);
  CHECK(recorded("http://h/prefix/debug/pprof/profile") == 30);
  CHECK(recorded("http://h/debug/pprof/heap") == std::nullopt);
  CHECK(recorded("http://h/debug/pprof/heap?seconds=3") == 3);
  CHECK(recorded("http://h/a.pprof?seconds=0") == std::nullopt);
  CHECK(parse_endpoint(cpu + "?seconds=3601").error().code == ErrorCode::invalid);
  CHECK(parse_endpoint(cpu + "?seconds=99999999999999999999").error().code == ErrorCode::invalid);
}

TEST_CASE("a recording is told in seconds, and what is read in bytes") {
  const Endpoint endpoint = parse_endpoint("http://h/debug/pprof/profile?seconds=30").value();
  CHECK(recording_text(endpoint, 12'400'000'000, 30'000'000'000) == "recording, 12 of 30 s");
  CHECK(recording_text(endpoint, 100, 5000).empty());
  CHECK(recording_text(parse_endpoint("http://h/a").value(), 1, 30'000'000'000).empty());
}

TEST_CASE("a redirect is followed to the same host and port alone") {
  const Endpoint from = parse_endpoint("http://host:8080/a").value();
  CHECK(redirected(from, "/b?c=1").value().uri == "http://host:8080/b?c=1");
  CHECK(redirected(from, "http://HOST:8080/b").value().target == "/b");
  for (const char* elsewhere :
       {"http://other:8080/b", "http://host/b", "http://host:8081/b", "//other/b", "file:///etc/passwd",
        "https://host:8080/b", "http://host:8080@other/", "b", ""})
    CHECK(redirected(from, elsewhere).error().code == ErrorCode::invalid);
}

TEST_CASE("an address is found in whatever is put together of it") {
  const std::string address = "http://h/a";
  std::string composed = "diff://?before=%2Fa&after=" + percent_encoded(address);
  CHECK(names_endpoint(address));
  CHECK(names_endpoint("https://h/a"));
  CHECK(names_endpoint(composed));
  composed = "aggregate://?of=" + percent_encoded(composed);
  CHECK(names_endpoint(composed));
  CHECK(names_endpoint("script://?run=x&of=" + percent_encoded("pairs://?of=" + percent_encoded(composed))));
  CHECK(names_endpoint("diff://?after=%68ttp%3a//h&before=/a"));
  CHECK(names_endpoint("diff://%zz?after=%2568ttp://h&before=/a"));
  CHECK_FALSE(names_endpoint("file:///a/http:/b"));
  CHECK_FALSE(names_endpoint("diff://?before=%2Fa&after=%2Fhttp"));
  // More rounds of encoding than anything is put together by are taken for one.
  std::string deep = "%41";
  for (int i = 0; i < 40; ++i) deep.insert(1, "25");
  CHECK(names_endpoint("diff://?after=" + deep));
}

TEST_CASE("options that read a body otherwise make another profile of an address") {
  OpenOptions folded;
  folded.format = "folded";
  const OriginPtr one = endpoint_origin("http://h/a", {}).value();
  CHECK(one->key() == endpoint_origin("http://H:80/a", {}).value()->key());
  CHECK(one->key() != endpoint_origin("http://h/a", folded).value()->key());
  CHECK(is_endpoint(*one));
  CHECK_FALSE(is_endpoint(*file_origin("/a", {})));
  CHECK_FALSE(one->freshness());
  CHECK(parse_previous("previous://?of=http%3A%2F%2Fh%2Fa&revision=1"));
}

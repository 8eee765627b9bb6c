#include "server/engine/uri.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("file URIs and paths, each way") {
  CHECK(path_of_uri("file:///a/b%20c.cc").value() == "/a/b c.cc");
  CHECK(path_of_uri("file://localhost/a").value() == "/a");
  CHECK(path_of_uri("/a/../b/").value() == "/b");
  CHECK(uri_of_path("/a/b c#.cc") == "file:///a/b%20c%23.cc");
  CHECK(path_of_uri(uri_of_path("/\xC3\xA9/%41")).value() == "/\xC3\xA9/%41");
}

TEST_CASE("what is no local file is refused") {
  CHECK_FALSE(path_of_uri("http://host/a"));
  CHECK_FALSE(path_of_uri("file://host/a"));
  CHECK_FALSE(path_of_uri("file:///a%00b"));
  CHECK_FALSE(path_of_uri("file:///a%2"));
  CHECK_FALSE(path_of_uri("relative"));
  CHECK_FALSE(path_of_uri(""));
}

TEST_CASE("below a folder is decided by components") {
  CHECK(lies_below("/a/b", "/a"));
  CHECK(lies_below("/a", "/a"));
  CHECK_FALSE(lies_below("/ab", "/a"));
}

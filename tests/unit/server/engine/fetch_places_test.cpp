// Who may be asked for debug information, and who is not.
#include "server/engine/fetch_places.h"

#include "server/engine/debug_fetch.h"
#include "tests/support/catch.h"
#include "workers/fetch_message.h"

namespace profd {

TEST_CASE("consent is one of three words and nothing else") {
  CHECK(fetch_consent_of("off") == FetchConsent::off);
  CHECK(fetch_consent_of("ask") == FetchConsent::ask);
  CHECK(fetch_consent_of("on") == FetchConsent::on);
  for (const char* text : {"", "On", "yes", "1", "true", "on "}) CHECK_FALSE(fetch_consent_of(text));
}

TEST_CASE("servers are addresses of http and https alone") {
  for (const char* text : {"http://127.0.0.1:8002", "https://debuginfod.debian.net/x"})
    CHECK(is_server(text));
  for (const char* text : {"", "http://", "https://", "file:///etc", "ftp://x", "debuginfod.debian.net",
                           "http://a b", "http://a\nb", "http://a\x7f"})
    CHECK_FALSE(is_server(text));
  CHECK_FALSE(is_server("http://" + std::string(2000, 'a')));
}

TEST_CASE("who is asked is said without what is a secret") {
  CHECK(servers_text({"https://me:secret@debuginfod.debian.net/x/", "http://127.0.0.1:8002"}) ==
        "debuginfod.debian.net, 127.0.0.1:8002");
}

TEST_CASE("without a server, a place or a build id nothing can be fetched") {
  FetchPlaces places;
  places.servers = {"http://127.0.0.1:1"};
  places.folder = "/cache";
  CHECK(can_fetch(places, "abcd"));
  CHECK_FALSE(can_fetch(places, "../x"));
  CHECK_FALSE(can_fetch(places, ""));
  FetchPlaces nowhere = places;
  nowhere.folder.clear();
  CHECK_FALSE(can_fetch(nowhere, "abcd"));
  places.servers.clear();
  CHECK_FALSE(can_fetch(places, "abcd"));
}

TEST_CASE("what is said to who fetches, and by them, comes as it was") {
  worker::FetchOrder order{"abcd", {"http://a", "https://b"}, "/cache", 1 << 30, {"http_proxy=x"}};
  const auto read = worker::decode_fetch_order(encode(order));
  REQUIRE(read);
  CHECK(read->build_id == order.build_id);
  CHECK(read->servers == order.servers);
  CHECK(read->folder == order.folder);
  CHECK(read->most_bytes == order.most_bytes);
  CHECK(read->variables == order.variables);
  worker::Fetching fetching{"1", "http://a/buildid/abcd/debuginfo", 5, 9, worker::FetchEnd::absent, "no"};
  const auto said = worker::decode_fetching(encode(fetching));
  REQUIRE(said);
  CHECK(said->from == fetching.from);
  CHECK((said->done == 5 && said->total == 9 && said->end == worker::FetchEnd::absent && said->why == "no"));
  CHECK_FALSE(worker::decode_fetching("\x28\x63"));  // an end that there is not
  CHECK_FALSE(worker::decode_fetching("\x0a\x7f"));  // a text that is not there
  fetching.why = std::string(1 << 20, 'x');
  CHECK_FALSE(worker::decode_fetching(encode(fetching)));
}

TEST_CASE("where nobody fetches it is said, and nothing is") {
  FetchPlaces places;
  places.servers = {"http://127.0.0.1:1"};
  places.folder = "/proc/no/such/folder";
  const auto nowhere = fetch_debug_file("abcd", places, {"/no/such/program"}, {}, StopToken{});
  REQUIRE(nowhere);
  CHECK(nowhere->end == worker::FetchEnd::unable);
  CHECK_FALSE(nowhere->why.empty());
}

}  // namespace profd

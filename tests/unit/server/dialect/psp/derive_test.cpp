// Metrics by formula in a daemon: whose they are, and how long they stay.
#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Counted {
  TempFolder folder;
  std::string uri;
  Counted() { write(6); }
  void write(int cycles) {
    uri = "file://" +
          folder.file("counted.txt", fmt::format("a 1 1.0: {} cycles:\n\t10 f (m)\n\t20 main (m)\n\n"
                                                 "a 1 2.0: 3 instructions:\n\t10 f (m)\n\t20 main (m)\n\n",
                                                 cycles));
  }
};

json derived_of(TestClient& client, const json& params = json::object()) {
  return client.result("metric/list", params)["derived"];
}

std::string table_text(TestClient& client, const std::string& metric) {
  const json table = client.result("view/table", {{"spec", "flat"}, {"metrics", {metric}}});
  return table["columns"][0]["selfText"][0];
}

}  // namespace

TEST_CASE("a metric by formula is there for every client, and through a reload of its file", "[derived]") {
  Counted file;
  TestDaemon daemon;
  TestClient first(daemon), second(daemon);
  first.result("profile/open", {{"uri", file.uri}});
  second.result("profile/open", {{"uri", file.uri}});
  const json made = first.result("metric/derive", {{"name", "cpi"}, {"formula", "cycles / instructions"}});
  CHECK(made["metric"]["text"] == "2.00");
  json news = second.expect("profile/changed");
  while (news["reason"] != "metricsChanged") news = second.expect("profile/changed");
  CHECK(news["profile"] == "p1");
  CHECK(derived_of(second).size() == 1);
  CHECK(table_text(second, "cpi") == "2.00");
  file.write(12);
  CHECK(holds_soon([&] { return second.result("metric/list", json::object())["revision"] == 2; }));
  CHECK(table_text(second, "cpi") == "4.00");
  // One of that name is replaced.
  first.result("metric/derive", {{"name", "cpi"}, {"formula", "instructions / cycles"}});
  CHECK(table_text(second, "cpi") == "0.25");
  CHECK(second.result("metric/forget", {{"name", "cpi"}}) == nullptr);
  CHECK(derived_of(first).empty());
}

TEST_CASE("a profile has so many metrics by formula and no more", "[derived]") {
  const Counted file;
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri}});
  for (int i = 0; i < 64; ++i)
    client.result("metric/derive", {{"name", fmt::format("m{}", i)}, {"formula", "cycles"}});
  const json refusal = client.call("metric/derive", {{"name", "m64"}, {"formula", "cycles"}});
  CHECK(refusal["error"]["data"]["reason"] == "limit");
  CHECK(client.call("metric/derive", {{"name", "m63"}, {"formula", "instructions"}}).contains("result"));
}

TEST_CASE("a formula of a hundred thousand signs is refusal, and so is one nested as deep", "[derived]") {
  const Counted file;
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", file.uri}});
  const json nested = client.call("metric/derive", {{"name", "x"}, {"formula", std::string(10'000, '(')}});
  CHECK(nested["error"]["data"]["reason"] == "limit");
  CHECK(nested["error"]["data"]["byteOffset"] == 4096);
  const json deep =
      client.call("metric/derive", {{"name", "x"}, {"formula", std::string(4'000, '(') + "cycles"}});
  CHECK(deep["error"]["data"]["byteOffset"] == 3999);
}

TEST_CASE("what a client sets it has in every profile that has the metrics, and nobody else has it",
          "[derived]") {
  const Counted file;
  TestDaemon daemon;
  const json options = {{"derive",
                         {{"cpi", "cycles / instructions"},
                          {"misses", {{"formula", "misses / cycles"}, {"unit", "a cycle"}}}}}};
  TestClient with(daemon, options), without(daemon);
  with.result("profile/open", {{"uri", file.uri}});
  without.result("profile/open", {{"uri", file.uri}});
  const json derived = derived_of(with);
  REQUIRE(derived.size() == 2);
  CHECK(derived[0]["name"] == "cpi");
  CHECK(derived[0]["set"] == true);
  CHECK(derived[1]["why"].get<std::string>().find("there is no metric misses") == 0);
  CHECK(table_text(with, "cpi") == "2.00");
  CHECK(with.call("metric/forget", {{"name", "cpi"}})["error"]["code"] == -32803);
  CHECK(derived_of(without).empty());
  const json unknown = without.call("view/table", {{"spec", "flat"}, {"metrics", {"cpi"}}});
  CHECK(unknown["error"]["data"]["path"] == "params.metrics[0]");
}

// Keys and nodes belong to a revision: after a reload an old one is refused, never read as another box.
#include <fstream>

#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Reloaded {
  TempFolder folder;
  TestDaemon daemon;
  TestClient client{daemon};
  std::string handle;
  json before;  // the layout of the first revision

  static void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

  Reloaded() {
    const std::string path = folder.path.string() + "/a.folded";
    write(path, "main;zebra 1\nmain;monkey;eat 5\n");
    handle = client.result("profile/open", {{"uri", "file://" + path}})["profile"];
    before = client.result("view/flameGraph", flame(json::object()));
    client.result(
        "selection/set",
        {{"selection", {{"profile", handle}, {"function", "monkey"}, {"path", zoom()}, {"revision", 1}}}});
    // The same length, so that nothing but the names changes: the third key means another function now.
    write(path, "main;apple 1\nmain;banana;eat 5\n");
    while (client.expect("profile/changed")["reason"] != "reloaded") {
    }
  }

  json zoom() const {
    for (std::size_t i = 0; i < before["boxes"]["name"].size(); ++i)
      if (before["names"][before["boxes"]["name"][i].get<std::size_t>()] == "monkey")
        return {before["boxes"]["key"][before["boxes"]["parent"][i].get<std::size_t>()],
                before["boxes"]["key"][i]};
    return nullptr;
  }
  static json flame(const json& more) {
    json params = {{"spec", "top-down by function"}, {"viewport", {{"width", 1200}}}};
    params.update(more);
    return params;
  }
};

void check_modified(const json& reply) {
  REQUIRE(reply.contains("error"));
  CHECK(reply["error"]["code"] == -32801);
  CHECK(reply["error"]["data"]["revision"] == 2);
}

}  // namespace

TEST_CASE("a zoom by a key or node of an older revision answers ContentModified") {
  Reloaded test;
  check_modified(
      test.client.call("view/flameGraph", Reloaded::flame({{"zoom", test.zoom()}, {"revision", 1}})));
  check_modified(test.client.call(
      "view/flameGraph", Reloaded::flame({{"zoom", test.before["boxes"]["node"][1]}, {"revision", 1}})));
  CHECK(test.client.result("view/flameGraph", Reloaded::flame(json::object()))["revision"] == 2);
}

TEST_CASE("a row of an older revision is not expanded") {
  Reloaded test;
  check_modified(test.client.call(
      "view/table", {{"spec", "top-down by function"}, {"expand", test.zoom()}, {"revision", 1}}));
}

TEST_CASE("keys without a revision are refused by the field that lacks") {
  Reloaded test;
  const json error = test.client.call("view/flameGraph", Reloaded::flame({{"zoom", test.zoom()}}))["error"];
  CHECK(error["code"] == -32602);
  CHECK(error["data"]["path"] == "params.revision");
}

TEST_CASE("a shared selection loses its path with the revision it was of, and keeps its function") {
  Reloaded test;
  test.daemon.run_on_strand([&] {
    REQUIRE(test.daemon.engine().selection());
    CHECK(test.daemon.engine().selection()->path.empty());
    CHECK(test.daemon.engine().selection()->function == "monkey");
  });
  check_modified(test.client.call(
      "selection/set",
      {{"selection", {{"profile", test.handle}, {"function", "eat"}, {"path", {0}}, {"revision", 1}}}}));
}

// view/flameGraph: zooming by number, colours of another metric, what filters cannot decide on.
#include <cstdlib>
#include <fstream>
#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/test_client.h"

using namespace profd;
using namespace profd::test;

namespace {

json flame(TestClient& client, const json& more = json::object()) {
  json params = {{"spec", {{"shape", "topDown"}, {"metric", "cpu"}}}, {"viewport", {{"width", 1200}}}};
  if (more.contains("zoom")) params["revision"] = 1;
  params.update(more);
  return client.result("view/flameGraph", params);
}

// The keys from below the root to a box.
json path_to(const json& boxes, std::size_t box) {
  json path = json::array();
  for (std::int64_t at = static_cast<std::int64_t>(box); boxes["parent"][at] != -1; at = boxes["parent"][at])
    path.insert(path.begin(), boxes["key"][at]);
  return path;
}

}  // namespace

TEST_CASE("zooming to a node gives what zooming to its path gives") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  const json whole = flame(client);
  const json& boxes = whole["boxes"];
  REQUIRE(boxes["node"].size() == boxes["x"].size());
  for (std::size_t box = 0; box < boxes["x"].size(); box += 7)
    CHECK(flame(client, {{"zoom", boxes["node"][box]}})["boxes"] ==
          flame(client, {{"zoom", path_to(boxes, box)}})["boxes"]);
  // A node is of the place in the tree, so that another metric zooms to the same place.
  const json samples =
      client.result("view/flameGraph", {{"spec", {{"shape", "topDown"}, {"metric", "samples"}}},
                                        {"viewport", {{"width", 1200}}},
                                        {"zoom", boxes["node"][5]},
                                        {"revision", 1}});
  CHECK(samples["boxes"]["node"][boxes["depth"][5].get<std::size_t>()] == boxes["node"][5]);
}

TEST_CASE("boxes are not numbered for who names them by their path") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  json numbered = flame(client)["boxes"];
  const json plain = flame(client, {{"nodes", false}})["boxes"];
  CHECK(!plain.contains("node"));
  numbered.erase("node");
  CHECK(plain == numbered);
}

TEST_CASE("a node that is not known is refused, never taken for another box") {
  TestDaemon daemon;
  TestClient client(daemon);
  const json opened = client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  const json node = flame(client)["boxes"]["node"][3];
  client.result("profile/close", {{"profile", opened["profile"]}});
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  for (const json& unknown : {node, json(987654321), json(-3)}) {
    const json error = client.call("view/flameGraph", {{"spec", {{"shape", "topDown"}}},
                                                       {"viewport", {{"width", 1200}}},
                                                       {"zoom", unknown},
                                                       {"revision", 1}})["error"];
    CHECK(error["data"]["reason"] == "notFound");
  }
}

TEST_CASE("colours are another metric's totals of the same boxes") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  for (const char* shape : {"topDown", "bottomUp"}) {
    const json plain = client.result("view/flameGraph", {{"spec", {{"shape", shape}, {"metric", "samples"}}},
                                                         {"viewport", {{"width", 1200}}}});
    CHECK(!plain["boxes"].contains("color"));
    const json coloured = client.result("view/flameGraph", {{"spec", {{"shape", shape}, {"metric", "cpu"}}},
                                                            {"viewport", {{"width", 1200}}},
                                                            {"colorMetric", "samples"}});
    const json& boxes = coloured["boxes"];
    REQUIRE(boxes["color"].size() == boxes["x"].size());
    CHECK(boxes["color"][0] == 834);
    CHECK(boxes["colorText"][0] == "834");
    // Every sample is 10 ms, so that the two metrics say the same of every box.
    for (std::size_t i = 0; i < boxes["x"].size(); ++i)
      CHECK(boxes["color"][i].get<std::int64_t>() * 10'000'000 == boxes["total"][i].get<std::int64_t>());
  }
  const json error = client.call(
      "view/flameGraph",
      {{"spec", {{"shape", "topDown"}}}, {"viewport", {{"width", 1200}}}, {"colorMetric", "none"}})["error"];
  CHECK(error["code"] == -32602);
  CHECK(error["data"]["path"] == "params.colorMetric");
}

TEST_CASE("colours follow a zoom") {
  TestDaemon daemon;
  TestClient client(daemon);
  client.result("profile/open", {{"uri", "file://" + go_demo("cpu.pprof")}});
  const json whole = flame(client);
  const std::size_t box = whole["boxes"]["x"].size() / 2;
  const json zoomed =
      flame(client, {{"zoom", path_to(whole["boxes"], box)}, {"colorMetric", "samples"}})["boxes"];
  for (std::size_t i = 0; i < zoomed["x"].size(); ++i)
    CHECK(zoomed["color"][i].get<std::int64_t>() * 10'000'000 == zoomed["total"][i].get<std::int64_t>());
}

// Diagnostics that the editor asks for, behind a proxy.
#include "tests/unit/server/proxy/proxy_session.h"

using namespace profd;
using nlohmann::json;

namespace {

constexpr const char* kAsksForDiagnostics =
    R"({"textDocument":{"diagnostic":{"relatedDocumentSupport":true}},
        "workspace":{"diagnostics":{"refreshSupport":true}}})";
constexpr const char* kHasDiagnostics =
    R"({"capabilities":{"diagnosticProvider":{"interFileDependencies":true,"workspaceDiagnostics":true}}})";

// An editor that asks, a server that answers, and what it makes of resultIds.
struct PullSession : ProxySession {
  explicit PullSession(const char* client = kAsksForDiagnostics) : ProxySession(kHasDiagnostics, client) {}

  void profd_says(const std::string& uri, const std::string& diagnostics) {
    proxy->from_profd(protocol::notification_text(
        "textDocument/publishDiagnostics", R"({"uri":")" + uri + R"(","diagnostics":)" + diagnostics + "}"));
  }
  // What the server is asked.
  std::string pull(const std::string& uri, const std::string& more = "") {
    const std::size_t before = server.size();
    proxy->from_editor(
        proxy_ask(++id, "textDocument/diagnostic", R"({"textDocument":{"uri":")" + uri + "\"}" + more + "}"));
    REQUIRE(server.size() == before + 1);
    return server.back();
  }
  // What the editor gets.
  std::string report(const std::string& result) {
    const std::size_t before = editor.size();
    server_says(proxy_answer(id, result));
    REQUIRE(editor.size() == before + 1);
    return editor.back();
  }
  json pulled(const std::string& uri, const std::string& result, const std::string& more = "") {
    pull(uri, more);
    return json::parse(report(result))["result"];
  }
  [[nodiscard]] std::size_t refreshes() const {
    std::size_t n = 0;
    for (const std::string& body : editor) n += body.find("workspace/diagnostic/refresh") != body.npos;
    return n;
  }
  static std::string previous(const json& report) {
    return R"(,"previousResultId":)" + report["resultId"].dump();
  }
  std::int64_t id = 10;
};

}  // namespace

TEST_CASE("a report that profd adds nothing to is the bytes that came, and so is the question") {
  PullSession s;
  const std::string question = s.pull("file:///a", R"(,"previousResultId":"s\u0031")");
  CHECK(question == proxy_ask(11, "textDocument/diagnostic",
                              R"({"textDocument":{"uri":"file:///a"},"previousResultId":"s\u0031"})"));
  const std::string own = R"({ "kind":"full","items":[ 1.0 ],"resultId":"s2"})";
  CHECK(s.report(own) == proxy_answer(11, own));
  s.profd_says("file:///a", "[]");
  CHECK(s.refreshes() == 0);
  s.pull("file:///a");
  const std::string error = R"({"jsonrpc":"2.0","id":12,"error":{"code":-32802,"message":"m","data":1.0}})";
  s.server_says(error);
  CHECK(s.editor.back() == error);
}

TEST_CASE("a report has what profd says of the document after the server's own") {
  PullSession s;
  CHECK(s.pulled("file:///a%20b", R"({"kind":"full","items":[1]})")["items"] == json{1});
  s.profd_says("file:///a b", R"([{"p":1}])");
  CHECK(s.refreshes() == 1);
  s.profd_says("file:///a b", R"([{"p":2}])");
  CHECK(s.refreshes() == 1);  // the editor did not ask since
  const json both = s.pulled("file:///a%20b", R"({"kind":"full","items":[1.50]})");
  CHECK(both["items"] == json::parse(R"([1.50,{"p":2}])"));
  CHECK(s.pulled("file:///a%20b", R"({"kind":"","items":[1]})") ==
        json::parse(R"({"kind":"","items":[1,{"p":2}]})"));
  CHECK(!both.contains("resultId"));
  s.profd_says("file:///a b", R"([{"p":2}])");
  CHECK(s.refreshes() == 1);  // it said that before
  s.profd_says("file:///a b", R"([])");
  CHECK(s.refreshes() == 2);
  CHECK(s.pulled("file:///a%20b", R"({"kind":"full","items":[]})")["items"] == json::array());
}

TEST_CASE("a server is asked for all of its report where the editor has others of profd than there are") {
  PullSession s;
  const json first = s.pulled("file:///a", R"({"kind":"full","resultId":"s1","items":[1]})");
  CHECK(first["resultId"] == "s1");
  s.profd_says("file:///a", "[2]");
  CHECK(json::parse(s.pull("file:///a", s.previous(first)))["params"] ==
        json::parse(R"({"textDocument":{"uri":"file:///a"}})"));
  const json both = json::parse(s.report(R"({"kind":"full","resultId":"s\"1","items":[1]})"))["result"];
  CHECK(both["items"] == json{1, 2});

  // Nothing is another: the server decides, by its own id.
  CHECK(json::parse(s.pull("file:///a", s.previous(both)))["params"]["previousResultId"] == "s\"1");
  const json same = json::parse(s.report(R"({"kind":"unchanged","resultId":"s3"})"))["result"];
  CHECK(same["kind"] == "unchanged");
  CHECK(json::parse(s.pull("file:///a", s.previous(same)))["params"]["previousResultId"] == "s3");
  s.report(R"({"kind":"unchanged","resultId":"s3"})");

  s.profd_says("file:///a", "[]");
  CHECK(!json::parse(s.pull("file:///a", s.previous(same)))["params"].contains("previousResultId"));
  CHECK(json::parse(s.report(R"({"kind":"full","resultId":"s4","items":[1]})"))["result"] ==
        json::parse(R"({"kind":"full","resultId":"s4","items":[1]})"));
}

TEST_CASE("what was pushed of a document until it is asked for is taken back, and comes again at its end") {
  PullSession s;
  s.profd_says("file:///a", "[2]");
  CHECK(json::parse(s.editor.back())["params"]["diagnostics"] == json{2});
  s.pull("file:///a");
  CHECK(json::parse(s.editor.back())["params"]["diagnostics"] == json::array());
  CHECK(json::parse(s.report(R"({"kind":"full","items":[1]})"))["result"]["items"] == json{1, 2});
  s.server_says(proxy_ask(9, "client/unregisterCapability",
                          R"({"unregisterations":[{"id":"d","method":"textDocument/diagnostic"}]})"));
  CHECK(json::parse(s.editor.at(s.editor.size() - 2))["params"]["diagnostics"] == json{2});
}

TEST_CASE("of several providers of a server one shows what profd says") {
  PullSession s;
  s.profd_says("file:///a", "[2]");
  CHECK(s.pulled("file:///a", R"({"kind":"full","items":[1]})", R"(,"identifier":"x")")["items"] ==
        json{1, 2});
  CHECK(s.pulled("file:///a", R"({"kind":"full","items":[3]})", R"(,"identifier":"y")")["items"] == json{3});
}

TEST_CASE("related documents of a report have what profd says of them, where they are asked for, too") {
  PullSession s;
  const json alone = s.pulled("file:///b", R"({"kind":"full","items":[],"resultId":"b1"})");
  s.pulled("file:///a", R"({"kind":"full","items":[]})");
  s.profd_says("file:///b", "[5]");
  const json report = s.pulled("file:///a", R"({"kind":"full","items":[],"relatedDocuments":{
      "file:///b":{"kind":"full","items":[4],"resultId":"b2"},"file:///c":{"kind":"full","items":[6]}}})");
  const json& related = report["relatedDocuments"];
  CHECK(related["file:///b"]["items"] == json{4, 5});
  CHECK(related["file:///c"] == json::parse(R"({"kind":"full","items":[6]})"));
  const json same = s.pulled("file:///a", R"({"kind":"unchanged","resultId":"a","relatedDocuments":{
      "file:///b":{"kind":"unchanged","resultId":"b2"}}})");
  CHECK(same["relatedDocuments"]["file:///b"]["resultId"] == related["file:///b"]["resultId"]);
  // A report of the workspace is the server's, asked for by its own ids.
  s.proxy->from_editor(proxy_ask(90, "workspace/diagnostic",
                                 json({{"previousResultIds",
                                        {{{"uri", "file:///b"}, {"value", related["file:///b"]["resultId"]}},
                                         {{"uri", "file:///c"}, {"value", "c1"}}}}})
                                     .dump()));
  CHECK(json::parse(s.server.back())["params"] ==
        json::parse(
            R"({"previousResultIds":[{"uri":"file:///b","value":"b2"},{"uri":"file:///c","value":"c1"}]})"));
  const std::string all = R"({"items":[{"uri":"file:///b","kind":"full","items":[1.0],"version":null}]})";
  s.server_says(proxy_answer(90, all));
  CHECK(s.editor.back() == proxy_answer(90, all));
}

TEST_CASE("a report in parts has what profd says in its part") {
  PullSession s;
  s.pulled("file:///a", R"({"kind":"full","items":[]})");
  s.profd_says("file:///a", "[2]");
  s.pull("file:///a", R"(,"partialResultToken":"t")");
  s.server_says(
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"full","items":[1]}}})");
  CHECK(json::parse(s.editor.back())["params"]["value"]["items"] == json{1, 2});
  CHECK(s.report("null") == proxy_answer(s.id, "null"));
}

TEST_CASE("what profd said goes with its daemon") {
  PullSession s;
  s.profd_says("file:///a", "[2]");
  const json both = s.pulled("file:///a", R"({"kind":"full","items":[1],"resultId":"s"})");
  s.clear();
  s.proxy->profd_gone("gone", true);
  CHECK(s.refreshes() == 1);
  CHECK(s.pulled("file:///a", R"({"kind":"full","items":[1],"resultId":"s"})", s.previous(both)) ==
        json::parse(R"({"kind":"full","items":[1],"resultId":"s"})"));
}

TEST_CASE("an editor that cannot be told to ask again has what profd says pushed") {
  PullSession s(R"({"textDocument":{"diagnostic":{}}})");
  s.pulled("file:///a", R"({"kind":"full","items":[1]})");
  s.profd_says("file:///a", "[2]");
  CHECK(json::parse(s.editor.back())["params"]["diagnostics"] == json{2});
  CHECK(s.pulled("file:///a", R"({"kind":"full","items":[1]})")["items"] == json{1});
}

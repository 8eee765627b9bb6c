#include "tests/unit/server/proxy/proxy_session.h"

using namespace profd;
using nlohmann::json;
using protocol::json_member;

TEST_CASE("the editor sees one server that can what both can, and is the wrapped one") {
  const ProxySession s(kWrapped);
  const std::string_view result = json_member(s.initialize_answer, "result");
  CHECK(json_member(result, "serverInfo") == R"({"name":"s"})");
  const std::string_view can = json_member(result, "capabilities");
  CHECK(json_member(can, "unheardOf") == R"({"z":1e3})");
  CHECK(json_member(can, "hoverProvider") == R"({"y":2.50})");
  CHECK(json_member(can, "codeLensProvider") == R"({"resolveProvider":true})");
  CHECK(json::parse(json_member(can, "executeCommandProvider"))["commands"] ==
        json{"shared.name", "s.do", "profd.open"});
  CHECK(json::parse(json_member(can, "textDocumentSync")) ==
        json({{"openClose", true}, {"change", 2}, {"x", 1.0}, {"save", true}}));
  CHECK(json_member(json_member(can, "experimental"), "profd") == "{}");
}

TEST_CASE("profd counts positions as the wrapped server chose, and is told nothing of its options",
          "[proxy]") {
  const std::string client = R"({"general":{"positionEncodings":["utf-8","utf-16"],"kept":1},
    "textDocument":{"diagnostic":{},"hover":{}}})";
  const ProxySession s(R"({"capabilities":{"positionEncoding":"utf-8"}})", client);
  const json params = json::parse(s.initialize_of_profd)["params"];
  CHECK(params["capabilities"]["general"] == json({{"positionEncodings", {"utf-8"}}, {"kept", 1}}));
  CHECK(params["capabilities"]["textDocument"] == json({{"hover", json::object()}}));
  CHECK(!params.contains("initializationOptions"));
}

TEST_CASE("what is not profd's is passed on as the bytes that came, in their order") {
  ProxySession s(kWrapped);
  const ProxyBodies from_editor{
      R"({"jsonrpc":"2.0","id":"x","method":"textDocument/definition","params":{"a":1.00,"\u0062":[1E2]}})",
      R"({ "method" : "workspace/didRenameFiles", "params":{}})", R"({"id":1.5,"method":"odd"})",
      R"(nonsense)", R"({"jsonrpc":"2.0","id":99,"result":{"of":"the server's own request"}})"};
  for (const std::string& body : from_editor) s.proxy->from_editor(body);
  CHECK(s.server == from_editor);
  CHECK(s.profd.empty());
  const ProxyBodies from_server{
      R"({"id":"x","result":[ 1.00 ],"jsonrpc":"2.0","extra":true})",
      R"({"jsonrpc":"2.0","id":99,"method":"workspace/configuration","params":{"items":[]}})",
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":3,"value":{}}})",
      R"({"jsonrpc":"2.0","method":"server/own","params":{"z":1.0}})",
      R"({"jsonrpc":"2.0","id":4711,"result":"nobody asked"})",
      R"([1,2])",
      R"({"broken)"};
  for (const std::string& body : from_server) s.server_says(body);
  CHECK(s.editor == from_server);
}

TEST_CASE("hints of both are one list, whoever answers first") {
  ProxySession s(kWrapped);
  const bool server_first = GENERATE(true, false);
  s.proxy->from_editor(proxy_ask(5, "textDocument/inlayHint", R"({"workDoneToken":"w","range":{}})"));
  CHECK(s.server ==
        ProxyBodies{proxy_ask(5, "textDocument/inlayHint", R"({"workDoneToken":"w","range":{}})")});
  CHECK(s.profd == ProxyBodies{proxy_ask(5, "textDocument/inlayHint", R"({"range":{}})")});
  if (server_first) s.server_says(proxy_answer(5, R"([{"label":"a","position":{"line":1.0}}])"));
  s.proxy->from_profd(proxy_answer(5, R"([{"label":"p"}])"));
  if (!server_first) s.server_says(proxy_answer(5, R"([{"label":"a","position":{"line":1.0}}])"));
  REQUIRE(s.editor.size() == 1);
  const json hints = json::parse(s.editor[0])["result"];
  CHECK(s.editor[0].find(R"({"label":"a","position":{"line":1.0}})") != std::string::npos);
  CHECK(hints.size() == 2);
  CHECK(hints[1]["label"] == "p");
}

TEST_CASE("the wrapped server's answer waits for profd as long as the patience lasts") {
  ProxySession s(kWrapped, R"({"workspace":{"inlayHint":{"refreshSupport":true}}})");
  const std::string own = R"({"id":5,"jsonrpc":"2.0","result":[]})";
  s.proxy->from_editor(proxy_ask(5, "textDocument/inlayHint"));
  s.server_says(own);
  CHECK(s.proxy->next_deadline() == s.now + std::chrono::milliseconds(200));
  s.proxy->tick(s.now + std::chrono::milliseconds(199));
  CHECK(s.editor.empty());
  s.proxy->tick(s.now + std::chrono::milliseconds(200));
  CHECK(s.editor == ProxyBodies{own});
  CHECK(!s.proxy->next_deadline());
  s.clear();

  SECTION("what comes late is asked for anew, once") {
    s.proxy->from_profd(proxy_answer(5, R"([{"label":"p"}])"));
    REQUIRE(s.editor.size() == 1);
    CHECK(json::parse(s.editor[0])["method"] == "workspace/inlayHint/refresh");
    s.proxy->from_editor(R"({"jsonrpc":"2.0","id":"tag:own 0","result":null})");
    CHECK(s.server.empty());
    s.proxy->from_editor(proxy_ask(6, "textDocument/inlayHint"));
    s.server_says(proxy_answer(6, "[]"));
    s.proxy->tick(s.now + std::chrono::seconds(1));
    s.clear();
    s.proxy->from_profd(proxy_answer(6, "[]"));
    CHECK(s.editor.empty());
  }
}

TEST_CASE("errors of the wrapped server stay, and profd's cost nothing") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "textDocument/hover"));
  s.proxy->from_profd(proxy_answer(5, R"({"contents":{"kind":"plaintext","value":"p"}})"));
  const std::string error = R"({"jsonrpc":"2.0","id":5,"error":{"code":-32801,"message":"m","data":1.0}})";
  s.server_says(error);
  s.proxy->from_editor(proxy_ask(6, "textDocument/hover"));
  s.proxy->from_profd(R"({"jsonrpc":"2.0","id":6,"error":{"code":-32603,"message":"p"}})");
  s.server_says(proxy_answer(6, "null"));
  CHECK(s.editor == ProxyBodies{error, proxy_answer(6, "null")});
}

TEST_CASE("hovers of both are one text in each of the forms that hovers have") {
  const auto hover = [](const std::string& contents) {
    ProxySession s(kWrapped);
    s.proxy->from_editor(proxy_ask(5, "textDocument/hover"));
    s.proxy->from_profd(
        proxy_answer(5, R"({"contents":{"kind":"markdown","value":"**p** \"q\""},"range":1})"));
    s.server_says(
        proxy_answer(5, contents.empty() ? "null" : R"({"contents":)" + contents + R"(,"range":2})"));
    return json::parse(s.editor.at(0))["result"];
  };
  CHECK(hover(R"({"kind":"markdown","value":"a\nb"})") ==
        json::parse(R"({"contents":{"kind":"markdown","value":"a\nb\n\n---\n\n**p** \"q\""},"range":2})"));
  CHECK(hover(R"("old")")["contents"] == json::parse(R"(["old","**p** \"q\""])"));
  CHECK(hover(R"({"language":"c","value":"int x"})")["contents"] ==
        json::parse(R"([{"language":"c","value":"int x"},"**p** \"q\""])"));
  CHECK(hover(R"(["a",{"language":"c","value":"b"}])")["contents"] ==
        json::parse(R"(["a",{"language":"c","value":"b"},"**p** \"q\""])"));
  CHECK(hover("")["range"] == 1);
}

TEST_CASE("symbols of both have one shape") {
  ProxySession s(kWrapped);
  const std::string about = R"({"textDocument":{"uri":"file:///a.c"}})";
  const std::string range = R"({"start":{"line":1,"character":0},"end":{"line":2,"character":0}})";
  s.proxy->from_editor(proxy_ask(5, "textDocument/documentSymbol", about));
  s.server_says(
      proxy_answer(5, R"([{"name":"f","kind":12,"location":{"uri":"file:///a.c","range":)" + range + "}}]"));
  s.proxy->from_profd(
      proxy_answer(5, R"([{"name":"g","kind":12,"range":)" + range + R"(,"selectionRange":)" + range + "}]"));
  CHECK(json::parse(s.editor.at(0))["result"][1] ==
        json::parse(R"({"name":"g","kind":12,"location":{"uri":"file:///a.c","range":)" + range + "}}"));
  s.proxy->from_editor(proxy_ask(6, "textDocument/documentSymbol", about));
  s.server_says(proxy_answer(6, R"([{"name":"f","range":1,"selectionRange":1}])"));
  s.proxy->from_profd(
      proxy_answer(6, R"([{"name":"g","kind":12,"location":{"uri":"u","range":)" + range + "}}]"));
  CHECK(json::parse(s.editor.at(1))["result"][1]["selectionRange"] == json::parse(range));
}

TEST_CASE("an item is asked about at who gave it") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "textDocument/prepareCallHierarchy"));
  s.server_says(proxy_answer(5, R"([{"name":"f","data":"of the server"}])"));
  s.proxy->from_profd(proxy_answer(5, R"([{"name":"f","data":{"own":1}}])"));
  const json items = json::parse(s.editor.at(0))["result"];
  CHECK(items[0] == json({{"name", "f"}, {"data", "of the server"}}));
  CHECK(items[1]["name"] == "f (profd)");
  s.clear();
  s.proxy->from_editor(proxy_ask(6, "callHierarchy/incomingCalls", json({{"item", items[0]}}).dump()));
  CHECK(s.server.size() == 1);
  CHECK(s.profd.empty());
  s.proxy->from_editor(proxy_ask(7, "callHierarchy/incomingCalls", json({{"item", items[1]}}).dump()));
  CHECK(s.server.size() == 1);
  REQUIRE(s.profd.size() == 1);
  CHECK(json::parse(s.profd[0])["params"]["item"]["data"] == json({{"own", 1}}));
  s.proxy->from_profd(proxy_answer(7, R"([{"from":{"name":"g","data":2},"fromRanges":[]}])"));
  const json caller = json::parse(s.editor.at(0))["result"][0]["from"];
  s.proxy->from_editor(proxy_ask(8, "callHierarchy/incomingCalls", json({{"item", caller}}).dump()));
  CHECK(json::parse(s.profd.at(1))["params"]["item"]["data"] == 2);
}

TEST_CASE("lenses are completed by who gave them, and none by a server that never said it does") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "textDocument/codeLens"));
  CHECK(s.server.empty());  // it has none
  s.proxy->from_profd(proxy_answer(5, R"([{"range":0,"data":{"f":1}}])"));
  const json lens = json::parse(s.editor.at(0))["result"][0];
  s.proxy->from_editor(proxy_ask(6, "codeLens/resolve", lens.dump()));
  CHECK(json::parse(s.profd.at(1))["params"] == json::parse(R"({"range":0,"data":{"f":1}})"));
  s.proxy->from_editor(proxy_ask(7, "codeLens/resolve", R"({"range":1,"data":"of another"})"));
  CHECK(s.server.empty());
  CHECK(json::parse(s.editor.at(1))["result"]["data"] == "of another");
}

TEST_CASE("commands and methods of profd reach profd, those of both the wrapped server") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "workspace/executeCommand", R"({"command":"profd.open"})"));
  s.proxy->from_editor(proxy_ask(6, "view/table"));
  s.proxy->from_editor(
      proxy_ask(7, "textDocument/definition", R"({"textDocument":{"uri":"profd-asm:/p/c"}})"));
  CHECK(s.profd.size() == 3);
  CHECK(s.server.empty());
  s.proxy->from_editor(proxy_ask(8, "workspace/executeCommand", R"({"command":"shared.name"})"));
  s.proxy->from_editor(proxy_ask(9, "workspace/executeCommand", R"({"command":"s.do"})"));
  CHECK(s.server.size() == 2);
}

TEST_CASE("requests of both servers are answered to who asked, whatever their ids") {
  ProxySession s(kWrapped);
  s.server_says(proxy_ask(1, "workspace/inlayHint/refresh"));
  s.proxy->from_profd(proxy_ask(1, "workspace/inlayHint/refresh"));
  const json theirs = json::parse(s.editor.at(0)), ours = json::parse(s.editor.at(1));
  CHECK(theirs["id"] != ours["id"]);
  s.proxy->from_editor(json({{"jsonrpc", "2.0"}, {"id", ours["id"]}, {"result", "p"}}).dump());
  s.proxy->from_editor(json({{"jsonrpc", "2.0"}, {"id", theirs["id"]}, {"result", "s"}}).dump());
  CHECK(json::parse(s.profd.at(0)) == json::parse(R"({"jsonrpc":"2.0","id":1,"result":"p"})"));
  CHECK(json::parse(s.server.at(0))["result"] == "s");
  s.proxy->from_editor(json({{"jsonrpc", "2.0"}, {"id", ours["id"]}, {"result", "again"}}).dump());
  CHECK(s.profd.size() == 1);
}

TEST_CASE("progress and registrations of profd have names of their own") {
  ProxySession s(kWrapped);
  s.proxy->from_profd(proxy_ask(1, "window/workDoneProgress/create", R"({"token":"t"})"));
  s.server_says(proxy_ask(2, "window/workDoneProgress/create", R"({"token":"t"})"));
  const json token = json::parse(s.editor.at(0))["params"]["token"];
  CHECK(token != "t");
  CHECK(json::parse(s.editor.at(1))["params"]["token"] == "t");
  s.proxy->from_profd(
      R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"t","value":{"kind":"begin"}}})");
  CHECK(json::parse(s.editor.at(2))["params"]["token"] == token);
  const auto cancel = [](const json& which) {
    return protocol::notification_text("window/workDoneProgress/cancel", json({{"token", which}}).dump());
  };
  s.proxy->from_editor(cancel(token));
  s.proxy->from_editor(cancel("t"));
  CHECK(json::parse(s.profd.at(0))["params"]["token"] == "t");
  CHECK(s.server == ProxyBodies{cancel("t")});
  s.clear();
  s.proxy->from_profd(
      proxy_ask(3, "client/registerCapability", R"({"registrations":[{"id":"r","method":"m"}]})"));
  CHECK(json::parse(s.editor.at(0))["params"]["registrations"][0]["id"] != "r");

  SECTION("and no progress is left running by a daemon that ended") {
    s.clear();
    s.proxy->profd_gone("gone", true);
    const json end = json::parse(s.editor.at(0))["params"];
    CHECK(end == json({{"token", token}, {"value", {{"kind", "end"}}}}));
  }
}

TEST_CASE("an answer in parts is completed in parts") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "textDocument/inlayHint", R"({"partialResultToken":"p"})"));
  s.server_says(R"({"jsonrpc":"2.0","method":"$/progress","params":{"token":"p","value":[{"label":"a"}]}})");
  s.proxy->from_profd(proxy_answer(5, R"([{"label":"b"}])"));
  s.server_says(proxy_answer(5, "[]"));
  REQUIRE(s.editor.size() == 3);
  CHECK(json::parse(s.editor[1])["params"]["token"] == "p");
  CHECK(json::parse(s.editor[1])["params"]["value"][0]["label"] == "b");
  CHECK(s.editor[2] == proxy_answer(5, "[]"));
}

TEST_CASE("what is cancelled is cancelled at who was asked") {
  ProxySession s(kWrapped);
  const auto cancel = [](int id) {
    return protocol::notification_text("$/cancelRequest", json({{"id", id}}).dump());
  };
  s.proxy->from_editor(proxy_ask(5, "textDocument/hover"));
  s.proxy->from_editor(proxy_ask(6, "textDocument/definition"));
  s.proxy->from_editor(proxy_ask(7, "view/table"));
  s.clear();
  for (const int id : {5, 6, 7}) s.proxy->from_editor(cancel(id));
  CHECK(s.server == ProxyBodies{cancel(5), cancel(6)});
  CHECK(s.profd == ProxyBodies{cancel(5), cancel(7)});
}

TEST_CASE("a registration for what the editor asks for already is not told to it") {
  ProxySession s(kWrapped);
  const std::string lens = R"({"id":"1","method":"textDocument/codeLens"})";
  const std::string other =
      R"({"id":"2","method":"textDocument/semanticTokens","registerOptions":{"x":1.0}})";
  s.server_says(
      proxy_ask(9, "client/registerCapability", R"({"registrations":[)" + lens + "," + other + "]}"));
  CHECK(s.editor ==
        ProxyBodies{proxy_ask(9, "client/registerCapability", R"({"registrations":[)" + other + "]}")});
  s.proxy->from_editor(proxy_ask(5, "textDocument/codeLens"));
  CHECK(s.server.size() == 1);
  CHECK(s.profd.size() == 1);
  s.clear();
  s.server_says(proxy_ask(10, "client/unregisterCapability", R"({"unregisterations":[)" + lens + "]}"));
  CHECK(s.editor.empty());
  CHECK(s.server == ProxyBodies{proxy_answer(10, "null")});
  s.proxy->from_editor(proxy_ask(6, "textDocument/codeLens"));
  CHECK(s.server.size() == 1);
}

TEST_CASE("documents are told to both, and of them only what the wrapped server wants") {
  const std::string open = protocol::notification_text(
      "textDocument/didOpen",
      R"({"textDocument":{"uri":"file:///a","languageId":"c","version":1,"text":"a"}})");
  const std::string save =
      protocol::notification_text("textDocument/didSave", R"({"textDocument":{"uri":"file:///a"}})");
  ProxySession wants(R"({"capabilities":{"textDocumentSync":{"openClose":true,"change":1}}})");
  for (const std::string& body : {open, save}) wants.proxy->from_editor(body);
  CHECK(wants.server == ProxyBodies{open});
  CHECK(wants.profd == ProxyBodies{open, save});
  ProxySession wants_none(R"({"capabilities":{}})");
  wants_none.proxy->from_editor(open);
  CHECK(wants_none.server.empty());
  CHECK(wants_none.profd == ProxyBodies{open});
  ProxySession by_number(R"({"capabilities":{"textDocumentSync":2}})");
  CHECK(json::parse(by_number.initialize_answer)["result"]["capabilities"]["textDocumentSync"] == 2);
  for (const std::string& body : {open, save}) by_number.proxy->from_editor(body);
  CHECK(by_number.server == ProxyBodies{open, save});
}

TEST_CASE("a document has the diagnostics of both") {
  ProxySession s(kWrapped);
  const auto publish = [](const std::string& uri, const std::string& diagnostics) {
    return protocol::notification_text(
        "textDocument/publishDiagnostics",
        R"({"uri":")" + uri + R"(","version":3.0,"diagnostics":)" + diagnostics + "}");
  };
  s.server_says(publish("file:///a%20b", "[1.0]"));
  CHECK(s.editor.back() == publish("file:///a%20b", "[1.0]"));
  s.proxy->from_profd(publish("file:///a b", "[2]"));
  CHECK(s.editor.back() == publish("file:///a%20b", "[1.0,2]"));
  s.server_says(publish("file:///a%20b", "[]"));
  CHECK(s.editor.back() == publish("file:///a%20b", "[2]"));
  s.server_says(publish("file:///a%20b", "[1.0]"));
  s.proxy->from_profd(publish("file:///a b", "[]"));
  CHECK(s.editor.back() == publish("file:///a%20b", "[1.0]"));
  s.proxy->from_profd(publish("file:///a b", "[2]"));
  s.clear();
  s.proxy->profd_gone("gone", true);
  CHECK(s.editor.front() == publish("file:///a%20b", "[1.0]"));
}

TEST_CASE("a daemon that takes the place of one that ended knows the documents as they are") {
  ProxySession s(kWrapped);
  const auto tell = [&](const std::string& method, const std::string& params) {
    s.proxy->from_editor(protocol::notification_text("textDocument/" + method, params));
  };
  tell("didOpen", R"({"textDocument":{"uri":"file:///a","languageId":"c","version":1,"text":"one\ntwo\n"}})");
  tell("didOpen", R"({"textDocument":{"uri":"file:///b","languageId":"c","version":1,"text":"x"}})");
  tell("didChange", R"({"textDocument":{"uri":"file:///a","version":2},"contentChanges":[
    {"range":{"start":{"line":1,"character":0},"end":{"line":1,"character":3}},"text":"2\u00e9"},
    {"range":{"start":{"line":1,"character":2},"end":{"line":1,"character":2}},"text":"!"}]})");
  tell("didClose", R"({"textDocument":{"uri":"file:///b"}})");
  s.proxy->from_editor(protocol::notification_text("workspace/didChangeConfiguration",
                                                   R"({"settings":{"profd":{"codeLens":true}}})"));
  s.proxy->from_editor(proxy_ask(5, "textDocument/hover"));
  s.proxy->from_editor(proxy_ask(6, "view/table"));
  s.clear();
  s.proxy->profd_gone("the daemon ended", true);
  s.server_says(proxy_answer(5, "null"));
  s.proxy->from_editor(proxy_ask(7, "textDocument/hover"));
  s.server_says(proxy_answer(7, "null"));
  const auto says = [&](const std::string& text) {
    return std::count_if(s.editor.begin(), s.editor.end(),
                         [&](const std::string& body) { return body.find(text) != body.npos; });
  };
  CHECK(says("window/showMessage") == 1);
  CHECK(says(R"("id":5)") == 1);
  CHECK(says(R"("id":6,"error")") == 1);
  CHECK(says(R"("id":7)") == 1);
  CHECK(s.profd.empty());
  s.proxy->profd_there();
  s.start_profd();
  REQUIRE(s.profd.size() == 4);
  CHECK(json::parse(s.profd[0])["method"] == "initialize");
  CHECK(json::parse(s.profd[1])["method"] == "initialized");
  CHECK(json::parse(s.profd[2])["params"]["settings"]["profd"]["codeLens"] == true);
  CHECK(json::parse(s.profd[3])["params"]["textDocument"] ==
        json({{"uri", "file:///a"}, {"languageId", "c"}, {"version", 2}, {"text", "one\n2\u00e9!\n"}}));
}

TEST_CASE("who waits when the wrapped server ends is told") {
  ProxySession s(kWrapped);
  s.proxy->from_editor(proxy_ask(5, "textDocument/definition"));
  s.proxy->from_editor(proxy_ask(6, "textDocument/hover"));
  s.proxy->from_editor(proxy_ask(7, "textDocument/hover"));
  s.server_says(proxy_answer(7, R"({"contents":"held"})"));
  s.clear();
  s.proxy->server_gone("the wrapped language server ended with code 3");
  REQUIRE(s.editor.size() == 3);
  CHECK(json::parse(s.editor[0])["error"]["message"] == "the wrapped language server ended with code 3");
  CHECK(json::parse(s.editor[1])["error"]["code"] == -32803);
  CHECK(s.editor[2] == proxy_answer(7, R"({"contents":"held"})"));
}

TEST_CASE("without a daemon the wrapped server is as it is without profd") {
  ProxyBodies editor, server;
  ProxyOut out;
  out.to_editor = [&](std::string body) { editor.push_back(std::move(body)); };
  out.to_server = [&](std::string body) { server.push_back(std::move(body)); };
  out.to_profd = [](const std::string& body) { FAIL(body); };
  ProxyOptions options;
  options.tag = "tag";
  Proxy proxy(options, out);
  const bool early = GENERATE(true, false);
  const ProxyClock::time_point now{};
  proxy.from_editor(proxy_ask(1, "initialize"));
  if (early) proxy.profd_gone("no daemon", false);
  proxy.from_server(proxy_answer(1, kWrapped), now);
  CHECK(editor.size() == (early ? 1 : 0));
  if (!early) {
    CHECK(proxy.next_deadline() == now + options.patience);
    proxy.tick(now + options.patience);
  }
  CHECK(editor == ProxyBodies{proxy_answer(1, kWrapped)});
  const std::string save = protocol::notification_text("textDocument/didSave", "{}");
  proxy.from_editor(save);
  proxy.from_editor(proxy_ask(2, "textDocument/hover"));
  proxy.from_editor(proxy_ask(3, "textDocument/codeLens"));
  CHECK(server == ProxyBodies{proxy_ask(1, "initialize"), save, proxy_ask(2, "textDocument/hover"),
                              proxy_ask(3, "textDocument/codeLens")});
  proxy.from_editor(protocol::notification_text("initialized", "{}"));
  CHECK(editor.size() == (early ? 2 : 1));  // why nothing is measured
}

TEST_CASE("a daemon of another version is said, once the editor takes messages") {
  ProxyBodies editor;
  ProxyOut out;
  out.to_editor = [&](std::string body) { editor.push_back(std::move(body)); };
  out.to_server = out.to_profd = [](const std::string&) {};
  ProxyOptions options;
  options.tag = "tag";
  options.version = "2.0";
  Proxy proxy(options, out);
  proxy.from_editor(proxy_ask(1, "initialize"));
  proxy.profd_there();
  proxy.from_server(proxy_answer(1, kWrapped), {});
  proxy.from_profd(
      R"({"id":"tag:initialize","result":{"capabilities":{},"serverInfo":{"name":"profd","version":"1.9"}}})");
  CHECK(editor.size() == 1);
  proxy.from_editor(protocol::notification_text("initialized", "{}"));
  REQUIRE(editor.size() == 2);
  CHECK(editor[1].find("the daemon that runs is profd 1.9, this is profd 2.0") != std::string::npos);
}

#include "protocol/peer.h"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/generated/psp_messages.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::protocol;
using nlohmann::json;

namespace {

// A served Peer: what it sends and logs, and handlers of a few methods.
struct Served {
  std::vector<json> sent;
  std::vector<bool> dropped_if_slow;  // by message sent
  std::vector<std::string> logged;
  std::vector<Reply<psp::TableRequest>> held;  // view/table is not answered until a test does
  std::vector<psp::FlameGraphParams> flame_graphs;
  bool exited = false;
  Peer peer;

  explicit Served(PeerOptions options = {}) : peer(hooks(), binder(), options) {}

  PeerHooks hooks() {
    return {[this](const std::string& body, Keep keep) {
              sent.push_back(json::parse(body));
              dropped_if_slow.push_back(keep == Keep::if_room);
            },
            [this](std::string_view text) { logged.emplace_back(text); }};
  }

  Binder binder() {
    Binder bind;
    bind.request<psp::InitializeRequest>(
        [](psp::InitializeParams params, Reply<psp::InitializeRequest> reply) {
          psp::InitializeResult result;
          result.capabilities.hover_provider = params.capabilities.profd.has_value();
          reply(result);
        });
    bind.request<psp::ShutdownRequest>([](psp::Null, Reply<psp::ShutdownRequest> reply) { reply({}); });
    bind.notification<psp::ExitNotification>([this](psp::Null) { exited = true; });
    bind.request<psp::FlameGraphRequest>(
        [this](psp::FlameGraphParams params, Reply<psp::FlameGraphRequest> reply) {
          flame_graphs.push_back(std::move(params));
          reply(psp::FlameGraphResult{});
        });
    bind.request<psp::TableRequest>([this](psp::TableParams, Reply<psp::TableRequest> reply) {  //
      held.push_back(std::move(reply));
    });
    bind.request<psp::ProfileListRequest>(
        [](const psp::ProfileListParams&, const Reply<psp::ProfileListRequest>&) {});  // forgets to answer
    bind.request<psp::MemoryRequest>([](const psp::MemoryParams&, const Reply<psp::MemoryRequest>&) {
      throw std::runtime_error("a handler's fault");
    });
    bind.notification<psp::DidSaveTextDocumentNotification>([](const psp::DidSaveTextDocumentParams&) {});
    return bind;
  }

  void initialize() {
    receive(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}})");
    sent.clear();
  }
  void receive(const std::string& body) { peer.receive(body); }
  json answer() {
    REQUIRE(sent.size() == 1);
    json message = sent.front();
    sent.clear();
    return message;
  }
  int error_code() { return answer().at("error").at("code"); }
};

const std::string kTable = R"({"jsonrpc":"2.0","id":ID,"method":"view/table","params":{"spec":"p1 flat"}})";

std::string table(const std::string& id) {
  std::string text = kTable;
  return text.replace(text.find("ID"), 2, id);
}

std::string cancel(const std::string& id) {
  return R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":)" + id + "}}";
}

}  // namespace

TEST_CASE("peer: a typed request is decoded, served and answered with its id") {
  Served served;
  served.initialize();
  served.receive(
      R"({"jsonrpc":"2.0","id":"a-1","method":"view/flameGraph",
          "params":{"spec":{"shape":"bottomUp"},"viewport":{"width":800}}})");
  const json answer = served.answer();
  CHECK(answer.at("jsonrpc") == "2.0");
  CHECK(answer.at("id") == "a-1");
  CHECK(answer.at("result").at("boxes").at("depth") == json::array());
  REQUIRE(served.flame_graphs.size() == 1);
  const auto& params = served.flame_graphs.front();
  CHECK(std::get<psp::ViewSpec>(params.spec).shape == psp::ViewShape::bottom_up);
  CHECK(params.viewport.max_boxes == 1800);
  CHECK(served.peer.n_incoming() == 0);
}

TEST_CASE("peer: parameters that do not decode are answered with the JSON path") {
  Served served;
  served.initialize();
  served.receive(
      R"({"jsonrpc":"2.0","id":1,"method":"view/flameGraph","params":{"spec":"p1","viewport":{"width":"wide"}}})");
  const json error = served.answer().at("error");
  CHECK(error.at("code") == -32602);
  CHECK(error.at("message") == "params.viewport.width: expected number");
  CHECK(error.at("data").at("path") == "params.viewport.width");
  CHECK(served.flame_graphs.empty());
}

TEST_CASE("peer: absent parameters of a method that takes an object are an empty object") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","id":1,"method":"view/flameGraph"})");
  CHECK(served.answer().at("error").at("message") == "params.spec: missing");
}

TEST_CASE("peer: an unknown method is MethodNotFound, an unknown notification is ignored") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","id":1,"method":"view/nothing","params":{}})");
  CHECK(served.error_code() == -32601);
  served.receive(R"({"jsonrpc":"2.0","id":2,"method":"$/nothing"})");
  CHECK(served.error_code() == -32601);
  served.receive(R"({"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}})");
  CHECK(served.logged.empty());
  served.receive(R"({"jsonrpc":"2.0","method":"view/nothing"})");
  CHECK(served.sent.empty());
  CHECK(served.logged.size() == 1);
}

TEST_CASE("peer: a notification with wrong parameters is logged with the path and not answered") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{"uri":7}}})");
  CHECK(served.sent.empty());
  REQUIRE(served.logged.size() == 1);
  CHECK(served.logged[0] == "textDocument/didSave ignored: params.textDocument.uri: expected string");
}

TEST_CASE("peer: the life cycle is enforced") {
  Served served;
  served.receive(table("1"));
  CHECK(served.error_code() == -32002);
  served.receive(R"({"jsonrpc":"2.0","method":"textDocument/didSave","params":{}})");
  CHECK(served.sent.empty());

  SECTION("an initialize that does not decode does not start the session") {
    served.receive(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{}})");
    CHECK(served.error_code() == -32602);
    CHECK_FALSE(served.peer.initialized());
    served.receive(table("2"));
    CHECK(served.error_code() == -32002);
  }
  SECTION("initialize comes only once") {
    served.initialize();
    CHECK(served.peer.initialized());
    served.receive(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}})");
    CHECK(served.error_code() == -32600);
  }
  SECTION("only exit follows shutdown") {
    served.initialize();
    served.receive(R"({"jsonrpc":"2.0","id":1,"method":"shutdown"})");
    CHECK(served.answer().at("result").is_null());
    CHECK(served.peer.shut_down());
    served.receive(table("2"));
    CHECK(served.error_code() == -32600);
    served.receive(R"({"jsonrpc":"2.0","method":"exit"})");
    CHECK(served.exited);
  }
  SECTION("exit is taken at any time") {
    served.receive(R"({"jsonrpc":"2.0","method":"exit"})");
    CHECK(served.exited);
  }
}

TEST_CASE("peer: bodies that are no messages are answered and disturb nothing") {
  struct Case {
    std::string body;
    int code;
    json id;
  };
  const std::vector<Case> cases = {
      {"", -32700, nullptr},
      {"{", -32700, nullptr},
      {"{\"a\":\"\xff\"}", -32700, nullptr},
      {"[]", -32600, nullptr},
      {"7", -32600, nullptr},
      {R"({"id":1,"method":"shutdown"})", -32600, 1},
      {R"({"jsonrpc":"1.0","id":1,"method":"shutdown"})", -32600, 1},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"shutdown"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":null,"method":"shutdown"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":{},"method":"shutdown"})", -32600, nullptr},
      {R"({"jsonrpc":"2.0","id":"x","method":7})", -32600, "x"},
      {R"({"jsonrpc":"2.0","id":4})", -32600, 4},
      {std::string(2'000'000, '['), -32700, nullptr},
  };
  Served served;
  served.initialize();
  for (const auto& bad : cases) {
    INFO(bad.body.substr(0, 80));
    served.receive(bad.body);
    const json answer = served.answer();
    CHECK(answer.at("error").at("code") == bad.code);
    CHECK(answer.at("id") == bad.id);
  }
  served.receive(table("9"));
  CHECK(served.held.size() == 1);
}

TEST_CASE("peer: a malformed answer is not answered, or two peers would never stop") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"1.0","id":1,"result":null})");
  served.receive(R"({"jsonrpc":"2.0","id":{},"error":{"code":1,"message":"no"}})");
  served.receive(R"({"jsonrpc":"2.0","id":12,"result":null})");
  CHECK(served.sent.empty());
  CHECK(served.logged.size() == 3);
}

TEST_CASE("peer: a reply that is dropped answers InternalError and is logged") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","id":1,"method":"profile/list"})");
  CHECK(served.error_code() == -32603);
  CHECK(served.logged.size() == 1);
  CHECK(served.peer.n_incoming() == 0);
}

TEST_CASE("peer: a handler that throws answers InternalError and the session goes on") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","id":1,"method":"$/memory"})");
  CHECK(served.error_code() == -32603);
  REQUIRE_FALSE(served.logged.empty());
  CHECK(served.logged.back() == "$/memory threw: a handler's fault");
  served.receive(table("2"));
  CHECK(served.held.size() == 1);
}

TEST_CASE("peer: only the first answer is sent") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  served.held[0](psp::TableResult{});
  served.held[0].error(psp::ErrorCodes::request_failed, "too late");
  CHECK(served.answer().contains("result"));
  CHECK(served.logged.size() == 1);
  served.held.clear();
  CHECK(served.sent.empty());
}

TEST_CASE("peer: moving a reply moves the duty to answer") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  served.receive(table("2"));
  served.held[0] = std::move(served.held[1]);  // drops the first
  CHECK(served.answer().at("id") == 1);
  served.held.clear();
  CHECK(served.answer().at("id") == 2);
}

TEST_CASE("peer: cancelling calls the stop hook once; the handler still answers") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  int n_stops = 0;
  served.held[0].on_cancel([&] { ++n_stops; });
  CHECK_FALSE(served.held[0].cancelled());
  served.receive(cancel("2"));
  served.receive(cancel("\"1\""));  // a string is another id
  CHECK(n_stops == 0);
  served.receive(cancel("1"));
  served.receive(cancel("1"));
  CHECK(n_stops == 1);
  CHECK(served.held[0].cancelled());
  CHECK(served.sent.empty());
  served.held[0].error(psp::ErrorCodes::request_cancelled, "cancelled");
  CHECK(served.error_code() == -32800);
}

TEST_CASE("peer: a hook set after the cancellation is called at once") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  served.receive(cancel("1"));
  int n_stops = 0;
  served.held[0].on_cancel([&] { ++n_stops; });
  CHECK(n_stops == 1);
}

TEST_CASE("peer: a cancelled request that is dropped answers RequestCancelled, without a log line") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  served.receive(cancel("1"));
  served.held.clear();
  CHECK(served.error_code() == -32800);
  CHECK(served.logged.empty());
}

TEST_CASE("peer: a reused id leaves the newer request cancellable") {
  Served served;
  served.initialize();
  served.receive(table("5"));
  served.receive(table("5"));
  int n_first = 0;
  int n_second = 0;
  served.held[0].on_cancel([&] { ++n_first; });
  served.held[1].on_cancel([&] { ++n_second; });
  served.held[0](psp::TableResult{});  // must not forget the second one's hook
  CHECK(served.peer.n_incoming() == 1);
  served.receive(cancel("5"));
  CHECK(n_first == 0);
  CHECK(n_second == 1);
  served.held[1](psp::TableResult{});
  CHECK(served.sent.size() == 2);
}

TEST_CASE("peer: a bad $/cancelRequest is logged") {
  Served served;
  served.initialize();
  served.receive(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":[]}})");
  REQUIRE(served.logged.size() == 1);
  CHECK(served.logged[0] == "$/cancelRequest ignored: params.id: expected integer or string");
}

TEST_CASE("peer: requests past the bound are refused until some are answered") {
  PeerOptions options;
  options.max_incoming = 2;
  Served served(options);
  served.initialize();
  served.receive(table("1"));
  served.receive(table("2"));
  served.receive(table("3"));
  CHECK(served.error_code() == -32802);
  served.held[0](psp::TableResult{});
  served.sent.clear();
  served.receive(table("4"));
  CHECK(served.held.size() == 3);
}

TEST_CASE("peer: our requests get their answers") {
  Served served;
  served.initialize();
  std::vector<tl::expected<psp::ShowDocumentResult, ResponseError>> answers;
  auto keep = [&](tl::expected<psp::ShowDocumentResult, ResponseError> answer) { answers.push_back(answer); };
  psp::ShowDocumentParams params;
  params.uri = "file:///w/a.cc";
  const RequestId first = served.peer.call<psp::ShowDocumentRequest>(params, keep);
  const json request = served.answer();
  CHECK(request.at("method") == "window/showDocument");
  CHECK(request.at("params") == json{{"uri", "file:///w/a.cc"}});

  served.receive(R"({"jsonrpc":"2.0","id":)" + first.json() + R"(,"result":{"success":true}})");
  REQUIRE(answers.size() == 1);
  CHECK(answers[0]->success);

  const RequestId second = served.peer.call<psp::ShowDocumentRequest>(params, keep);
  served.receive(R"({"jsonrpc":"2.0","id":)" + second.json() +
                 R"(,"error":{"code":-32803,"message":"no window"}})");
  REQUIRE(answers.size() == 2);
  CHECK(answers[1].error().code == psp::ErrorCodes::request_failed);
  CHECK(answers[1].error().message == "no window");

  const RequestId third = served.peer.call<psp::ShowDocumentRequest>(params, keep);
  served.receive(R"({"jsonrpc":"2.0","id":)" + third.json() + R"(,"result":{"success":"yes"}})");
  REQUIRE(answers.size() == 3);
  CHECK(answers[2].error().message == "result.success: expected boolean");
  CHECK(served.peer.n_outgoing() == 0);
}

TEST_CASE("peer: the oldest of too many requests of ours fails") {
  PeerOptions options;
  options.max_outgoing = 2;
  std::vector<int> failed;  // outlives the peer, which fails the last two when it goes
  Served served(options);
  for (int i = 0; i < 4; ++i)
    served.peer.call<psp::InlayHintRefreshRequest>({}, [&failed, i](const auto& answer) {
      if (!answer) failed.push_back(i);
    });
  CHECK(failed == std::vector<int>{0, 1});
  CHECK(served.peer.n_outgoing() == 2);
  CHECK(served.sent.size() == 4);
  CHECK_FALSE(served.sent[0].contains("params"));
}

TEST_CASE("peer: cancel asks the other side to stop") {
  Served served;
  const RequestId id = served.peer.call<psp::CodeLensRefreshRequest>({}, [](const auto&) {});
  served.sent.clear();
  served.peer.cancel(id);
  CHECK(served.answer() ==
        json{{"jsonrpc", "2.0"}, {"method", "$/cancelRequest"}, {"params", {{"id", *id.number()}}}});
}

TEST_CASE("peer: close cancels what is asked of us, fails what we asked and sends nothing more") {
  Served served;
  served.initialize();
  served.receive(table("1"));
  int n_stops = 0;
  int n_failed = 0;
  served.held[0].on_cancel([&] { ++n_stops; });
  served.peer.call<psp::CodeLensRefreshRequest>({}, [&](const auto& answer) { n_failed += !answer; });
  served.sent.clear();
  served.peer.close();
  CHECK(n_stops == 1);
  CHECK(n_failed == 1);
  CHECK(served.held[0].cancelled());
  served.held[0](psp::TableResult{});
  served.peer.notify<psp::ShowMessageNotification>({psp::MessageType::info, "nobody hears"});
  served.peer.call<psp::CodeLensRefreshRequest>({}, [&](const auto& answer) { n_failed += !answer; });
  CHECK(n_failed == 2);
  CHECK(served.sent.empty());
  CHECK(served.peer.n_incoming() == 0);
}

TEST_CASE("peer: a reply may outlive its peer") {
  std::vector<Reply<psp::TableRequest>> kept;
  int n_stops = 0;
  {
    Served served;
    served.initialize();
    served.receive(table("1"));
    kept = std::move(served.held);
    kept[0].on_cancel([&] { ++n_stops; });
  }
  CHECK(n_stops == 1);
  CHECK(kept[0].cancelled());
  kept[0](psp::TableResult{});
}

TEST_CASE("peer: text that is not UTF-8 goes out repaired") {
  Served served;
  served.peer.notify<psp::LogMessageNotification>({psp::MessageType::info, "caf\xe9"});
  CHECK(served.answer().at("params").at("message") == "caf\xef\xbf\xbd");
}

TEST_CASE("peer: two peers talk to each other") {
  std::vector<std::string> to_server;
  Served server;
  PeerOptions options;
  options.gate_life_cycle = false;
  Peer client({[&](std::string body, Keep) { to_server.push_back(std::move(body)); }, nullptr}, Binder(),
              options);
  auto pump = [&] {
    for (const auto& body : std::exchange(to_server, {})) server.receive(body);
    for (const auto& body : std::exchange(server.sent, {})) client.receive(body.dump());
  };
  psp::InitializeParams params;
  params.capabilities.profd.emplace();
  std::optional<psp::InitializeResult> result;
  client.call<psp::InitializeRequest>(params, [&](const auto& answer) { result = *answer; });
  pump();
  REQUIRE(result);
  CHECK(result->capabilities.hover_provider == true);

  std::optional<ResponseError> error;
  const auto id = client.call<psp::TableRequest>({}, [&](const auto& answer) { error = answer.error(); });
  pump();
  client.cancel(id);
  pump();
  server.held.clear();
  pump();
  REQUIRE(error);
  CHECK(error->code == psp::ErrorCodes::request_cancelled);
}

TEST_CASE("reports of progress may be dropped by a slow connection, nothing else may") {
  Served served;
  served.initialize();
  served.sent.clear();
  served.dropped_if_slow.clear();
  served.peer.notify<psp::ProgressNotification>({"t", psp::Any(json{{"kind", "report"}})});
  served.peer.notify<psp::LogMessageNotification>({psp::MessageType::info, "text"});
  CHECK(served.dropped_if_slow == std::vector<bool>{true, false});
}

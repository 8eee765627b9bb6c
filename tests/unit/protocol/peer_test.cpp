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
  std::vector<std::string> logged;
  std::vector<Reply<psp::TableRequest>> held;  // view/table is not answered until a test does
  std::vector<psp::FlameGraphParams> flame_graphs;
  bool exited = false;
  Peer peer;

  explicit Served(PeerOptions options = {}) : peer(hooks(), binder(), options) {}

  PeerHooks hooks() {
    return {[this](const std::string& body) { sent.push_back(json::parse(body)); },
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
  CHECK(params.viewport.max_boxes == 4000);
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

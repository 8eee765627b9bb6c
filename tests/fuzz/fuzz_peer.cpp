// A peer that serves every method: an input is a line of JSON-RPC for each message it receives. The first
// byte chooses whether it insists on the life cycle.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "protocol/generated/psp_messages.h"
#include "protocol/jsonrpc.h"

using namespace profd;
using namespace profd::protocol;

namespace {

// Answers at once with nothing in particular; holds odd requests back, so that they can be cancelled.
template <class... R>
void serve(Binder& binder, std::vector<std::shared_ptr<void>>& held) {
  (binder.request<R>([&held](const typename R::Params& params, Reply<R> reply) {
    // What was understood can be said again.
    if (!parse_json("[" + R::params_text(params) + "]")) std::abort();
    if (reply.id().number() != nullptr && *reply.id().number() % 2 == 1)
      held.push_back(std::make_shared<Reply<R>>(std::move(reply)));
    else
      reply(typename R::Result{});
  }),
   ...);
}

template <class... N>
void listen(Binder& binder) {
  (binder.notification<N>([](const typename N::Params& params) {
    if (!parse_json("[" + N::params_text(params) + "]")) std::abort();
  }),
   ...);
}

template <class... R>
void ask(Peer& peer) {
  (peer.call<R>(typename R::Params{},
                [](const tl::expected<typename R::Result, ResponseError>& answer) {
                  if (answer && !parse_json("[" + R::result_text(*answer) + "]")) std::abort();
                }),
   ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  using namespace psp;
  std::vector<std::shared_ptr<void>> held;
  Binder binder;
  serve<InitializeRequest, ShutdownRequest, InlayHintRequest, CodeLensRequest, HoverRequest,
        WorkspaceSymbolRequest, ExecuteCommandRequest, ProfileOpenRequest, ProfileCloseRequest,
        ProfileListRequest, ProfileSelectRequest, ProfileSummaryRequest, ProfileExportRequest,
        MetricListRequest, FlameGraphRequest, TableRequest, SearchRequest, HotspotsRequest,
        SourceAnnotationsRequest, SourceResolveRequest, SelectionSetRequest, MemoryRequest, SyncRequest>(
      binder, held);
  listen<InitializedNotification, ExitNotification, WorkDoneProgressCancelNotification,
         DidOpenTextDocumentNotification, DidChangeTextDocumentNotification, DidSaveTextDocumentNotification,
         DidCloseTextDocumentNotification, DidChangeConfigurationNotification,
         DidChangeWatchedFilesNotification>(binder);
  PeerOptions options;
  options.gate_life_cycle = (data[0] & 1) != 0;
  options.max_incoming = 8;
  Peer peer({[](const std::string& body, Keep) {
               if (!parse_message(body)) std::abort();
             },
             [](std::string_view) {}},
            std::move(binder), options);
  ask<FlameGraphRequest, TableRequest, SearchRequest, SourceAnnotationsRequest, ProfileSummaryRequest,
      InitializeRequest, HoverRequest, CodeLensRequest, WorkDoneProgressCreateRequest>(peer);

  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    peer.receive(input.substr(at, end - at));
    at = end + 1;
  }
  peer.close();
  return 0;
}

// SessionContext: what the modules of one session share: the engine and the workspace behind it, the peer
// before it, and how a request becomes a task. Belongs to the strand.
//
// Handlers run on the strand: they resolve handles, take snapshots and submit a task; the task computes on a
// worker over those snapshots and answers from there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/jsonrpc.h"
#include "server/dialect/psp/code_page.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/opening.h"
#include "server/dialect/session.h"
#include "server/dialect/tasks.h"
#include "server/engine/code_cache.h"
#include "server/engine/engine.h"
#include "server/engine/workspace.h"
#include "server/feature/hover.h"
#include "server/runtime/repeats.h"

namespace profd {

// What the client can do.
struct Abilities {
  bool hint_refresh = false, lens_refresh = false, show_document = false, progress = false;
  bool markdown = false, profile_changed = false, selection = false, status = false, project = false;
  bool inlay_hints = false, recorded = false;
  bool markdown_tables = true;
  bool text_content = false;  // it takes documents of a scheme of ours
  bool registers_folds = false, registers_definitions = false;
  bool native = false;  // knows profd's own methods, and shows what they answer
  // What of LSP it takes beside; false for native clients, which show it by methods of their own.
  bool call_hierarchy = false, document_symbols = false, nested_symbols = false;
  bool code_actions = false, action_literals = false;
  bool hint_tooltips = false, hint_locations = false;  // it asks for these when it shows a hint
  bool related_information = false;                    // of diagnostics
  bool pulls_diagnostics = false, registers_diagnostics = false;
  bool registers_links = false, registers_highlights = false;
  bool configuration = false, registers_configuration = false, registers_watched_files = false;
  bool workspace_folders = false;  // it says when they are others
};

struct SessionContext {
  SessionContext(Engine& with, SessionSetup how)
      : engine(with), setup(std::move(how)), workspace(with), tasks(with), opening(*this) {}
  SessionContext(const SessionContext&) = delete;
  SessionContext& operator=(const SessionContext&) = delete;

  Engine& engine;
  SessionSetup setup;
  Workspace workspace;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  ClientId client = 0;
  PositionEncoding encoding = PositionEncoding::utf16;
  Abilities can;
  bool running = false;  // between `initialized` and the end
  bool closed = false;
  Tasks tasks;
  Opening opening;
  Repeats logged, shown;
  std::shared_ptr<CodePage> code_page = std::make_shared<CodePage>();
  // Work that is under way keeps it.
  std::shared_ptr<CodeCache> code_cache = std::make_shared<CodeCache>();
  std::shared_ptr<protocol::Peer> peer;
  // Runs `work` on a worker, then `then` on the strand if the session is still there; the client's messages
  // behind this one wait until it is over, so that their order is kept. Set by the session.
  std::function<void(Lane lane, const char* what, UniqueFunction<void()> work, UniqueFunction<void()> then)>
      aside;

  template <class R>
  using Work = UniqueFunction<Result<typename R::Result>(const StopToken& stop)>;
  // Runs `work` on a worker and answers with what it gives, in the lane of the request; `quick` false: it
  // waits among the long ones. `place` is named in errors. `panel`: a newer request of the same panel stops
  // an older one.
  template <class R>
  void run(bool quick, protocol::Reply<R> reply, std::string place, Work<R> work,
           const std::string& panel = "");
  // Answers a feature's request of an open profile with what `compute(views, request, stop)` gives; it is
  // long where its needs are not at hand.
  template <class R, class Request, class Compute>
  void answer(protocol::Reply<R> reply, Request request, const Needs& needs, Compute compute,
              const std::string& panel = "") {
    const OpenProfilePtr open = request.open;
    answer_when<R>(engine.views().has(*open, needs), open->place(), std::move(reply), std::move(request),
                   std::move(compute), panel);
  }
  template <class R, class Request, class Compute>
  void answer(protocol::Reply<R> reply, Request request, Compute compute, const std::string& panel = "") {
    const Needs needs = needs_of(request);
    answer<R>(std::move(reply), std::move(request), needs, std::move(compute), panel);
  }
  // The same of a request on a source file, whose own lines can keep it waiting, too.
  template <class R, class Request, class Compute>
  void answer_file(protocol::Reply<R> reply, Request request, const Needs& needs, Compute compute) {
    const AnnotateRequest& file = file_of(request);
    const bool at_hand = engine.views().has(*file.open, needs) &&
                         engine.views().file_is_quick(*file.open, annotation_spec(file), file.workspace,
                                                      file.path, file.document.get());
    const std::string place = file.open->place();
    answer_when<R>(at_hand, place, std::move(reply), std::move(request), std::move(compute), "");
  }

  // The open profile, or the error to answer with.
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::string& handle);
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::optional<std::string>& handle) {
    return profile(handle.value_or(""));
  }
  // The profile that is meant where none is named (Engine::meant). Null: none.
  [[nodiscard]] OpenProfilePtr meant_profile() { return with_set_metrics(engine.meant(client)); }
  // The same with the metrics by formula of the client's settings and the project, after its own.
  [[nodiscard]] OpenProfilePtr with_set_metrics(OpenProfilePtr open);
  // Makes it the default metric of a profile, for everybody who has it open. A formula that only this client
  // has set becomes the profile's own for that.
  Result<void> show_metric(const std::string& handle, const std::string& metric);
  // Something was opened, or failed to, or the project lists something else: it may be another one now. Set
  // by the session.
  std::function<void()> meant_changed;
  // A document was opened, saved or closed. Set by the session.
  std::function<void()> documents_changed;

  // For the client's log, or before its user's eyes; the same over and over is folded.
  void log_message(psp::MessageType type, const std::string& text);
  void show_message(psp::MessageType type, const std::string& text);
  // What requests on a profile will need is made ahead of time, for the workspace's filters too.
  void prepare(const OpenProfilePtr& open);
  // What is the user's own code and which sets of frames there are, for filters that a request has.
  void decide_mine(std::vector<Filter>& filters) const;

 private:
  // What with_set_metrics() made: for as long as profile and settings are the same, its views are found
  // again.
  struct WithSet {
    std::weak_ptr<const OpenProfile> of;
    std::vector<DerivedMetric> set;
    OpenProfilePtr with;
  };
  std::map<std::string, WithSet> with_set_;  // by handle

  static const AnnotateRequest& file_of(const AnnotateRequest& request) { return request; }
  static const AnnotateRequest& file_of(const HoverRequest& request) { return request.file; }
  template <class R, class Request, class Compute>
  void answer_when(bool at_hand, std::string place, protocol::Reply<R> reply, Request request,
                   Compute compute, const std::string& panel) {
    run<R>(
        at_hand, std::move(reply), std::move(place),
        [&views = engine.views(), request = std::move(request),
         compute = std::move(compute)](const StopToken& stop) mutable -> Result<typename R::Result> {
          return compute(views, request, stop);
        },
        panel);
  }
};

// A metric of a profile by name; "" is the default one.
tl::expected<MetricId, protocol::ResponseError> find_metric(const OpenProfile& open, const std::string& name,
                                                            const std::string& where);
// Why there is no metric of that name, stored or by formula; nothing where there is one.
std::optional<protocol::ResponseError> no_metric(const OpenProfile& open, const std::string& name,
                                                 const std::string& where);
// What refuses a request, in words of the protocol; `place` is named in errors.
protocol::ResponseError to_psp(const Refusal& refusal, const std::string& place = "");
// Tasks::outdated().
std::optional<protocol::ResponseError> outdated(const OpenProfile& open,
                                                const std::optional<std::uint32_t>& revision,
                                                std::string_view field);

template <class R>
void SessionContext::run(bool quick, protocol::Reply<R> reply, std::string place, Work<R> work,
                         const std::string& panel) {
  const auto shared = std::make_shared<protocol::Reply<R>>(std::move(reply));
  Tasks::How how;
  how.lane = R::lane == Lane::inline_ ? Lane::interactive : R::lane;
  how.name = R::method;
  how.is_long = !quick;
  how.panel = panel;
  tasks.run(
      how,
      [shared, work = std::move(work)](const StopToken& stop) mutable -> Result<void> {
        auto result = work(stop);
        if (!result) return tl::unexpected<Error>(std::move(result).error());
        // A long answer is not spelled out for nobody.
        PROFD_CHECK(stop.status());
        (*shared)(*result);
        return {};
      },
      [shared, place = std::move(place)](const Refusal& refusal) { shared->error(to_psp(refusal, place)); },
      [&](std::function<void()> stop) { shared->on_cancel(std::move(stop)); });
}

}  // namespace profd

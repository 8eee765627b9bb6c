// SessionContext: what the modules of one session share: the engine and the workspace behind it, the peer
// before it, and how a request becomes a task. Belongs to the strand.
//
// Handlers run on the strand: they resolve handles, take snapshots and submit a task; the task computes on a
// worker over those snapshots and answers from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/jsonrpc.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/psp/opening.h"
#include "server/dialect/session.h"
#include "server/engine/engine.h"
#include "server/engine/workspace.h"
#include "server/platform/last_words.h"
#include "server/runtime/repeats.h"

namespace profd {

// What the client can do.
struct Abilities {
  bool hint_refresh = false, lens_refresh = false, show_document = false, progress = false;
  bool markdown = false, profile_changed = false, selection = false, status = false, project = false;
  bool native = false;  // knows profd's own methods, and shows what they answer
};

struct SessionContext {
  SessionContext(Engine& with, SessionSetup how)
      : engine(with), setup(std::move(how)), workspace(with), opening(*this) {}
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
  std::map<std::string, std::function<void()>> panels;  // what stops the newest request of each
  Opening opening;
  Repeats logged, shown;
  std::shared_ptr<protocol::Peer> peer;
  // Runs `work` on a worker, then `then` on the strand if the session is still there; the client's messages
  // behind this one wait until it is over, so that their order is kept. Set by the session.
  std::function<void(Lane lane, const char* what, UniqueFunction<void()> work, UniqueFunction<void()> then)>
      aside;

  template <class R>
  using Work = UniqueFunction<Result<typename R::Result>(const StopToken& stop)>;
  // Runs `work` on a worker and answers with what it gives, in the lane of the request; `quick` false: what
  // it needs is not at hand, so that it waits among the long ones. `panel`: a newer request of the same panel
  // stops an older one. `place` is named in the error.
  template <class R>
  void run(bool quick, protocol::Reply<R> reply, std::string place, Work<R> work,
           const std::string& panel = "");

  // The open profile, or the error to answer with.
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::string& handle);
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::optional<std::string>& handle) {
    return profile(handle.value_or(""));
  }
  // The profile that is meant where none is named (Engine::meant). Null: none.
  [[nodiscard]] OpenProfilePtr meant_profile() const { return engine.meant(client); }
  // Something was opened, or failed to, or the project lists something else: it may be another one now. Set
  // by the session.
  std::function<void()> meant_changed;

  // For the client's log, or before its user's eyes; the same over and over is folded.
  void log_message(psp::MessageType type, const std::string& text);
  void show_message(psp::MessageType type, const std::string& text);
  // What requests on a profile will need is made ahead of time, for the workspace's filters too.
  void prepare(const OpenProfilePtr& open);
  // What is the user's own code, for filters that a request has.
  void decide_mine(std::vector<Filter>& filters) const;
};

// The client has as many tasks waiting as it may have.
protocol::ResponseError too_many_wait();
// A metric of a profile by name; "" is the default one.
tl::expected<MetricId, protocol::ResponseError> find_metric(const OpenProfile& open, const std::string& name,
                                                            const std::string& where);
// Nothing when keys or nodes of an earlier answer are of the profile as it is; `field` has them. They mean
// other boxes in another revision, so one that is older, or not named, is refused.
std::optional<protocol::ResponseError> outdated(const OpenProfile& open,
                                                const std::optional<std::uint32_t>& revision,
                                                std::string_view field);

// Runs what computes and gives an answer on an account of its own: one that takes more memory than there is
// fails, and whoever asked is told so.
Result<void> answer_within(Engine& engine, const StopSource& stop, const std::function<Result<void>()>& work);

template <class R>
void SessionContext::run(bool quick, protocol::Reply<R> reply, std::string place, Work<R> work,
                         const std::string& panel) {
  if (engine.scheduler().full(client)) return reply.error(too_many_wait());
  // The task owns it; who cancels before a worker has taken the task answers in its place.
  struct Pending {
    explicit Pending(protocol::Reply<R> to) : reply(std::move(to)) {}
    protocol::Reply<R> reply;
    std::atomic<bool> taken{false};
  };
  const auto pending = std::make_shared<Pending>(std::move(reply));
  StopSource stop;
  const std::function<void()> cancel = [stop, weak = std::weak_ptr<Pending>(pending)]() mutable {
    stop.request_stop();
    const auto waiting = weak.lock();
    if (waiting && !waiting->taken.exchange(true))
      waiting->reply.error(psp::ErrorCodes::request_cancelled, "cancelled");
  };
  if (!panel.empty()) {
    if (panels.size() > 1000) panels.clear();
    if (const auto older = panels.find(panel); older != panels.end()) older->second();
    panels.insert_or_assign(panel, cancel);
  }
  pending->reply.on_cancel(cancel);
  engine.scheduler().submit(!quick                     ? Lane::bulk
                            : R::lane == Lane::inline_ ? Lane::interactive
                                                       : R::lane,
                            client, R::method,
                            [&on = engine, pending = std::move(pending), work = std::move(work),
                             place = std::move(place), stop]() mutable {
                              if (pending->taken.exchange(true)) return;
                              const auto done = answer_within(on, stop, [&]() -> Result<void> {
                                auto result = work(StopToken(stop));
                                if (!result) return tl::unexpected<Error>(std::move(result).error());
                                // A long answer is not spelled out for nobody.
                                PROFD_CHECK(StopToken(stop).status());
                                pending->reply(*result);
                                return {};
                              });
                              const LastWords words;
                              if (!done) pending->reply.error(to_psp(done.error(), place));
                            });
}

}  // namespace profd

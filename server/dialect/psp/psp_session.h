// PspSession: one client that speaks the Profile Server Protocol, which is LSP's base and profd's native
// methods.
//
// Handlers run on the strand: they resolve handles, take snapshots and submit a task; the task computes on a
// worker over those snapshots and answers from there. Methods are bound in one file a group (bind_*).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/framing.h"
#include "protocol/jsonrpc.h"
#include "server/dialect/psp/convert.h"
#include "server/dialect/session.h"
#include "server/engine/engine.h"
#include "server/engine/workspace.h"
#include "server/feature/annotate.h"
#include "server/runtime/progress.h"
#include "server/transport/channel.h"

namespace profd {

struct PspOptions {
  bool test_mode = false;         // profd/sync is answered, no clock in texts
  std::string token;              // not "": initialize must carry it in initializationOptions.token
  std::function<void()> on_exit;  // `exit`, or a token that is wrong: the transport closes
  std::function<void(std::int64_t pid)> on_process_id;  // the client's process, as `initialize` says
};

class PspSession final : public Session, private EngineListener {
 public:
  PspSession(Engine& engine, PspOptions options, std::shared_ptr<Channel> channel);
  ~PspSession() override;

  void receive(std::string_view bytes) override;
  void end_of_input() override;
  [[nodiscard]] bool idle() const override;
  [[nodiscard]] std::size_t backlog() const override;
  void close() override;
  [[nodiscard]] int exit_code() const override { return exit_code_; }

 private:
  template <class R>
  using Work = UniqueFunction<Result<typename R::Result>(const StopToken& stop)>;

  // ---- session.cpp: life cycle and messages
  void next_message();
  void take_body(std::string body);
  protocol::Binder make_binder();
  void initialize(psp::InitializeParams params, protocol::Reply<psp::InitializeRequest> reply);
  void initialized();
  [[nodiscard]] psp::ServerCapabilities capabilities() const;
  void apply_settings(const protocol::Any& settings);
  void say_once(const std::string& what, const std::string& text);
  void log_message(psp::MessageType type, const std::string& text);
  void show_message(psp::MessageType type, const std::string& text);

  // ---- EngineListener
  void on_profile_changed(ProfileChange change, const std::string& handle, std::uint32_t revision,
                          const std::string& uri, const std::string& message) override;
  void on_selection_changed(const std::optional<SharedSelection>& selection, ClientId by) override;
  void on_activity_changed(const std::string& error) override;
  void send_status(const std::string& error);
  void refresh();

  // ---- groups of methods
  void bind_documents(protocol::Binder& binder);
  void bind_editor(protocol::Binder& binder);
  void bind_commands(protocol::Binder& binder);
  void bind_profiles(protocol::Binder& binder);
  void bind_views(protocol::Binder& binder);
  void bind_flame(protocol::Binder& binder);
  void bind_sources(protocol::Binder& binder);
  void bind_shared(protocol::Binder& binder);

  // ---- what handlers use
  // Runs `work` on a worker and answers with what it gives. `panel`: a newer request of the same panel stops
  // an older one. `file` is named in the error.
  template <class R>
  void run(Lane lane, protocol::Reply<R> reply, std::string file, Work<R> work,
           const std::string& panel = "");
  // The open profile, or the error to answer with.
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::string& handle);
  tl::expected<OpenProfilePtr, protocol::ResponseError> profile(const std::optional<std::string>& handle) {
    return profile(handle.value_or(""));
  }
  // A metric of a profile by name; "" is the default one.
  static tl::expected<MetricId, protocol::ResponseError> metric(const OpenProfile& open,
                                                                const std::string& name,
                                                                const std::string& where);
  // What annotates a document: the default profile when it is attached. Null: nothing does.
  // The profile that is meant where none is named: another client's opening does not change what this one
  // sees.
  [[nodiscard]] OpenProfilePtr meant_profile() const;
  [[nodiscard]] OpenProfilePtr annotating() const;
  tl::expected<AnnotateRequest, protocol::ResponseError> annotate_request(const OpenProfilePtr& open,
                                                                          const std::string& uri) const;
  // Whether what a file's annotations need is at hand.
  [[nodiscard]] bool is_quick(const AnnotateRequest& request, unsigned needs) const;
  // `used`: the token, the client's or one of ours.
  Engine::ProgressFn work_done_progress(const std::optional<psp::ProgressToken>& token,
                                        const std::string& title, std::shared_ptr<Progress>& progress,
                                        std::string& used);
  void open_profile(OpenRequest request, const std::optional<psp::ProgressToken>& token,
                    const std::function<void(std::function<void()>)>& on_cancel, Engine::Opened opened);
  void show_document(const std::string& path, std::uint32_t line);
  // Makes a profile the one that is meant where none is named.
  Result<void> select_profile(const std::string& handle);
  [[nodiscard]] std::string handle_of_member(const std::string& named) const;
  void load_project_profiles();
  void watch_project_folders();
  // What requests on a profile will need is made ahead of time, for the workspace's filters too.
  void prepare(const OpenProfilePtr& open);

  Engine& engine_;
  PspOptions options_;
  std::shared_ptr<Channel> channel_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  ClientId client_ = 0;
  std::string client_name_;
  Workspace workspace_;
  PositionEncoding encoding_ = PositionEncoding::utf16;
  struct Abilities {
    bool hint_refresh = false, lens_refresh = false, show_document = false, progress = false;
    bool markdown = false, profile_changed = false, selection = false, status = false;
  } can_;
  bool authorised_ = false, input_ended_ = false, closed_ = false, parsing_ = false, running_ = false;
  int exit_code_ = 0;  // 1 after `exit` without `shutdown`
  std::map<std::string, StopSource> panels_;
  std::string own_default_;  // handle of what this client opened last; goes before the daemon's default
  std::set<std::string> project_profiles_;        // paths that were opened because the project file says so
  std::map<std::string, std::uint64_t> tickets_;  // openings by progress token, to cancel them
  std::set<std::string> watched_folders_;         // of the project file's globs
  std::set<std::string> said_;                    // what is told once in a session
  std::int32_t next_token_ = 1;
  protocol::FrameReader frames_;
  std::shared_ptr<protocol::Peer> peer_;  // last: its handlers use everything above
};

template <class R>
void PspSession::run(Lane lane, protocol::Reply<R> reply, std::string file, Work<R> work,
                     const std::string& panel) {
  StopSource stop;
  if (!panel.empty()) {
    if (panels_.size() > 1000) panels_.clear();
    if (const auto older = panels_.find(panel); older != panels_.end()) older->second.request_stop();
    panels_.insert_or_assign(panel, stop);
  }
  reply.on_cancel([stop]() mutable { stop.request_stop(); });
  engine_.scheduler().submit(
      lane, R::method,
      [reply = std::move(reply), work = std::move(work), file = std::move(file), stop]() mutable {
        if (stop.stopped()) {
          reply.error(psp::ErrorCodes::request_cancelled, "cancelled");
          return;
        }
        auto result = work(StopToken(stop));
        if (result)
          reply(*result);
        else
          reply.error(to_psp(result.error(), file));
      });
}

}  // namespace profd

// selection/*, $/memory and profd/status: what clients share.
#include <fmt/format.h>

#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/function_place.h"
#include "server/platform/process.h"

namespace profd {
namespace {

// A selection goes to every client. Its strings are bounded one by one (psp.json); what a box's path and its
// frames may have together, and what is taken from a profile of a place, is bounded here, so that one
// selection unread by all connections is a part of what messages may hold.
constexpr std::size_t kMaxToldPath = std::size_t{64} << 10;
constexpr std::size_t kMaxToldFile = std::size_t{16} << 10;

void leave_out_long_path(SharedSelection& selection) {
  constexpr std::size_t kOfKey = 8, kQuotes = 3;
  std::size_t bytes = selection.path.size() * kOfKey;
  for (const std::string& frame : selection.frames) bytes += frame.size() + kQuotes;
  if (bytes <= kMaxToldPath) return;
  selection.path.clear();
  selection.frames.clear();
}

// On a worker: may look at files.
psp::Selection selection_to_psp(const SharedSelection& selection, const WorkspaceSnapshot& workspace) {
  psp::Selection out;
  out.profile = selection.profile;
  out.function = selection.function;
  if (!selection.file.empty()) out.file = selection.file;
  if (selection.line != 0) out.line = selection.line;
  const SourceTarget target = find_source(workspace, selection.file);
  if (target.paths.size() == 1) out.uri = uri_of_path(target.paths.front());
  if (!selection.spec.empty()) out.spec = selection.spec;
  if (!selection.path.empty()) {
    out.path = selection.path;
    out.revision = selection.revision;
  }
  if (!selection.frames.empty()) out.frames = selection.frames;
  return out;
}

// What the client left out is taken from the profile, when that knows exactly one function of the name. On a
// worker.
void fill_place(const Profile& profile, SharedSelection& selection) {
  if (!selection.file.empty()) return;
  const auto place = only_place_of(profile, selection.function, kMaxToldFile);
  selection.file = place ? place->file : "";
  if (!place)
    selection.line = 0;
  else if (selection.line == 0)
    selection.line = place->line;
}

class SharedModule final : public Module {
 public:
  explicit SharedModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void start() override { send_status(""); }
  void on_selection(const std::optional<SharedSelection>& selection, ClientId by) override;
  void on_activity(const std::string& error) override { send_status(error); }
  void on_profile(const ProfileNews&) override {
    if (const OpenProfilePtr open = session_.meant_profile(); (open ? open->handle : "") != shown_)
      send_status("");
  }

 private:
  void send_status(const std::string& error);
  void tell_selection(std::optional<psp::Selection> selection, ClientId by);

  SessionContext& session_;
  std::uint64_t selection_turn_ = 0;  // counts what was selected
  std::string shown_;                 // what the client was told last to mean
};

void SharedModule::bind(protocol::Binder& binder) {
  binder.request<psp::SelectionSetRequest>(
      [this](const psp::SelectionSetParams& params, protocol::Reply<psp::SelectionSetRequest> reply) {
        if (!params.selection) {
          session_.engine.select(session_.client, std::nullopt);
          return reply(std::nullopt);
        }
        const psp::Selection& wanted = *params.selection;
        const auto open = session_.profile(wanted.profile);
        if (!open) return reply.error(open.error());
        if (wanted.path)
          if (auto error = outdated(**open, wanted.revision, "path")) return reply.error(*error);
        SharedSelection selection;
        selection.profile = (*open)->handle;
        selection.function = wanted.function;
        selection.file = wanted.file.value_or("");
        selection.line = wanted.line.value_or(0);
        selection.spec = wanted.spec.value_or("");
        if (wanted.path) selection.path = *wanted.path;
        selection.revision = (*open)->revision;
        if (wanted.frames) selection.frames = *wanted.frames;
        leave_out_long_path(selection);
        struct Placed {
          SharedSelection selection;
          std::optional<psp::Selection> answer;
          protocol::Reply<psp::SelectionSetRequest> reply;
        };
        const auto placed =
            std::make_shared<Placed>(Placed{std::move(selection), std::nullopt, std::move(reply)});
        session_.aside(
            Lane::interactive, psp::SelectionSetRequest::method,
            [placed, open = *open, workspace = session_.workspace.snapshot()] {
              fill_place(*open->profile, placed->selection);
              placed->answer = selection_to_psp(placed->selection, workspace);
            },
            [this, placed] {
              if (!placed->answer) return;  // the reply says that this failed
              session_.engine.select(session_.client, std::move(placed->selection));
              placed->reply(std::move(placed->answer));
            });
      });

  binder.request<psp::MemoryRequest>(
      [this](const psp::MemoryParams&, protocol::Reply<psp::MemoryRequest> reply) {
        psp::MemoryResult result;
        const auto row = [&](std::string path, std::uint64_t bytes) {
          result.rows.push_back({std::move(path), static_cast<std::int64_t>(bytes), format_bytes(bytes)});
        };
        const std::uint64_t profiles = session_.engine.profile_memory();
        const std::uint64_t views = session_.engine.views().memory();
        row("profiles", profiles);
        for (const ProfileEntry& entry : session_.engine.list())
          row("profiles/" + entry.handle, entry.memory);
        row("views", views);
        const std::uint64_t working = session_.engine.pool()->used();
        if (working != 0) row("working", working);
        const MemoryLedger& ledger = *session_.engine.ledger();
        for (std::size_t kind = 0; kind < kHeldNames.size(); ++kind)
          if (const std::uint64_t bytes = ledger.bytes(static_cast<Held>(kind)); bytes != 0)
            row(std::string(kHeldNames[kind]), bytes);
        result.total = to_bytes(profiles + views + working + ledger.total());
        result.budget = to_bytes(session_.engine.memory_budget());
        if (!session_.setup.test_mode) result.resident = to_bytes(resident_bytes());
        reply(result);
      });
}

void SharedModule::on_selection(const std::optional<SharedSelection>& selection, ClientId by) {
  if (!session_.can.selection) return;
  const std::uint64_t turn = ++selection_turn_;
  if (!selection) return tell_selection({}, by);
  // The newest is what counts: an older one whose files were still looked at is not told any more.
  session_.engine.scheduler().submit(
      Lane::interactive, session_.client, "selection/changed",
      [this, &engine = session_.engine, alive = session_.alive, selection = *selection,
       workspace = session_.workspace.snapshot(), by, turn] {
        engine.post([this, alive, by, turn, told = selection_to_psp(selection, workspace)]() mutable {
          if (*alive && turn == selection_turn_) tell_selection(std::move(told), by);
        });
      });
}

void SharedModule::tell_selection(std::optional<psp::Selection> selection, ClientId by) {
  psp::SelectionChangedParams params;
  params.selection = std::move(selection);
  params.client = fmt::format("client {}", by);
  session_.peer->notify<psp::SelectionChangedNotification>(params);
}

void SharedModule::send_status(const std::string& error) {
  if (!session_.can.status) return;
  // Of files that others name.
  constexpr std::size_t kMaxToldTitle = 200, kMaxToldError = 1000;
  const Engine& engine = session_.engine;
  psp::StatusParams params;
  const std::vector<Activity> activities = engine.activities();
  const std::size_t n_activities = engine.n_activities();
  params.state = activities.empty() ? psp::DaemonState::idle : psp::DaemonState::busy;
  params.profiles = static_cast<std::uint32_t>(engine.n_profiles());
  params.clients = static_cast<std::uint32_t>(engine.n_clients());
  params.memory = to_bytes(engine.profile_memory() + session_.engine.views().memory());
  for (const Activity& activity : activities)
    params.tasks.push_back({cut_to_width(sanitize_text(activity.title), kMaxToldTitle), activity.percentage});
  const OpenProfilePtr meant = session_.meant_profile();
  shown_ = meant ? meant->handle : "";
  if (meant) {
    params.shown = meant->handle;
    params.shown_name = cut_to_width(sanitize_text(meant->name), kMaxToldTitle);
  }
  params.text = "profd: ";
  if (!error.empty())
    params.text += cut_to_width(sanitize_text(error), kMaxToldError);
  else if (activities.empty())
    params.text += fmt::format("{} {}", params.profiles, params.profiles == 1 ? "profile" : "profiles");
  else
    params.text +=
        params.tasks.front().title +
        (activities.front().percentage ? fmt::format(" {} %", *activities.front().percentage) : "") +
        (n_activities > 1 ? fmt::format(" and {} more", n_activities - 1) : "");
  if (!error.empty()) params.error = cut_to_width(sanitize_text(error), kMaxToldError);
  session_.peer->notify<psp::StatusNotification>(params);
}

}  // namespace

std::unique_ptr<Module> make_shared_module(SessionContext& session) {
  return std::make_unique<SharedModule>(session);
}

}  // namespace profd

// selection/* and $/memory: what clients share.
#include <fmt/format.h>

#include "server/dialect/psp/psp_session.h"
#include "server/engine/uri.h"
#include "server/platform/process.h"

namespace profd {
namespace {

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

// The place of a function, when the profile knows exactly one.
void fill_place(const Profile& profile, SharedSelection& selection) {
  if (!selection.file.empty()) return;
  std::size_t n_found = 0;
  for (std::uint32_t f = 0; f < profile.functions().size(); ++f) {
    if (profile.function_name(FunctionId{f}) != selection.function) continue;
    ++n_found;
    selection.file = profile.strings()[profile.functions().file[f]];
    if (selection.line == 0) selection.line = profile.functions().start_line[f];
  }
  if (n_found != 1) {
    selection.file.clear();
    selection.line = 0;
  }
}

}  // namespace

void PspSession::bind_shared(protocol::Binder& binder) {
  binder.request<psp::SelectionSetRequest>(
      [this](const psp::SelectionSetParams& params, protocol::Reply<psp::SelectionSetRequest> reply) {
        if (!params.selection) {
          engine_.select(client_, std::nullopt);
          return reply(std::nullopt);
        }
        const psp::Selection& wanted = *params.selection;
        const auto open = profile(wanted.profile);
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
        fill_place(*(*open)->profile, selection);
        engine_.select(client_, selection);
        reply(selection_to_psp(selection, workspace_.snapshot()));
      });

  binder.request<psp::MemoryRequest>(
      [this](const psp::MemoryParams&, protocol::Reply<psp::MemoryRequest> reply) {
        psp::MemoryResult result;
        const auto row = [&](std::string path, std::uint64_t bytes) {
          result.rows.push_back({std::move(path), static_cast<std::int64_t>(bytes), format_bytes(bytes)});
        };
        const std::uint64_t profiles = engine_.profile_memory();
        const std::uint64_t views = engine_.views().memory();
        row("profiles", profiles);
        for (const ProfileEntry& entry : engine_.list()) row("profiles/" + entry.handle, entry.memory);
        row("views", views);
        result.total = to_bytes(profiles + views);
        result.budget = to_bytes(engine_.memory_budget());
        if (!options_.test_mode) result.resident = to_bytes(resident_bytes());
        reply(result);
      });
}

void PspSession::on_selection_changed(const std::optional<SharedSelection>& selection, ClientId by) {
  if (!running_ || closed_ || !can_.selection) return;
  psp::SelectionChangedParams params;
  if (selection) params.selection = selection_to_psp(*selection, workspace_.snapshot());
  params.client = fmt::format("client {}", by);
  peer_->notify<psp::SelectionChangedNotification>(params);
}

}  // namespace profd

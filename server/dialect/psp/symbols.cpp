// profile/modules and profile/symbolize.
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/module.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/modules_answer.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kModulesTold = 100;

psp::ModuleState state_to_psp(ModuleState state) {
  switch (state) {
    case ModuleState::full:
      return psp::ModuleState::full;
    case ModuleState::lines:
      return psp::ModuleState::lines;
    case ModuleState::names:
      return psp::ModuleState::names;
    case ModuleState::none:
      return psp::ModuleState::none;
    case ModuleState::mismatch:
      return psp::ModuleState::mismatch;
  }
  return psp::ModuleState::none;
}

psp::ProfileModule module_to_psp(const ModuleRow& row) {
  psp::ProfileModule out;
  out.name = sanitize_text(row.name);
  out.path = sanitize_text(row.path);
  if (!row.build_id.empty()) out.build_id = row.build_id;
  out.amount = to_psp(row.amount);
  out.state = state_to_psp(row.state);
  if (!row.reason.empty()) out.reason = sanitize_text(row.reason);
  if (!row.remedy.empty()) out.remedy = sanitize_text(row.remedy);
  if (!row.file.empty()) out.file = sanitize_text(row.file);
  out.unchecked = row.unchecked;
  out.by_inode = row.by_inode;
  out.fetch = row.fetch;
  for (const TriedFile& tried : row.tried)
    out.tried.push_back({sanitize_text(tried.path), sanitize_text(tried.why)});
  out.addresses = to_count(row.n_frames);
  out.known = to_count(row.n_known);
  return out;
}

class SymbolsModule final : public Module {
 public:
  explicit SymbolsModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;

 private:
  using Symbolize = psp::ProfileSymbolizeRequest;
  tl::expected<SymbolizeRequest, protocol::ResponseError> request_of(
      const psp::ProfileSymbolizeParams& params, const OpenProfile& open) const;
  void answer(const OpenProfilePtr& open, protocol::Reply<Symbolize> reply);

  SessionContext& session_;
};

tl::expected<SymbolizeRequest, protocol::ResponseError> SymbolsModule::request_of(
    const psp::ProfileSymbolizeParams& params, const OpenProfile& open) const {
  // Who came over HTTP chooses no folders.
  const bool is_page = static_cast<bool>(session_.setup.may_have_root);
  if (is_page && !params.directories.empty())
    return tl::unexpected(
        invalid_params("params.directories", "not taken from a page, which chooses no folders"));
  if (is_page && !params.files.empty())
    return tl::unexpected(invalid_params("params.files", "not taken from a page, which chooses no files"));
  SymbolizeRequest request;
  request.modules = params.modules;
  request.places = session_.workspace.symbol_places(open.place());
  if (params.allow) {
    FetchPlaces& fetch = request.places.fetch;
    if (fetch.consent == FetchConsent::off)
      return tl::unexpected(
          invalid_params("params.allow", "the setting `debuginfod` is off: nothing is fetched"));
    if (fetch.servers.empty() || fetch.folder.empty())
      return tl::unexpected(invalid_params(
          "params.allow", fetch.servers.empty() ? "the setting `debuginfodUrls` names no server"
                                                : "without a cache there is no place for what is fetched"));
    fetch.consent = FetchConsent::on;
  }
  std::vector<std::string> first;
  for (std::size_t i = 0; i < params.directories.size(); ++i) {
    auto path = path_of_uri(params.directories[i]);
    if (!path)
      return tl::unexpected(invalid_params(fmt::format("params.directories[{}]", i), path.error().message));
    first.push_back(std::move(*path));
  }
  request.places.directories.insert(request.places.directories.begin(), first.begin(), first.end());
  for (std::size_t i = 0; i < params.files.size(); ++i) {
    auto path = path_of_uri(params.files[i].uri);
    if (!path)
      return tl::unexpected(invalid_params(fmt::format("params.files[{}].uri", i), path.error().message));
    request.places.files.push_back({params.files[i].module, std::move(*path)});
  }
  return request;
}

void SymbolsModule::answer(const OpenProfilePtr& open, protocol::Reply<Symbolize> reply) {
  session_.run<Symbolize>(true, std::move(reply), open->place(),
                          [open, lookups = session_.engine.symbolizing().lookups(open->handle)](
                              const StopToken& stop) -> Result<psp::ProfileSymbolizeResult> {
                            PROFD_TRY(const ModulesAnswer all,
                                      modules_answer(*open->profile,
                                                     lookups ? std::span<const ModuleLookup>(*lookups)
                                                             : std::span<const ModuleLookup>(),
                                                     kModulesTold, stop));
                            psp::ProfileSymbolizeResult result;
                            result.profile = open->handle;
                            result.revision = open->revision;
                            result.text = all.text;
                            for (const ModuleRow& row : all.rows)
                              result.modules.push_back(module_to_psp(row));
                            result.left = static_cast<std::uint32_t>(all.left);
                            return result;
                          });
}

void SymbolsModule::bind(protocol::Binder& binder) {
  binder.request<psp::ProfileModulesRequest>([this](const psp::ProfileModulesParams& params,
                                                    protocol::Reply<psp::ProfileModulesRequest> reply) {
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    const Symbolizing& symbolizing = session_.engine.symbolizing();
    session_.run<psp::ProfileModulesRequest>(
        Views::is_small(**open), std::move(reply), (*open)->place(),
        [open = *open, limit = std::size_t{params.limit}, lookups = symbolizing.lookups((*open)->handle),
         busy = symbolizing.is_busy((*open)->handle)](
            const StopToken& stop) -> Result<psp::ProfileModulesResult> {
          PROFD_TRY(const ModulesAnswer all, modules_answer(*open->profile,
                                                            lookups ? std::span<const ModuleLookup>(*lookups)
                                                                    : std::span<const ModuleLookup>(),
                                                            limit, stop));
          psp::ProfileModulesResult result;
          result.profile = open->handle;
          result.revision = open->revision;
          result.metric = all.metric;
          for (const ModuleRow& row : all.rows) result.modules.push_back(module_to_psp(row));
          result.left = static_cast<std::uint32_t>(all.left);
          result.symbolizing = busy;
          return result;
        });
  });

  binder.request<Symbolize>(
      [this](const psp::ProfileSymbolizeParams& params, protocol::Reply<Symbolize> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        auto request = request_of(params, **open);
        if (!request) return reply.error(request.error());
        std::shared_ptr<Progress> progress;
        std::string token;
        const auto any_report = session_.opening.report_to(
            params.work_done_token, "Looking for names of " + sanitize_text((*open)->name), progress, token);
        Symbolizing::ProgressFn report;
        Symbolizing::FetchingFn fetching;
        if (any_report) {
          report = [weak = std::weak_ptr(progress)](std::uint64_t done, std::uint64_t total) {
            if (const auto alive = weak.lock())
              alive->report(done, total,
                            fmt::format("{} of {} addresses", format_exact(done), format_exact(total)));
          };
          fetching = [weak = std::weak_ptr(progress), servers = request->places.fetch.servers](
                         const std::string& module, const worker::Fetching& so_far) {
            if (const auto alive = weak.lock())
              alive->report(0, 0, sanitize_text(fetching_text(module, so_far, servers)));
          };
        }
        const auto shared = std::make_shared<protocol::Reply<Symbolize>>(std::move(reply));
        std::function<void()> cancel = session_.engine.symbolizing().start(
            *open, session_.client, std::move(*request), std::move(report),
            [this, alive = session_.alive, shared, progress,
             place = (*open)->place()](Result<OpenProfilePtr> now) {
              if (progress) progress->end(now ? "" : "failed");
              if (!now) return shared->error(to_psp(now.error(), place));
              if (!*alive || session_.closed) return;  // the reply of a closed connection answers nobody
              answer(*now, std::move(*shared));
            },
            std::move(fetching));
        shared->on_cancel([&engine = session_.engine, cancel = std::move(cancel)] { engine.post(cancel); });
      });
}

}  // namespace

std::unique_ptr<Module> make_symbols_module(SessionContext& session) {
  return std::make_unique<SymbolsModule>(session);
}

}  // namespace profd

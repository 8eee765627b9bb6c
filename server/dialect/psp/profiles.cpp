// profile/* and metric/list, and work-done progress.
#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/writer.h"
#include "server/dialect/psp/psp_session.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/exports.h"
#include "server/platform/new_file.h"

namespace profd {
namespace {

constexpr std::size_t kMaxOpened = 1000;

psp::OpenedProfile to_opened(const OpenProfile& open) {
  psp::OpenedProfile out;
  out.profile = open.handle;
  out.revision = open.revision;
  out.number = open.number;
  out.name = open.name;
  out.metric = open.metric_info().name;
  out.metrics = metrics_to_psp(open);
  out.samples = to_count(open.profile->n_samples());
  out.contexts = to_count(open.profile->tree().size() - 1);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k)
      word = word << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= n ? kDigits[word >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Result<psp::ProfileSummary> summary_of(Views& views, const OpenProfile& open,
                                       const WorkspaceSnapshot& workspace, MetricId metric,
                                       const SummaryRequest& request, const StopToken& stop) {
  ViewSpec spec;
  spec.metric = open.profile->metrics()[metric.v].name;
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  PROFD_TRY(const auto sources, views.sources(open, workspace, stop));
  SummaryRequest placed = request;
  placed.sources = workspace.files ? sources.get() : nullptr;
  PROFD_TRY(const Summary summary, summarize(*selection, open.file->opened.report, placed, stop));
  return to_psp(open, summary, *sources);
}

OpenRequest from_psp(const psp::ProfileOpenParams& params, const std::optional<std::string>& default_metric) {
  const psp::OpenOptions options = params.options.value_or(psp::OpenOptions{});
  OpenRequest request;
  request.uri = params.uri;
  request.options.format = params.format.value_or("");
  request.options.partial = options.partial;
  request.attach = options.attach;
  request.make_default = options.make_default;
  request.watch = options.watch;
  request.metric = options.metric.value_or(default_metric.value_or(""));
  request.name = options.name.value_or("");
  request.member = options.profile.value_or("");
  return request;
}

// To a file or (within a bound) into the answer.
Result<psp::ProfileExportResult> export_profile(const OpenProfile& open, const FormatWriter& writer,
                                                WriteOptions how, const std::string& path, bool overwrite,
                                                const StopToken& stop) {
  constexpr std::uint64_t kMaxInline = 32u << 20;
  const auto& opened = open.file->opened;
  how.title = open.name;
  how.decision = &opened.decision;
  how.report = &opened.report;
  how.stop = stop;
  const std::vector<ProfilePtr> profiles = {open.profile};
  psp::ProfileExportResult result;
  result.format = writer.info().id;
  result.mime_type = writer.info().mime_type;
  LossReport losses;
  std::uint64_t size = 0;
  if (path.empty()) {
    std::string content;
    PROFD_CHECK(write_profiles(
        writer, profiles, how,
        [&](std::span<const std::byte> bytes) -> Result<void> {
          if (content.size() + bytes.size() > kMaxInline)
            return fail(ErrorCode::limit,
                        fmt::format("the export has more than the {} that fit an answer; give a uri",
                                    format_bytes(kMaxInline)));
          content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return stop.status();
        },
        losses));
    size = content.size();
    if (writer.info().is_text)
      result.text = std::move(content);
    else
      result.base64 = base64(content);
  } else {
    PROFD_TRY(NewFile file, NewFile::create(path, overwrite));
    const auto to_file = [&](std::span<const std::byte> bytes) -> Result<void> {
      PROFD_CHECK(stop.status());
      size += bytes.size();
      return file.write(bytes);
    };
    PROFD_CHECK(write_profiles(writer, profiles, how, to_file, losses));
    PROFD_CHECK(file.finish());
    result.uri = uri_of_path(path);
  }
  result.size = to_bytes(size);
  for (const ReportRow& row : losses.rows()) result.report.push_back(to_psp(row));
  return result;
}

// `options.metric` of an export.
std::string metric_option(const std::optional<psp::Any>& options) {
  if (!options) return {};
  const nlohmann::json& value = options->get();
  if (!value.is_object() || !value.contains("metric") || !value["metric"].is_string()) return {};
  return value["metric"].get<std::string>();
}

std::string name_of(const psp::ProgressToken& token) {
  const auto* text = std::get_if<std::string>(&token);
  return text != nullptr ? "text " + *text : fmt::format("number {}", std::get<std::int32_t>(token));
}

std::string path_or_uri(const std::string& uri) {
  const auto path = path_of_uri(uri);
  return path ? *path : uri;
}

}  // namespace

// Sends progress to a token of the client, or to one of ours when the client lets us make one.
Engine::ProgressFn PspSession::work_done_progress(const std::optional<psp::ProgressToken>& token,
                                                  const std::string& title,
                                                  std::shared_ptr<Progress>& progress, std::string& name) {
  if (!token && !(can_.progress && running_)) return {};
  const psp::ProgressToken used = token ? *token : psp::ProgressToken(fmt::format("profd-{}", next_token_++));
  name = name_of(used);
  const bool create = !token;
  auto send = [weak = std::weak_ptr<protocol::Peer>(peer_), used, create](const Progress::Event& event) {
    const auto peer = weak.lock();
    if (!peer) return;
    nlohmann::json value;
    switch (event.kind) {
      case Progress::Event::Kind::begin:
        if (create)
          peer->call<psp::WorkDoneProgressCreateRequest>(psp::WorkDoneProgressCreateParams{used},
                                                         [](const auto&) {});
        value = {{"kind", "begin"}, {"title", event.text}, {"cancellable", true}};
        break;
      case Progress::Event::Kind::report:
        value = {{"kind", "report"}};
        if (!event.text.empty()) value["message"] = event.text;
        break;
      case Progress::Event::Kind::end:
        value = {{"kind", "end"}};
        if (!event.text.empty()) value["message"] = event.text;
        break;
    }
    if (event.percentage && event.kind != Progress::Event::Kind::end) value["percentage"] = *event.percentage;
    peer->notify<psp::ProgressNotification>({used, psp::Any(std::move(value))});
  };
  const auto quiet = std::chrono::milliseconds(token ? 0 : 300);
  progress = std::make_shared<Progress>(title, std::move(send), quiet);
  return [weak = std::weak_ptr<Progress>(progress)](std::uint64_t done, std::uint64_t total) {
    if (const auto alive = weak.lock()) alive->report(done, total);
  };
}

void PspSession::open_profile(OpenRequest request, const std::optional<psp::ProgressToken>& token,
                              const std::function<void(std::function<void()>)>& on_cancel,
                              Engine::Opened opened) {
  std::shared_ptr<Progress> progress;
  const std::string path = path_or_uri(request.uri);
  std::string token_name;
  auto report =
      work_done_progress(token, "Reading " + sanitize_text(last_component(path)), progress, token_name);
  const bool make_default = request.make_default;
  const std::uint64_t ticket = engine_.open(client_, std::move(request), std::move(report),
                                            [this, alive = alive_, make_default, progress, token_name,
                                             opened = std::move(opened)](Result<OpenAnswer> answer) mutable {
                                              if (progress) progress->end(answer ? "" : "failed");
                                              if (*alive) tickets_.erase(token_name);
                                              if (*alive && answer && make_default)
                                                own_default_ = answer->profile->handle;
                                              const OpenProfilePtr open = answer ? answer->profile : nullptr;
                                              opened(std::move(answer));
                                              if (*alive) prepare(open);
                                            });
  // With 0 threads it is over already, and then there is nothing to cancel.
  if (!token_name.empty() && engine_.is_opening(ticket)) tickets_[token_name] = ticket;
  on_cancel([&engine = engine_, ticket, alive = alive_] {
    engine.post([&engine, ticket, alive] {
      if (*alive) engine.cancel_open(ticket);
    });
  });
}

Result<void> PspSession::select_profile(const std::string& handle) {
  own_default_ = handle;
  return engine_.set_default(handle);
}

void PspSession::bind_profiles(protocol::Binder& binder) {
  binder.notification<psp::WorkDoneProgressCancelNotification>(
      [this](const psp::WorkDoneProgressCancelParams& params) {
        const auto found = tickets_.find(name_of(params.token));
        if (found == tickets_.end()) return;  // over, or never begun
        const std::uint64_t ticket = found->second;
        tickets_.erase(found);
        engine_.cancel_open(ticket);
      });
  binder.request<psp::ProfileOpenRequest>([this](const psp::ProfileOpenParams& params,
                                                 protocol::Reply<psp::ProfileOpenRequest> reply) {
    const auto shared = std::make_shared<protocol::Reply<psp::ProfileOpenRequest>>(std::move(reply));
    const std::string file = path_or_uri(params.uri);
    open_profile(
        from_psp(params, workspace_.metric()), params.work_done_token,
        [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
        [this, alive = alive_, shared, file](Result<OpenAnswer> answer) {
          if (!answer) return shared->error(to_psp(answer.error(), file));
          if (!*alive || closed_) return;  // the reply of a closed connection answers nobody
          run<psp::ProfileOpenRequest>(
              Lane::bulk, std::move(*shared), file,
              [&views = engine_.views(), answer = *answer,
               workspace = workspace_.snapshot()](const StopToken& stop) -> Result<psp::ProfileOpenResult> {
                const OpenProfile& open = *answer.profile;
                psp::ProfileOpenResult result;
                result.profile = open.handle;
                result.revision = open.revision;
                result.already_open = answer.already_open;
                PROFD_TRY(result.summary, summary_of(views, open, workspace, open.metric, {}, stop));
                for (const OpenProfilePtr& one : answer.profiles) {
                  if (result.profiles.size() == kMaxOpened) break;
                  result.profiles.push_back(to_opened(*one));
                }
                result.left = static_cast<std::int64_t>(answer.profiles.size() - result.profiles.size());
                return result;
              });
        });
  });

  binder.request<psp::ProfileCloseRequest>(
      [this](const psp::ProfileCloseParams& params, protocol::Reply<psp::ProfileCloseRequest> reply) {
        const auto open = profile(params.profile);
        if (!open) return reply.error(open.error());
        if (auto closed = engine_.close(client_, (*open)->handle, params.whole_file); !closed)
          return reply.error(to_psp(closed.error()));
        if (own_default_ == (*open)->handle) own_default_.clear();
        reply({});
      });

  binder.request<psp::ProfileSelectRequest>(
      [this](const psp::ProfileSelectParams& params, protocol::Reply<psp::ProfileSelectRequest> reply) {
        const auto open = profile(params.profile);
        if (!open) return reply.error(open.error());
        if (auto selected = select_profile((*open)->handle); !selected)
          return reply.error(to_psp(selected.error()));
        reply({});
      });

  binder.request<psp::ProfileListRequest>(
      [this](const psp::ProfileListParams&, protocol::Reply<psp::ProfileListRequest> reply) {
        psp::ProfileListResult result;
        const OpenProfilePtr meant = meant_profile();
        for (const ProfileEntry& entry : engine_.list()) {
          result.profiles.push_back(to_psp(entry));
          result.profiles.back().default_ = meant && meant->handle == entry.handle;
        }
        reply(result);
      });

  binder.request<psp::ProfileSummaryRequest>(
      [this](const psp::ProfileSummaryParams& params, protocol::Reply<psp::ProfileSummaryRequest> reply) {
        const auto open = profile(params.profile);
        if (!open) return reply.error(open.error());
        const auto id = metric(**open, params.metric.value_or(""), "params.metric");
        if (!id) return reply.error(id.error());
        SummaryRequest request;
        request.n_hottest = params.hottest;
        request.n_heaviest = params.heaviest;
        ViewSpec spec;
        spec.metric = (*open)->profile->metrics()[id->v].name;
        const bool quick = engine_.views().is_quick(**open, spec, Views::kSelection);
        run<psp::ProfileSummaryRequest>(
            quick ? Lane::interactive : Lane::bulk, std::move(reply), (*open)->file->path,
            [&views = engine_.views(), open = *open, id = *id, request, workspace = workspace_.snapshot()](
                const StopToken& stop) { return summary_of(views, *open, workspace, id, request, stop); });
      });

  binder.request<psp::ProfileExportRequest>([this](const psp::ProfileExportParams& params,
                                                   protocol::Reply<psp::ProfileExportRequest> reply) {
    WriteOptions how;
    how.metric = metric_option(params.options);
    std::string handle = params.profile.value_or("");
    if (params.spec) {
      auto named = from_psp(*params.spec, "params.spec");
      if (!named) return reply.error(named.error());
      if (!named->profile.empty()) handle = named->profile;
      how.spec = std::move(named->spec);
    }
    const auto open = profile(handle);
    if (!open) return reply.error(open.error());
    // As views are: of the metric that is chosen for the profile.
    if (how.spec && how.spec->metric.empty() && how.metric.empty()) how.metric = (*open)->metric_info().name;
    const FormatWriter* writer = find_writer(params.format, all_exports());
    if (writer == nullptr) {
      psp::ErrorData data;
      data.reason = "unsupported";
      data.file = (*open)->file->path;
      data.format = params.format;
      const std::string message = fmt::format("profd does not write {}; it writes {}",
                                              sanitize_text(params.format), writer_names(all_exports()));
      return reply.error({psp::ErrorCodes::request_failed, message, data});
    }
    std::string path;
    if (params.uri) {
      auto wanted = path_of_uri(*params.uri);
      if (!wanted) return reply.error(invalid_params("params.uri", wanted.error().message));
      path = std::move(*wanted);
    }
    run<psp::ProfileExportRequest>(
        Lane::bulk, std::move(reply), path.empty() ? (*open)->file->path : path,
        [open = *open, writer, how = std::move(how), path, overwrite = params.overwrite](
            const StopToken& stop) { return export_profile(*open, *writer, how, path, overwrite, stop); });
  });

  binder.request<psp::MetricListRequest>(
      [this](const psp::MetricListParams& params, protocol::Reply<psp::MetricListRequest> reply) {
        const auto open = profile(params.profile);
        if (!open) return reply.error(open.error());
        psp::MetricListResult result;
        result.profile = (*open)->handle;
        result.revision = (*open)->revision;
        result.metrics = metrics_to_psp(**open);
        result.default_ = (*open)->metric_info().name;
        reply(result);
      });
}

}  // namespace profd

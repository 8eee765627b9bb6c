// profile/* and metric/list.
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/support/base_name.h"
#include "core/view/rename_rules.h"
#include "formats/writer.h"
#include "server/dialect/psp/addresses.h"
#include "server/dialect/psp/convert_views.h"
#include "server/dialect/psp/module.h"
#include "server/dialect/psp/opened.h"
#include "server/dialect/psp/opening.h"
#include "server/engine/composed_origin.h"
#include "server/engine/formula_metrics.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/export_answer.h"
#include "server/feature/exports.h"
#include "server/feature/recorded_again.h"
#include "server/feature/recording_text.h"
#include "server/feature/sample_groups.h"
#include "server/runtime/base64.h"

namespace profd {
namespace {

constexpr std::size_t kMaxOpened = 1000;
constexpr std::size_t kListedInline = 20;  // a longer list is spelled out on a worker

Result<psp::ProfileThreadsResult> threads_of(const OpenProfile& open, MetricId metric, std::size_t limit,
                                             const StopToken& stop) {
  PROFD_TRY(SampleGroups groups, sample_groups(*open.profile, metric, limit, stop));
  psp::ProfileThreadsResult out;
  out.profile = open.handle;
  out.revision = open.revision;
  const MetricInfo& info = open.profile->metrics()[metric.v];
  out.metric = info.name;
  out.unit = unit_name(info.unit);
  out.total = to_psp(groups.total);
  if (groups.threads) out.threads = to_psp(std::move(*groups.threads));
  for (SampleGroup& group : groups.labels) out.labels.push_back(to_psp(std::move(group)));
  out.keys_left = static_cast<std::uint32_t>(groups.keys_left);
  return out;
}

psp::OpenedProfile to_opened(const OpenProfile& open) {
  psp::OpenedProfile out;
  out.profile = open.handle;
  out.revision = open.revision;
  out.number = open.number;
  out.name = open.name;
  out.metric = open.metric_info().name;
  out.metrics = metrics_to_psp(open);
  out.records = to_count(open.profile->n_samples());
  out.samples = out.records;
  out.contexts = to_count(open.profile->tree().size() - 1);
  return out;
}

psp::ProfileListResult list_result(const ProfileListing& listing) {
  psp::ProfileListResult result;
  for (const ProfileEntry& entry : listing.rows()) result.profiles.push_back(to_psp(entry));
  return result;
}

ViewSpec all_of(const OpenProfile& open, MetricId metric) {
  ViewSpec spec;
  spec.metric = open.profile->metrics()[metric.v].name;
  return spec;
}

Result<psp::ProfileSummary> summary_of(Views& views, const OpenProfile& open,
                                       const WorkspaceSnapshot& workspace, const ViewSpec& spec,
                                       const SummaryRequest& request, const StopToken& stop) {
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  PROFD_TRY(const auto sources, views.sources(open, workspace, stop));
  SummaryRequest placed = request;
  placed.sources = workspace.files ? sources.get() : nullptr;
  PROFD_TRY(const Summary summary, summarize(*selection, open.loaded->report, placed, stop));
  psp::ProfileSummary result = to_psp(open, summary, *sources);
  result.filters = texts_of(spec.filters);
  return result;
}

std::optional<Scaling> scale_of(const psp::OpenEnum<psp::DiffScale>& scale) {
  if (scale == psp::DiffScale::raw) return Scaling::raw;
  if (scale == psp::DiffScale::duration) return Scaling::per_second;
  if (scale == psp::DiffScale::totals) return Scaling::equal_totals;
  if (scale == psp::DiffScale::bulk) return Scaling::bulk;
  return std::nullopt;
}

MatchMode match_of(const psp::OpenEnum<psp::MatchMode>& match) {
  if (match == psp::MatchMode::suggested) return MatchMode::suggested;
  return match == psp::MatchMode::name ? MatchMode::name : MatchMode::exact;
}

// What a page sent is gone with it, and a page that is loaded anew is another one. Where the daemon keeps it
// is nobody's business: it has the name that its sender knows.
protocol::ResponseError why_not_opened(Error error, const std::string& file, const Engine& engine) {
  if (!engine.uploads().is_of_uploads(file)) return to_psp(error, file);
  const std::string name(base_name(file));
  if (error.code == ErrorCode::not_found)
    error.message = "was sent by a page that has been closed or loaded anew, and went with it; drop it again";
  for (std::size_t at = 0; (at = error.message.find(file, at)) != error.message.npos; at += name.size())
    error.message.replace(at, file.size(), name);
  return to_psp(error, name);
}

psp::ProfileExportResult export_to_psp(ExportAnswer answer, const WriterInfo& writer) {
  psp::ProfileExportResult result;
  result.format = writer.id;
  result.mime_type = writer.mime_type;
  if (!answer.path.empty())
    result.uri = uri_of_path(answer.path);
  else if (writer.is_text)
    result.text = std::move(answer.content);
  else
    result.base64 = to_base64(answer.content);
  result.size = to_bytes(answer.size);
  for (const ReportRow& row : answer.losses.rows()) result.report.push_back(to_psp(row));
  return result;
}

// `options.metric` of an export.
std::string metric_option(const std::optional<psp::Any>& options) {
  if (!options) return {};
  const nlohmann::json& value = options->get();
  if (!value.is_object() || !value.contains("metric") || !value["metric"].is_string()) return {};
  return value["metric"].get<std::string>();
}

// The sentence has the place already, in characters as people count them.
protocol::ResponseError with_place_in_text(Error error) {
  const auto place = std::exchange(error.offset, std::nullopt);
  const protocol::ResponseError plain = to_psp(error);
  psp::ErrorData data;
  data.reason = error.code == ErrorCode::limit ? "limit" : "invalid";
  if (place) data.byte_offset = static_cast<std::int64_t>(*place);
  return {plain.code, plain.message, data};
}

class ProfilesModule final : public Module {
 public:
  explicit ProfilesModule(SessionContext& session) : session_(session) {}
  void bind(protocol::Binder& binder) override;
  void announce(psp::ServerCapabilities&, psp::ProfdServerCapabilities& own) const override;
  void on_profile(const ProfileNews& news) override;

 private:
  // `origin` null: of `request.uri`. `place` is named in errors.
  template <class R>
  void open(OpenRequest request, OriginPtr origin, const std::string& place,
            const std::optional<psp::ProgressToken>& token, protocol::Reply<R> reply);

  // Where the parameters name profiles, and those; of a diff the first are before.
  struct Parts {
    std::string where;
    const std::vector<psp::ComposedPart>* parts;
  };
  template <class R>
  void compose(ComposeSpec spec, const std::vector<Parts>& sides,
               const std::optional<psp::OpenOptions>& options, const std::optional<psp::ProgressToken>& token,
               protocol::Reply<R> reply);

  SessionContext& session_;
};

template <class R>
void ProfilesModule::open(OpenRequest request, OriginPtr origin, const std::string& place,
                          const std::optional<psp::ProgressToken>& token, protocol::Reply<R> reply) {
  const auto shared = std::make_shared<protocol::Reply<R>>(std::move(reply));
  session_.opening.open(
      std::move(request), std::move(origin), token,
      [shared](std::function<void()> cancel) { shared->on_cancel(std::move(cancel)); },
      [this, &engine = session_.engine, alive = session_.alive, shared, place](Result<OpenAnswer> answer) {
        if (!answer) return shared->error(why_not_opened(std::move(answer.error()), place, engine));
        if (!*alive || session_.closed) return;  // the reply of a closed connection answers nobody
        session_.run<R>(
            true, std::move(*shared), place,
            [&views = session_.engine.views(), answer = *answer, workspace = session_.workspace.snapshot()](
                const StopToken& stop) { return opened_to_psp(views, answer, workspace, stop); });
      });
}

// Of several of one name the first counts.
void add_formulas(const std::vector<DerivedMetric>& more, std::vector<DerivedMetric>& all) {
  for (const DerivedMetric& metric : more)
    if (std::none_of(all.begin(), all.end(),
                     [&](const DerivedMetric& one) { return one.name == metric.name; }))
      all.push_back(metric);
}

template <class R>
void ProfilesModule::compose(ComposeSpec spec, const std::vector<Parts>& sides,
                             const std::optional<psp::OpenOptions>& options,
                             const std::optional<psp::ProgressToken>& token, protocol::Reply<R> reply) {
  OpenRequest request = open_request(session_, options);
  for (const Parts& side : sides)
    for (std::size_t i = 0; i < side.parts->size(); ++i) {
      auto part = part_of(session_, (*side.parts)[i], request.options, fmt::format("{}[{}]", side.where, i));
      if (!part) return reply.error(part.error());
      part->before = spec.kind == Composed::diff && &side == &sides.front();
      spec.parts.push_back(std::move(*part));
      if (const auto& handle = (*side.parts)[i].profile)
        if (const auto open = session_.profile(handle)) add_formulas(formulas_of(**open), spec.derive);
    }
  add_formulas(session_.workspace.derived(), spec.derive);
  auto origin = composed_origin(std::move(spec));
  if (!origin) return reply.error(to_psp(origin.error()));
  request.uri = (*origin)->uri();
  const std::string place = (*origin)->place();
  open<R>(std::move(request), std::move(*origin), place, token, std::move(reply));
}

void ProfilesModule::announce(psp::ServerCapabilities&, psp::ProfdServerCapabilities& own) const {
  for (const FormatReader* reader : all_readers()) {
    psp::FormatInfo info;
    info.id = reader->info().id;
    info.title = reader->info().title;
    for (std::string_view extension : reader->info().extensions) {
      if (!extension.empty() && extension.front() == '.') extension.remove_prefix(1);
      info.extensions.emplace_back(extension);
    }
    info.reads = true;
    info.writes = find_writer(info.id, all_exports()) != nullptr;
    own.formats.push_back(std::move(info));
  }
  for (const FormatWriter* writer : all_exports()) {
    const auto known = [&](const psp::FormatInfo& info) { return info.id == writer->info().id; };
    if (std::any_of(own.formats.begin(), own.formats.end(), known)) continue;
    psp::FormatInfo info;
    info.id = writer->info().id;
    info.title = writer->info().title;
    for (const std::string_view extension : writer->info().extensions)
      info.extensions.emplace_back(extension.substr(1));
    info.writes = true;
    own.formats.push_back(std::move(info));
  }
}

psp::ProfileChangeReason reason_of(ProfileChange change) {
  switch (change) {
    case ProfileChange::opened:
      return psp::ProfileChangeReason::opened;
    case ProfileChange::reloaded:
      return psp::ProfileChangeReason::reloaded;
    case ProfileChange::reload_failed:
      return psp::ProfileChangeReason::reload_failed;
    case ProfileChange::closed:
      return psp::ProfileChangeReason::closed;
    case ProfileChange::default_changed:
      return psp::ProfileChangeReason::default_changed;
    case ProfileChange::metrics_changed:
      return psp::ProfileChangeReason::metrics_changed;
  }
  return psp::ProfileChangeReason::reloaded;
}

void ProfilesModule::on_profile(const ProfileNews& news) {
  if (session_.can.profile_changed) {
    psp::ProfileChangedParams params;
    params.profile = news.handle;
    params.revision = news.revision;
    params.uri = news.uri;
    if (!news.message.empty()) params.message = sanitize_text(news.message);
    params.reason = reason_of(news.change);
    params.previous = news.change == ProfileChange::reloaded &&
                      session_.engine.previous(news.handle, news.revision).has_value();
    if (news.left > 0) params.left = static_cast<std::int64_t>(news.left);
    session_.peer->notify<psp::ProfileChangedNotification>(params);
  } else if (news.change == ProfileChange::reload_failed) {
    session_.show_message(psp::MessageType::warning, news.message);
  }
  if (news.change == ProfileChange::reloaded || news.change == ProfileChange::default_changed)
    if (const OpenProfilePtr open = session_.meant_profile(); open && open->handle == news.handle)
      session_.prepare(open);
}

void ProfilesModule::bind(protocol::Binder& binder) {
  binder.notification<psp::WorkDoneProgressCancelNotification>(
      [this](const psp::WorkDoneProgressCancelParams& params) { session_.opening.cancel(params.token); });
  binder.request<psp::ProfileOpenRequest>(
      [this](const psp::ProfileOpenParams& params, protocol::Reply<psp::ProfileOpenRequest> reply) {
        OpenRequest request = open_request(session_, params.options);
        request.uri = params.uri;
        request.options.format = params.format.value_or("");
        // What is no file has a name of its own, which its URI would be a poor one for.
        if (const std::string scheme = scheme_of(params.uri); !scheme.empty() && scheme != "file") {
          auto origin = origin_for(session_, params.uri, request.options);
          if (!origin) return reply.error(to_psp(origin.error()));
          const std::string place = (*origin)->place();
          return open<psp::ProfileOpenRequest>(std::move(request), std::move(*origin), place,
                                               params.work_done_token, std::move(reply));
        }
        open<psp::ProfileOpenRequest>(std::move(request), nullptr, path_or_uri(params.uri),
                                      params.work_done_token, std::move(reply));
      });
  binder.request<psp::ProfileDiffRequest>(
      [this](const psp::ProfileDiffParams& params, protocol::Reply<psp::ProfileDiffRequest> reply) {
        ComposeSpec spec;
        spec.kind = Composed::diff;
        spec.scale = scale_of(params.scale);
        for (const psp::MetricPair& pair : params.metrics) spec.metrics[pair.before] = pair.after;
        for (const std::string& text : params.renames) {
          auto rule = parse_rename(text);
          if (!rule) return reply.error(invalid_params("params.renames", rule.error().message));
          spec.match.renames.push_back(std::move(*rule));
        }
        spec.match.mode = match_of(params.match);
        compose<psp::ProfileDiffRequest>(std::move(spec),
                                         {{"params.before", &params.before}, {"params.after", &params.after}},
                                         params.options, params.work_done_token, std::move(reply));
      });
  binder.request<psp::ProfileAggregateRequest>(
      [this](const psp::ProfileAggregateParams& params, protocol::Reply<psp::ProfileAggregateRequest> reply) {
        ComposeSpec spec;
        spec.kind = Composed::aggregate;
        compose<psp::ProfileAggregateRequest>(std::move(spec), {{"params.of", &params.of}}, params.options,
                                              params.work_done_token, std::move(reply));
      });
  binder.request<psp::ProfileJoinRequest>(
      [this](const psp::ProfileJoinParams& params, protocol::Reply<psp::ProfileJoinRequest> reply) {
        ComposeSpec spec;
        spec.kind = Composed::join;
        compose<psp::ProfileJoinRequest>(std::move(spec), {{"params.of", &params.of}}, params.options,
                                         params.work_done_token, std::move(reply));
      });

  binder.request<psp::RecordedAgainRequest>(
      [this](psp::RecordedAgainParams params, protocol::Reply<psp::RecordedAgainRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        const OriginPtr held = params.before ? held_origin(session_, *params.before) : nullptr;
        auto before = session_.engine.previous((*open)->handle);
        if (params.before) before = origin_of_part(session_, *params.before, {});
        if (held) before = held;
        if (!before) return reply.error(to_psp(before.error()));
        session_.run<psp::RecordedAgainRequest>(
            held != nullptr || !params.before, std::move(reply), (*open)->place(),
            [open = *open, before = std::move(*before), at = std::move(params.before),
             &executor = session_.engine.scheduler().executor()](
                const StopToken& stop) -> Result<psp::RecordedAgainResult> {
              std::string called = at ? recorded_command(open->uri) : "";
              if (called.empty()) called = open->name;
              PROFD_TRY(const std::string text, recorded_again_text(before, *open, called, executor, stop));
              psp::RecordedAgainResult result;
              result.profile = open->handle;
              result.revision = open->revision;
              result.text = sanitize_text(text);
              result.before = at.value_or(before->uri());
              if (std::string member = member_of(*open); !member.empty()) result.member = std::move(member);
              return result;
            });
      });

  binder.request<psp::ProfileCloseRequest>(
      [this](const psp::ProfileCloseParams& params, protocol::Reply<psp::ProfileCloseRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        if (auto closed = session_.engine.close(session_.client, (*open)->handle, params.whole_file); !closed)
          return reply.error(to_psp(closed.error()));
        session_.meant_changed();
        reply({});
      });

  binder.request<psp::ProfileSelectRequest>(
      [this](const psp::ProfileSelectParams& params, protocol::Reply<psp::ProfileSelectRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        if (auto selected = session_.engine.choose(session_.client, (*open)->handle); !selected)
          return reply.error(to_psp(selected.error()));
        reply({});
      });

  binder.request<psp::ProfileListRequest>(
      [this](const psp::ProfileListParams&, protocol::Reply<psp::ProfileListRequest> reply) {
        ProfileListing listing = session_.engine.listing(session_.client);
        if (listing.n_rows() <= kListedInline) return reply(list_result(listing));
        session_.run<psp::ProfileListRequest>(
            true, std::move(reply), "",
            [listing = std::move(listing)](const StopToken&) -> Result<psp::ProfileListResult> {
              return list_result(listing);
            });
      });

  binder.request<psp::ProfileSummaryRequest>(
      [this](const psp::ProfileSummaryParams& params, protocol::Reply<psp::ProfileSummaryRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        const auto id = find_metric(**open, params.metric.value_or(""), "params.metric");
        if (!id) return reply.error(id.error());
        SummaryRequest request;
        request.n_hottest = params.hottest;
        request.n_heaviest = params.heaviest;
        ViewSpec spec = all_of(**open, *id);
        if (params.workspace_filters) spec.filters = session_.workspace.filters((*open)->uri);
        const Needs needs = {{Part::selection, spec}};
        const bool quick = session_.engine.views().has(**open, needs);
        session_.run<psp::ProfileSummaryRequest>(
            quick, std::move(reply), (*open)->place(),
            [&views = session_.engine.views(), open = *open, spec, request,
             workspace = session_.workspace.snapshot()](const StopToken& stop) {
              return summary_of(views, *open, workspace, spec, request, stop);
            });
      });

  binder.request<psp::ProfileThreadsRequest>(
      [this](const psp::ProfileThreadsParams& params, protocol::Reply<psp::ProfileThreadsRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        const auto id = find_metric(**open, params.metric.value_or(""), "params.metric");
        if (!id) return reply.error(id.error());
        session_.run<psp::ProfileThreadsRequest>(
            true, std::move(reply), (*open)->place(),
            [open = *open, id = *id, limit = std::size_t{params.limit}](const StopToken& stop) {
              return threads_of(*open, id, limit, stop);
            });
      });

  binder.request<psp::ProfileExportRequest>(
      [this](const psp::ProfileExportParams& params, protocol::Reply<psp::ProfileExportRequest> reply) {
        ExportRequest request;
        WriteOptions& how = request.how;
        how.metric = metric_option(params.options);
        request.overwrite = params.overwrite;
        std::string handle = params.profile.value_or("");
        if (params.spec) {
          auto named = from_psp(*params.spec, "params.spec");
          if (!named) return reply.error(named.error());
          session_.decide_mine(named->spec.filters);
          if (!named->profile.empty()) handle = named->profile;
          how.spec = std::move(named->spec);
        }
        const auto open = session_.profile(handle);
        if (!open) return reply.error(open.error());
        // As views are: of the metric that is chosen for the profile.
        if (how.spec && how.spec->metric.empty() && how.metric.empty())
          how.metric = (*open)->metric_info().name;
        request.writer = find_writer(params.format, all_exports());
        if (request.writer == nullptr) {
          psp::ErrorData data;
          data.reason = "unsupported";
          data.file = (*open)->place();
          data.format = params.format;
          const std::string message = fmt::format("profd does not write {}; it writes {}",
                                                  sanitize_text(params.format), writer_names(all_exports()));
          return reply.error({psp::ErrorCodes::request_failed, message, data});
        }
        if (params.uri) {
          auto wanted = path_of_uri(*params.uri);
          if (!wanted) return reply.error(invalid_params("params.uri", wanted.error().message));
          request.path = std::move(*wanted);
        }
        std::string place = request.path.empty() ? (*open)->place() : request.path;
        session_.run<psp::ProfileExportRequest>(
            true, std::move(reply), std::move(place),
            [open = *open,
             request = std::move(request)](const StopToken& stop) -> Result<psp::ProfileExportResult> {
              PROFD_TRY(ExportAnswer answer, export_profile(*open, request, stop));
              return export_to_psp(std::move(answer), request.writer->info());
            });
      });

  binder.request<psp::MetricListRequest>(
      [this](const psp::MetricListParams& params, protocol::Reply<psp::MetricListRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        psp::MetricListResult result;
        result.profile = (*open)->handle;
        result.revision = (*open)->revision;
        result.metrics = metrics_to_psp(**open);
        result.default_ = (*open)->metric_info().name;
        result.derived = derived_to_psp(**open, session_.workspace.derived());
        reply(result);
      });

  binder.request<psp::MetricDeriveRequest>([this](psp::MetricDeriveParams params,
                                                  protocol::Reply<psp::MetricDeriveRequest> reply) {
    const auto open = session_.profile(params.profile);
    if (!open) return reply.error(open.error());
    const DerivedMetric metric{std::move(params.name), std::move(params.formula), params.unit.value_or("")};
    auto measure = derive_metric(*(*open)->as_read(), metric);
    if (measure && !params.check)
      if (const auto derived = session_.engine.derive((*open)->handle, metric); !derived)
        measure = tl::unexpected<Error>(derived.error());
    if (!measure) return reply.error(with_place_in_text(std::move(measure.error())));
    psp::MetricDeriveResult result;
    result.profile = (*open)->handle;
    result.revision = (*open)->revision;
    result.metric = to_psp(**open, *measure);
    reply(result);
  });

  binder.request<psp::MetricForgetRequest>(
      [this](const psp::MetricForgetParams& params, protocol::Reply<psp::MetricForgetRequest> reply) {
        const auto open = session_.profile(params.profile);
        if (!open) return reply.error(open.error());
        if (const auto gone = session_.engine.forget_derived((*open)->handle, params.name); !gone)
          return reply.error(to_psp(gone.error()));
        reply({});
      });
}

}  // namespace

OpenRequest open_request(const SessionContext& session, const std::optional<psp::OpenOptions>& given) {
  const psp::OpenOptions options = given.value_or(psp::OpenOptions{});
  OpenRequest request;
  request.options.partial = options.partial;
  request.options.gc_on_stack = options.gc_on_stack;
  request.attach = options.attach;
  request.make_default = options.make_default;
  request.watch = options.watch;
  request.metric = options.metric.value_or("");
  request.preferred_metric = session.workspace.metric().value_or("");
  request.name = options.name.value_or("");
  request.member = options.profile.value_or("");
  return request;
}

tl::expected<ComposedPart, protocol::ResponseError> part_of(SessionContext& session,
                                                            const psp::ComposedPart& part,
                                                            const OpenOptions& options,
                                                            const std::string& where) {
  if (part.profile.has_value() == part.uri.has_value())
    return tl::unexpected(invalid_params(where, "names an open profile or a URI, one of the two"));
  ComposedPart out;
  out.filter = part.filter.value_or("");
  if (part.profile) {
    const auto open = session.profile(part.profile);
    if (!open) return tl::unexpected(open.error());
    out.origin = (*open)->origin;
    out.loaded = (*open)->loaded;
    if ((*open)->n_in_file() > 1) out.member = std::to_string((*open)->number);
    return out;
  }
  auto origin = origin_of_part(session, *part.uri, options);
  if (!origin) return tl::unexpected(invalid_params(where + ".uri", origin.error().message));
  out.origin = std::move(*origin);
  out.member = part.member.value_or("");
  return out;
}

Result<psp::ProfileOpenResult> opened_to_psp(Views& views, const OpenAnswer& answer,
                                             const WorkspaceSnapshot& workspace, const StopToken& stop) {
  const OpenProfile& open = *answer.profile;
  psp::ProfileOpenResult result;
  result.profile = open.handle;
  result.revision = open.revision;
  result.already_open = answer.already_open;
  PROFD_TRY(result.summary, summary_of(views, open, workspace, all_of(open, open.metric), {}, stop));
  for (const OpenProfilePtr& one : answer.profiles) {
    if (result.profiles.size() == kMaxOpened) break;
    result.profiles.push_back(to_opened(*one));
  }
  result.left = static_cast<std::int64_t>(answer.profiles.size() - result.profiles.size());
  return result;
}

std::unique_ptr<Module> make_profiles_module(SessionContext& session) {
  return std::make_unique<ProfilesModule>(session);
}

}  // namespace profd

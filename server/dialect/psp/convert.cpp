#include "server/dialect/psp/convert.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/text.h"
#include "server/dialect/psp/convert_views.h"
#include "server/engine/source_text.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/metric_values.h"
#include "server/feature/names.h"

namespace profd {

using protocol::ResponseError;

psp::Number to_psp(const Value& value) {
  return std::visit([](auto v) { return psp::Number(v); }, value);
}

psp::Amount to_psp(const Amount& amount) {
  psp::Amount out;
  out.value = to_psp(amount.value);
  out.text = amount.text;
  if (amount.share) {
    out.share = *amount.share;
    out.share_text = amount.share_text;
  }
  return out;
}
psp::Amount to_amount(const Whole& whole, const Value& value) {
  return to_psp(amount_of(whole, value));
}

psp::Measure to_count(std::uint64_t count) {
  return {psp::Number(count), format_count(count)};
}
psp::Measure to_bytes(std::uint64_t bytes) {
  return {psp::Number(bytes), format_bytes(bytes)};
}

ResponseError invalid_params(const std::string& path, std::string_view message) {
  psp::ErrorData data;
  data.reason = "invalid";
  data.path = path;
  return {psp::ErrorCodes::invalid_params, fmt::format("{}: {}", path, message), data};
}

namespace {

FilterOp filter_op(psp::FilterOp op) {
  switch (op) {
    case psp::FilterOp::drop:
      return FilterOp::drop;
    case psp::FilterOp::hide:
      return FilterOp::hide;
    case psp::FilterOp::collapse:
      return FilterOp::collapse;
    default:
      return FilterOp::keep;
  }
}

FilterBy filter_by(psp::FilterBy by) {
  switch (by) {
    case psp::FilterBy::module:
      return FilterBy::module;
    case psp::FilterBy::file:
      return FilterBy::file;
    case psp::FilterBy::thread:
      return FilterBy::thread;
    case psp::FilterBy::label:
      return FilterBy::label;
    case psp::FilterBy::time:
      return FilterBy::time;
    case psp::FilterBy::marker:
      return FilterBy::marker;
    case psp::FilterBy::fragment:
      return FilterBy::fragment;
    case psp::FilterBy::path:
      return FilterBy::path;
    case psp::FilterBy::package:
      return FilterBy::package;
    case psp::FilterBy::code:
      return FilterBy::code;
    case psp::FilterBy::kind:
      return FilterBy::kind;
    case psp::FilterBy::work:
      return FilterBy::work;
    case psp::FilterBy::mine:
      return FilterBy::mine;
    case psp::FilterBy::recursion:
      return FilterBy::recursion;
    default:
      return FilterBy::function;
  }
}

std::string_view reason_of(ErrorCode code) {
  return code == ErrorCode::not_found ? "notFound" : to_string(code);
}

}  // namespace

tl::expected<std::vector<Filter>, ResponseError> from_psp(const std::vector<psp::Filter>& filters,
                                                          const std::string& where) {
  std::vector<Filter> result;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const psp::Filter& filter = filters[i];
    const std::string place = fmt::format("{}[{}]", where, i);
    if (!filter.op.known())
      return tl::make_unexpected(invalid_params(place + ".op", "keep, drop, hide or collapse"));
    if (!filter.by.known())
      return tl::make_unexpected(invalid_params(place + ".by",
                                                "function, module, file, package, code, kind, work, "
                                                "fragment, path, thread, label, time, marker, recursion or "
                                                "mine"));
    Filter out;
    out.op = filter_op(filter.op.value());
    out.by = filter_by(filter.by.value());
    if (filter.linked && !filter.linked->empty()) {
      if (!may_be_linked(out.by))
        return tl::make_unexpected(invalid_params(
            place + ".by",
            "function, module, file, package, code, kind, work, fragment or path where `linked`"));
      out.linked = *filter.linked;
    }
    if (out.by == FilterBy::fragment || out.by == FilterBy::path) {
      if (!filter.frames || filter.frames->empty())
        return tl::make_unexpected(
            invalid_params(place + ".frames", "a fragment or a path needs at least one name"));
      out.names = *filter.frames;
    } else if (out.by == FilterBy::mine || out.by == FilterBy::recursion) {
      if (out.op != FilterOp::collapse) return tl::make_unexpected(invalid_params(place + ".op", "collapse"));
    } else if (out.by == FilterBy::work && (filter.regex || !filters_rows(out))) {
      return tl::make_unexpected(filter.regex
                                     ? invalid_params(place + ".regex", "work is of one set, by its name")
                                     : invalid_params(place + ".op", "keep or drop"));
    } else if (out.by == FilterBy::time) {
      if (filter.from) out.from_ns = filter.from->as_int64();
      if (filter.to) out.to_ns = filter.to->as_int64();
      if (filter.every) out.every_ns = filter.every->as_int64();
    } else {
      if (!filter.pattern) return tl::make_unexpected(invalid_params(place + ".pattern", "missing"));
      out.pattern = *filter.pattern;
      out.regex = filter.regex;
      if (out.by == FilterBy::label) {
        if (!filter.key) return tl::make_unexpected(invalid_params(place + ".key", "missing"));
        out.key = *filter.key;
      }
    }
    result.push_back(std::move(out));
  }
  return result;
}

tl::expected<Granularity, ResponseError> from_psp(const psp::OpenEnum<psp::Granularity>& granularity,
                                                  const std::string& where) {
  switch (granularity.value()) {
    case psp::Granularity::address:
      return Granularity::address;
    case psp::Granularity::line:
      return Granularity::line;
    case psp::Granularity::function:
      return Granularity::function;
    case psp::Granularity::file:
      return Granularity::file;
    case psp::Granularity::module:
      return Granularity::module;
    default:
      return tl::make_unexpected(invalid_params(where, "address, line, function, file or module"));
  }
}

tl::expected<NamedSpec, ResponseError> from_psp(const psp::ViewSpecLike& like, const std::string& where) {
  NamedSpec named;
  if (const auto* text = std::get_if<std::string>(&like)) {
    auto spec = parse_view_spec(*text);
    if (!spec) return tl::make_unexpected(invalid_params(where, describe(spec.error())));
    named.spec = std::move(*spec);
    return named;
  }
  const auto& spec = std::get<psp::ViewSpec>(like);
  named.profile = spec.profile.value_or("");
  switch (spec.shape.value()) {
    case psp::ViewShape::top_down:
      named.spec.shape = Shape::top_down;
      break;
    case psp::ViewShape::bottom_up:
      named.spec.shape = Shape::bottom_up;
      break;
    case psp::ViewShape::flat:
      named.spec.shape = Shape::flat;
      break;
    case psp::ViewShape::callers:
      named.spec.shape = Shape::callers;
      break;
    case psp::ViewShape::callees:
      named.spec.shape = Shape::callees;
      break;
    default:
      return tl::make_unexpected(
          invalid_params(where + ".shape", "topDown, bottomUp, flat, callers or callees"));
  }
  auto granularity = from_psp(spec.granularity, where + ".granularity");
  if (!granularity) return tl::make_unexpected(granularity.error());
  named.spec.granularity = *granularity;
  auto filters = from_psp(spec.filters, where + ".filters");
  if (!filters) return tl::make_unexpected(filters.error());
  named.spec.filters = std::move(*filters);
  named.spec.metric = spec.metric.value_or("");
  named.spec.focus = spec.focus;
  if (spec.paths.value() == psp::ViewPaths::unrecognized)
    return tl::make_unexpected(invalid_params(where + ".paths", "divided or proven"));
  named.spec.proven = spec.paths.value() == psp::ViewPaths::proven;
  const bool focused = named.spec.shape == Shape::callers || named.spec.shape == Shape::callees;
  if (focused && named.spec.focus.empty())
    return tl::make_unexpected(
        invalid_params(where + ".focus", "callers and callees need the frames in focus"));
  return named;
}

psp::FrameKind to_psp(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return psp::FrameKind::native;
    case FrameKind::jit:
      return psp::FrameKind::jit;
    case FrameKind::interpreted:
      return psp::FrameKind::interpreted;
    case FrameKind::kernel:
      return psp::FrameKind::kernel;
    case FrameKind::gc:
      return psp::FrameKind::gc;
    case FrameKind::waker:
      return psp::FrameKind::waker;
    case FrameKind::data_object:
      return psp::FrameKind::data;
  }
  return psp::FrameKind::unknown;
}

psp::MappingRule to_psp(MappingRule rule) {
  switch (rule) {
    case MappingRule::exact:
      return psp::MappingRule::exact;
    case MappingRule::prefix:
      return psp::MappingRule::prefix;
    case MappingRule::suffix:
      return psp::MappingRule::suffix;
    case MappingRule::module:
      return psp::MappingRule::module;
  }
  return psp::MappingRule::suffix;
}

psp::ReportRow to_psp(const ReportRow& row) {
  psp::ReportRow out;
  out.kind = row.kind;
  out.severity = row.severity == Severity::info   ? psp::Severity::info
                 : row.severity == Severity::loss ? psp::Severity::loss
                                                  : psp::Severity::error;
  out.count = static_cast<std::int64_t>(row.count);
  out.message = row.message;
  if (row.first_offset) out.first_offset = static_cast<std::int64_t>(*row.first_offset);
  return out;
}

psp::FormatDecision to_psp(const FormatDecision& decision, bool forced) {
  const auto title_of = [](std::string_view id) {
    for (const FormatReader* reader : all_readers())
      if (reader->info().id == id) return std::string(reader->info().title);
    return std::string(id);
  };
  psp::FormatDecision out;
  out.id = decision.format;
  out.title = title_of(decision.format);
  out.forced = forced;
  out.containers = decision.containers;
  out.text = "read as " + decision.format;
  for (std::size_t i = 0; i < decision.containers.size(); ++i)
    out.text +=
        (i == 0 ? " (" : ", ") + decision.containers[i] + (i + 1 == decision.containers.size() ? ")" : "");
  for (std::size_t i = 0; i < decision.also_plausible.size(); ++i) {
    const std::string& id = decision.also_plausible[i];
    out.runners_up.push_back({id, title_of(id), "maybe"});
    out.text += (i == 0 ? "; also plausible: " : ", ") + id;
  }
  return out;
}

std::vector<psp::MetricInfo> metrics_to_psp(const OpenProfile& open) {
  std::vector<psp::MetricInfo> result;
  const Profile& profile = *open.profile;
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const MetricInfo& info = profile.metrics()[m];
    const Value& total = profile.total(MetricId(m));
    psp::MetricInfo out;
    out.name = info.name;
    out.unit = unit_name(info.unit);
    out.total = to_psp(total);
    out.text = format_value(total, info.unit);
    out.records = static_cast<std::int64_t>(profile.n_samples());
    out.samples = out.records;
    out.default_ = m == open.metric.v;
    out.integral = std::holds_alternative<std::int64_t>(total);
    out.saturated = info.saturated;
    result.push_back(std::move(out));
  }
  return result;
}

psp::DerivedMetric to_psp(const OpenProfile& open, const ProfileMeasure& derived) {
  psp::DerivedMetric out;
  out.name = derived.metric.name;
  out.formula = derived.metric.formula;
  out.unit = metric_unit(derived);
  const std::optional<Value> total = metric_total(*open.profile, derived.measure);
  if (total) out.total = to_psp(*total);
  out.text = metric_text(derived, total);
  out.additive = derived.measure.additive;
  return out;
}

std::vector<psp::DerivedMetric> derived_to_psp(const OpenProfile& open,
                                               const std::vector<DerivedMetric>& set) {
  std::vector<psp::DerivedMetric> out;
  if (!open.derived) return out;
  const auto is_set = [&](const DerivedMetric& metric) {
    return std::find(set.begin(), set.end(), metric) != set.end();
  };
  for (const ProfileMeasure& derived : open.derived->known) {
    out.push_back(to_psp(open, derived));
    out.back().set = is_set(derived.metric);
  }
  for (const UnfitMetric& unfit : open.derived->unfit) {
    psp::DerivedMetric& lacking = out.emplace_back();
    lacking.name = unfit.metric.name;
    lacking.formula = unfit.metric.formula;
    lacking.unit = unfit.metric.unit;
    lacking.text = kNotAvailable;
    lacking.set = is_set(unfit.metric);
    lacking.why = unfit.why;
  }
  return out;
}

psp::ProfileSummary to_psp(const OpenProfile& open, const Summary& summary, const SourceMap& sources) {
  psp::ProfileSummary out;
  out.profile = open.handle;
  out.revision = open.revision;
  out.uri = open.uri;
  out.name = open.name;
  if (open.n_in_file() > 1)
    out.member =
        psp::FileMember{open.number, static_cast<std::uint32_t>(open.n_in_file()), open.member_name()};
  out.format = to_psp(open.loaded->decision, false);
  if (!summary.program.empty()) out.program = summary.program;
  if (!summary.profiler.empty()) out.profiler = summary.profiler;
  if (summary.time_ns) out.when = psp::Measure{psp::Number(*summary.time_ns / 1'000'000), summary.time_text};
  if (summary.duration_ns)
    out.duration = psp::Measure{psp::Number(*summary.duration_ns), summary.duration_text};
  out.comments = summary.comments;
  out.threads = to_count(summary.n_threads);
  out.records = to_count(summary.n_records);
  out.samples = out.records;
  out.contexts = to_count(summary.n_contexts);
  out.functions = to_count(summary.n_functions);
  if (const TimelineCounts& t = summary.timeline; t.any())
    out.timeline = psp::TimelineCounts{.spans = to_count(t.spans),
                                       .markers = to_count(t.markers),
                                       .counters = to_count(t.counters),
                                       .points = to_count(t.points),
                                       .tasks = to_count(t.tasks)};
  out.memory = to_bytes(open.profile->memory());
  out.metrics = metrics_to_psp(open);
  out.metric = summary.metric_name;
  const Whole whole{summary.total, summary.unit};
  for (const SummaryFunction& function : summary.hottest) {
    psp::HotFunction hot;
    hot.name = function.name;
    if (function.short_name != function.name) hot.short_name = function.short_name;
    hot.cuts = cuts_of(function.short_name);
    if (!function.file.empty()) hot.file = function.file;
    if (function.line != 0) hot.line = function.line;
    if (!function.module.empty()) hot.module = function.module;
    if (const std::string* path = sources.file_of(function.file))
      hot.uri = uri_of_path(*path);
    else if (is_local_file(function.file))
      hot.outside = function.file;
    hot.self = to_amount(whole, function.self);
    hot.total = to_amount(whole, function.total);
    out.hottest.push_back(std::move(hot));
  }
  for (const SummaryPath& path : summary.heaviest) {
    psp::HeavyPath heavy;
    heavy.frames = path.names;
    if (path.short_names != path.names) heavy.labels = path.short_names;
    heavy.key = psp::BoxPath(path.keys.begin(), path.keys.end());
    heavy.amount = to_amount(whole, path.self);
    out.heaviest.push_back(std::move(heavy));
  }
  if (!summary.estimated.empty()) out.estimated = summary.estimated;
  for (const ReportRow& row : summary.report) out.report.push_back(to_psp(row));
  for (const MissingPart& part : summary.missing) {
    constexpr std::array kKinds = {psp::MissingKind::symbols, psp::MissingKind::lines,
                                   psp::MissingKind::sources};
    out.missing.push_back(
        {kKinds[static_cast<std::size_t>(part.kind)], to_amount(whole, part.amount), part.text, part.advice});
  }
  return out;
}

psp::ProfileListEntry to_psp(const ProfileEntry& entry) {
  psp::ProfileListEntry out;
  out.profile = entry.handle;
  out.revision = entry.revision;
  out.uri = entry.uri;
  out.name = entry.name;
  if (entry.n_in_file > 1)
    out.member = psp::FileMember{entry.number, entry.n_in_file, cut_bytes(entry.member_name, kMaxToldName)};
  if (entry.profile) {
    const MetricInfo& metric = entry.profile->metric_info();
    const Value& total = entry.profile->profile->total(entry.profile->metric);
    out.metric = cut_bytes(metric.name, kMaxToldName);
    out.total = psp::Measure{to_psp(total), format_value(total, cut_bytes(metric.unit, kMaxToldName))};
  }
  out.format = entry.format;
  out.state = entry.state == ProfileEntry::State::opening ? psp::ProfileState::opening
              : entry.state == ProfileEntry::State::ready ? psp::ProfileState::ready
                                                          : psp::ProfileState::failed;
  out.default_ = entry.is_default;
  out.attached = entry.attached;
  out.watched = entry.watched;
  out.mine = entry.mine;
  out.memory = to_bytes(entry.memory);
  return out;
}

ResponseError to_psp(const Error& error, const std::string& file) {
  if (error.code == ErrorCode::cancelled) return {psp::ErrorCodes::request_cancelled, "cancelled"};
  psp::ErrorData data;
  data.reason = reason_of(error.code);
  if (!file.empty()) data.file = file;
  if (error.offset) data.byte_offset = static_cast<std::int64_t>(*error.offset);
  if (!error.where.empty()) data.where = error.where;
  if (!error.format.empty()) data.format = error.format;
  std::string message = describe(error);
  const std::string_view name = base_name(file);
  if (!name.empty() && message.find(name) == message.npos) message = fmt::format("{}: {}", name, message);
  const auto code =
      error.code == ErrorCode::internal ? psp::ErrorCodes::internal_error : psp::ErrorCodes::request_failed;
  return {code, sanitize_text(message), data};
}

}  // namespace profd

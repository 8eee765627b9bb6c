#include "formats/writers/measurements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/view/beside_samples.h"
#include "core/view/resolve.h"

namespace profd::writers {

Measurements::Measurements(const Profile& profile)
    : profile_(profile),
      samples_(profile.samples()),
      columns_(samples_ ? &samples_->values : &profile.self().values),
      n_(samples_ ? samples_->size() : profile.self().contexts.size()),
      rest_(unsampled_values(profile)) {
  n_ += rest_.contexts.size();
}

Measurement Measurements::operator[](std::size_t i) const {
  Measurement out;
  out.row = i;
  if (!samples_) {
    out.context = profile_.self().contexts[i];
    return out;
  }
  if (i >= samples_->size()) {
    out.context = rest_.contexts[i - samples_->size()];
    return out;
  }
  out.context = samples_->context[i];
  if (!samples_->thread.empty()) out.thread = samples_->thread[i];
  if (!samples_->label_set.empty()) out.label_set = samples_->label_set[i];
  if (!samples_->time.empty() && samples_->time[i] != kNoTime) out.time = samples_->time[i];
  return out;
}

Value Measurements::value(std::size_t row, MetricId metric) const {
  if (samples_ && row >= samples_->size()) return rest_.values[metric.v][row - samples_->size()];
  return std::visit([&](const auto& column) { return Value(column[row]); }, (*columns_)[metric.v]);
}

void path_of(const Profile& profile, std::uint32_t context, std::vector<std::uint32_t>& frames) {
  frames.clear();
  for (; context != 0 && context != kNone; context = profile.tree().parent[context])
    frames.push_back(profile.tree().frame[context]);
  std::reverse(frames.begin(), frames.end());
}

Result<MetricId> chosen_metric(const Profile& profile, const WriteOptions& options, LossReport& losses) {
  MetricId metric = profile.default_metric();
  if (!options.metric.empty()) {
    PROFD_TRY(metric, resolve_metric(profile, options.metric));
  }
  if (metric.v >= profile.metrics().size()) return fail(ErrorCode::unsupported, "the profile has no metrics");
  count_loss(losses, "metrics",
             fmt::format("The format holds one metric; written: {}.", profile.metrics()[metric.v].name),
             profile.metrics().size() - 1);
  return metric;
}

WholeNumbers::WholeNumbers(const Profile& profile) {
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const std::string& unit = profile.metrics()[m].unit;
    const bool fractional = std::holds_alternative<double>(profile.total(MetricId{m}));
    const bool scaled = fractional && is_time_unit(unit);
    units_.push_back(scaled ? "nanoseconds" : unit);
    scale_.push_back(scaled ? static_cast<double>(nanoseconds_per(unit)) : 1.0);
  }
}

std::int64_t WholeNumbers::of(MetricId metric, const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  const double real = std::get<double>(value) * scale_[metric.v], rounded = std::round(real);
  n_rounded_ += std::abs(rounded - real) > 1e-9 * std::abs(real);
  if (!(std::abs(rounded) < 9.2e18))
    return real < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(rounded);
}

std::int64_t nanoseconds_per(std::string_view unit) {
  if (unit == "nanoseconds") return 1;
  if (unit == "microseconds") return 1000;
  if (unit == "milliseconds") return 1'000'000;
  if (unit == "seconds") return 1'000'000'000;
  return 0;
}

std::int64_t multiplied(const Value& value, std::int64_t factor) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(),
                 kMost = std::numeric_limits<std::int64_t>::max();
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    std::int64_t product;
    if (mul_overflows(*whole, factor, product)) return *whole < 0 ? kLeast : kMost;
    return product;
  }
  const double product = std::get<double>(value) * static_cast<double>(factor);
  if (!(product < 9e18)) return kMost;
  return product > -9e18 ? std::llround(product) : kLeast;
}

bool is_time_unit(std::string_view unit) {
  return nanoseconds_per(unit) != 0;
}

void count_loss(LossReport& losses, std::string_view kind, std::string_view message, std::uint64_t n) {
  if (n > 0) losses.add(kind, Severity::loss, message, std::nullopt, n);
}

void report_excluded(const Selection& selection, LossReport& losses) {
  for (const std::string& warning : selection.warnings()) losses.add("filter", Severity::info, warning);
  if (selection.rows->excluded.empty()) return;
  const Value& amount = selection.rows->excluded[selection.metric().v];
  if (as_double(amount) == 0) return;
  const MetricInfo& metric = selection.profile->metrics()[selection.metric().v];
  count_loss(
      losses, "excluded",
      fmt::format("{} {} of {} have no thread, time or labels: the filters leave them out.",
                  std::visit([](auto v) { return fmt::format("{}", v); }, amount), metric.unit, metric.name),
      1);
}

void report_losses(std::span<const ProfilePtr> profiles, std::size_t n_written, const Holds& holds,
                   LossReport& losses) {
  count_loss(losses, "profiles", "The file holds one profile of the several there are.",
             profiles.size() - std::min(n_written, profiles.size()));
  std::uint64_t n_lines = 0, n_addresses = 0, n_modules = 0, n_kinds = 0, n_inlined = 0;
  for (std::size_t p = 0; p < std::min(n_written, profiles.size()); ++p) {
    const Profile& profile = *profiles[p];
    const FrameTable& frames = profile.frames();
    for (std::size_t f = 0; f < frames.size(); ++f) {
      n_lines += frames.line[f] != 0 || frames.column[f] != 0;
      n_addresses += frames.address[f] != 0;
      n_modules += frames.module[f].valid();
      n_kinds += frames.kind[f] != FrameKind::native;
      n_inlined += frames.inlined[f] != 0;
    }
    if (const SampleTable* samples = profile.samples()) {
      if (!holds.threads)
        count_loss(losses, "threads", "Threads of samples are not written.", profile.threads().size());
      if (!holds.labels && !samples->label_set.empty()) {
        const std::vector<std::uint8_t> beside = label_sets_beside_samples(profile);
        const auto n_beside = static_cast<std::size_t>(std::count(beside.begin(), beside.end(), 1));
        count_loss(losses, "labels", "Labels of samples are not written.",
                   profile.labels().n_sets() > 0 ? profile.labels().n_sets() - 1 - n_beside : 0);
      }
      if (!holds.times && !samples->time.empty())
        count_loss(losses, "times", "Times of samples are not written.", samples->size());
    }
    for (const AssociationTable& table : profile.associations())
      if (!holds.calls || table.name != "calls")
        count_loss(losses, "associations", "Records that tie several contexts together are not written.",
                   table.size());
    if (const Timeline* const t = profile.timeline())
      count_loss(losses, "timeline", "Spans, markers, counters and tasks are not written.",
                 t->spans.size() + t->markers.size() + t->counters.n_points() + t->tasks.size());
    if (!holds.properties)
      count_loss(losses, "properties", "Properties and comments of the profile are not written.",
                 profile.info().properties.size() + profile.info().comments.size());
  }
  if (!holds.lines) count_loss(losses, "lines", "Lines and columns of frames are not written.", n_lines);
  if (!holds.addresses) count_loss(losses, "addresses", "Addresses of frames are not written.", n_addresses);
  if (!holds.modules) count_loss(losses, "modules", "Modules of frames are not written.", n_modules);
  if (!holds.kinds) count_loss(losses, "kinds", "Kinds of frames (jit, kernel, …) are not written.", n_kinds);
  if (!holds.inlining) count_loss(losses, "inlining", "That frames were inlined is not written.", n_inlined);
}

std::string_view text_of(const Profile& profile, StringId id) {
  return profile.strings()[id];
}

std::string_view name_of(const Profile& profile, std::uint32_t frame) {
  const std::string_view name = profile.function_name(profile.frames().function[frame]);
  return name.empty() ? "(unnamed)" : name;
}

std::string_view file_of(const Profile& profile, std::uint32_t frame) {
  const StringId file = profile.frames().file[frame];
  const std::string_view text = profile.strings()[file];
  return text.empty() ? profile.strings()[profile.functions().file[profile.frames().function[frame].v]]
                      : text;
}

}  // namespace profd::writers

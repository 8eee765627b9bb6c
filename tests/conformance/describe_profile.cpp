#include "tests/conformance/describe_profile.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/model/timeline_order.h"

namespace profd::test {
namespace {

double value_at(const ValueColumn& column, std::size_t row) {
  return std::visit([&](const auto& values) { return static_cast<double>(values[row]); }, column);
}

template <class Name>
std::vector<std::pair<std::string, double>> self_by(const Profile& profile, MetricId metric, Name name) {
  std::map<std::string, double> sums;
  const SelfTable& self = profile.self();
  for (std::size_t row = 0; row < self.contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[self.contexts[row]];
    const std::string key = frame == kNone ? "(root)" : std::string(name(profile.frames().function[frame]));
    sums[key] += value_at(self.values[metric.v], row);
  }
  std::vector<std::pair<std::string, double>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

// A name is data: control characters are spelt out so that a golden stays one line a row.
std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out;
}

std::string number(double value) {
  return fmt::format("{:.10g}", value);
}

}  // namespace

std::vector<std::pair<std::string, double>> self_by_function(const Profile& profile, MetricId metric) {
  return self_by(profile, metric, [&](FunctionId f) { return profile.function_name(f); });
}

std::map<std::string, double> selfs(const Profile& profile, MetricId metric) {
  std::map<std::string, double> out;
  for (const auto& [name, value] : self_by_function(profile, metric)) out[name] = value;
  return out;
}
std::map<std::string, double> selfs(const Profile& profile, std::string_view metric) {
  return selfs(profile, profile.find_metric(metric).value());
}

std::vector<std::pair<std::string, double>> self_by_raw_function(const Profile& profile, MetricId metric) {
  return self_by(profile, metric, [&](FunctionId f) {
    const std::string_view raw = profile.strings()[profile.functions().system_name[f.v]];
    return raw.empty() ? profile.function_name(f) : raw;
  });
}

std::string describe_opened(const Result<OpenedFile>& opened) {
  if (!opened)
    return fmt::format("error {}: {}\n", to_string(opened.error().code), printable(describe(opened.error())));
  std::string out =
      fmt::format("format {}{}\n", opened->decision.format, opened->decision.certain ? "" : " (likely)");
  if (!opened->decision.containers.empty())
    out += fmt::format("in {}\n", fmt::join(opened->decision.containers, ", "));
  for (const ProfilePtr& profile : opened->profiles) {
    const Profile& p = *profile;
    out += fmt::format("profile {}\n", p.info().name.empty() ? "-" : printable(p.info().name));
    out += fmt::format("  {} samples, {} contexts, {} frames, {} functions, {} modules, {} threads\n",
                       p.n_samples(), p.tree().size(), p.frames().size(), p.functions().size(),
                       p.modules().size(), p.threads().size());
    for (std::uint32_t m = 0; m < p.metrics().size(); ++m) {
      const MetricId metric{m};
      out +=
          fmt::format("  {} {} [{}]{}\n", printable(p.metrics()[m].name), number(as_double(p.total(metric))),
                      printable(p.metrics()[m].unit), metric == p.default_metric() ? " default" : "");
      if (p.metrics()[m].saturated) out += "    (a sum was too large and was clamped)\n";
    }
    if (const StatedCosts* stated = p.stated()) {
      const auto n_known = [](const auto& table) {
        return std::count(table.known.begin(), table.known.end(), std::uint8_t{1});
      };
      out += fmt::format("  stated: totals of {} of {} functions, costs of {} of {} calls\n",
                         n_known(stated->functions), stated->functions.size(), n_known(stated->calls),
                         stated->calls.size());
    }
    if (const Timeline* t = p.timeline()) {
      const std::size_t n_waiting = static_cast<std::size_t>(
          std::count(t->samples.state.begin(), t->samples.state.end(), ThreadState::waiting));
      if (n_waiting > 0) out += fmt::format("  {} samples of waiting threads\n", n_waiting);
      if (t->spans.size() + t->markers.size() + t->counters.size() + t->tasks.size() > 0)
        out += fmt::format("  {} spans, {} markers, {} counters with {} points, {} tasks\n", t->spans.size(),
                           t->markers.size(), t->counters.size(), t->counters.n_points(), t->tasks.size());
    }
    const auto top = self_by_function(p, p.default_metric());
    for (std::size_t i = 0; i < std::min<std::size_t>(5, top.size()); ++i)
      out += fmt::format("    {} {}\n", number(top[i].second), printable(top[i].first));
  }
  for (const ReportRow& row : opened->report.rows())
    out +=
        fmt::format("{} {} x{}{}: {}\n", to_string(row.severity), row.kind, row.count,
                    row.first_offset ? fmt::format(" at {}", *row.first_offset) : "", printable(row.message));
  return out;
}

namespace {

std::string broken_timeline(const Profile& p) {
  const Timeline& t = *p.timeline();
  const auto below = [](const Column<std::uint32_t>& ids, std::size_t n) {
    return std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id == kNone || id < n; });
  };
  const std::size_t n_contexts = p.tree().size(), n_threads = p.threads().size(), n_tasks = t.tasks.size();
  if (p.samples() != nullptr && !in_order(t.samples, *p.samples(), 0, p.samples()->size()))
    return "samples are not in order of thread and time";
  if (!in_order(t.spans, 0, t.spans.size())) return "spans are not in order";
  if (!in_order(t.markers, 0, t.markers.size())) return "markers are not in order";
  if (!below(t.spans.context, n_contexts) || !below(t.markers.context, n_contexts) ||
      !below(t.tasks.context, n_contexts))
    return "a context of the timeline is out of range";
  if (!below(t.spans.thread, n_threads) || !below(t.markers.thread, n_threads) ||
      !below(t.counters.thread, n_threads) || !below(t.tasks.thread, n_threads))
    return "a thread of the timeline is out of range";
  if (!below(t.spans.task, n_tasks) || !below(t.tasks.awaits, n_tasks)) return "a task is out of range";
  for (std::size_t i = 0; i < t.spans.size(); ++i)
    if (t.spans.end[i] != kNoTime && t.spans.end[i] < t.spans.begin[i]) return "a span ends before its begin";
  for (std::size_t i = 0; i < t.markers.size(); ++i)
    if (t.markers.end[i] != kNoTime && t.markers.end[i] < t.markers.begin[i])
      return "a marker ends before its begin";
  for (std::size_t i = 0; i < t.counters.size(); ++i)
    if (!std::is_sorted(t.counters.time.begin() + t.counters.first[i],
                        t.counters.time.begin() + t.counters.first[i + 1]))
      return "points of a counter are not in order";
  return {};
}

}  // namespace

std::string broken_invariant(const Profile& p) {
  const ContextTree& tree = p.tree();
  if (!is_well_formed(tree, p.frames().size())) return "the context tree is not well formed";
  for (std::size_t f = 0; f < p.frames().size(); ++f) {
    if (p.frames().function[f].v >= p.functions().size()) return fmt::format("frame {} has no function", f);
    const ModuleId module = p.frames().module[f];
    if (module.valid() && module.v >= p.modules().size())
      return fmt::format("frame {} has a module out of range", f);
  }
  if (p.metrics().empty()) return "no metric";
  if (p.default_metric().v >= p.metrics().size()) return "the default metric is out of range";
  for (std::size_t m = 0; m < p.metrics().size(); ++m) {
    double sum = 0, magnitude = 0;
    for (std::size_t row = 0; row < p.self().contexts.size(); ++row) {
      if (p.self().contexts[row] >= tree.size()) return "a self value belongs to no context";
      sum += value_at(p.self().values[m], row);
      magnitude += std::abs(value_at(p.self().values[m], row));
    }
    if (!p.metrics()[m].saturated && std::abs(sum - as_double(p.total(MetricId{m}))) > 1e-9 * magnitude)
      return fmt::format("the total of metric {} is not the sum of its self values", p.metrics()[m].name);
  }
  if (const SampleTable* samples = p.samples()) {
    for (std::uint32_t c : samples->context)
      if (c >= tree.size()) return "a sample belongs to no context";
    for (std::uint32_t t : samples->thread)
      if (t != kNone && t >= p.threads().size()) return "a sample has a thread out of range";
  }
  if (p.timeline() != nullptr) return broken_timeline(p);
  return {};
}

}  // namespace profd::test

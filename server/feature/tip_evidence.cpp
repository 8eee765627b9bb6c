#include "server/feature/tip_evidence.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/view/beside_samples.h"
#include "server/feature/missing.h"
#include "server/feature/text.h"
#include "server/feature/timed_evidence.h"

namespace profd {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool has_one_of(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

std::uint64_t count_of_report(const ImportReport& report, std::initializer_list<std::string_view> kinds) {
  std::uint64_t n = 0;
  for (const ReportRow& row : report.rows())
    if (std::find(kinds.begin(), kinds.end(), row.kind) != kinds.end()) n += row.count;
  return n;
}

std::string percent(double share) {
  return format_share(Value(share), Value(1.0));
}

std::optional<Evidence> few_samples(const Profile& profile) {
  const auto n = n_samples_of(profile);
  if (!n || *n <= 0) return std::nullopt;
  // A share of a half is within so much, two times of three.
  const double off = std::min(0.5, 0.5 / std::sqrt(*n));
  return Evidence{*n,
                  1,
                  fmt::format("There are {}: a share of 50 % is {} to {} two times of three.",
                              count_of(static_cast<std::uint64_t>(std::llround(*n)), "sample", "samples"),
                              percent(0.5 - off), percent(0.5 + off)),
                  "",
                  {}};
}

std::optional<Evidence> cut_stacks(const Profile& profile, const ImportReport& report) {
  const std::uint64_t n = count_of_report(report, {"truncated-stack", "stack-cut", "cut-stack"});
  if (n == 0 || profile.n_samples() == 0) return std::nullopt;
  const double share = std::min(1.0, static_cast<double>(n) / static_cast<double>(profile.n_samples()));
  return Evidence{share,
                  share,
                  fmt::format("The stacks of {} of {} were cut as they were recorded ({}).", format_count(n),
                              count_of(profile.n_samples(), "sample", "samples"), percent(share)),
                  "",
                  {}};
}

std::optional<Evidence> lost_samples(const Profile& profile, const ImportReport& report) {
  const std::uint64_t n = count_of_report(report, {"lost-samples"});
  if (n == 0) return std::nullopt;
  const double share =
      static_cast<double>(n) / (static_cast<double>(n) + static_cast<double>(profile.n_samples()));
  return Evidence{share,
                  share,
                  fmt::format("{} were lost while they were recorded, {} of all.",
                              count_of(n, "sample", "samples"), percent(share)),
                  "",
                  {}};
}

Result<std::optional<Evidence>> nameless(const PreparedView& view, const StopToken& stop) {
  PROFD_TRY(const std::vector<MissingPart> missing, find_missing(*view.selection, nullptr, stop));
  for (const MissingPart& part : missing) {
    if (part.kind != MissingKind::symbols) continue;
    const double share = view.whole.share(part.amount);
    return std::optional(Evidence{share, share, part.text, part.advice, {}});
  }
  return std::optional<Evidence>();
}

struct ThreadSums {
  std::string name;  // without its number
  double sum = 0;
};

// By thread, what its samples come to; empty where samples have no threads, or some are left out of the view.
std::vector<ThreadSums> sums_of_threads(const Profile& profile, const PreparedView& view) {
  const SampleTable* samples = profile.samples();
  if (samples == nullptr || samples->thread.empty() || !view.selection->rows->filters.empty()) return {};
  const ThreadTable& threads = profile.threads();
  std::vector<ThreadSums> out(threads.size());
  for (std::size_t t = 0; t < out.size(); ++t) {
    std::string name(profile.strings()[threads.name[t]]);
    const std::size_t whole_size = name.size();
    while (!name.empty() &&
           (std::isdigit(static_cast<unsigned char>(name.back())) != 0 || name.back() == '-' ||
            name.back() == '#' || name.back() == ' ' || name.back() == ':' || name.back() == '/'))
      name.pop_back();
    // Only what has a number is one of several that do the same.
    if (name.size() == whole_size) name.clear();
    out[t].name = fmt::format("{}\n{}", threads.pid[t], name);
  }
  std::visit(
      [&](const auto& values) {
        for (std::size_t i = 0; i < samples->size(); ++i)
          if (samples->thread[i] < out.size()) out[samples->thread[i]].sum += static_cast<double>(values[i]);
      },
      samples->values[view.selection->metric().v]);
  return out;
}

std::string name_without_process(const std::string& name) {
  return name.substr(name.find('\n') + 1);
}

// The largest group of threads named alike that do most of the work.
std::optional<Evidence> imbalance(const Profile& profile, const PreparedView& view) {
  constexpr std::size_t kLeastThreads = 3;
  constexpr double kLeastPart = 0.5, kLeastSamples = 20;
  struct Group {
    std::size_t n = 0;
    double sum = 0, most = 0;
  };
  std::map<std::string, Group> groups;
  for (const ThreadSums& thread : sums_of_threads(profile, view)) {
    if (thread.sum <= 0 || name_without_process(thread.name).empty()) continue;
    Group& group = groups[thread.name];
    ++group.n;
    group.sum += thread.sum;
    group.most = std::max(group.most, thread.sum);
  }
  const double total = as_double(view.whole.total);
  for (const auto& [name, group] : groups) {
    if (group.n < kLeastThreads || total <= 0 || group.sum < kLeastPart * total) continue;
    const double n_samples = static_cast<double>(profile.n_samples()) * group.sum / total;
    if (n_samples < kLeastSamples * static_cast<double>(group.n)) continue;
    const double mean = group.sum / static_cast<double>(group.n);
    return Evidence{group.most / mean - 1,
                    (group.most - mean) / total,
                    fmt::format("The busiest of the {} threads {} has {}, the mean is {}.",
                                format_count(group.n), name_without_process(name),
                                view.whole.text(Value(group.most)), view.whole.text(Value(mean))),
                    "",
                    {}};
  }
  return std::nullopt;
}

std::optional<Evidence> one_thread(const Profile& profile, const PreparedView& view) {
  constexpr std::size_t kLeastThreads = 4;
  const std::vector<ThreadSums> threads = sums_of_threads(profile, view);
  std::size_t n = 0;
  double most = 0, sum = 0;
  for (const ThreadSums& thread : threads) {
    if (thread.sum <= 0) continue;
    ++n;
    sum += thread.sum;
    most = std::max(most, thread.sum);
  }
  if (n < kLeastThreads || sum <= 0) return std::nullopt;
  return Evidence{most / sum,
                  0.001,
                  fmt::format("One of {} threads has {} of all.", format_count(n), percent(most / sum)),
                  "",
                  {}};
}

std::optional<Evidence> switches(const Profile& profile) {
  const auto duration = profile.info().duration_ns;
  if (!duration || *duration <= 0) return std::nullopt;
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const std::string name = in_lower_case(profile.metrics()[m].name);
    if (name != "context-switches" && name != "cs" && name != "context_switches") continue;
    const double rate = as_double(profile.total(MetricId(m))) / (static_cast<double>(*duration) / 1e9);
    return Evidence{rate,
                    0.01,
                    fmt::format("{} context switches a second.",
                                format_count(static_cast<std::uint64_t>(std::llround(rate)))),
                    "",
                    {}};
  }
  return std::nullopt;
}

std::optional<std::string> metric_called(const Profile& profile, std::string_view wanted) {
  for (const MetricInfo& metric : profile.metrics()) {
    std::string name = in_lower_case(metric.name);
    if (const auto end = name.find_first_of(":/"); end != name.npos && end > 0) name.resize(end);
    if (name == wanted || name == "cpu-" + std::string(wanted)) return metric.name;
  }
  return std::nullopt;
}

// The function with the most cycles among those that wait.
Result<std::optional<Evidence>> cycles_an_instruction(Views& views, const OpenProfile& open,
                                                      const ViewSpec& spec, const StopToken& stop) {
  constexpr double kLeastPart = 0.05;
  const auto cycles = metric_called(*open.profile, "cycles");
  const auto instructions = metric_called(*open.profile, "instructions");
  if (!cycles || !instructions) return std::optional<Evidence>();
  ViewSpec of_cycles = spec, of_instructions = spec;
  of_cycles.metric = *cycles;
  of_instructions.metric = *instructions;
  of_cycles.granularity = of_instructions.granularity = Granularity::function;
  PROFD_TRY(const SelectionPtr selection, views.selection(open, of_cycles, stop));
  PROFD_TRY(const auto flat, views.flat(open, of_cycles, stop));
  PROFD_TRY(const auto beside, views.flat(open, of_instructions, stop));
  std::map<Key, double> executed;
  for (std::size_t row = 0; row < beside->key.size(); ++row)
    executed[beside->key[row]] = as_double(beside->self[row]);
  const double total = as_double(selection->sums->total);
  std::optional<Evidence> found;
  for (std::size_t row = 0; row < flat->key.size(); ++row) {
    const double part = as_double(flat->self[row]) / total, n = executed[flat->key[row]];
    if (!(part >= kLeastPart) || n <= 0) continue;
    const double cpi = as_double(flat->self[row]) / n;
    if (found && part * cpi <= found->weight * found->amount) continue;
    found = Evidence{cpi, part,
                     fmt::format("{} takes {} cycles an instruction, and {} of all cycles.",
                                 key_name(*open.profile, *selection->boxes->keys, flat->key[row]),
                                 format_ratio(cpi), percent(part)),
                     "", flat->key[row]};
  }
  return found;
}

}  // namespace

bool is_metric(const MetricInfo& metric, TipMetric wanted) {
  const std::string name = in_lower_case(metric.name);
  const bool waits =
      has_one_of(name, {"delay", "contention", "lock", "block", "wait", "off-cpu", "offcpu", "idle"});
  const bool time = metric.unit == "nanoseconds" || metric.unit == "microseconds" ||
                    metric.unit == "milliseconds" || metric.unit == "seconds";
  const bool wall = has_one_of(name, {"wall", "real", "elapsed"}) && (time || metric.unit == "count");
  switch (wanted) {
    case TipMetric::any:
      return true;
    case TipMetric::bytes:
      return metric.unit == "bytes";
    case TipMetric::wall:
      return wall;
    case TipMetric::time:
      break;
  }
  if (waits && !has_one_of(name, {"clock"})) return false;
  return time || has_one_of(name, {"cpu", "sample", "cycles", "ticks", "clock", "itimer", "hits"}) ||
         name == "ir";
}

std::optional<double> n_samples_of(const Profile& profile) {
  for (std::size_t m = 0; m < profile.metrics().size(); ++m) {
    const MetricInfo& metric = profile.metrics()[m];
    if (metric.unit == "count" && has_one_of(in_lower_case(metric.name), {"sample", "hits", "ticks"}))
      return as_double(profile.total(MetricId(m)));
  }
  const std::int64_t period = profile.info().period.value_or(0);
  if (period <= 0) return std::nullopt;
  const MetricId metric = profile.default_metric();
  if (metric.v < profile.metrics().size() &&
      profile.metrics()[metric.v].unit == normalize_unit(profile.info().period_unit))
    return as_double(profile.total(metric)) / static_cast<double>(period);
  return static_cast<double>(profile.n_samples());
}

Result<std::optional<Evidence>> evidence_of(const TipRule& rule, Views& views, const OpenProfile& open,
                                            const ViewSpec& spec, const PreparedView& view,
                                            const ImportReport* report, const StopToken& stop) {
  const Profile& profile = *open.profile;
  switch (rule.evidence) {
    case TipEvidence::few_samples:
      return few_samples(profile);
    case TipEvidence::nameless:
      return nameless(view, stop);
    case TipEvidence::cut_stacks:
      return report == nullptr ? std::nullopt : cut_stacks(profile, *report);
    case TipEvidence::lost_samples:
      return report == nullptr ? std::nullopt : lost_samples(profile, *report);
    case TipEvidence::cpi:
      return cycles_an_instruction(views, open, spec, stop);
    case TipEvidence::switches:
      return switches(profile);
    case TipEvidence::imbalance:
      return imbalance(profile, view);
    case TipEvidence::one_thread:
      return one_thread(profile, view);
    case TipEvidence::lock_step:
      return lock_step(profile, view, stop);
    case TipEvidence::gc_pauses:
      return gc_pauses(profile, stop);
    case TipEvidence::slow_reads:
      return slow_reads(profile, rule.at_least);
    case TipEvidence::runnable:
      return waits_for_processors(views, open, spec, stop);
    case TipEvidence::false_sharing:
      return false_sharing(profile, stop);
    case TipEvidence::work:
    case TipEvidence::self:
      break;
  }
  return std::optional<Evidence>();
}

}  // namespace profd

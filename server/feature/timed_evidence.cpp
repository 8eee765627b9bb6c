#include "server/feature/timed_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/feature/text.h"

namespace profd {
namespace {

std::string share_in_words(double share) {
  return format_share(Value(share), Value(1.0));
}
std::string seconds_in_words(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(std::llround(seconds * 1e9)));
}

constexpr std::size_t kLongestPeriod = 16;

// How many samples of a thread are of the function of 1, 2, ... samples before.
struct Repeats {
  std::array<std::uint32_t, kLongestPeriod> last{};  // of the samples before, by number modulo the longest
  std::array<std::uint64_t, kLongestPeriod + 1> same{};
  std::uint64_t n = 0;

  void add(std::uint32_t function) {
    const std::size_t longest = static_cast<std::size_t>(std::min<std::uint64_t>(n, kLongestPeriod));
    for (std::size_t back = 1; back <= longest; ++back)
      same[back] += last[(n - back) % kLongestPeriod] == function ? 1 : 0;
    last[n % kLongestPeriod] = function;
    ++n;
  }
  [[nodiscard]] double share(std::size_t back) const {
    return static_cast<double>(same[back]) / static_cast<double>(n - back);
  }
};

// By track of a note, when what is noted went on, the pieces that overlap as one.
class Stretches {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    if (end == kNoTime || end <= begin) return;
    ++n_;
    longest_ = std::max(longest_, end - begin);
    // By begin.
    const std::int64_t from = std::max(begin, until_);
    if (end > from) sum_ += static_cast<double>(end - from);
    until_ = std::max(until_, end);
  }
  [[nodiscard]] double sum() const { return sum_; }
  [[nodiscard]] std::int64_t longest() const { return longest_; }
  [[nodiscard]] std::uint64_t n() const { return n_; }

 private:
  std::int64_t until_ = std::numeric_limits<std::int64_t>::min(), longest_ = 0;
  double sum_ = 0;
  std::uint64_t n_ = 0;
};

template <std::size_t N>
std::vector<std::uint8_t> strings_among(const Profile& profile,
                                        const std::array<std::string_view, N>& names) {
  std::vector<std::uint8_t> out(profile.strings().size(), 0);
  for (std::uint32_t id = 0; id < out.size(); ++id)
    out[id] = std::find(names.begin(), names.end(), profile.strings()[StringId(id)]) != names.end() ? 1 : 0;
  return out;
}

// From the first to the last moment that the profile tells of; 0: it tells none.
double recorded_ns(const Profile& profile) {
  if (const auto duration = profile.info().duration_ns; duration && *duration > 0)
    return static_cast<double>(*duration);
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();
  const auto seen = [&](const Column<std::int64_t>& times) {
    for (const std::int64_t time : times) {
      if (time == kNoTime) continue;
      first = std::min(first, time);
      last = std::max(last, time);
    }
  };
  if (profile.samples() != nullptr) seen(profile.samples()->time);
  seen(profile.timeline()->markers.begin);
  seen(profile.timeline()->markers.end);
  return last > first ? static_cast<double>(last) - static_cast<double>(first) : 0;
}

bool speaks_of_sharing(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower.find("sharing") != lower.npos;
}

Result<Value> total_in(Views& views, const OpenProfile& open, ViewSpec spec, std::string_view metric,
                       const StopToken& stop) {
  spec.metric = metric;
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  return selection->sums->total;
}

}  // namespace

Result<std::optional<Evidence>> lock_step(const Profile& profile, const PreparedView& view,
                                          const StopToken& stop) {
  constexpr std::uint64_t kLeastSamples = 100;
  constexpr double kMostJustBefore = 0.5, kEnough = 0.9;
  const SampleTable* const samples = profile.samples();
  // Of a trace the pieces of calls repeat as the program does.
  if (samples == nullptr || samples->time.empty() || profile.timeline() == nullptr ||
      !n_samples_of(profile) || !view.selection->rows->filters.empty())
    return std::optional<Evidence>();
  const ContextTree& tree = profile.tree();
  std::map<std::uint32_t, Repeats> threads;
  Repeats* at = nullptr;
  std::uint32_t at_thread = 0;
  for (std::uint32_t i = 0; i < samples->size(); ++i) {
    if (i % 65'536 == 0) PROFD_CHECK(stop.status());
    const std::uint32_t row = profile.timeline()->samples.row_at(i);
    if (samples->time[row] == kNoTime || samples->context[row] == 0) continue;
    const std::uint32_t thread = value_or(samples->thread, row, kNone);
    if (at == nullptr || thread != at_thread) at = &threads[thread];
    at_thread = thread;
    at->add(profile.frames().function[tree.frame[samples->context[row]]].v);
  }
  std::optional<Evidence> found;
  for (const auto& [thread, repeats] : threads) {
    if (repeats.n < kLeastSamples || repeats.share(1) > kMostJustBefore) continue;
    const double part = static_cast<double>(repeats.n) / static_cast<double>(samples->size());
    if (found && found->weight >= part) continue;
    for (std::size_t back = 2; back <= kLongestPeriod; ++back) {
      if (repeats.share(back) < kEnough) continue;
      const std::string_view name =
          thread < profile.threads().size() ? profile.strings()[profile.threads().name[thread]] : "";
      found = Evidence{repeats.share(back), part,
                       fmt::format("The samples{} repeat every {}: {} of them are in the function of {} "
                                   "samples before.",
                                   name.empty() ? std::string() : fmt::format(" of thread {}", name), back,
                                   share_in_words(repeats.share(back)), back)};
      break;
    }
  }
  return found;
}

Result<std::optional<Evidence>> gc_pauses(const Profile& profile, const StopToken& stop) {
  constexpr std::array<std::string_view, 4> kPauses{"GCPhasePause", "GCMajor", "GCMinor", "GCSlice"};
  if (profile.timeline() == nullptr || profile.timeline()->markers.size() == 0)
    return std::optional<Evidence>();
  const MarkerTable& markers = profile.timeline()->markers;
  const std::vector<std::uint8_t> is_pause = strings_among(profile, kPauses);
  // Each thread of a browser has a collector of its own; the worst is told. Markers are by thread, then
  // begin.
  std::optional<Stretches> most;
  for (std::size_t row = 0; row < markers.size();) {
    const std::uint32_t thread = value_or(markers.thread, row, kNone);
    Stretches here;
    for (; row < markers.size() && value_or(markers.thread, row, kNone) == thread; ++row) {
      if (row % 65'536 == 0) PROFD_CHECK(stop.status());
      if (is_pause[markers.name[row].v] != 0) here.add(markers.begin[row], markers.end[row]);
    }
    if (here.n() > 0 && (!most || here.sum() > most->sum())) most = here;
  }
  const double recorded = recorded_ns(profile);
  if (!most || recorded <= 0) return std::optional<Evidence>();
  const double share = std::min(1.0, most->sum() / recorded);
  return std::optional(
      Evidence{share, share,
               fmt::format("The collector stopped the program for {}, {} of the recording, in {}; the "
                           "longest took {}.",
                           seconds_in_words(most->sum() / 1e9), share_in_words(share),
                           count_of(most->n(), "pause", "pauses"), format_duration_ns(most->longest()))});
}

std::optional<Evidence> slow_reads(const Profile& profile, double slow) {
  constexpr std::array<std::string_view, 2> kReads{"FileRead", "SocketRead"};
  if (profile.timeline() == nullptr || profile.timeline()->markers.size() == 0) return std::nullopt;
  const MarkerTable& markers = profile.timeline()->markers;
  const std::vector<std::uint8_t> is_read = strings_among(profile, kReads);
  std::uint64_t n = 0, n_slow = 0;
  double longest = 0, slow_sum = 0;
  for (std::size_t row = 0; row < markers.size(); ++row) {
    if (is_read[markers.name[row].v] == 0 || markers.end[row] == kNoTime) continue;
    const double seconds = static_cast<double>(markers.end[row] - markers.begin[row]) / 1e9;
    ++n;
    longest = std::max(longest, seconds);
    if (seconds < slow) continue;
    ++n_slow;
    slow_sum += seconds;
  }
  if (n == 0) return std::nullopt;
  const double recorded = recorded_ns(profile) / 1e9;
  return Evidence{longest, recorded > 0 ? std::min(1.0, slow_sum / recorded) * 0.01 : 0.001,
                  fmt::format("The longest of {} took {}; {} took {} or more, {} together.",
                              count_of(n, "read", "reads"), seconds_in_words(longest), format_count(n_slow),
                              seconds_in_words(slow), seconds_in_words(slow_sum))};
}

Result<std::optional<Evidence>> waits_for_processors(Views& views, const OpenProfile& open,
                                                     const ViewSpec& spec, const StopToken& stop) {
  constexpr std::string_view kRunnable = "runnable", kOnCpu = "on-cpu", kWall = "wall";
  const Profile& profile = *open.profile;
  for (const std::string_view metric : {kRunnable, kOnCpu, kWall})
    if (!profile.find_metric(metric)) return std::optional<Evidence>();
  PROFD_TRY(const Value runnable, total_in(views, open, spec, kRunnable, stop));
  PROFD_TRY(const Value running, total_in(views, open, spec, kOnCpu, stop));
  const double could = as_double(runnable) + as_double(running);
  if (!(could > 0)) return std::optional<Evidence>();
  const double share = as_double(runnable) / could;
  const std::string& unit = profile.metrics()[profile.find_metric(kRunnable)->v].unit;
  Evidence out{
      share, share,
      fmt::format("Of {} that threads could run they waited {} for a processor, {}.",
                  format_value(Value(could), unit), format_value(runnable, unit), share_in_words(share))};
  // In the tree of wall time that is what ends in such a frame.
  if (spec.metric == kWall || (spec.metric.empty() && profile.find_metric(kWall) == open.metric)) {
    Filter waits;
    waits.op = FilterOp::keep;
    waits.by = FilterBy::function;
    waits.pattern = "(runnable)";
    ViewSpec kept = spec;
    kept.filters.push_back(waits);
    PROFD_TRY(out.saved, total_in(views, open, kept, kWall, stop));
    out.filter = to_text(waits);
  }
  return std::optional(std::move(out));
}

Result<std::optional<Evidence>> false_sharing(const Profile& profile, const StopToken& stop) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> pairs;  // of contexts
  std::uint64_t n = 0;
  double sum = 0;
  std::string metric;
  for (const AssociationTable& table : profile.associations()) {
    if (!speaks_of_sharing(table.name) || table.contexts.size() != 2 || table.values.empty()) continue;
    metric = table.metrics.front().name;
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (row % 65'536 == 0) PROFD_CHECK(stop.status());
      std::uint32_t one = table.contexts[0][row], other = table.contexts[1][row];
      if (one == kNone || other == kNone) continue;
      // What one thread does to itself costs nobody anything.
      if (!table.threads.empty() && table.threads[0][row] == table.threads[1][row] &&
          table.threads[0][row] != kNone)
        continue;
      if (one > other) std::swap(one, other);
      const double value = std::visit([&](const auto& values) { return static_cast<double>(values[row]); },
                                      table.values.front());
      pairs[{one, other}] += value;
      sum += value;
      ++n;
    }
  }
  if (n == 0 || !(sum > 0)) return std::optional<Evidence>();
  const auto most = std::max_element(pairs.begin(), pairs.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto name_of = [&](std::uint32_t context) {
    const std::uint32_t frame = profile.tree().frame[context];
    return frame == kNone ? std::string("(nobody)")
                          : std::string(profile.function_name(profile.frames().function[frame]));
  };
  return std::optional(Evidence{
      sum, 0.02,
      fmt::format("Two threads were seen at one line of the cache {} times, {} of them in {} and {}.",
                  format_count(static_cast<std::uint64_t>(std::llround(sum))),
                  share_in_words(most->second / sum), name_of(most->first.first),
                  name_of(most->first.second))});
}

}  // namespace profd

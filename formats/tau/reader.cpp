// TAU profiles: files profile.<node>.<context>.<thread>, one folder for each metric when there are several.
// docs/formats/tau.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/text_number.h"
#include "formats/support/text_source.h"
#include "formats/tau/paths.h"
#include "formats/tau/profile_file.h"

namespace profd {
namespace {

using namespace tau;

constexpr std::array<std::string_view, 2> kExtensions{".0.0.0", "profile.0.0.0"};
constexpr ReaderNotes kNotes{
    .versions = "profile.n.c.t, alone or in MULTI__ folders; not tauprofile.xml, not *.ppk",
    .keeps =
        "every metric and calls by call path, rank and thread, files and lines, samples apart; user events "
        "as a second profile",
    .recording = "TAU_CALLPATH=1 TAU_CALLPATH_DEPTH=100 tau_exec ./app",
    .verified =
        "hatchet's total of one folder, sums over single files; several metrics and samples: only hand-made "
        "files",
};

struct Place {
  std::string folder, file;  // "MULTI__TIME/", "profile.0.0.0"
  std::int64_t node = 0, context = 0, thread = 0;
};

std::optional<Place> parse_name(std::string_view path) {
  Place place;
  const std::size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) {
    place.folder = path.substr(0, slash + 1);
    if (!place.folder.starts_with("MULTI__") || place.folder.find('/') + 1 != place.folder.size()) return {};
    path.remove_prefix(slash + 1);
  }
  place.file = path;
  if (!path.starts_with("profile.")) return {};
  path.remove_prefix(8);
  for (std::int64_t* number : {&place.node, &place.context, &place.thread}) {
    const std::size_t dot = std::min(path.find('.'), path.size());
    if (!parse_int(path.substr(0, dot), *number) || *number < 0) return {};
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  if (!path.empty()) return {};
  return place;
}

std::string unit_of(std::string_view metric) {
  return metric == "TIME" || metric.find("_TIME") != std::string_view::npos || metric == "GET_TIME_OF_DAY"
             ? "microseconds"
             : "count";
}

// A thread's file of one metric.
struct Input {
  Place place;
  ByteSource source;
  DecodedText text;
  ProfileFile file;
};

class Building {
 public:
  Building(std::vector<Input> inputs, ReadContext& context) : inputs_(std::move(inputs)), context_(context) {}

  Result<void> run(std::vector<ProfileBuilder>& profiles) {
    declare();
    Paths paths(builder_);
    // Files of one thread stand next to each other, one for each metric.
    for (std::size_t first = 0, last; first < inputs_.size(); first = last) {
      for (last = first; last < inputs_.size() && same_thread(first, last);) ++last;
      PROFD_CHECK(add_thread(paths, first, last));
    }
    state(paths);
    report();
    describe(builder_, "");
    profiles.push_back(std::move(builder_));
    add_events(profiles);
    return {};
  }

 private:
  bool same_thread(std::size_t a, std::size_t b) const {
    const Place &x = inputs_[a].place, &y = inputs_[b].place;
    return x.node == y.node && x.context == y.context && x.thread == y.thread;
  }

  void declare() {
    for (const Input& input : inputs_) {
      const std::string& name = input.file.metric;
      if (std::find(metrics_.begin(), metrics_.end(), name) == metrics_.end()) metrics_.push_back(name);
      for (const Timer& timer : input.file.timers)
        any_sampled_ |= timer.name.find("[SAMPLE]") != std::string_view::npos;
    }
    const auto time = std::find_if(metrics_.begin(), metrics_.end(),
                                   [](const std::string& name) { return unit_of(name) == "microseconds"; });
    const auto best =
        time == metrics_.end() ? std::size_t{0} : static_cast<std::size_t>(time - metrics_.begin());
    for (const std::string& metric : metrics_) builder_.add_metric(metric, unit_of(metric), true);
    if (any_sampled_)
      for (const std::string& metric : metrics_)
        builder_.add_metric(metric + " sampled", unit_of(metric), true);
    builder_.add_metric("calls", "count", true);
    builder_.set_default_metric(MetricId{best});
  }

  ThreadId thread_of(const Place& place, ProfileBuilder& builder) const {
    ThreadSpec thread;
    thread.pid = place.node;
    thread.tid = place.thread;
    const std::string process = fmt::format("node {}", place.node);
    const std::string name = place.context == 0
                                 ? fmt::format("thread {}", place.thread)
                                 : fmt::format("context {} thread {}", place.context, place.thread);
    thread.process_name = process;
    thread.name = name;
    return builder.thread(thread);
  }

  struct Row {
    ContextId context;
    std::string groups;
    std::vector<double> values;
  };

  Result<void> add_thread(Paths& paths, std::size_t first, std::size_t last) {
    std::vector<Row> rows;
    std::unordered_map<std::uint32_t, std::size_t> by_context;
    const std::size_t n_values = builder_.n_metrics();
    for (std::size_t i = first; i < last; ++i) {
      const ProfileFile& file = inputs_[i].file;
      const auto metric = static_cast<std::size_t>(std::find(metrics_.begin(), metrics_.end(), file.metric) -
                                                   metrics_.begin());
      const std::vector<Placed> placed = paths.place(file.timers, n_detached_);
      double flat = 0, assigned = 0;
      for (std::size_t t = 0; t < placed.size(); ++t) {
        if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
        const Timer& timer = file.timers[t];
        remember(placed[t], metric, timer.inclusive);
        const bool is_flat = timer.name.find(" => ") == std::string_view::npos;
        if (is_flat && !timer.name.starts_with('[') &&
            timer.groups.find("TAU_PARAM") == std::string_view::npos)
          flat += timer.exclusive;
        if (placed[t].kind == TimerKind::duplicate) continue;
        const auto [found, added] = by_context.emplace(placed[t].context.v, rows.size());
        if (added)
          rows.push_back({placed[t].context, plain_groups(timer.groups), std::vector<double>(n_values, 0)});
        std::vector<double>& values = rows[found->second].values;
        const bool sampled = placed[t].kind == TimerKind::sampled;
        values[sampled ? metrics_.size() + metric : metric] += timer.exclusive;
        if (!sampled) assigned += timer.exclusive;
        if (i == first && !sampled) values.back() += timer.calls;
      }
      if (std::abs(flat - assigned) > 1e-6 * std::max(flat, assigned)) {
        ++n_differs_;
        if (differs_.empty())
          differs_ = fmt::format("Call paths add up to {} of {}, the flat lines to {} (first: {}).", assigned,
                                 file.metric, flat, inputs_[i].place.file);
      }
    }
    SampleContext where;
    where.thread = thread_of(inputs_[first].place, builder_);
    const StringId key = builder_.string("group");
    for (const Row& row : rows) {
      where.labels = LabelSetId{0u};
      if (!row.groups.empty()) {
        const Label label{key, false, builder_.string(row.groups)};
        where.labels = builder_.label_set(std::span(&label, 1));
      }
      builder_.add_sample(row.context, std::span<const double>(row.values), where);
    }
    return {};
  }

  // What is stated of a function or a call, over all threads.
  struct Stated {
    FrameId caller, function;
    std::vector<double> totals;  // by metric
    std::vector<std::uint8_t> known;
  };

  void remember(const Placed& placed, std::size_t metric, double inclusive) {
    if (!placed.function.valid()) return;
    const std::uint64_t key = std::uint64_t{placed.caller.v} << 32 | placed.function.v;
    const auto [found, added] = stated_row_.emplace(key, stated_.size());
    if (added)
      stated_.push_back({placed.caller, placed.function, std::vector<double>(metrics_.size(), 0),
                         std::vector<std::uint8_t>(metrics_.size(), 0)});
    stated_[found->second].totals[metric] += inclusive;
    stated_[found->second].known[metric] = 1;
  }

  // Paths that are whole say everything. Without paths, or with the ends of paths, the inclusive values of
  // functions and calls are more than the stacks that can be made of them.
  void state(const Paths& paths) {
    if (paths.any() && !paths.any_cut()) return;
    std::vector<MetricId> metrics;
    for (std::size_t m = 0; m < metrics_.size(); ++m) metrics.emplace_back(m);
    builder_.state_costs(std::move(metrics));
    for (const Stated& row : stated_) {
      const bool known = std::find(row.known.begin(), row.known.end(), 0) == row.known.end();
      const std::vector<Value> totals(row.totals.begin(), known ? row.totals.end() : row.totals.begin());
      if (row.caller.valid())
        builder_.state_call(row.caller, row.function, totals);
      else
        builder_.state_function(row.function, totals);
    }
  }

  void report() {
    if (n_detached_ > 0)
      context_.report.add(
          "path-without-caller", Severity::info,
          "Call paths begin below the root, as the depth of paths was limited, and what called "
          "them is not certain; they stand at the root.",
          std::nullopt, n_detached_);
    if (n_differs_ > 0)
      context_.report.add("total-differs", Severity::loss, differs_, std::nullopt, n_differs_);
  }

  void describe(ProfileBuilder& builder, std::string name) {
    ProfileInfo& info = builder.info();
    info.format = "tau";
    info.producer = "TAU";
    info.name = std::move(name);
    if (inputs_.empty()) return;
    for (const auto& [key, value] : inputs_.front().file.metadata) {
      if (key == "Executable") info.program = value;
      std::int64_t us = 0;
      if (key == "Starting Timestamp" && parse_int(value, us) && us > 0 && us < INT64_MAX / 1000)
        info.time_ns = us * 1000;
      if (key != "Metric Name") info.properties.emplace_back(key, value);
    }
  }

  // Events are no times: a profile of their own, what they were counted in above them.
  void add_events(std::vector<ProfileBuilder>& profiles) {
    ProfileBuilder builder;
    const MetricId n_events = builder.add_metric("events", "count", true);
    builder.add_metric("sum", "", true);
    builder.set_default_metric(n_events);
    Paths paths(builder);
    std::uint64_t n_added = 0;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (i > 0 && same_thread(i - 1, i)) continue;  // every metric's folder repeats them
      const std::vector<UserEvent>& events = inputs_[i].file.events;
      std::unordered_map<std::string_view, bool> with_context;
      for (const UserEvent& event : events)
        if (const std::size_t colon = event.name.rfind(" : "); colon != std::string_view::npos)
          with_context[event.name.substr(0, colon)] = true;
      SampleContext where;
      where.thread = thread_of(inputs_[i].place, builder);
      for (const UserEvent& event : events) {
        const std::size_t colon = event.name.rfind(" : ");
        // Marks of minima and maxima, and sums over the contexts.
        if (event.name.starts_with("[GROUP=") ||
            (colon == std::string_view::npos && with_context.contains(event.name)))
          continue;
        const std::string_view path =
            colon == std::string_view::npos ? std::string_view() : event.name.substr(colon + 3);
        const std::array<double, 2> values{event.n, event.n * event.mean};
        builder.add_sample(paths.event(path, event.name.substr(0, std::min(colon, event.name.size()))),
                           std::span<const double>(values), where);
        ++n_added;
      }
    }
    if (n_added == 0) return;
    describe(builder, "user events");
    profiles.push_back(std::move(builder));
  }

  std::vector<Input> inputs_;
  ReadContext& context_;
  ProfileBuilder builder_;
  std::vector<std::string> metrics_;
  std::vector<Stated> stated_;
  std::unordered_map<std::uint64_t, std::size_t> stated_row_;  // by caller and function
  bool any_sampled_ = false;
  std::uint64_t n_detached_ = 0, n_differs_ = 0;
  std::string differs_;
};

class TauReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"tau", "TAU profile", kExtensions, 822, "TAU", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    return is_profile(text) ? Confidence::certain : Confidence::no;
  }

  Confidence sniff_folder(const Folder& folder) const override {
    for (const std::string& file : folder.files()) {
      if (!parse_name(file)) continue;
      const auto source = folder.open(file);
      return source && is_profile(source->text()) ? Confidence::certain : Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    std::vector<Input> inputs(1);
    const std::string& name = source.name();
    if (const auto place = parse_name(std::string_view(name).substr(name.rfind('/') + 1)))
      inputs[0].place = *place;
    inputs[0].source = source;
    PROFD_CHECK(parse(inputs[0], context));
    return Building(std::move(inputs), context).run(profiles);
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    std::vector<Input> inputs;
    for (const std::string& file : folder.files()) {
      const auto place = parse_name(file);
      if (!place) {
        context.report.add(
            "other-file", Severity::info,
            fmt::format("Files of the folder are no TAU profiles and were not read, the first is {}.", file));
        continue;
      }
      Input& input = inputs.emplace_back();
      input.place = *place;
      PROFD_CHECK(context.stop.status());
      PROFD_TRY(input.source, folder.open(file));
      if (auto parsed = parse(input, context); !parsed) {
        Error error = std::move(parsed).error();
        error.where.push_back(error.offset ? fmt::format("{} at byte {}", file, *error.offset) : file);
        error.offset.reset();
        return tl::unexpected<Error>(std::move(error));
      }
    }
    // A file at the top beside folders of metrics is left from an earlier run.
    const bool multi =
        std::any_of(inputs.begin(), inputs.end(), [](const Input& i) { return !i.place.folder.empty(); });
    if (multi) {
      const auto stale =
          std::remove_if(inputs.begin(), inputs.end(), [](const Input& i) { return i.place.folder.empty(); });
      if (stale != inputs.end())
        context.report.add("stale-file", Severity::loss,
                           "Profiles beside folders of metrics were left out: they belong to another run.",
                           std::nullopt, static_cast<std::uint64_t>(inputs.end() - stale));
      inputs.erase(stale, inputs.end());
    }
    std::stable_sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) {
      return std::tie(a.place.node, a.place.context, a.place.thread) <
             std::tie(b.place.node, b.place.context, b.place.thread);
    });
    return Building(std::move(inputs), context).run(profiles);
  }

 private:
  static Result<void> parse(Input& input, ReadContext& context) {
    input.text = decode_text(input.source);
    PROFD_TRY(input.file, parse_profile(input.text.text, context));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_tau_reader() {
  return std::make_unique<TauReader>();
}

}  // namespace profd

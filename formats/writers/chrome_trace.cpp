// Chrome trace events: a begin and an end of every call as far as samples that follow each other show it.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kChromeTraceExtensions{".trace.json", ".chrome.json"};

class ChromeTraceWriting {
 public:
  ChromeTraceWriting(const Profile& profile, MetricId metric, const WriteOptions& options,
                     const ByteSink& sink)
      : profile_(profile),
        metric_(metric),
        scale_(nanoseconds_per(profile.metrics()[metric.v].unit)),
        out_(sink, options.stop),
        rows_(profile) {}

  Result<void> run(LossReport& losses) {
    std::vector<std::vector<std::uint32_t>> by_thread(profile_.threads().size() + 1);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Measurement row = rows_[i];
      const double value = as_double(rows_.value(i, metric_));
      n_negative_ += value < 0;
      n_without_time_ += value > 0 && !row.time;
      if (value <= 0 || !row.time) continue;
      by_thread[row.thread < profile_.threads().size() ? row.thread : profile_.threads().size()].push_back(
          static_cast<std::uint32_t>(i));
    }
    out_.put("{\"traceEvents\":[");
    for (std::size_t t = 0; t < by_thread.size(); ++t) {
      if (by_thread[t].empty()) continue;
      name_thread(t);
      write_thread(by_thread[t]);
    }
    out_.put("\n],\"displayTimeUnit\":\"ns\"}\n");
    count_loss(losses, "no-time", "Samples without a time are not written.", n_without_time_);
    count_loss(losses, "negative", "Negative values cannot be written.", n_negative_);
    count_loss(losses, "overlap", "Samples of a thread overlap; each ends where the next begins.",
               n_overlaps_);
    return out_.finish();
  }

 private:
  void name_thread(std::size_t t) {
    pid_ = 1;
    tid_ = static_cast<std::int64_t>(t) + 1;
    std::string_view name, process;
    if (t < profile_.threads().size()) {
      const ThreadTable& threads = profile_.threads();
      if (threads.pid[t] >= 0) pid_ = threads.pid[t];
      if (threads.tid[t] >= 0) tid_ = threads.tid[t];
      name = text_of(profile_, threads.name[t]);
      process = text_of(profile_, threads.process_name[t]);
    }
    if (!name.empty()) metadata("thread_name", name);
    if (!process.empty()) metadata("process_name", process);
  }

  void begin_event(char phase) {
    out_.put(first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"");
    first_ = false;
    out_.put(phase);
    out_.put("\",\"pid\":");
    out_.number(pid_);
    out_.put(",\"tid\":");
    out_.number(tid_);
  }

  void metadata(std::string_view what, std::string_view name) {
    begin_event('M');
    out_.key("name");
    out_.json(what);
    out_.put(",\"args\":{\"name\":");
    out_.json(name);
    out_.put("}}");
  }

  void time(std::int64_t ns) {
    out_.put(",\"ts\":");
    if (ns < 0) {
      out_.put('-');
      ns = ns == std::numeric_limits<std::int64_t>::min() ? std::numeric_limits<std::int64_t>::max() : -ns;
    }
    out_.number(ns / 1000);
    out_.put('.');
    out_.put(static_cast<char>('0' + ns % 1000 / 100));
    out_.put(static_cast<char>('0' + ns % 100 / 10));
    out_.put(static_cast<char>('0' + ns % 10));
  }

  // Begin and end carry the same name and arguments: some readers match them by these.
  void event(char phase, std::uint32_t frame, std::int64_t at) {
    begin_event(phase);
    time(at);
    out_.key("name");
    out_.json(name_of(profile_, frame));
    const std::string_view file = file_of(profile_, frame);
    if (!file.empty() || profile_.frames().line[frame] != 0) {
      out_.put(",\"args\":{\"file\":");
      out_.json(file);
      out_.put(",\"line\":");
      out_.number(std::uint64_t{profile_.frames().line[frame]});
      out_.put('}');
    }
    out_.put('}');
  }

  std::int64_t length(std::size_t row) const { return multiplied(rows_.value(row, metric_), scale_); }

  void write_thread(std::vector<std::uint32_t>& rows) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return *rows_[a].time < *rows_[b].time; });
    std::vector<std::uint32_t> open, path;
    std::int64_t end = 0;
    for (std::size_t k = 0; k < rows.size() && !out_.failed(); ++k) {
      const std::int64_t at = *rows_[rows[k]].time;
      std::int64_t until;
      if (__builtin_add_overflow(at, length(rows[k]), &until))
        until = std::numeric_limits<std::int64_t>::max();
      if (k + 1 < rows.size() && until > *rows_[rows[k + 1]].time) {
        until = *rows_[rows[k + 1]].time;
        ++n_overlaps_;
      }
      writers::path_of(profile_, rows_[rows[k]].context, path);
      std::size_t shared = 0;
      // What goes on without a gap is the same call.
      if (k > 0 && at == end)
        while (shared < open.size() && shared < path.size() && open[shared] == path[shared]) ++shared;
      for (; open.size() > shared; open.pop_back()) event('E', open.back(), end);
      for (; open.size() < path.size(); open.push_back(path[open.size()])) event('B', path[open.size()], at);
      end = until;
    }
    for (; !open.empty(); open.pop_back()) event('E', open.back(), end);
  }

  const Profile& profile_;
  MetricId metric_;
  std::int64_t scale_;
  Output out_;
  Measurements rows_;
  bool first_ = true;
  std::int64_t pid_ = 1, tid_ = 1;
  std::uint64_t n_negative_ = 0, n_overlaps_ = 0, n_without_time_ = 0;
};

class ChromeTraceWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"chrome-trace",
                                 "Chrome trace events",
                                 kChromeTraceExtensions,
                                 "application/json",
                                 true,
                                 "one metric of time, of profiles whose samples have times; threads"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    const SampleTable* samples = profile.samples();
    if (samples == nullptr || samples->time.empty() || !is_time_unit(profile.metrics()[metric.v].unit))
      return fail(
          ErrorCode::unsupported,
          "a trace needs samples with times and a metric of time, and the profile does not have them");
    report_losses(profiles, 1, {.lines = true, .threads = true, .times = true}, losses);
    return ChromeTraceWriting(profile, metric, options, sink).run(losses);
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_chrome_trace_writer() {
  return std::make_unique<ChromeTraceWriter>();
}

}  // namespace profd

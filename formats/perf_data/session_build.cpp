// The end of a session: metrics, samples, what the recording says about itself, what was lost.
#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/perf_data/session.h"
#include "formats/support/perf_event_state.h"

namespace profd::perf_data {
namespace {

constexpr std::size_t kMaxMetrics = 128;
constexpr std::size_t kMaxCells = std::size_t{1} << 28;

}  // namespace

// Names stand in descriptions by id or, when those have none, by place.
void Session::name_events() {
  for (std::size_t i = 0; i < features_.events.size(); ++i) {
    const EventDescription& description = features_.events[i];
    if (description.name.empty()) continue;
    std::size_t row = i;
    if (!description.ids.empty()) {
      const auto found = event_by_id_.find(description.ids.front());
      if (found != event_by_id_.end()) row = found->second;
    }
    if (row < events_.size() && events_[row].name.empty()) events_[row].name = description.name;
  }
  for (Event& event : events_) {
    if (event.name.empty()) event.name = default_name(event.attr);
  }
}

void Session::describe(std::int64_t first_time, std::int64_t last_time) {
  ProfileInfo& info = builder_.info();
  info.producer = features_.version.empty() ? "perf" : "perf " + features_.version;
  info.properties = features_.properties;
  if (!images_.kernel_symbol_name().empty()) {
    info.properties.emplace_back("kernel " + images_.kernel_symbol_name(),
                                 fmt::format("{:#x}", images_.kernel_symbol_address()));
  }
  for (const auto& [file, identity] : images_.identities())
    if (identity.inode != 0)
      info.properties.emplace_back(std::string(kFileIdentityKey) + file, identity_text(identity));
  if (last_time == SampleRow::kNoTime) return;
  info.duration_ns = last_time - first_time;
  if (!features_.clock) return;
  // Both readings are of this recording: nothing that makes sense overflows.
  const std::uint64_t start =
      features_.clock->wall + (static_cast<std::uint64_t>(first_time) - features_.clock->recording);
  if (start <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    info.time_ns = static_cast<std::int64_t>(start);
}

Result<void> Session::build() {
  PROFD_CHECK(unwind());
  context_.looked_around = context_.looked_around || !copies_.repeatable();
  name_events();
  std::vector<std::uint64_t> n_of_event(events_.size());
  std::int64_t first_time = std::numeric_limits<std::int64_t>::max(), last_time = SampleRow::kNoTime;
  std::uint64_t n_samples = 0;
  for (const SampleRow& row : rows_) {
    ++n_of_event[row.event];
    n_samples += !row.again;
    if (row.time == SampleRow::kNoTime) continue;
    first_time = std::min(first_time, row.time);
    last_time = std::max(last_time, row.time);
  }
  // Events of one name are one metric, as everywhere in perf.
  std::vector<std::size_t> column(events_.size());
  std::vector<std::string> names;
  std::size_t first_event = events_.size();
  for (std::size_t e = 0; e < events_.size(); ++e) {
    if (n_of_event[e] == 0) continue;
    first_event = std::min(first_event, e);
    const auto known = std::find(names.begin(), names.end(), events_[e].name);
    column[e] = static_cast<std::size_t>(known - names.begin());
    if (known != names.end()) continue;
    if (names.size() == kMaxMetrics)
      return fail(ErrorCode::limit, fmt::format("more than {} events have samples", kMaxMetrics));
    names.push_back(events_[e].name);
    builder_.add_metric(names.back(), unit_of(events_[e].attr, names.back()));
  }
  const std::size_t samples_column = names.size();
  builder_.add_metric("samples", "count");
  builder_.set_default_metric(MetricId{0u});
  PROFD_TRY(
      const bool has_states,
      scheduling_.prepare(names.size() + 1,
                          kMaxCells - std::min(kMaxCells, rows_.size() * (names.size() + 1 + kNWaitMetrics)),
                          context_.report));
  if (has_states) scheduling_.declare(builder_, names);
  if (rows_.size() > kMaxCells / (names.size() + 1))
    return fail(ErrorCode::limit,
                fmt::format("{} samples of {} events are more than is kept", rows_.size(), names.size()));

  describe(first_time, last_time);
  if (first_event < events_.size()) {
    const Event& event = events_[first_event];
    if (!event.attr.frequency() && event.attr.sample_period != 0 &&
        event.attr.sample_period <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      builder_.info().period = static_cast<std::int64_t>(event.attr.sample_period);
      builder_.info().period_type = event.name;
      builder_.info().period_unit = std::string(unit_of(event.attr, event.name));
    } else if (event.attr.frequency()) {
      builder_.info().properties.emplace_back("frequency", fmt::format("{} Hz", event.attr.sample_period));
    }
  }
  std::vector<ThreadState> states;
  for (const Event& event : events_) states.push_back(perf_event_state(event.name));
  std::vector<std::int64_t> values(builder_.n_metrics());
  for (const SampleRow& row : rows_) {
    values[column[row.event]] = row.value;
    values[samples_column] = row.again ? 0 : 1;
    SampleContext where;
    where.thread = row.thread;
    where.labels = row.labels;
    if (row.time != SampleRow::kNoTime) {
      where.time = row.time - first_time;
      where.state = states[row.event];
    }
    builder_.add_sample(row.context, values, where);
    values[column[row.event]] = 0;
  }
  builder_.set_n_samples(n_samples);
  if (has_states)
    PROFD_CHECK(scheduling_.write(
        builder_, first_time, [this](std::uint32_t row) { return rows_[row].context; },
        [this](std::uint32_t tid, std::string_view name) { return wait_task(tid, name); }, context_.report,
        context_.stop));
  report();
  return {};
}

void Session::report() {
  const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                       const Counter& counter) {
    context_.report.add(kind, severity, message, counter.first, counter.n);
  };
  row("malformed-record", Severity::loss, "records whose fields do not fit were not read", malformed_);
  row("unknown-event", Severity::loss, "samples of events that the file does not describe were not read",
      unknown_event_);
  row("unknown-record", Severity::info, "records of unknown kinds were skipped", unknown_record_);
  row("simpleperf-record", Severity::loss,
      "records that only simpleperf writes were not read: report-sample --protobuf gives symbols and stacks",
      simpleperf_);
  row("lost-records", Severity::loss, "records were lost while recording: the buffer was full", lost_);
  row("lost-samples", Severity::loss, "samples were lost while recording", lost_samples_);
  row("throttled", Severity::info, "times the kernel paused an event that took too many samples", throttled_);
  row("user-stack", Severity::loss,
      "samples with a copy of the user stack (--call-graph dwarf): it is not unwound, callers in user space "
      "are missing",
      stacks_);
  copies_.report();
  builder_.set_branches(std::move(branch_stacks_).finish(context_.report));
  row("deferred-callchain", Severity::loss, "user call chains that were recorded later were not read",
      deferred_);
  row("raw-data", Severity::info, "samples with the fields of a tracepoint, which were not read", raw_);
  row("memory-data", Severity::info,
      "samples with a data address, weight or data source, which were not read", memory_);
  row("hardware-trace", Severity::loss,
      "records of a hardware trace (Intel PT, CoreSight, …) were not decoded", hardware_trace_);
  row("context-switch", Severity::info,
      "records of context switches that say no thread or no time were not read", switches_);
  row("no-stack", Severity::info, "samples without an address are counted to their process", no_stack_);
  row("period-missing", Severity::loss, "samples without a period were counted as 1", no_period_);
  context_.report.add("unmapped-address", Severity::info,
                      "addresses that no memory map covers are shown as [unknown]", std::nullopt,
                      images_.n_unmapped());
}

}  // namespace profd::perf_data

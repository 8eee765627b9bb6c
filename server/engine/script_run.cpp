#include "server/engine/script_run.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "core/model/context_metrics.h"
#include "core/model/rewrite.h"
#include "core/support/account.h"
#include "server/platform/process.h"
#include "server/platform/worker_process.h"
#include "workers/shared_columns.h"

namespace profd {
namespace {

using ScriptClock = std::chrono::steady_clock;

constexpr const char* kScriptRunner = "profd-script";
// How often somebody who waits for a script is looked after.
constexpr std::chrono::milliseconds kLookAroundForScript{20};

template <class T>
void add_column(worker::SharedColumnsWriter& to, std::string_view name, const Column<T>& column) {
  to.add(name, column.span());
}

void add_values(worker::SharedColumnsWriter& to, const std::string& table, std::size_t metric,
                const ValueColumn& values) {
  const char kind = std::holds_alternative<Column<std::int64_t>>(values) ? 'i' : 'd';
  std::visit([&](const auto& column) { to.add(fmt::format("{}.{}.{}", table, kind, metric), column.span()); },
             values);
}

worker::SharedColumnsWriter columns_of(const Profile& profile) {
  worker::SharedColumnsWriter out;
  add_column(out, "strings.at", profile.strings().offsets());
  add_column(out, "strings.bytes", profile.strings().bytes());
  add_column(out, "module.name", profile.modules().name);
  add_column(out, "function.name", profile.functions().name);
  add_column(out, "function.file", profile.functions().file);
  add_column(out, "function.line", profile.functions().start_line);
  add_column(out, "frame.function", profile.frames().function);
  add_column(out, "frame.module", profile.frames().module);
  add_column(out, "frame.file", profile.frames().file);
  add_column(out, "frame.line", profile.frames().line);
  add_column(out, "frame.kind", profile.frames().kind);
  add_column(out, "context.parent", profile.tree().parent);
  add_column(out, "context.frame", profile.tree().frame);
  add_column(out, "context.end", profile.tree().subtree_end);
  add_column(out, "self.at", profile.self().contexts);
  const std::size_t n_metrics = profile.metrics().size();
  for (std::size_t m = 0; m < n_metrics; ++m) add_values(out, "self", m, profile.self().values[m]);
  if (const SampleTable* const samples = profile.samples(); samples != nullptr && samples->size() > 0) {
    add_column(out, "sample.context", samples->context);
    add_column(out, "sample.thread", samples->thread);
    add_column(out, "sample.labels", samples->label_set);
    add_column(out, "sample.time", samples->time);
    for (std::size_t m = 0; m < n_metrics; ++m) add_values(out, "sample", m, samples->values[m]);
  }
  add_column(out, "thread.name", profile.threads().name);
  add_column(out, "thread.process", profile.threads().process_name);
  add_column(out, "thread.tid", profile.threads().tid);
  add_column(out, "thread.pid", profile.threads().pid);
  add_column(out, "label.first", profile.labels().first);
  add_column(out, "label.key", profile.labels().key);
  add_column(out, "label.text", profile.labels().text);
  add_column(out, "label.number", profile.labels().number);
  add_column(out, "label.is_number", profile.labels().is_number);
  for (std::size_t t = 0; t < profile.associations().size(); ++t) {
    const AssociationTable& table = profile.associations()[t];
    const std::string prefix = fmt::format("records.{}", t);
    for (std::size_t r = 0; r < table.contexts.size(); ++r)
      out.add(fmt::format("{}.{}", prefix, r), table.contexts[r].span());
    for (std::size_t m = 0; m < table.metrics.size(); ++m) add_values(out, prefix, m, table.values[m]);
  }
  return out;
}

worker::ScriptProfile about(const ScriptInput& input) {
  const Profile& profile = *input.profile;
  worker::ScriptProfile out;
  out.name = input.name;
  out.program = profile.info().program;
  if (const auto duration = profile.info().duration_ns; duration && *duration > 0)
    out.duration_ns = static_cast<std::uint64_t>(*duration);
  out.metric = profile.default_metric().v;
  for (const MetricInfo& metric : profile.metrics()) {
    out.metric_names.push_back(metric.name);
    out.metric_units.push_back(metric.unit);
  }
  for (const AssociationTable& table : profile.associations()) {
    worker::ScriptRecords& records = out.records.emplace_back();
    records.name = table.name;
    records.roles = table.roles;
    for (const MetricInfo& metric : table.metrics) records.metrics.push_back(metric.name);
  }
  return out;
}

WorkerLimits limits_of(const std::vector<ScriptInput>& inputs, std::chrono::milliseconds patience) {
  std::size_t n_nodes = 0;
  for (const ScriptInput& input : inputs) n_nodes += input.profile->tree().size();
  WorkerLimits limits;
  limits.memory = worker::kScriptHeap + worker::kScriptMemory +
                  n_nodes * (worker::kScriptHeapOfNode + worker::kScriptMemoryOfNode);
  limits.address_space += limits.memory;
  limits.cpu_s = static_cast<unsigned>(patience.count() / 1000) + 1;
  limits.files = 16 + static_cast<unsigned>(inputs.size());
  return limits;
}

// Memory that the system holds for this run, on the account of who asked for it.
class Charged {
 public:
  void add(std::size_t bytes) {
    charge(bytes);
    bytes_ += bytes;
  }
  Charged() = default;
  Charged(const Charged&) = delete;
  Charged& operator=(const Charged&) = delete;
  ~Charged() { uncharge(bytes_); }

 private:
  std::size_t bytes_ = 0;
};

class ScriptConversation {
 public:
  ScriptConversation(const std::vector<ScriptInput>& inputs, const ScriptMeans& means, StopToken stop)
      : inputs_(inputs), means_(means), stop_(std::move(stop)) {}

  Result<ScriptOutcome> run(const worker::ScriptRun& script) && {
    const WorkerLimits limits = limits_of(inputs_, means_.patience);
    auto process = WorkerProcess::start(means_.program, limits);
    if (!process)
      return fail(ErrorCode::io,
                  fmt::format("{} cannot be started: {}", kScriptRunner, process.error().message));
    process_.emplace(std::move(*process));
    const ScriptClock::time_point began = ScriptClock::now();
    deadline_ = began + means_.patience;
    for (const ScriptInput& input : inputs_) PROFD_CHECK(send_profile(input));
    send(worker::ScriptOrder(script), {});
    while (!done_) {
      PROFD_TRY(const bool there, wait());
      if (there) PROFD_CHECK(take());
    }
    process_->kill();
    out_.took = ScriptClock::now() - began;
    if (out_.error.empty()) PROFD_CHECK(apply());
    return std::move(out_);
  }

 private:
  void give_up(std::string why) {
    out_.error = std::move(why);
    done_ = true;
  }

  Result<void> send_profile(const ScriptInput& input) {
    const worker::SharedColumnsWriter columns = columns_of(*input.profile);
    charged_.add(columns.bytes());
    PROFD_TRY(const UniqueFd file, columns.write());
    send(worker::ScriptOrder(about(input)), {file.get()});
    return {};
  }

  void send(const worker::ScriptOrder& order, const std::vector<int>& files) {
    if (done_) return;
    if (!process_->send(worker::encode(order), files, deadline_)) lost();
  }

  void over_time() {
    give_up(fmt::format("the script took more than {:g} s and was ended",
                        static_cast<double>(means_.patience.count()) / 1000));
  }

  void lost() {
    if (ScriptClock::now() >= deadline_) return over_time();
    const std::string how = process_->end();
    give_up(how.empty() ? "the script's process ended without a word" : "the script's process " + how);
  }

  Result<bool> wait() {
    PROFD_CHECK(stop_.status());
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - ScriptClock::now());
    pollfd fd{process_->socket(), POLLIN, 0};
    ::poll(&fd, 1,
           static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), kLookAroundForScript).count()));
    if (fd.revents != 0) return true;
    if (ScriptClock::now() >= deadline_) over_time();
    return false;
  }

  Result<void> take() {
    auto frame = process_->receive(deadline_);
    if (!frame) {
      lost();
      return {};
    }
    PROFD_TRY(worker::ScriptReport report, worker::decode_script_report(frame->bytes));
    if (const auto* hello = std::get_if<worker::ScriptHello>(&report)) {
      if (hello->version != PROFD_VERSION)
        return fail(ErrorCode::io, fmt::format("{} is of another version than profd", kScriptRunner));
    } else if (auto* edits = std::get_if<ContextEdits>(&report)) {
      edits_ = std::move(*edits);
    } else if (auto* metric = std::get_if<worker::ScriptMetric>(&report)) {
      take_metric(std::move(*metric));
    } else if (auto* table = std::get_if<worker::ScriptTable>(&report)) {
      if (out_.tables.size() < worker::kMaxScriptTables) out_.tables.push_back(std::move(*table));
    } else if (auto* notes = std::get_if<worker::ScriptNotes>(&report)) {
      out_.notes = std::move(notes->notes);
    } else {
      auto& end = std::get<worker::ScriptDone>(report);
      out_.text = std::move(end.text);
      out_.text_left = end.text_left;
      out_.notes_left = end.notes_left;
      out_.line = end.line;
      out_.error = std::move(end.error);
      done_ = true;
    }
    return {};
  }

  void take_metric(worker::ScriptMetric piece) {
    const std::size_t n = inputs_.front().profile->tree().size();
    if (metrics_.empty() || metrics_.back().name != piece.name) {
      if (metrics_.size() == worker::kMaxScriptMetrics) return give_up("the script adds too many metrics");
      metrics_.push_back({std::move(piece.name), std::move(piece.unit), std::move(piece.values)});
    } else {
      std::vector<double>& self = metrics_.back().self;
      self.insert(self.end(), piece.values.begin(), piece.values.end());
    }
    if (metrics_.back().self.size() > n)
      give_up("a metric of the script has more values than there are nodes");
  }

  Result<void> apply() {
    ProfilePtr profile = inputs_.front().profile;
    if (!metrics_.empty()) {
      auto with = with_context_metrics(profile, metrics_);
      if (!with) return refused(with.error());
      profile = std::move(*with);
    }
    if (!edits_.empty()) {
      auto edited = edit_contexts(*profile, edits_, stop_);
      if (!edited) return refused(edited.error());
      profile = std::move(*edited);
    }
    if (profile != inputs_.front().profile) out_.profile = std::move(profile);
    return {};
  }

  // What the script asked for makes no sense: its error, not the daemon's.
  Result<void> refused(const Error& error) {
    if (error.code != ErrorCode::invalid && error.code != ErrorCode::unsupported)
      return tl::unexpected<Error>(error);
    out_.error = error.message;
    out_.line = 0;
    return {};
  }

  const std::vector<ScriptInput>& inputs_;
  const ScriptMeans& means_;
  StopToken stop_;
  Charged charged_;
  std::optional<WorkerProcess> process_;
  FrameDeadline deadline_;
  ContextEdits edits_;
  std::vector<ContextMetric> metrics_;
  ScriptOutcome out_;
  bool done_ = false;
};

}  // namespace

std::string script_runner_path() {
  const auto own = own_executable();
  return own ? (std::filesystem::path(*own).parent_path() / kScriptRunner).string()
             : std::string(kScriptRunner);
}

Result<ScriptOutcome> run_script(const worker::ScriptRun& script, const std::vector<ScriptInput>& inputs,
                                 const ScriptMeans& means, StopToken stop) {
  if (inputs.empty()) return fail(ErrorCode::invalid, "a script is of one profile at least");
  for (const ScriptInput& input : inputs)
    if (input.profile->metrics().empty())
      return fail(ErrorCode::invalid, fmt::format("{} has no metric", input.name));
  return ScriptConversation(inputs, means, std::move(stop)).run(script);
}

}  // namespace profd

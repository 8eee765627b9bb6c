#include "server/engine/sampled_stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/live/message_writer.h"
#include "core/support/hash.h"
#include "server/engine/live_names.h"

namespace profd {
namespace {

using live::MessageType;
using live::MessageWriter;

constexpr std::string_view kAgent = "profd, by samples";
constexpr std::string_view kAllThreads = "all threads";
constexpr std::uint64_t kTicksPerSecond = 1'000'000'000;

std::uint64_t unix_now() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

double value_at(const ValueColumn& column, std::size_t row) {
  return std::visit([row](const auto& values) { return static_cast<double>(values[row]); }, column);
}

bool is_nanoseconds(const MetricInfo& metric) {
  return metric.unit == "nanoseconds";
}

// What is shown as time: that of the profile's own choice, else any.
Result<MetricId> metric_of_time(const Profile& profile) {
  const MetricId own = profile.default_metric();
  const MetricInfo& metric = profile.metrics()[own.v];
  if (metric.unit == "bytes" || metric.name == "delay" || metric.name == "contentions")
    return fail(ErrorCode::invalid,
                fmt::format("it measures `{}`, no time of a program: live is what runs. Open it as a profile",
                            metric.name));
  if (is_nanoseconds(metric)) return own;
  for (const std::string_view name : {"cpu", "wall", "time"})
    for (std::uint32_t i = 0; i < profile.metrics().size(); ++i)
      if (profile.metrics()[i].name == name && is_nanoseconds(profile.metrics()[i])) return MetricId{i};
  return own;
}

bool measures_processors(const Profile& profile, const MetricInfo& metric) {
  return metric.name.find("cpu") != std::string::npos ||
         metric.name.find("task-clock") != std::string::npos || profile.info().format == "perf-data" ||
         profile.info().format == "jfr";
}

std::uint64_t period_of(const Profile& profile) {
  const ProfileInfo& info = profile.info();
  if (!info.period || *info.period <= 0 || normalize_unit(info.period_unit) != "nanoseconds") return 0;
  return static_cast<std::uint64_t>(*info.period);
}

std::uint64_t whole(double value) {
  return value <= 0 ? 0 : static_cast<std::uint64_t>(value + 0.5);
}

}  // namespace

std::int64_t SampledStream::time_of(std::chrono::steady_clock::time_point at) const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at - since_).count();
}

void SampledStream::begin(std::string& out, const SampleBatch& batch, const SampleSource& source) {
  begun_ = true;
  since_ = batch.from;
  MessageWriter hello;
  hello.raw(live::kStreamMagic).number(live::kOldestStreamVersion).number(live::kStreamVersion);
  hello.number(source.pid).text(source.language).text(source.program).text(kAgent);
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(0, time_of(batch.to)));
  hello.number(kTicksPerSecond).number(0).number(unix_now() - length).number(0);
  hello.to(out, MessageType::hello);
}

std::uint32_t SampledStream::thread_of(std::string& out, const Profile& profile, std::uint32_t row,
                                       const SampleSource& source) {
  std::string name, key;
  std::uint64_t os_id = 0;
  if (row < profile.threads().size()) {
    const ThreadTable& threads = profile.threads();
    name = profile.strings()[threads.name[row]];
    if (name.empty()) name = profile.strings()[threads.process_name[row]];
    if (threads.tid[row] > 0) os_id = static_cast<std::uint64_t>(threads.tid[row]);
    if (name.empty() && os_id != 0) name = fmt::format("thread {}", os_id);
    key = fmt::format("{}/{}/{}", threads.pid[row], os_id, name);
  }
  if (name.empty()) {
    name = source.thread.empty() ? kAllThreads : std::string_view(source.thread);
    key = name;
  }
  const auto found = threads_.find(key);
  if (found != threads_.end()) return found->second.number;
  std::uint32_t number = n_threads_ + 1;
  if (free_.empty()) {
    ++n_threads_;
  } else {
    number = free_.back();
    free_.pop_back();
  }
  threads_.emplace(std::move(key), Thread{number, 0});
  MessageWriter thread;
  thread.number(number).number(os_id).text(name).number(0);
  thread.to(out, MessageType::thread);
  return number;
}

std::uint32_t SampledStream::method_of(std::string& out, const Profile& profile, std::uint32_t frame) {
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  const std::uint32_t function = frames.function[frame].v;
  const std::string_view name = profile.function_name(FunctionId{function});
  if (name == "(idle)") return 0;
  std::string_view file = profile.strings()[functions.file[function]];
  if (file.empty()) file = profile.strings()[frames.file[frame]];
  const std::uint32_t line = functions.start_line[function];
  std::string key = fmt::format("{}\n{}\n{}", name, file, line);
  const auto found = methods_.find(key);
  if (found != methods_.end()) return found->second;
  const auto id = static_cast<std::uint32_t>(methods_.size() + 1);
  // The session counts what is beyond the limit.
  if (id >= live::kMaxMethods) return live::kMaxMethods;
  methods_.emplace(std::move(key), id);
  const ModuleId module = frames.module[frame];
  const LiveNameParts parts = live_name_parts(
      name, module.valid() ? std::string_view(profile.strings()[profile.modules().name[module.v]]) : "", file,
      line);
  MessageWriter entry;
  entry.number(id).text(parts.package).text(parts.class_name).text(parts.method).text(name).text(file);
  entry.number(line).number(0).number(0);
  entry.to(out, MessageType::dict);
  return id;
}

void SampledStream::learn_contexts(std::string& out, const Profile& profile) {
  const ContextTree& tree = profile.tree();
  std::vector<std::uint32_t> of_frames(profile.frames().size(), live::kMaxMethods + 1);
  methods_of_contexts_.assign(tree.size(), 0);
  paths_.assign(tree.size(), 0);
  for (std::uint32_t context = 1; context < tree.size(); ++context) {
    std::uint32_t& method = of_frames[tree.frame[context]];
    if (method > live::kMaxMethods) method = method_of(out, profile, tree.frame[context]);
    methods_of_contexts_[context] = method;
    const std::uint64_t above = paths_[tree.parent[context]];
    paths_[context] = method == 0 ? above : hash_combine(above + 1, method);
  }
}

SampledStream::Stacks SampledStream::stacks_of(std::string& out, const Profile& profile,
                                               const SampleSource& source) {
  Stacks stacks;
  const auto counts = profile.find_metric("samples");
  const std::uint64_t period = source.period_ns != 0 ? source.period_ns : period_of(profile);
  std::vector<std::uint32_t> threads(profile.threads().size() + 1);  // by row, the last: none
  auto add = [&](std::uint32_t context, std::uint32_t row, double weight, double count) {
    std::uint32_t& thread = threads[std::min<std::size_t>(row, threads.size() - 1)];
    if (thread == 0) thread = thread_of(out, profile, row, source);
    Stack& stack = stacks[hash_combine(paths_[context], thread)];
    stack.thread = thread;
    stack.context = context;
    stack.weight += weight;
    stack.count += count;
  };
  auto count_of_row = [&](const std::vector<ValueColumn>& values, std::size_t row, double weight, bool one) {
    if (counts) return value_at(values[counts->v], row);
    if (one) return 1.0;
    if (!is_time_) return weight;
    return period == 0 ? 1.0 : weight / static_cast<double>(period);
  };
  if (const SampleTable* samples = profile.samples()) {
    for (std::size_t row = 0; row < samples->size(); ++row) {
      const double weight = value_at(samples->values[metric_.v], row);
      add(samples->context[row], value_or(samples->thread, row, kNoThread), weight,
          count_of_row(samples->values, row, weight, true));
    }
  } else {
    const SelfTable& self = profile.self();
    for (std::size_t row = 0; row < self.contexts.size(); ++row) {
      const double weight = value_at(self.values[metric_.v], row);
      add(self.contexts[row], kNoThread, weight, count_of_row(self.values, row, weight, false));
    }
  }
  return stacks;
}

void SampledStream::write_stacks(std::string& out, const Profile& profile, const Stacks& stacks,
                                 std::int64_t from, std::int64_t to) {
  const auto length = static_cast<double>(to - from);
  std::unordered_map<std::uint32_t, double> sums;  // by thread
  double all = 0;
  for (const auto& [key, stack] : stacks) {
    if (stack.weight <= 0) continue;
    sums[stack.thread] += stack.weight;
    all += stack.weight;
  }
  std::vector<std::uint64_t> path;
  for (const auto& [key, stack] : stacks) {
    if (stack.weight <= 0) continue;
    // More than one processor's time is shared out; what is no time is a share of all samples.
    const double sum = sums[stack.thread];
    const double scale = !is_time_ ? length / all : sum > length ? length / sum : 1.0;
    path.clear();
    for (std::uint32_t at = stack.context; at != 0; at = profile.tree().parent[at])
      if (methods_of_contexts_[at] != 0) path.push_back(methods_of_contexts_[at]);
    MessageWriter sampled;
    sampled.number(stack.thread)
        .number(static_cast<std::uint64_t>(from))
        .number(static_cast<std::uint64_t>(to));
    sampled.number(whole(stack.weight * scale)).number(whole(stack.count));
    for (auto id = path.rbegin(); id != path.rend(); ++id) sampled.number(*id);
    sampled.to(out, MessageType::sampled);
  }
  for (auto& [key, thread] : threads_) {
    const auto sum = sums.find(thread.number);
    if (sum != sums.end()) thread.seen = to;
    if (!only_running_) continue;
    // Nobody saw it: it waited.
    const double busy = sum == sums.end() ? 0 : is_time_ ? sum->second : sum->second * length / all;
    MessageWriter rest;
    rest.number(thread.number)
        .number(static_cast<std::uint64_t>(from))
        .number(static_cast<std::uint64_t>(to));
    rest.number(whole(length - busy)).number(0);
    rest.to(out, MessageType::sampled);
  }
}

void SampledStream::end_threads(std::string& out, std::int64_t now) {
  const std::int64_t gone = std::chrono::nanoseconds(kThreadGone).count();
  for (auto at = threads_.begin(); at != threads_.end();) {
    if (now - at->second.seen <= gone) {
      ++at;
      continue;
    }
    MessageWriter end;
    end.number(at->second.number).number(static_cast<std::uint64_t>(now));
    end.to(out, MessageType::thread_end);
    free_.push_back(at->second.number);
    at = threads_.erase(at);
  }
}

Result<void> SampledStream::add_profile(std::string& out, const Profile& profile, const SampleBatch& batch,
                                        const SampleSource& source, std::int64_t from, std::int64_t to) {
  PROFD_TRY(metric_, metric_of_time(profile));
  is_time_ = is_nanoseconds(profile.metrics()[metric_.v]);
  only_running_ = measures_processors(profile, profile.metrics()[metric_.v]);
  learn_contexts(out, profile);
  Stacks stacks = stacks_of(out, profile, source);
  say_how(out, profile, source);
  if (!batch.cumulative) {
    write_stacks(out, profile, stacks, from, to);
    return {};
  }
  Stacks since = stacks;
  bool less = batch.anew;
  for (auto& [key, stack] : since)
    if (const auto there = before_.find(key); there != before_.end()) {
      stack.weight -= there->second.weight;
      stack.count -= there->second.count;
      less = less || stack.weight < 0;
    }
  // Less than before: it was begun anew, and all of it is new. What was there at first is nobody's time.
  if (has_before_) write_stacks(out, profile, less ? stacks : since, from, to);
  before_ = std::move(stacks);
  has_before_ = true;
  return {};
}

Result<std::string> SampledStream::add(const SampleBatch& batch, const SampleSource& source) {
  std::string out;
  if (!begun_) begin(out, batch, source);
  const std::int64_t from = std::max(told_, time_of(batch.from));
  const std::int64_t to = std::max(from, time_of(batch.to));
  if (batch.profile && to > from) {
    PROFD_CHECK(add_profile(out, *batch.profile, batch, source, from, to));
    for (const ThreadProfile& other : batch.others) {
      SampleSource of_thread = source;
      of_thread.thread = other.thread;
      PROFD_CHECK(add_profile(out, *other.profile, batch, of_thread, from, to));
    }
  }
  end_threads(out, to);
  told_ = to;
  MessageWriter tick;
  tick.number(static_cast<std::uint64_t>(to)).number(0).number(0);
  tick.to(out, MessageType::tick);
  return out;
}

void SampledStream::say_how(std::string& out, const Profile& profile, const SampleSource& source) {
  const bool known = profile.samples() != nullptr && !profile.samples()->thread.empty();
  std::uint64_t flags = 0;
  if (!known && source.thread.empty())
    flags |= static_cast<std::uint64_t>(live::SamplingFlag::threads_unknown);
  if (only_running_) flags |= static_cast<std::uint64_t>(live::SamplingFlag::processor_time);
  // Once; a profile without samples does not tell what others have.
  if (said_ && (flags == flags_ || profile.self().contexts.empty())) return;
  said_ = true;
  flags_ = flags;
  std::string text = source.text;
  if (!is_time_) text += "; shares are of all samples, which say no time";
  MessageWriter sampling;
  sampling.text(text).number(source.period_ns != 0 ? source.period_ns : period_of(profile)).number(flags);
  sampling.to(out, MessageType::sampling);
}

std::string SampledStream::end(std::string_view reason) const {
  std::string out;
  if (!begun_) return out;
  MessageWriter bye;
  bye.number(static_cast<std::uint64_t>(told_)).number(0).number(0).text(reason);
  bye.to(out, MessageType::bye);
  return out;
}

}  // namespace profd

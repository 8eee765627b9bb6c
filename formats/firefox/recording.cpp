#include "formats/firefox/recording.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/text_number.h"

namespace profd::firefox {
namespace {

// Which metric a value belongs to; -1: the file has none of it.
struct Metrics {
  int n = 0;
  int samples = -1, time = -1, cpu = -1, bytes = -1;
  int js_bytes = -1, native_bytes = -1, native_count = -1, freed_bytes = -1, freed_count = -1,
      kept_bytes = -1;
};

// "4242", and "4242.1" for a number that was used again.
std::int64_t whole_part(std::string_view text) {
  std::int64_t value = -1;
  return parse_int(text.substr(0, text.find('.')), value) ? value : -1;
}

std::string process_text(const Thread& thread) {
  const bool told =
      thread.pid.empty() || (whole_part(thread.pid) >= 0 && thread.pid.find('.') == std::string::npos);
  return told ? thread.process_name : thread.process_name + " [" + thread.pid + "]";
}

ThreadId thread_id(const Thread& thread, ProfileBuilder& builder) {
  ThreadSpec spec;
  spec.tid = whole_part(thread.tid);
  spec.pid = whole_part(thread.pid);
  std::string name = thread.name;
  // Threads that only this tells apart.
  if (!thread.tid.empty() && (spec.tid < 0 || thread.tid.find('.') != std::string::npos))
    name += " [" + thread.tid + "]";
  spec.name = name;
  const std::string process = process_text(thread);
  spec.process_name = process;
  return builder.thread(spec);
}

class Adding {
 public:
  Adding(Recording& recording, ReadContext& context) : r_(recording), context_(context) {}

  Result<void> run() {
    declare();
    for (const LabelSetId labels : r_.idle_labels) {
      if (idle_.size() <= labels.v) idle_.resize(labels.v + 1);
      idle_[labels.v] = true;
    }
    if (m_.n == 0)
      return fail(ErrorCode::malformed, "no thread of the profile has a sample or an allocation");
    values_.assign(static_cast<std::size_t>(m_.n), 0);
    const Indices nothing;
    for (Thread& thread : r_.threads) {
      PROFD_CHECK(samples(thread));
      thread.samples = {};
      if (thread.js_allocations) PROFD_CHECK(allocations(thread, *thread.js_allocations, false));
      if (thread.native_allocations) PROFD_CHECK(allocations(thread, *thread.native_allocations, true));
      if (!thread.markers.empty())
        thread.markers.add_to(r_.builder, thread_id(thread, r_.builder),
                              thread.stacks != nullptr ? thread.stacks->context : nothing, thread.offset,
                              r_.markers);
      thread.markers = {};
      thread.stacks.reset();
    }
    add_counters();
    report();
    return {};
  }

 private:
  void add_counters() {
    // The first name that a thread gives its process, by the process's number.
    std::unordered_map<std::string, std::string> processes;
    for (const Thread& thread : r_.threads)
      if (!thread.process_name.empty()) processes.try_emplace(thread.pid, thread.process_name);
    std::unordered_set<CounterId> known;
    for (const Counter& counter : r_.counters) {
      const auto found = processes.find(counter.pid);
      add_counter(counter,
                  found == processes.end() ? counter.pid : fmt::format("{} ({})", found->second, counter.pid),
                  known, r_.builder);
    }
  }

  void declare() {
    bool counted = false, timed = false, cpu = false, bytes = false, js = false, native = false,
         balanced = false;
    for (const Thread& thread : r_.threads) {
      const Samples& s = thread.samples;
      if (!s.stack.empty()) {
        counted |= s.weight_type != WeightType::bytes;
        timed |= s.weight_type == WeightType::tracing_ms ||
                 (s.weight_type == WeightType::samples && r_.interval_ns > 0);
        bytes |= s.weight_type == WeightType::bytes;
        cpu |= !s.cpu.empty();
      }
      js |= thread.js_allocations && !thread.js_allocations->stack.empty();
      native |= thread.native_allocations && !thread.native_allocations->stack.empty();
      balanced |= thread.native_allocations && !thread.native_allocations->address.empty();
    }
    const auto add = [&](bool wanted, int& slot, std::string_view name, std::string_view unit) {
      if (!wanted) return;
      slot = m_.n++;
      r_.builder.add_metric(name, unit);
    };
    add(counted, m_.samples, "samples", "count");
    add(timed, m_.time, "time", "nanoseconds");
    if (r_.cpu_unit == CpuUnit::cycles)
      add(cpu, m_.cpu, "cpu_cycles", "cycles");
    else
      add(cpu && r_.cpu_unit != CpuUnit::none, m_.cpu, "cpu", "nanoseconds");
    add(bytes, m_.bytes, "size", "bytes");
    add(js, m_.js_bytes, "js_alloc_space", "bytes");
    add(native, m_.native_bytes, "alloc_space", "bytes");
    add(native, m_.native_count, "alloc_objects", "count");
    add(native, m_.freed_bytes, "free_space", "bytes");
    add(native, m_.freed_count, "free_objects", "count");
    add(native && balanced, m_.kept_bytes, "inuse_space", "bytes");
    if (m_.time >= 0) r_.builder.set_default_metric(MetricId{static_cast<std::uint32_t>(m_.time)});
  }

  void set(int metric, std::int64_t value) {
    if (metric >= 0) values_[static_cast<std::size_t>(metric)] = value;
  }

  Result<void> samples(const Thread& thread) {
    const Samples& s = thread.samples;
    if (s.stack.empty()) return {};
    SampleContext where;
    where.thread = thread_id(thread, r_.builder);
    const std::int64_t cpu_scale = r_.cpu_unit == CpuUnit::microseconds ? 1000 : 1;
    for (std::size_t i = 0; i < s.stack.size(); ++i) {
      if ((i & 4095) == 4095) PROFD_CHECK(context_.stop.status());
      const std::uint32_t stack = s.stack[i];
      if (stack == kNone) {
        ++n_without_stack_;
        continue;
      }
      PROFD_CHECK(check(thread, stack));
      std::fill(values_.begin(), values_.end(), 0);
      const std::int64_t weight = s.weight.empty() ? 1 : at(s.weight, i);
      switch (s.weight_type) {
        case WeightType::samples: {
          set(m_.samples, weight);
          std::int64_t time = 0;
          if (mul_overflows(weight, r_.interval_ns, time)) ++n_overflows_;
          set(m_.time, time);
          break;
        }
        case WeightType::tracing_ms:
          set(m_.samples, 1);
          set(m_.time, weight);
          break;
        case WeightType::bytes:
          set(m_.bytes, weight);
          break;
      }
      std::int64_t cpu = 0;
      if (mul_overflows(at(s.cpu, i), cpu_scale, cpu)) ++n_overflows_;
      set(m_.cpu, cpu);
      add(thread, stack, at_time(thread, at(s.time, i)), where, running(*thread.stacks, stack));
    }
    return {};
  }

  Result<void> allocations(const Thread& thread, const Allocations& a, bool native) {
    SampleContext where;
    where.thread = thread_id(thread, r_.builder);
    // Allocations whose memory is freed in the recording. Addresses can be used again.
    std::vector<bool> freed(a.stack.size(), false);
    if (native && !a.address.empty()) {
      std::unordered_map<std::int64_t, std::size_t> live;
      for (std::size_t i = 0; i < a.stack.size(); ++i) {
        if (at(a.weight, i) >= 0) {
          live[at(a.address, i)] = i;
        } else if (const auto found = live.find(at(a.address, i)); found != live.end()) {
          freed[found->second] = true;
          live.erase(found);
        }
      }
    }
    for (std::size_t i = 0; i < a.stack.size(); ++i) {
      if ((i & 4095) == 4095) PROFD_CHECK(context_.stop.status());
      const std::uint32_t stack = a.stack[i];
      if (stack == kNone) {
        ++n_without_stack_;
        continue;
      }
      PROFD_CHECK(check(thread, stack));
      std::fill(values_.begin(), values_.end(), 0);
      const std::int64_t weight = at(a.weight, i);
      if (!native) {
        set(m_.js_bytes, weight);
      } else if (weight >= 0) {
        set(m_.native_bytes, weight);
        set(m_.native_count, 1);
        if (!freed[i]) set(m_.kept_bytes, weight);
      } else {
        set(m_.freed_bytes, weight == std::numeric_limits<std::int64_t>::min() ? 0 : -weight);
        set(m_.freed_count, 1);
      }
      add(thread, stack, at_time(thread, at(a.time, i)), where, ContextId{thread.stacks->context[stack]});
    }
    return {};
  }

  static std::int64_t at_time(const Thread& thread, std::int64_t time) {
    add_saturating(time, thread.offset);
    return time;
  }

  Result<void> check(const Thread& thread, std::uint32_t stack) const {
    if (thread.stacks != nullptr && stack < thread.stacks->context.size()) return {};
    return fail(
        ErrorCode::malformed,
        fmt::format("a sample of thread {} names stack {}, which is not in the file", thread.name, stack));
  }

  ContextId running(const Stacks& stacks, std::uint32_t stack) {
    if (stacks.leaf.empty() || stacks.leaf[stack] == kNone) return ContextId{stacks.context[stack]};
    return r_.builder.context(ContextId{stacks.above[stack]},
                              r_.builder.frame(stacks.bare[stacks.leaf[stack]]));
  }

  void add(const Thread& thread, std::uint32_t stack, std::int64_t time, SampleContext& where,
           ContextId context) {
    where.time = time;
    where.labels = LabelSetId{thread.stacks->labels[stack]};
    where.state = is_idle(where.labels) ? ThreadState::waiting : ThreadState::unknown;
    r_.builder.add_sample(context, values_, where);
  }

  bool is_idle(LabelSetId labels) const { return labels.v < idle_.size() && idle_[labels.v]; }

  void report() {
    ImportReport& out = context_.report;
    const auto row = [&](std::string_view kind, Severity severity, std::string_view sentence,
                         std::uint64_t n) {
      if (n > 0) out.add(kind, severity, sentence, std::nullopt, n);
    };
    row("sample-without-stack", Severity::info,
        "Samples without a stack (nothing ran, or it is not known) are left out.", n_without_stack_);
    row("value-too-large", Severity::loss, "Values that do not fit 64 bits were dropped.", n_overflows_);
    row("marker-without-start", Severity::loss, "Ends of markers that never began were dropped.",
        r_.markers.n_unmatched_ends);
    row("marker-without-time", Severity::loss, "Markers without a time were dropped.",
        r_.markers.n_without_time);
    row("marker-stack", Severity::info, "Stacks that markers hold as whole threads are not read.",
        r_.markers.n_stacks);
    row("marker-field", Severity::info, "Fields of markers that are lists, long or nested are not read.",
        r_.fields.n_left_out());
    row("rounded-time", Severity::info, "Times were rounded to whole nanoseconds.", r_.roundings.n_times);
    row("rounded-weight", Severity::loss, "Fractional weights were rounded.", r_.roundings.n_weights);
  }

  Recording& r_;
  ReadContext& context_;
  Metrics m_;
  std::vector<std::int64_t> values_;
  std::vector<bool> idle_;  // by label set
  std::uint64_t n_without_stack_ = 0, n_overflows_ = 0;
};

}  // namespace

Result<void> link(Stacks& stacks, const std::vector<LabelSetId>& category_labels, std::uint32_t max_depth,
                  ProfileBuilder& builder) {
  const std::size_t n = stacks.stack_frame.size();
  stacks.prefix.resize(n, kNone);
  BigVector<std::uint32_t> depth(n, 1);
  std::vector<bool> calls;
  if (!stacks.bare.empty()) {
    calls.resize(n);
    for (const std::uint32_t prefix : stacks.prefix)
      if (prefix < n) calls[prefix] = true;
    stacks.above.resize(n, kNone);
    stacks.leaf.resize(n, kNone);
  }
  // What a stack becomes takes the place of what it was: big tables stand in memory once.
  Indices& context = stacks.prefix;
  Indices& labels = stacks.stack_frame;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t frame = stacks.stack_frame[i], prefix = stacks.prefix[i];
    if (frame >= stacks.frame.size())
      return fail(ErrorCode::malformed, fmt::format("stack {} has a frame that is not in the file", i),
                  stacks.place);
    if (prefix != kNone && prefix >= i)
      return fail(ErrorCode::malformed, fmt::format("stack {} stands before its caller", i), stacks.place);
    if (prefix != kNone) depth[i] = depth[prefix] + 1;
    if (depth[i] > max_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", stacks.place);
    const ContextId above = prefix == kNone ? kRootContext : ContextId{context[prefix]};
    // A frame that stands for the root itself.
    FrameId made = stacks.frame[frame];
    if (!calls.empty() && stacks.bare[frame].address != 0) {
      FrameSpec spec = stacks.bare[frame];
      spec.is_return = calls[i];
      made = builder.frame(spec);
      if (calls[i]) {
        stacks.above[i] = above.v;
        stacks.leaf[i] = frame;
      }
    }
    context[i] = made.valid() ? builder.context(above, made).v : above.v;
    std::uint32_t category = at(stacks.stack_category, i);
    if (category == kNone) category = at(stacks.frame_category, frame);
    if (category < category_labels.size())
      labels[i] = category_labels[category].v;
    else
      labels[i] = prefix == kNone ? 0u : labels[prefix];
  }
  stacks.context = std::move(stacks.prefix);
  stacks.labels = std::move(stacks.stack_frame);
  stacks.frame = {};
  stacks.frame_category = {};
  stacks.stack_category = {};
  return {};
}

Result<void> add_samples(Recording& recording, ReadContext& context) {
  return Adding(recording, context).run();
}

bool is_address(std::string_view name) {
  std::uint64_t address = 0;
  return name.starts_with("0x") && parse_hex(name, address);
}

FrameKind kind_of_category(std::string_view category, std::string_view subcategory, bool is_js) {
  if (category == "Kernel") return FrameKind::kernel;
  if (category == "GC / CC") return FrameKind::gc;
  if (!is_js) return FrameKind::native;
  return subcategory.find("Interpreter") != std::string_view::npos ? FrameKind::interpreted : FrameKind::jit;
}

}  // namespace profd::firefox

#include "formats/chrome_trace/cpu_samples.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/support/gc_on_stack.h"
#include "formats/support/v8_frame.h"

namespace profd::chrome_trace {

bool CpuSamples::is_part(std::string_view event_name) {
  return event_name == "ProfileChunk" || event_name == "Profile" || event_name == "CpuProfile";
}

Result<void> CpuSamples::take(const Event& event, std::uint32_t thread, JsonCursor in, ReadCounts& counts) {
  const std::string key = fmt::format("{} {} {} {}", event.pid.number, event.pid.word,
                                      event.name == "CpuProfile" ? event.tid.number : 0, event.id);
  const auto [at, is_new] = recording_of_.try_emplace(key, static_cast<std::uint32_t>(recordings_.size()));
  if (is_new) recordings_.emplace_back();
  Recording& recording = recordings_[at->second];
  // Chunks are sent by another thread than the one that was sampled.
  if (event.name != "ProfileChunk" || recording.thread == kNone) recording.thread = thread;
  Chunk chunk;
  chunk.time = event.time.value_or(0);
  chunk.recording = at->second;
  chunk.first_sample = samples_.size();
  chunk.first_delta = deltas_.size();
  chunk.first_line = lines_.size();
  chunk.first_column = columns_.size();
  chunk.place = in.offset();
  std::string_view name;
  for (in.begin_object(); in.next_key(name);) {
    if (name == "data" && in.kind() == JsonKind::object)
      read_data(in, at->second, chunk, counts);
    else
      in.skip();
  }
  chunk.n_samples = samples_.size() - chunk.first_sample;
  chunk.n_deltas = deltas_.size() - chunk.first_delta;
  chunk.n_lines = lines_.size() - chunk.first_line;
  chunk.n_columns = columns_.size() - chunk.first_column;
  PROFD_CHECK(in.status());
  chunks_.push_back(chunk);
  return {};
}

// At args.data, or at the cpuProfile object inside it: both can hold every member.
void CpuSamples::read_data(JsonCursor& in, std::uint32_t at, Chunk& chunk, ReadCounts& counts) {
  Recording& recording = recordings_[at];
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    if (key == "cpuProfile" && kind == JsonKind::object && in.depth() < 100) {
      read_data(in, at, chunk, counts);
    } else if (key == "nodes" && kind == JsonKind::array) {
      read_nodes(in, recording);
    } else if (key == "samples" && kind == JsonKind::array) {
      for (in.begin_array(); in.next_element();) samples_.push_back(in.integer());
    } else if (key == "timeDeltas" && kind == JsonKind::array) {
      for (in.begin_array(); in.next_element();) deltas_.push_back(read_microseconds(in, counts).value_or(0));
    } else if ((key == "lines" || key == "columns") && kind == JsonKind::array) {
      std::vector<std::uint32_t>& places = key == "lines" ? lines_ : columns_;
      for (in.begin_array(); in.next_element();) {
        const std::int64_t place = in.integer();
        places.push_back(place > 0 && place < kNone ? static_cast<std::uint32_t>(place) : 0);
      }
    } else if (key == "startTime" && kind == JsonKind::number) {
      recording.start = read_microseconds(in, counts);
    } else if (key == "endTime" && kind == JsonKind::number) {
      recording.end = read_microseconds(in, counts);
    } else {
      in.skip();
    }
  }
}

void CpuSamples::read_nodes(JsonCursor& in, Recording& recording) {
  std::string_view key;
  std::vector<std::int64_t> children;
  for (in.begin_array(); in.next_element();) {
    Node node;
    node.place = in.offset();
    bool has_id = false;
    V8Frame frame;
    children.clear();
    for (in.begin_object(); in.next_key(key);) {
      if (key == "id") {
        node.id = in.integer();
        has_id = true;
      } else if (key == "parent" && in.kind() == JsonKind::number) {
        node.parent = in.integer();
        node.has_parent = true;
      } else if (key == "children" && in.kind() == JsonKind::array) {
        for (in.begin_array(); in.next_element();) children.push_back(in.integer());
      } else if (key == "callFrame" && in.kind() == JsonKind::object) {
        frame = read_v8_frame(in, builder_);
      } else {
        in.skip();
      }
    }
    if (!in.ok()) return;
    if (!has_id) return in.fail_at(node.place, ErrorCode::malformed, "a node of a CPU profile has no id");
    for (const std::int64_t child : children) recording.links.emplace_back(node.id, child);
    node.function = v8_function(frame, builder_);
    node.kind = v8_kind(frame, builder_);
    node.idle = !frame.has_script && builder_.text(frame.name) == "(idle)";
    // A node that is sent again says the same again.
    if (recording.row_of.try_emplace(node.id, static_cast<std::uint32_t>(recording.nodes.size())).second)
      recording.nodes.push_back(node);
  }
}

std::optional<std::int64_t> CpuSamples::first_time() const {
  std::optional<std::int64_t> first;
  for (const Recording& recording : recordings_) {
    if (recording.start && (!first || *recording.start < *first)) first = recording.start;
  }
  return first;
}

// Contexts of all nodes, each made after its parent's.
Result<void> CpuSamples::link(Recording& recording) {
  for (const auto& [parent, child] : recording.links) {
    const auto found = recording.row_of.find(child);
    if (found == recording.row_of.end()) continue;
    Node& node = recording.nodes[found->second];
    if (node.has_parent && node.parent != parent)
      return fail(ErrorCode::malformed, fmt::format("node {} of a CPU profile has two parents", child),
                  node.place);
    node.parent = parent;
    node.has_parent = true;
  }
  recording.contexts.assign(recording.nodes.size(), ContextId{});
  std::vector<std::uint32_t> path;
  std::vector<bool> on_path(recording.nodes.size(), false);
  for (std::uint32_t start = 0; start < recording.nodes.size(); ++start) {
    ContextId above = kRootContext;
    for (std::uint32_t at = start;;) {
      if (recording.contexts[at].valid()) {
        above = recording.contexts[at];
        break;
      }
      const Node& node = recording.nodes[at];
      if (on_path[at])
        return fail(ErrorCode::malformed,
                    fmt::format("node {} of a CPU profile is its own ancestor", node.id), node.place);
      on_path[at] = true;
      path.push_back(at);
      if (!node.has_parent) break;
      const auto parent = recording.row_of.find(node.parent);
      if (parent == recording.row_of.end()) {
        ++n_missing_nodes_;
        break;
      }
      at = parent->second;
    }
    for (; !path.empty(); path.pop_back()) {
      const std::uint32_t row = path.back();
      const Node& node = recording.nodes[row];
      on_path[row] = false;
      if (node.function.valid()) {
        FrameSpec frame;
        frame.function = node.function;
        frame.kind = node.kind;
        above = builder_.context(above, builder_.frame(frame));
      }
      recording.contexts[row] = above;
    }
  }
  return {};
}

// Under the (root) of its recording, which has no function, or under nothing.
bool CpuSamples::Recording::is_outermost(const Node& node) const {
  const auto parent = node.has_parent ? row_of.find(node.parent) : row_of.end();
  return parent == row_of.end() || !nodes[parent->second].function.valid();
}

struct CpuSamples::Sample {
  std::int64_t time = 0;
  std::uint32_t node = kNone, line = 0, column = 0;
};

// The context of a node, at the line of its function that the sample was taken in.
ContextId CpuSamples::leaf_of(const Recording& recording, std::uint32_t node, std::uint32_t line,
                              std::uint32_t column) {
  if (node == kNone) return kRootContext;
  const Node& leaf = recording.nodes[node];
  if (line == 0 || !leaf.function.valid()) return recording.contexts[node];
  ContextId above = kRootContext;
  if (leaf.has_parent) {
    const auto parent = recording.row_of.find(leaf.parent);
    if (parent != recording.row_of.end()) above = recording.contexts[parent->second];
  }
  FrameSpec frame;
  frame.function = leaf.function;
  frame.kind = leaf.kind;
  frame.line = line;
  frame.column = column;
  return builder_.context(above, builder_.frame(frame));
}

Result<void> CpuSamples::add_recording(std::uint32_t at, ThreadId thread, std::int64_t origin,
                                       ReadContext& context, std::span<const Chunk> chunks) {
  Recording& recording = recordings_[at];
  PROFD_CHECK(link(recording));
  std::vector<Sample> samples;
  std::int64_t now = recording.start.value_or(0);
  bool started = recording.start.has_value();
  for (const Chunk& chunk : chunks) {
    PROFD_CHECK(context.stop.status());
    if (chunk.n_deltas < chunk.n_samples) n_without_time_ += chunk.n_samples - chunk.n_deltas;
    if (!started && chunk.n_samples > 0) {
      now = chunk.time;
      started = true;
    }
    for (std::size_t i = 0; i < chunk.n_samples; ++i) {
      const std::int64_t delta = i < chunk.n_deltas ? deltas_[chunk.first_delta + i] : 0;
      if (delta < 0) ++n_negative_;
      add_saturating(now, delta);
      Sample& sample = samples.emplace_back(Sample{now});
      const auto node = recording.row_of.find(samples_[chunk.first_sample + i]);
      if (node == recording.row_of.end()) {
        ++n_missing_nodes_;
        continue;
      }
      sample.node = node->second;
      sample.line = i < chunk.n_lines ? lines_[chunk.first_line + i] : 0;
      sample.column = i < chunk.n_columns ? columns_[chunk.first_column + i] : 0;
    }
  }
  // V8 keeps the samples it takes itself and those of its timer apart, and sends each when it comes to it.
  const auto earlier = [](const Sample& a, const Sample& b) { return a.time < b.time; };
  if (!std::is_sorted(samples.begin(), samples.end(), earlier))
    std::stable_sort(samples.begin(), samples.end(), earlier);
  GcOnStack gc(builder_, context.gc_on_stack);
  const auto place_of = [&](const Sample& sample) {
    const Node* const node = sample.node == kNone ? nullptr : &recording.nodes[sample.node];
    if (gc.wanted() && node != nullptr && node->kind == FrameKind::gc) {
      const ContextId place =
          gc.collector(builder_.frame({.function = node->function, .kind = FrameKind::gc}));
      return place.valid() ? place : recording.contexts[sample.node];
    }
    const ContextId leaf = leaf_of(recording, sample.node, sample.line, sample.column);
    // Right below the root stand functions of scripts, and (idle) and (program).
    if (node == nullptr || !node->function.valid() ||
        (node->kind == FrameKind::native && recording.is_outermost(*node)))
      gc.no_code();
    else
      gc.code(leaf);
    return leaf;
  };
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t time = samples[i].time;
    const std::int64_t until = i + 1 < samples.size() ? samples[i + 1].time : recording.end.value_or(time);
    std::int64_t length = 0, since = 0;
    if (__builtin_sub_overflow(until, time, &length)) length = 0;
    if (__builtin_sub_overflow(time, origin, &since)) since = time;
    SampleContext where;
    where.thread = thread;
    where.time = since;
    if (const std::uint32_t node = samples[i].node; node != kNone)
      where.state = recording.nodes[node].idle ? ThreadState::waiting : ThreadState::running;
    builder_.add_sample(place_of(samples[i]),
                        std::array<std::int64_t, 2>{1, std::max<std::int64_t>(length, 0)}, where);
  }
  gc.report(context);
  return {};
}

Result<void> CpuSamples::add_to(const Threads& threads, std::int64_t origin, ReadContext& context,
                                std::vector<ProfileBuilder>& profiles) {
  if (samples_.empty()) return {};
  builder_.add_metric("samples", "count");
  builder_.set_default_metric(builder_.add_metric("time", "nanoseconds"));
  std::stable_sort(chunks_.begin(), chunks_.end(), [](const Chunk& a, const Chunk& b) {
    return a.recording != b.recording ? a.recording < b.recording : a.time < b.time;
  });
  // A recording's chunks stand side by side now.
  for (std::size_t from = 0; from < chunks_.size();) {
    std::size_t to = from;
    while (to < chunks_.size() && chunks_[to].recording == chunks_[from].recording) ++to;
    const std::uint32_t recording = chunks_[from].recording;
    PROFD_CHECK(add_recording(recording, threads.add_to(builder_, recordings_[recording].thread), origin,
                              context, {chunks_.data() + from, to - from}));
    from = to;
  }
  ImportReport& report = context.report;
  if (n_negative_ > 0)
    report.add("negative-time-delta", Severity::info,
               "Samples stand before earlier ones in the trace; they were put in order of time.",
               std::nullopt, n_negative_);
  if (n_missing_nodes_ > 0)
    report.add("missing-node", Severity::loss,
               "Samples or nodes name nodes that the trace does not have; they stand under the root.",
               std::nullopt, n_missing_nodes_);
  if (n_without_time_ > 0)
    report.add("sample-without-time", Severity::loss, "Samples have no time delta; they last for no time.",
               std::nullopt, n_without_time_);
  builder_.info().name = "CPU samples";
  builder_.info().producer = "V8";
  profiles.push_back(std::move(builder_));
  return {};
}

}  // namespace profd::chrome_trace

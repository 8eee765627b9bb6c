#include "formats/perfetto/heap.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/text.h"

namespace profd::perfetto {
namespace {

using protobuf::Field;
using protobuf::Wire;

std::int64_t count_of(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, INT64_MAX));
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t out;
  return __builtin_add_overflow(a, b, &out) ? INT64_MAX : out;
}

}  // namespace

void Heaps::add_packet(Cursor packet, Sequence& sequence, std::uint32_t sequence_id, std::uint64_t offset) {
  namespace profile = schema::profile_packet;
  namespace process = schema::process_heap_samples;
  namespace heap_sample = schema::heap_sample;
  bool continued = false;
  std::vector<Cursor> processes;
  Field field;
  while (!packet.done() && read_field(packet, field)) {
    if (field.number == profile::continued && field.wire == Wire::varint) continued = field.value != 0;
    if (field.wire != Wire::length) continue;
    if (field.number == profile::strings) sequence.interned.add_string(field.bytes);
    if (field.number == profile::frames) sequence.interned.add_entry(sequence.interned.frames, field.bytes);
    if (field.number == profile::callstacks)
      sequence.interned.add_entry(sequence.interned.callstacks, field.bytes);
    if (field.number == profile::mappings)
      sequence.interned.add_entry(sequence.interned.mappings, field.bytes);
    if (field.number == profile::process_dumps) processes.push_back(field.bytes);
  }
  Open& open = open_[sequence_id];
  for (Cursor in : processes) {
    Dump dump;
    while (!in.done() && read_field(in, field)) {
      if (field.wire == Wire::varint) {
        if (field.number == process::pid) dump.pid = count_of(field.value);
        if (field.number == process::sampling_interval_bytes) dump.interval = field.value;
        if (field.number == process::rejected_concurrent && field.value != 0)
          context_.report.add("not-profiled", Severity::loss,
                              "a process was not profiled because another session was active", offset);
        if (field.number == process::disconnected && field.value != 0)
          context_.report.add("disconnected", Severity::info,
                              "a process ended, or its profiler stopped, before the trace did", offset);
        if ((field.number == process::buffer_overran || field.number == process::buffer_corrupted) &&
            field.value != 0)
          context_.report.add(
              "heap-samples-lost", Severity::loss,
              "the profiler's buffer overran or was damaged: samples of a process are missing", offset);
      } else if (field.wire == Wire::length) {
        if (field.number == process::heap_name) dump.heap = text_of(field.bytes);
        if (field.number != process::samples) continue;
        Sample sample;
        std::uint64_t id = 0;
        Field part;
        for (Cursor at = field.bytes; !at.done() && read_field(at, part);) {
          if (part.wire != Wire::varint) continue;
          const std::int64_t value = count_of(part.value);
          if (part.number == heap_sample::callstack_id) id = part.value;
          if (part.number == heap_sample::self_allocated) sample.allocated = value;
          if (part.number == heap_sample::self_freed) sample.freed = value;
          if (part.number == heap_sample::alloc_count) sample.allocs = value;
          if (part.number == heap_sample::free_count) sample.frees = value;
          if (part.number == heap_sample::self_idle) sample.idle = value, dump.has_idle = true;
          if (part.number == heap_sample::self_max) sample.max = value, dump.has_max = true;
          if (part.number == heap_sample::self_max_count) sample.max_allocs = value, dump.has_max = true;
        }
        std::uint64_t lost = 0;
        sample.stack = stacks_.stack(sequence.interned, id, lost);
        if (lost > 0)
          context_.report.add("missing-frame", Severity::loss, "frames of call stacks are not in the trace",
                              offset, lost);
        if (sample.stack == kNone)
          context_.report.add("missing-stack", Severity::loss, "call stacks of samples are not in the trace",
                              offset);
        dump.samples.push_back(sample);
      }
    }
    const auto [at, is_new] = open.dumps.try_emplace({dump.pid, dump.heap}, dumps_.size());
    if (is_new) {
      dumps_.push_back(std::move(dump));
    } else {
      Dump& into = dumps_[at->second];
      into.has_max |= dump.has_max;
      into.has_idle |= dump.has_idle;
      into.samples.insert(into.samples.end(), dump.samples.begin(), dump.samples.end());
    }
  }
  if (!continued) open.dumps.clear();
}

void Heaps::add_graph(Cursor in, std::uint32_t sequence_id, std::uint64_t offset) {
  namespace heap_graph = schema::heap_graph;
  namespace object = schema::heap_graph_object;
  namespace of_type = schema::heap_graph_type;
  const auto [at, is_new] = open_graph_.try_emplace(sequence_id, graphs_.size());
  if (is_new) graphs_.emplace_back();
  Graph& graph = graphs_[at->second];
  bool continued = false;
  Field field, part;
  while (!in.done() && read_field(in, field)) {
    if (field.wire == Wire::varint) {
      if (field.number == heap_graph::pid) graph.pid = static_cast<std::int32_t>(field.value);
      if (field.number == heap_graph::continued) continued = field.value != 0;
      continue;
    }
    if (field.wire != Wire::length) continue;
    Cursor inside = field.bytes;
    if (field.number == heap_graph::objects) {
      std::uint64_t type = 0, size = 0;
      bool sized = false;
      while (!inside.done() && read_field(inside, part)) {
        if (part.wire != Wire::varint) continue;
        if (part.number == object::type_id) type = part.value;
        if (part.number == object::self_size) size = part.value, sized = true;
      }
      TypeCount& count = graph.types[type];
      ++count.objects;
      if (sized)
        count.bytes = sum(count.bytes, count_of(size));
      else
        ++graph.unsized[type];
      context_.report.add("heap-graph", Severity::info,
                          "objects of a managed heap are counted by type; what refers to what was not read",
                          offset);
    } else if (field.number == heap_graph::type_names || field.number == heap_graph::types) {
      const bool named = field.number == heap_graph::type_names;
      const std::uint32_t name = named ? schema::interned_string::str : of_type::class_name;
      static_assert(schema::interned_string::iid == of_type::id);
      std::uint64_t id = 0;
      while (!inside.done() && read_field(inside, part)) {
        if (part.number == of_type::id && part.wire == Wire::varint) id = part.value;
        if (part.number == name && part.wire == Wire::length)
          graph.names.insert_or_assign(id, text_of(part.bytes));
        if (!named && part.number == of_type::object_size && part.wire == Wire::varint)
          graph.sizes.insert_or_assign(id, part.value);
      }
    }
  }
  if (!continued) open_graph_.erase(sequence_id);
}

void Heaps::build(const ThreadNames& names, std::vector<ProfileBuilder>& profiles) {
  const auto program_of = [&](std::int64_t pid) {
    const auto found = names.process.find(pid);
    return found == names.process.end() ? std::string() : repair_utf8(found->second);
  };
  for (const Dump& dump : dumps_) {
    ProfileBuilder& builder = profiles.emplace_back();
    FrameMaker frames(stacks_, builder);
    ProfileInfo& info = builder.info();
    info.program = program_of(dump.pid);
    info.name =
        fmt::format("heap{}{} of process {}", dump.heap.empty() ? "" : " ", repair_utf8(dump.heap), dump.pid);
    if (dump.interval > 0) {
      info.period = count_of(dump.interval);
      info.period_type = "space";
      info.period_unit = "bytes";
    }
    builder.add_metric("alloc_space", "bytes");
    builder.add_metric("alloc_objects", "count");
    builder.add_metric("freed_space", "bytes");
    builder.add_metric("freed_objects", "count");
    const MetricId live = builder.add_metric("inuse_space", "bytes");
    builder.add_metric("inuse_objects", "count");
    builder.set_default_metric(live);
    if (dump.has_idle) builder.add_metric("idle_space", "bytes");
    if (dump.has_max) {
      builder.set_default_metric(builder.add_metric("peak_space", "bytes"));
      builder.add_metric("peak_objects", "count");
    }
    for (const Sample& sample : dump.samples) {
      const ContextId context =
          sample.stack == kNone
              ? builder.context(
                    kRootContext,
                    builder.frame({.function = builder.function(FunctionSpec{
                                       .name = builder.string("[no call stack]"), .unresolved = true})}))
              : frames.context(sample.stack);
      std::int64_t values[] = {sample.allocated,
                               sample.allocs,
                               sample.freed,
                               sample.frees,
                               sample.allocated - sample.freed,
                               sample.allocs - sample.frees};
      std::uint32_t metric = 0;
      for (const std::int64_t value : values) builder.add_self(context, MetricId{metric++}, value);
      if (dump.has_idle) builder.add_self(context, MetricId{metric++}, sample.idle);
      if (dump.has_max) {
        builder.add_self(context, MetricId{metric++}, sample.max);
        builder.add_self(context, MetricId{metric++}, sample.max_allocs);
      }
    }
  }
  for (const Graph& graph : graphs_) {
    ProfileBuilder& builder = profiles.emplace_back();
    builder.info().name = fmt::format("managed heap of process {}", graph.pid);
    builder.info().program = program_of(graph.pid);
    builder.add_metric("size", "bytes");
    builder.add_metric("objects", "count");
    for (const auto& [type, count] : graph.types) {
      const auto name = graph.names.find(type);
      const FunctionSpec function{
          .name = builder.string(name == graph.names.end() ? fmt::format("[type {}]", type)
                                                           : std::string(name->second)),
          .unresolved = name == graph.names.end()};
      const ContextId context = builder.context(
          kRootContext,
          builder.frame({.function = builder.function(function), .kind = FrameKind::data_object}));
      std::int64_t bytes = count.bytes;
      const auto unsized = graph.unsized.find(type);
      const auto size = graph.sizes.find(type);
      if (unsized != graph.unsized.end() && size != graph.sizes.end()) {
        std::int64_t more;
        if (__builtin_mul_overflow(unsized->second, count_of(size->second), &more)) more = INT64_MAX;
        bytes = sum(bytes, more);
      } else if (unsized != graph.unsized.end()) {
        context_.report.add("no-size", Severity::loss, "objects without a size count as 0 bytes",
                            std::nullopt, static_cast<std::uint64_t>(unsized->second));
      }
      builder.add_self(context, MetricId{0u}, bytes);
      builder.add_self(context, MetricId{1u}, count.objects);
    }
  }
}

}  // namespace profd::perfetto

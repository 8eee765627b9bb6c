#include "formats/chrome_trace/sampled_stacks.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "formats/support/text_number.h"

namespace profd::chrome_trace {
namespace {

// "name(url:line:column)", as Hermes writes functions of scripts.
struct Located {
  std::string_view name, file;
  std::uint32_t line = 0, column = 0;
};

bool split_location(std::string_view text, Located& out) {
  if (!text.ends_with(')')) return false;
  const std::size_t last = text.rfind(':');
  const std::size_t middle = last == std::string_view::npos || last == 0 ? last : text.rfind(':', last - 1);
  if (middle == std::string_view::npos) return false;
  if (!parse_uint(text.substr(last + 1, text.size() - last - 2), out.column) ||
      !parse_uint(text.substr(middle + 1, last - middle - 1), out.line))
    return false;
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos || open >= middle) return false;
  out.name = text.substr(0, open);
  out.file = text.substr(open + 1, middle - open - 1);
  return true;
}

std::uint32_t small(std::string_view raw) {
  std::uint32_t value = 0;
  return parse_uint(raw, value) && value != kNone ? value : 0;
}

}  // namespace

FrameId SampledStacks::frame_of(std::string_view name, std::string_view module, std::uint32_t line,
                                std::uint32_t column, std::string_view file) {
  Located located{name, file, line, column};
  if (file.empty()) split_location(name, located);
  FrameSpec frame;
  FunctionSpec function;
  function.name = builder_.string(located.name.empty() ? "(anonymous)" : located.name);
  function.file = builder_.string(located.file);
  frame.function = builder_.function(function);
  frame.line = located.line;
  frame.column = located.column;
  if (located.name.starts_with("[GC ")) frame.kind = FrameKind::gc;
  if (!located.file.empty()) frame.kind = FrameKind::jit;
  if (!module.empty()) frame.module = builder_.module({module});
  return builder_.frame(frame);
}

Result<void> SampledStacks::read_frames(JsonCursor& in, std::string_view text, std::uint64_t base) {
  std::string_view key;
  in.begin_object();
  for (;;) {
    // The key's text is needed as it lies in the file: ids are compared with those of samples.
    if (!in.next_key(key)) break;
    Frame row;
    row.place = in.offset();
    std::size_t quote = row.place - base;
    while (quote > 0 && text[quote - 1] != '"') --quote;
    row.id = quote > key.size() ? text.substr(quote - 1 - key.size(), key.size()) : std::string_view{};
    std::string name, module, file;
    std::uint32_t line = 0, column = 0;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "name") {
        name = unescaped(read_raw(in, text, base));
      } else if (key == "category") {
        const std::string_view raw = read_raw(in, text, base);
        if (raw.find('/') != std::string_view::npos || raw.ends_with(".so")) module = unescaped(raw);
      } else if (key == "parent") {
        row.parent = read_raw(in, text, base);
      } else if (key == "line") {
        line = small(read_raw(in, text, base));
      } else if (key == "column") {
        column = small(read_raw(in, text, base));
      } else if (key == "url") {
        file = unescaped(read_raw(in, text, base));
      } else {
        in.skip();
      }
    }
    if (!in.ok()) break;
    row.frame = frame_of(name, module, line, column, file);
    if (row_of_.try_emplace(row.id, static_cast<std::uint32_t>(frames_.size())).second)
      frames_.push_back(row);
  }
  return in.status();
}

Result<void> SampledStacks::read_samples(JsonCursor& in, std::string_view text, std::uint64_t base,
                                         Threads& threads, ReadCounts& counts) {
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    TaskName pid, tid;
    Sample sample;
    sample.timed = true;
    std::optional<std::int64_t> time;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "ts") {
        time = read_microseconds(in, counts);
      } else if (key == "pid" || key == "tid") {
        TaskName& task = key == "pid" ? pid : tid;
        const std::string_view raw = read_raw(in, text, base);
        if (!parse_int(raw, task.number)) task.word = raw;
      } else if (key == "sf") {
        sample.stack = read_raw(in, text, base);
      } else if (key == "weight") {
        const std::string_view raw = read_raw(in, text, base);
        if (!parse_int(raw, sample.weight) || sample.weight < 0) {
          ++n_bad_weights_;
          sample.weight = 1;
        }
      } else {
        in.skip();
      }
    }
    if (!in.ok()) break;
    sample.time = time.value_or(0);
    sample.timed = time.has_value();
    any_timed_ |= sample.timed;
    sample.thread = threads.row(pid, tid);
    samples_.push_back(sample);
  }
  return in.status();
}

Result<void> SampledStacks::take(const Event& event, std::uint32_t thread, const JsonCursor& cursor) {
  Sample sample;
  sample.time = event.time.value_or(0);
  sample.thread = thread;
  sample.stack = event.stack_frame;
  if (event.stack) {
    JsonCursor in = cursor;
    in.seek(*event.stack, 2);
    for (in.begin_array(); in.next_element();)
      sample.context = builder_.context(sample.context, frame_of(in.string(), {}, 0, 0, {}));
    PROFD_CHECK(in.status());
    sample.stack = {};
  }
  sample.leaf = frame_of(unescaped(event.name), {}, 0, 0, {});
  samples_.push_back(sample);
  return {};
}

std::optional<std::int64_t> SampledStacks::first_time() const {
  std::optional<std::int64_t> first;
  for (const Sample& sample : samples_) {
    if (!first || sample.time < *first) first = sample.time;
  }
  return first;
}

Result<void> SampledStacks::link() {
  contexts_.assign(frames_.size(), ContextId{});
  std::vector<std::uint32_t> path;
  std::vector<bool> on_path(frames_.size(), false);
  for (std::uint32_t start = 0; start < frames_.size(); ++start) {
    ContextId above = kRootContext;
    for (std::uint32_t at = start;;) {
      if (contexts_[at].valid()) {
        above = contexts_[at];
        break;
      }
      if (on_path[at])
        return fail(ErrorCode::malformed, fmt::format("stack frame {} is its own ancestor", frames_[at].id),
                    frames_[at].place);
      on_path[at] = true;
      path.push_back(at);
      if (frames_[at].parent.empty()) break;
      const auto parent = row_of_.find(frames_[at].parent);
      if (parent == row_of_.end()) {
        ++n_missing_;
        break;
      }
      at = parent->second;
    }
    for (; !path.empty(); path.pop_back()) {
      on_path[path.back()] = false;
      above = builder_.context(above, frames_[path.back()].frame);
      contexts_[path.back()] = above;
    }
  }
  return {};
}

Result<void> SampledStacks::add_to(const Threads& threads, std::int64_t origin, ReadContext& context,
                                   std::vector<ProfileBuilder>& profiles) {
  if (samples_.empty()) return {};
  builder_.add_metric("samples", "count");
  if (any_timed_) builder_.set_default_metric(builder_.add_metric("time", "nanoseconds"));
  PROFD_CHECK(link());
  // A sample lasts until the next one of its thread.
  std::stable_sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
    return a.thread != b.thread ? a.thread < b.thread : a.time < b.time;
  });
  std::vector<std::int64_t> lasts(samples_.size(), 0);
  const Sample* next = nullptr;
  for (std::size_t i = samples_.size(); i-- > 0;) {
    const Sample& sample = samples_[i];
    if (!sample.timed) continue;
    if (next != nullptr && next->thread == sample.thread &&
        __builtin_sub_overflow(next->time, sample.time, &lasts[i]))
      lasts[i] = 0;
    next = &sample;
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const Sample& sample = samples_[i];
    ContextId at = sample.context;
    if (!sample.stack.empty()) {
      const auto found = row_of_.find(sample.stack);
      if (found == row_of_.end())
        ++n_missing_;
      else
        at = contexts_[found->second];
    }
    if (sample.leaf.valid()) at = builder_.context(at, sample.leaf);
    SampleContext where;
    where.thread = threads.add_to(builder_, sample.thread);
    std::int64_t since = 0;
    if (!__builtin_sub_overflow(sample.time, origin, &since)) where.time = since;
    const std::array<std::int64_t, 2> values{sample.weight, lasts[i]};
    builder_.add_sample(at, std::span(values).first(any_timed_ ? 2 : 1), where);
    if ((i & 4095) == 4095) PROFD_CHECK(context.stop.status());
  }
  if (n_missing_ > 0)
    context.report.add("missing-stack-frame", Severity::loss,
                       "Samples or frames name stack frames that the trace does not have.", std::nullopt,
                       n_missing_);
  if (n_bad_weights_ > 0)
    context.report.add("bad-weight", Severity::loss, "Weights that are no whole numbers were taken as 1.",
                       std::nullopt, n_bad_weights_);
  builder_.info().name = "sampled stacks";
  profiles.push_back(std::move(builder_));
  return {};
}

}  // namespace profd::chrome_trace

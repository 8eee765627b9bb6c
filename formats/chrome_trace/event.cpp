#include "formats/chrome_trace/event.h"

#include <cmath>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/support/text.h"
#include "formats/support/text_number.h"

namespace profd::chrome_trace {
namespace {

bool to_nanoseconds(std::string_view text, double value, std::int64_t& out, ReadCounts& counts) {
  if (scaled_decimal(text, 3, out)) return true;
  const double rounded = std::round(value * 1000);
  if (!(std::abs(rounded) < 9.2e18)) return false;
  ++counts.n_rounded;
  out = static_cast<std::int64_t>(rounded);
  return true;
}

TaskName read_task(JsonCursor& in, std::string_view text, std::uint64_t base) {
  TaskName task;
  const std::string_view raw = read_raw(in, text, base);
  if (!parse_int(raw, task.number)) task.word = raw;
  return task;
}

}  // namespace

std::string_view read_raw(JsonCursor& in, std::string_view text, std::uint64_t base) {
  const JsonKind kind = in.kind();
  const std::uint64_t begin = in.offset() - base;
  if (kind == JsonKind::number) return in.number().text;
  in.skip();
  if (kind != JsonKind::string || !in.ok()) return {};
  // Only white space can stand between the closing quote and where the cursor is now.
  std::size_t end = in.offset() - base;
  while (text[end - 1] != '"') --end;
  return text.substr(begin + 1, end - begin - 2);
}

std::string unescaped(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return repair_utf8(raw);
  const std::string quoted = '"' + std::string(raw) + '"';
  JsonCursor in(quoted);
  return std::string(in.string());
}

std::optional<std::int64_t> read_microseconds(JsonCursor& in, ReadCounts& counts) {
  const JsonKind kind = in.kind();
  const std::uint64_t at = in.offset();
  std::int64_t ns = 0;
  if (kind == JsonKind::number) {
    const std::string_view text = in.number_text();
    if (scaled_decimal(text, 3, ns)) return ns;
    in.seek(at, in.depth());
    const JsonNumber number = in.number();
    if (!in.ok()) return std::nullopt;
    if (to_nanoseconds(number.text, number.value, ns, counts)) return ns;
  } else if (kind == JsonKind::string) {
    const std::string_view text = in.string();
    double value = 0;
    if (text.empty()) return std::nullopt;
    if (parse_double(text, value) && to_nanoseconds(text, value, ns, counts)) return ns;
  } else {
    in.skip();
    return std::nullopt;
  }
  in.fail_at(at, ErrorCode::malformed, "the time is no number of microseconds that fits 64 bits");
  return std::nullopt;
}

void read_event(JsonCursor& in, std::string_view text, std::uint64_t base, Event& event, ReadCounts& counts) {
  event = {};
  event.begin = in.offset();
  std::optional<std::int64_t> thread_duration;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    event.empty = false;
    if (key == "ph") {
      const std::string_view phase = read_raw(in, text, base);
      event.phase = phase.empty() ? '\0' : phase.front();
    } else if (key == "ts") {
      event.time = read_microseconds(in, counts);
    } else if (key == "dur") {
      event.duration = read_microseconds(in, counts);
    } else if (key == "tdur") {
      thread_duration = read_microseconds(in, counts);
    } else if (key == "pid") {
      event.pid = read_task(in, text, base);
    } else if (key == "tid") {
      event.tid = read_task(in, text, base);
    } else if (key == "name") {
      event.name = read_raw(in, text, base);
    } else if (key == "cat") {
      event.category = read_raw(in, text, base);
    } else if (key == "id") {
      event.id = read_raw(in, text, base);
    } else if (key == "scope") {
      event.scope = read_raw(in, text, base);
    } else if (key == "id2" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        const bool local = key == "local", global = key == "global";
        const std::string_view id = read_raw(in, text, base);
        if (local) event.local_id = id;
        if (global) event.id = id;
      }
    } else if (key == "sf") {
      event.stack_frame = read_raw(in, text, base);
    } else if (key == "stack" && in.kind() == JsonKind::array) {
      event.stack = in.offset();
      in.skip();
    } else if (key == "args" && in.kind() == JsonKind::object) {
      event.args = in.offset();
      in.skip();
      event.args_end = in.offset();
    } else {
      in.skip();
    }
  }
  if (!event.duration) event.duration = thread_duration;
}

std::size_t Threads::KeyHash::operator()(const Key& key) const {
  return hash_combine(hash_combine(hash_bytes(key.word), static_cast<std::uint64_t>(key.a)),
                      static_cast<std::uint64_t>(key.b));
}

std::uint32_t Threads::process(const TaskName& pid) {
  const auto [at, is_new] = process_of_.try_emplace(Key{pid.number, 0, std::string(pid.word)},
                                                    static_cast<std::uint32_t>(processes_.size()));
  if (is_new) processes_.push_back({pid.number, unescaped(pid.word), {}, {}});
  return at->second;
}

std::uint32_t Threads::row(const TaskName& pid, const TaskName& tid) {
  const bool plain = pid.word.empty() && tid.word.empty();
  if (plain && last_row_ != kNone && pid.number == last_pid_ && tid.number == last_tid_) return last_row_;
  const std::uint32_t owner = process(pid);
  const auto [at, is_new] = row_of_.try_emplace(Key{owner, tid.number, std::string(tid.word)},
                                                static_cast<std::uint32_t>(rows_.size()));
  if (is_new) rows_.push_back({owner, tid.number, unescaped(tid.word), {}});
  if (plain) {
    last_pid_ = pid.number;
    last_tid_ = tid.number;
    last_row_ = at->second;
  }
  return at->second;
}

void Threads::set_process_name(const TaskName& pid, std::string name) {
  processes_[process(pid)].name = std::move(name);
}

void Threads::set_process_labels(const TaskName& pid, std::string labels) {
  processes_[process(pid)].labels = std::move(labels);
}

ThreadId Threads::add_to(ProfileBuilder& builder, std::uint32_t row) const {
  const Row& thread = rows_[row];
  ThreadSpec spec;
  spec.tid = thread.tid;
  spec.pid = processes_[thread.process].pid;
  spec.name = thread.name.empty() ? thread.word : thread.name;
  const std::string owner = process_text(thread.process);
  spec.process_name = owner;
  return builder.thread(spec);
}

std::string Threads::numbered_process(std::uint32_t at) const {
  const std::string text = process_text(at);
  if (processes_[at].pid < 0) return text;
  return text.empty() ? std::to_string(processes_[at].pid) : fmt::format("{} ({})", text, processes_[at].pid);
}

std::string Threads::process_text(std::uint32_t at) const {
  const Process& process = processes_[at];
  std::string owner = process.name.empty() ? process.word : process.name;
  if (!process.labels.empty()) owner += (owner.empty() ? "[" : " [") + process.labels + "]";
  return owner;
}

}  // namespace profd::chrome_trace

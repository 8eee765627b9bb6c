#include "formats/chrome_trace/timed_events.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "core/model/row_order.h"
#include "core/support/hash.h"
#include "formats/support/text_number.h"

namespace profd::chrome_trace {
namespace {

// Ends without a begin must not cost the depth of what is open each.
constexpr std::size_t kMaxSearch = 4096;

bool begins(char phase) {
  return phase == 'b' || phase == 'S';
}
bool ends(char phase) {
  return phase == 'e' || phase == 'F';
}

}  // namespace

bool TimedEvents::is_operation(char phase) {
  return std::string_view("benSTpF").find(phase) != std::string_view::npos;
}

std::uint32_t TimedEvents::text_row(std::string_view raw) {
  const std::uint32_t row = text_rows_.row(raw);
  if (row == texts_.size()) texts_.push_back(raw);
  return row;
}

std::uint32_t TimedEvents::operation_of(const Operation& operation) {
  std::uint64_t hash = 0;
  for (const std::uint32_t part :
       {operation.category, operation.id, operation.scope, operation.process, operation.name})
    hash = hash_combine(hash, part);
  const auto next = static_cast<std::uint32_t>(operations_.size());
  const std::uint32_t row = operation_rows_.find_or_add(
      mix64(hash), next, [&](std::uint32_t r) { return operations_[r] == operation; });
  if (row == next) operations_.push_back(operation);
  return row;
}

void TimedEvents::take(const Event& event, const Threads& threads, std::uint32_t thread) {
  Row row{};
  row.time = *event.time;
  row.args = event.args.value_or(kNoArgs);
  row.thread = thread;
  row.process = threads.process_of(thread);
  row.name = text_row(event.name);
  row.category = text_row(event.category);
  row.phase = event.phase;
  const bool local = !event.local_id.empty();
  const std::uint32_t id = text_row(local ? event.local_id : event.id);
  if (is_operation(event.phase)) {
    // Operations of the older kind are told apart by their names, too.
    const bool older = std::string_view("STpF").find(event.phase) != std::string_view::npos;
    row.operation = operation_of(
        {row.category, id, text_row(event.scope), local ? row.process : kNone, older ? row.name : kNone});
  } else {
    row.operation = id;
  }
  rows_.push_back(row);
}

StringId TimedEvents::Target::text(const TimedEvents& events, std::uint32_t row) {
  texts.resize(events.texts_.size());
  StringId& known = texts[row];
  if (!known.valid()) known = builder.string(unescaped(events.texts_[row]));
  return known;
}

ThreadId TimedEvents::Target::thread(std::uint32_t row) {
  thread_of.resize(threads.size());
  ThreadId& known = thread_of[row];
  if (!known.valid()) known = threads.add_to(builder, row);
  return known;
}

std::int64_t TimedEvents::Target::time(std::int64_t time) const {
  std::int64_t since = 0;
  return __builtin_sub_overflow(time, origin, &since) ? std::numeric_limits<std::int64_t>::max() : since;
}

void TimedEvents::add_marker(Target& target, const Row& row, LabelSetId fields) {
  const std::int64_t time = target.time(row.time);
  target.builder.timeline().add_marker({.begin = time,
                                        .end = time,
                                        .name = target.text(*this, row.name),
                                        .category = target.text(*this, row.category),
                                        .thread = target.thread(row.thread),
                                        .fields = fields});
}

// Every argument is a series of its own.
void TimedEvents::add_points(Target& target, const Row& row, JsonCursor& in) {
  TimelineBuilder& out = target.builder.timeline();
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    std::string name = unescaped(texts_[row.name]);
    if (!texts_[row.operation].empty()) name += fmt::format("[{}]", unescaped(texts_[row.operation]));
    if (key != "value" && key != name) name += fmt::format(" {}", key);
    double value = 0;
    const JsonKind kind = in.kind();
    if (kind == JsonKind::number) {
      value = in.number().value;
    } else if (kind != JsonKind::string || !parse_double(in.string(), value)) {
      if (kind != JsonKind::string) in.skip();
      ++n_no_numbers_;
      continue;
    }
    if (!in.ok()) return;
    const CounterId counter =
        out.counter({.name = target.builder.string(name),
                     .process = target.builder.string(target.threads.numbered_process(row.process))});
    out.add_point(counter, target.time(row.time), value);
  }
}

// Node.js says which operation made another one.
void TimedEvents::read_trigger(const Row& row, JsonCursor& in) {
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key != "data" || in.kind() != JsonKind::object) {
      in.skip();
      continue;
    }
    for (in.begin_object(); in.next_key(key);) {
      if (key == "triggerAsyncId" && in.kind() == JsonKind::number)
        triggers_.emplace_back(row.operation, in.integer());
      else
        in.skip();
    }
  }
}

// By operation: what made it, or none.
std::vector<std::uint32_t> TimedEvents::makers() const {
  std::vector<std::uint32_t> out(operations_.size(), kNone);
  if (triggers_.empty()) return out;
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string_view>;
  std::map<Key, std::uint32_t> known;
  for (std::uint32_t i = 0; i < out.size(); ++i) {
    const Operation& o = operations_[i];
    known.try_emplace({o.category, o.scope, o.process, texts_[o.id]}, i);
  }
  for (const auto& [operation, trigger] : triggers_) {
    const Operation& o = operations_[operation];
    const std::string id = fmt::format("0x{:x}", trigger);
    const auto found = known.find({o.category, o.scope, o.process, id});
    if (found != known.end() && found->second != operation) out[operation] = found->second;
  }
  return out;
}

// One task an operation, in order of time: what makes another one is there before it.
Result<void> TimedEvents::add_operations(Target& target, ReadContext& context) {
  std::vector<std::uint32_t> events;
  for (std::uint32_t i = 0; i < rows_.size(); ++i)
    if (is_operation(rows_[i].phase)) events.push_back(i);
  if (events.empty()) return {};
  const auto event = [&](std::uint32_t i) -> const Row& { return rows_[events[i]]; };
  PROFD_TRY(
      const BigVector<std::uint32_t> sorted,
      order_rows(
          events.size(), operations_.size(), [&](std::uint32_t i) { return event(i).operation; },
          [&](std::uint32_t a, std::uint32_t b) { return event(a).time < event(b).time; }, context.stop));
  const auto row_at = [&](std::uint32_t i) -> const Row& { return event(sorted.empty() ? i : sorted[i]); };
  std::vector<std::uint32_t> first;  // of every operation, and the end; each has an event
  for (std::uint32_t i = 0; i < events.size(); ++i)
    if (i == 0 || row_at(i).operation != row_at(i - 1).operation) first.push_back(i);
  const auto n = static_cast<std::uint32_t>(first.size());
  first.push_back(static_cast<std::uint32_t>(events.size()));
  std::vector<std::uint32_t> by_time(n);
  std::iota(by_time.begin(), by_time.end(), 0u);
  std::stable_sort(by_time.begin(), by_time.end(), [&](std::uint32_t a, std::uint32_t b) {
    return row_at(first[a]).time < row_at(first[b]).time;
  });
  const std::vector<std::uint32_t> maker = makers();
  std::vector<TaskId> tasks(n);
  std::vector<const Row*> rows;
  for (const std::uint32_t operation : by_time) {
    PROFD_CHECK(context.stop.status());
    rows.clear();
    for (std::uint32_t i = first[operation]; i < first[operation + 1]; ++i) rows.push_back(&row_at(i));
    TaskSpec task{.name = target.text(*this, rows[0]->name), .thread = target.thread(rows[0]->thread)};
    if (maker[operation] != kNone) task.parent = tasks[maker[operation]];
    tasks[operation] = target.builder.timeline().add_task(task);
    add_operation(target, rows, tasks[operation]);
  }
  return {};
}

// The events of one operation, in order of time.
void TimedEvents::add_operation(Target& target, const std::vector<const Row*>& rows, TaskId task) {
  TimelineBuilder& out = target.builder.timeline();
  std::vector<const Row*> open;
  const auto close = [&](const Row& begin, std::int64_t end) {
    out.add_span(
        {.begin = target.time(begin.time), .end = end, .name = target.text(*this, begin.name), .task = task});
  };
  for (const Row* const row : rows) {
    const std::int64_t time = target.time(row->time);
    if (begins(row->phase)) {
      open.push_back(row);
      out.extend_task(task, time, kNoTime);
    } else if (ends(row->phase)) {
      out.extend_task(task, kNoTime, time);
      const auto floor =
          open.rend() - static_cast<std::ptrdiff_t>(open.size() - std::min(open.size(), kMaxSearch));
      // An end that names nothing closes the innermost one.
      const auto found = std::find_if(open.rbegin(), floor, [&](const Row* begin) {
        return texts_[row->name].empty() || begin->name == row->name;
      });
      if (found == floor) {
        ++n_unmatched_;
        continue;
      }
      close(**found, time);
      open.erase(std::next(found).base());
    } else {
      add_marker(target, *row, LabelSetId{0u});
    }
  }
  for (const Row* const begin : open) close(*begin, kNoTime);
}

void TimedEvents::report(ReadContext& context) const {
  ImportReport& out = context.report;
  if (n_unmatched_ > 0)
    out.add("unmatched-async-end", Severity::loss,
            "Ends of asynchronous events without a begin were dropped.", std::nullopt, n_unmatched_);
  if (n_no_numbers_ > 0)
    out.add("counter-not-a-number", Severity::loss,
            "Counter events without a value, and values that are no numbers, were dropped.", std::nullopt,
            n_no_numbers_);
  if (fields_.n_left_out() > 0)
    out.add("event-field-left-out", Severity::info,
            "Arguments of instant events that are lists, long or nested were not read.", std::nullopt,
            fields_.n_left_out());
}

}  // namespace profd::chrome_trace

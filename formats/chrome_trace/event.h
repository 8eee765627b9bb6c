// One trace event as it stands in the file, and the threads that events name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/support/json_cursor.h"

namespace profd::chrome_trace {

// A pid or tid: a number, or a word ("Spans", "stream 7").
struct TaskName {
  std::int64_t number = -1;
  std::string_view word;  // as it stands in the file, without quotes; empty when it is a number
};

// Views point into the file. `name` and `category` are raw: with escapes, without quotes.
struct Event {
  bool empty = true;  // {}: nothing is said at all
  char phase = 0;     // 0: none
  TaskName pid, tid;
  std::string_view name, category, id, scope;
  std::string_view local_id;  // "id2": {"local": …}, an id that other processes may use for something else
  std::optional<std::int64_t> time, duration;       // nanoseconds
  std::optional<std::uint64_t> args, stack, begin;  // offsets
  std::string_view stack_frame;                     // "sf"
  std::uint64_t args_end = 0;
};

struct ReadCounts {
  std::uint64_t n_rounded = 0;
};

// At an event object. Times that are no whole nanoseconds are rounded and counted. The cursor fails on what
// is no event.
void read_event(JsonCursor& in, std::string_view text, std::uint64_t base, Event& event, ReadCounts& counts);
// A number, or a number in quotes, of microseconds.
std::optional<std::int64_t> read_microseconds(JsonCursor& in, ReadCounts& counts);
// The raw text of a string or number, without quotes; steps over the value. Empty for everything else.
std::string_view read_raw(JsonCursor& in, std::string_view text, std::uint64_t base);
// Undoes escapes.
std::string unescaped(std::string_view raw);

// Threads by (pid, tid), and what metadata events say about them.
class Threads {
 public:
  std::uint32_t row(const TaskName& pid, const TaskName& tid);
  void set_thread_name(std::uint32_t row, std::string name) { rows_[row].name = std::move(name); }
  void set_process_name(const TaskName& pid, std::string name);
  // "GPU 0": tells processes of one name apart.
  void set_process_labels(const TaskName& pid, std::string labels);
  std::size_t size() const { return rows_.size(); }
  ThreadId add_to(ProfileBuilder& builder, std::uint32_t row) const;
  std::uint32_t process_of(std::uint32_t row) const { return rows_[row].process; }
  // As the threads of the process name it; and the same with its number, which no other process has.
  std::string process_text(std::uint32_t process) const;
  std::string numbered_process(std::uint32_t process) const;

 private:
  struct Row {
    std::uint32_t process = 0;
    std::int64_t tid = -1;
    std::string word, name;
  };
  struct Process {
    std::int64_t pid = -1;
    std::string word, name, labels;
  };
  struct Key {
    std::int64_t a, b;
    std::string word;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  std::uint32_t process(const TaskName& pid);

  std::vector<Row> rows_;
  std::vector<Process> processes_;
  std::unordered_map<Key, std::uint32_t, KeyHash> row_of_, process_of_;
  // The last thread asked for: most events follow one of the same thread.
  std::int64_t last_pid_ = 0, last_tid_ = 0;
  std::uint32_t last_row_ = kNone;
};

}  // namespace profd::chrome_trace

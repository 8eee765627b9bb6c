// The threads of Java dumps, in whatever form they were written: each becomes a sample of 1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/text_rows.h"

namespace profd::jstack {

class Threads {
 public:
  Threads(ReadContext& context, ProfileBuilder& builder);

  // What follows belongs to another dump, taken `time` nanoseconds after the first.
  void begin_dump(std::string_view vm, std::optional<std::int64_t> time);
  std::uint64_t n_dumps() const { return n_dumps_; }

  // `name` and what the setters are given need to live until the thread is finished. -1: no id is told.
  void begin_thread(std::string_view name, std::int64_t tid);
  bool in_thread() const { return in_thread_; }
  void set_state(std::string_view state) { state_ = state; }
  // The first one counts.
  void set_waits_for(std::string_view what) {
    if (waits_for_.empty()) waits_for_ = what;
  }
  void set_virtual() { is_virtual_ = true; }

  // A frame, leaf first, as behind "at " in a trace: "java.lang.Thread.run(Thread.java:1583)".
  Result<void> push(std::string_view text, std::uint64_t offset);
  // As jhsdb prints it: "App.fib(int) @bci=12, line=12 (Compiled frame)".
  Result<void> push_agent(std::string_view text, std::uint64_t offset);
  void finish_thread();

  // After the last thread: an error when there was none, and the rows of the report.
  Result<void> finish();

 private:
  template <class Make>
  Result<void> push_row(std::string_view text, std::uint64_t offset, Make&& make);

  ReadContext& context_;
  ProfileBuilder& builder_;
  TextRows rows_;
  std::vector<FrameId> frames_;  // by row
  std::vector<FrameId> stack_;   // leaf first
  SampleContext where_;
  std::optional<std::int64_t> dump_time_;
  std::string_view state_, waits_for_;
  bool in_thread_ = false, is_virtual_ = false;
  std::uint64_t first_odd_ = 0;
  std::uint64_t n_dumps_ = 0, n_threads_ = 0, n_odd_ = 0, n_empty_ = 0;
};

// jcmd PID Thread.dump_to_file: `#22 "name" virtual` and frames, or with -format=json one object.
bool is_dump_file(std::string_view prefix);
Result<void> read_dump_file(std::string_view text, std::uint64_t base, ReadContext& context,
                            Threads& threads);
bool is_json_dump(std::string_view prefix);
Result<void> read_json_dump(std::string_view text, std::uint64_t base, ReadContext& context,
                            Threads& threads);
// jhsdb jstack, and jstack -F of old: ` - App.fib(int) @bci=12, line=12 (Compiled frame)`.
bool is_agent_dump(std::string_view prefix);
Result<void> read_agent_dump(std::string_view text, std::uint64_t base, ReadContext& context,
                             Threads& threads);

// The name of `"worker-1" #12 prio=5 … nid=0xf68 runnable`: names may have quotes in them.
bool parse_thread(std::string_view line, std::string_view& name, std::string_view& rest);
// "nid=0xf68" or, from JDK 19 on, "nid=3944"; -1 when there is none.
std::int64_t thread_id(std::string_view rest);

}  // namespace profd::jstack

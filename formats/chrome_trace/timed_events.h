// Events that are on no thread's stack: instants become markers, counters counters, asynchronous operations
// tasks with their spans.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/growing_vector.h"
#include "formats/chrome_trace/event.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_fields.h"
#include "formats/support/text_rows.h"

namespace profd::chrome_trace {

class TimedEvents {
 public:
  // An event with a time; `thread` is its row.
  void take(const Event& event, const Threads& threads, std::uint32_t thread);
  // Adds all to the timeline of `builder`; may be done for several. Times are relative to `origin`;
  // `at(offset)` is a cursor at the arguments of an event.
  template <class At>
  Result<void> add_to(ProfileBuilder& builder, const Threads& threads, std::int64_t origin,
                      ReadContext& context, At at) {
    Target target{builder, threads, origin, {}, {}};
    fields_ = JsonFields();
    triggers_.clear();
    n_unmatched_ = n_no_numbers_ = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if ((i & 4095) == 4095) PROFD_CHECK(context.stop.status());
      const Row& row = rows_[i];
      if (row.phase == 'C') {
        if (row.args == kNoArgs) {
          ++n_no_numbers_;
          continue;
        }
        JsonCursor in = at(row.args);
        add_points(target, row, in);
      } else if (!is_operation(row.phase)) {
        LabelSetId fields{0u};
        if (row.args != kNoArgs) {
          JsonCursor in = at(row.args);
          fields = fields_.read(in, builder);
        }
        add_marker(target, row, fields);
      } else if (row.args != kNoArgs) {
        JsonCursor in = at(row.args);
        read_trigger(row, in);
      }
    }
    return add_operations(target, context);
  }
  // What was odd, the last time that they were added.
  void report(ReadContext& context) const;

 private:
  static constexpr std::uint64_t kNoArgs = ~std::uint64_t{0};
  struct Row {
    std::int64_t time;
    std::uint64_t args;  // offset of the arguments
    std::uint32_t thread, process, name, category;
    std::uint32_t operation;  // of asynchronous events, else the id
    char phase;
  };
  // What makes asynchronous events one operation.
  struct Operation {
    std::uint32_t category, id, scope, process, name;
    bool operator==(const Operation&) const = default;
  };
  struct Target {
    ProfileBuilder& builder;
    const Threads& threads;
    std::int64_t origin;
    std::vector<StringId> texts;      // by row of texts_; none: not there yet
    std::vector<ThreadId> thread_of;  // by thread
    StringId text(const TimedEvents& events, std::uint32_t row);
    ThreadId thread(std::uint32_t row);
    std::int64_t time(std::int64_t time) const;
  };

  static bool is_operation(char phase);
  std::uint32_t text_row(std::string_view raw);
  std::uint32_t operation_of(const Operation& operation);
  void add_marker(Target& target, const Row& row, LabelSetId fields);
  void add_points(Target& target, const Row& row, JsonCursor& in);
  void read_trigger(const Row& row, JsonCursor& in);
  std::vector<std::uint32_t> makers() const;
  Result<void> add_operations(Target& target, ReadContext& context);
  void add_operation(Target& target, const std::vector<const Row*>& rows, TaskId task);

  GrowingVector<Row> rows_;
  TextRows text_rows_;
  std::vector<std::string_view> texts_;  // as they stand in the file
  RowSet operation_rows_;
  GrowingVector<Operation> operations_;
  std::vector<std::pair<std::uint32_t, std::int64_t>> triggers_;  // an operation, the id of what made it
  JsonFields fields_;
  std::uint64_t n_unmatched_ = 0, n_no_numbers_ = 0;
};

}  // namespace profd::chrome_trace

// A profile as a script sees it: columns that the daemon shares, and what is worked out of them when it is
// first asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/support/big_vector.h"
#include "core/support/result.h"
#include "workers/script.h"
#include "workers/shared_columns.h"

namespace profd::script {

// Values by row, in the kind that the source has.
using Values = std::variant<BigVector<std::int64_t>, BigVector<double>>;
using ValueSpan = std::variant<std::span<const std::int64_t>, std::span<const double>>;

struct FunctionSum {
  std::uint32_t function = 0;
  double self = 0, total = 0;  // a stack counts once
};

struct RecordColumns {
  std::vector<std::span<const std::uint32_t>> contexts;  // by role; kNone: the record lacks it
  std::vector<ValueSpan> values;                         // by metric
  std::size_t n = 0;
};

class ProfileView {
 public:
  // `malformed`: a column is not as long as those beside it.
  static Result<ProfileView> make(worker::ScriptProfile about, worker::SharedColumns columns);

  [[nodiscard]] const worker::ScriptProfile& about() const { return about_; }
  [[nodiscard]] std::optional<std::uint32_t> find_metric(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::uint32_t id) const;

  [[nodiscard]] std::uint32_t n_contexts() const { return static_cast<std::uint32_t>(parent.size()); }
  [[nodiscard]] std::uint32_t depth(std::uint32_t context) const;
  [[nodiscard]] std::uint32_t function_of(std::uint32_t context) const {
    return frame_function[frame[context]];
  }

  // By context.
  const Values& self(std::uint32_t metric);
  const Values& total(std::uint32_t metric);
  double grand_total(std::uint32_t metric);
  // Some value of it is below 0, so that a small total says nothing of what is below.
  bool has_negative(std::uint32_t metric);
  // Those that are on some stack, by id.
  std::vector<FunctionSum> functions(std::uint32_t metric);

  std::span<const std::uint32_t> module_name;
  std::span<const std::uint32_t> function_name, function_file, function_line;
  std::span<const std::uint32_t> frame_function, frame_module, frame_file, frame_line;
  std::span<const std::uint8_t> frame_kind;
  std::span<const std::uint32_t> parent, frame, end;
  std::span<const std::uint32_t> sample_context, sample_thread,
      sample_labels;  // the last two: empty or whole
  std::span<const std::int64_t> sample_time;
  std::vector<ValueSpan> sample_values;
  std::span<const std::uint32_t> thread_name, thread_process;
  std::span<const std::int64_t> thread_tid, thread_pid;
  std::span<const std::uint32_t> label_first, label_key, label_text;
  std::span<const std::int64_t> label_number;
  std::span<const std::uint8_t> label_is_number;
  std::vector<RecordColumns> records;

 private:
  [[nodiscard]] Result<ValueSpan> values(const std::string& table, const std::string& which,
                                         std::size_t n) const;
  Result<void> take_columns();

  worker::ScriptProfile about_;
  worker::SharedColumns columns_;
  std::span<const std::uint64_t> text_at_;
  std::span<const char> text_bytes_;
  std::span<const std::uint32_t> self_at_;
  std::vector<ValueSpan> self_rows_;
  std::vector<std::optional<Values>> self_, total_;
  std::vector<std::optional<bool>> negative_;
};

double as_double(const Values& values, std::uint32_t row);
double as_double(const ValueSpan& values, std::size_t row);

}  // namespace profd::script

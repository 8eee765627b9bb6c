// Where within a function its self value is, as clients get it: rows by line, instruction or bytecode, with
// the share of the function and the running sum.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/source/function_ranges.h"
#include "server/feature/metric_values.h"
#include "server/feature/view_answer.h"

namespace profd {

// The text of a line of a file of the workspace, from 1; nothing where it is not known.
using SourceOfLine = std::function<std::optional<std::string>(const std::string& path, std::uint32_t line)>;

struct RangesRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;  // where sources are looked for; empty: nowhere
  ViewSpec spec;                // its filters and metric, and the granularity that `key` is of
  // What is meant; the first that is there counts, of none it is the function with the largest self value.
  std::string function;  // as it was shown anywhere
  std::optional<std::int64_t> key;
  RangeUnit by = RangeUnit::automatic;
  bool by_self = false;              // largest first, else in the order of the code
  std::vector<std::string> metrics;  // further ones of every row, stored or by formula
  std::size_t offset = 0, limit = 1000;
};

// Columns, all equally long.
struct RangeColumns {
  std::vector<std::string> place;     // "demo.cpp:12", "app+0x4012a0", "26->29", "bytecode 7", "no line"
  std::vector<std::string> from, to;  // "" not known
  std::vector<std::int32_t> file;     // in `files`; -1 unknown
  std::vector<std::uint32_t> line;    // 0 unknown
  std::vector<std::string> code;      // of an instruction, as a CodePlace: "app+0x4010"; "" else
  std::vector<Value> self, total;
  std::vector<std::string> self_text, total_text;
  std::vector<std::string> share, view_share;  // of self: of the function, of the view
  std::vector<Value> running;                  // self of the row and all before it
  std::vector<std::string> running_share;      // of the function
  std::vector<double> heat;                    // 0 to 1: square root of the share of the hottest row
  std::vector<std::string> source;             // the text of the line; "" not known
};

struct RangesAnswer {
  ViewHead head;
  std::string name, label;  // of the function, whole and short
  std::int32_t file = -1;   // of its definition, in `files`
  std::uint32_t line = 0;   // where it begins, 0 unknown
  Key key = 0;              // in views by function
  Amount self, total;       // with shares of the view
  RangeUnit by = RangeUnit::line;
  RangesKnown known;
  std::size_t n_rows = 0, offset = 0;
  std::vector<std::string> files;  // as the profile calls them
  std::vector<std::string> paths;  // by `files`: of the workspace; "" none, or not just one
  RangeColumns rows;
  std::vector<MetricRows> columns;
  std::optional<Remainder> remainder;  // shares are of the function
};

Needs needs_of(const RangesRequest& request);
// `not_found`: nothing is called so. `invalid`: what is meant is no function. `source` may be empty.
Result<RangesAnswer> ranges_answer(Views& views, const RangesRequest& request, const SourceOfLine& source,
                                   const StopToken& stop);

// How places of rows read. Files of one name are told apart by their paths, as far as they are in `rows`.
class RangePlaces {
 public:
  RangePlaces(const Profile& profile, std::vector<FunctionRange>::const_iterator begin,
              std::vector<FunctionRange>::const_iterator end);
  [[nodiscard]] std::string text(const FunctionRange& row, RangeUnit unit) const;

 private:
  const Profile& profile_;
  std::vector<std::string_view> ambiguous_;  // base names of several files
};

// Sums that stop at the limits of int64.
Value added(const Value& a, const Value& b);

}  // namespace profd

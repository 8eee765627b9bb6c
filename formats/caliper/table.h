// Caliper's records, whatever file they came from: a path of regions, dimensions and values of columns.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/reader.h"

namespace profd::caliper {

// A numeric attribute. What it means shows in its name: "sum#time.duration", "inclusive#sum#time.duration".
struct Column {
  std::string name, alias, unit;
  bool hidden = false;
};

class Table {
 public:
  Table(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  std::uint32_t column(std::string_view name, std::string_view alias, std::string_view unit, bool hidden);
  // True for attributes that say where a record is from, not how much: ranks, threads, iterations.
  static bool is_dimension(std::string_view name);
  // Of a numeric attribute. Those of programs (block, variant) have neither an operator nor a unit.
  static bool is_metric(std::string_view name, std::string_view alias, std::string_view unit);

  ContextId below(ContextId above, FrameId frame);
  ContextId region(ContextId above, std::string_view name);

  void begin_record(ContextId at);
  void value(std::uint32_t column, double value);
  void dimension(std::string_view name, std::string_view text);
  void rank(std::int64_t number) { rank_ = number; }  // dimension("mpi.rank", …)
  void end_record();

  // Declares the metrics and adds the samples.
  Result<void> finish();
  std::size_t n_records() const { return records_.size(); }

 private:
  enum class Role : std::uint8_t { exclusive, inclusive, skipped };
  struct Record {
    ContextId at;
    ThreadId thread;
    LabelSetId labels{0u};
    std::size_t first_value = 0;
  };
  struct Value {
    std::uint32_t column;
    double value;
  };

  Result<void> count_records();
  ContextId place_of(const Record& record);
  static SampleContext where_of(const Record& record);
  std::vector<Role> roles() const;
  std::string unit_of(std::uint32_t column) const;
  void subtract_children(const std::vector<Role>& roles);
  std::uint64_t key(const Record& record, ContextId at) const;
  ThreadId thread_of();

  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<Column> columns_;
  std::unordered_map<std::string, std::uint32_t> column_by_name_;
  std::unordered_map<std::uint32_t, ContextId> parents_;  // of contexts
  std::vector<Record> records_;
  std::vector<Value> values_;
  // of the open record
  std::int64_t rank_ = -1, thread_ = -1;
  std::vector<Label> labels_;
  std::map<std::pair<std::int64_t, std::int64_t>, ThreadId> threads_;  // by rank and thread
};

}  // namespace profd::caliper

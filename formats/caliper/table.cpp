#include "formats/caliper/table.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/support/hash.h"
#include "formats/support/text_number.h"

namespace profd::caliper {
namespace {

bool is_inclusive(const Column& column) {
  return column.name.find("inclusive#") != std::string::npos || column.name.starts_with("inclusive ") ||
         column.name.ends_with(" (inc)");
}

// Sums can be added over contexts and threads. "min#…", "avg#…", "percent_total#…" cannot.
bool is_sum(std::string_view name) {
  for (const std::string_view word :
       {"min#", "max#", "avg#", "any#", "iratio", "percent", "ratio#", "variance#", "histogram"})
    if (name.starts_with(word)) return false;
  if (name.starts_with("avg.") || name.starts_with("min ") || name.starts_with("max ") ||
      name.starts_with("avg "))
    return false;
  // "sum#min#…" is a sum of minima.
  return name.find("#min#") == std::string_view::npos && name.find("#max#") == std::string_view::npos &&
         name.find("#avg#") == std::string_view::npos;
}

// "inclusive#sum#time.duration" and "sum#time.duration": the first follows from the second.
std::string without_inclusive(std::string name) {
  const std::size_t at = name.find("inclusive#");
  if (at != std::string::npos) name.erase(at, 10);
  return name;
}

}  // namespace

bool Table::is_dimension(std::string_view name) {
  const auto ends = [&](std::string_view end) {
    return name == end || name.ends_with("." + std::string(end));
  };
  return ends("rank") || ends("thread.id") || ends("thread") || ends("id") || name == "Node order" ||
         name.starts_with("iteration#") || name.starts_with("loop.start_iteration") ||
         name.starts_with("cali.") || ends("slot");
}

bool Table::is_metric(std::string_view name, std::string_view alias, std::string_view unit) {
  if (is_dimension(name)) return false;
  return name.find('#') != std::string_view::npos || name == "count" || !alias.empty() || !unit.empty() ||
         name.find("time") != std::string_view::npos;
}

std::uint32_t Table::column(std::string_view name, std::string_view alias, std::string_view unit,
                            bool hidden) {
  const auto [found, added] = column_by_name_.emplace(name, static_cast<std::uint32_t>(columns_.size()));
  if (added) columns_.push_back({std::string(name), std::string(alias), std::string(unit), hidden});
  return found->second;
}

ContextId Table::below(ContextId above, FrameId frame) {
  const ContextId context = builder_.context(above, frame);
  parents_.emplace(context.v, above);
  return context;
}

ContextId Table::region(ContextId above, std::string_view name) {
  return below(above,
               builder_.frame({builder_.function(name.empty() ? std::string_view("(unnamed)") : name)}));
}

void Table::begin_record(ContextId at) {
  Record record;
  record.at = at;
  record.first_value = values_.size();
  records_.push_back(record);
  rank_ = thread_ = -1;
  labels_.clear();
}

void Table::value(std::uint32_t column, double value) {
  if (!std::isfinite(value)) {
    context_.report.add("value-not-finite", Severity::loss,
                        "Values that are no finite numbers were left out.");
    return;
  }
  values_.push_back({column, value});
}

void Table::dimension(std::string_view name, std::string_view text) {
  std::int64_t number = 0;
  const bool is_number = parse_int(text, number);
  if (is_number && (name == "mpi.rank" || name == "rank")) {
    rank_ = number;
  } else if (is_number && thread_ < 0 && (name.ends_with("thread.id") || name == "thread")) {
    thread_ = number;
  } else if (name != "Node order" && !name.starts_with("cali.") && !name.ends_with("aggregate.slot")) {
    labels_.push_back(
        {builder_.string(name), is_number, is_number ? StringId{0u} : builder_.string(text), number});
  }
}

void Table::end_record() {
  Record& record = records_.back();
  if (rank_ >= 0 || thread_ >= 0) record.thread = thread_of();
  if (!labels_.empty()) record.labels = builder_.label_set(labels_);
}

ThreadId Table::thread_of() {
  const auto [known, added] = threads_.emplace(std::pair(rank_, thread_), ThreadId{});
  if (added) {
    ThreadSpec spec;
    spec.pid = rank_;
    spec.tid = thread_;
    const std::string process = rank_ < 0 ? "" : fmt::format("rank {}", rank_);
    const std::string name = thread_ < 0 ? "" : fmt::format("thread {}", thread_);
    spec.process_name = process;
    spec.name = name;
    known->second = builder_.thread(spec);
  }
  return known->second;
}

std::vector<Table::Role> Table::roles() const {
  std::vector<Role> out(columns_.size(), Role::exclusive);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    const bool rate = column.unit.ends_with("/s") || column.alias.find("/s)") != std::string::npos;
    if (column.hidden || rate || !is_sum(column.name))
      out[i] = Role::skipped;
    else if (is_inclusive(column))
      out[i] = column_by_name_.contains(without_inclusive(column.name)) &&
                       without_inclusive(column.name) != column.name
                   ? Role::skipped
                   : Role::inclusive;
  }
  return out;
}

// Units are written by newer versions; older ones count time in whole microseconds.
std::string Table::unit_of(std::uint32_t column) const {
  const Column& c = columns_[column];
  if (!c.unit.empty()) return c.unit == "nsec" ? "nanoseconds" : c.unit == "usec" ? "microseconds" : c.unit;
  if (c.name.ends_with(".ns")) return "nanoseconds";
  if (c.name == "count" || c.name.ends_with("#count")) return "count";
  if (c.name.find("time.duration") == std::string::npos && c.name.find("time.inclusive") == std::string::npos)
    return "";
  const bool whole = std::all_of(values_.begin(), values_.end(), [&](const Value& v) {
    return v.column != column || v.value == std::floor(v.value);
  });
  return whole ? "microseconds" : "";
}

std::uint64_t Table::key(const Record& record, ContextId at) const {
  return hash_combine(hash_combine(at.v, record.thread.v), record.labels.v);
}

// Inclusive values become self values: less those of the nearest records below, of the same thread.
void Table::subtract_children(const std::vector<Role>& roles) {
  if (std::find(roles.begin(), roles.end(), Role::inclusive) == roles.end()) return;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> records_at;
  for (std::uint32_t r = 0; r < records_.size(); ++r)
    records_at[key(records_[r], records_[r].at)].push_back(r);
  const std::vector<Value> stored = values_;
  const auto values_end = [&](std::uint32_t r) {
    return r + 1 < records_.size() ? records_[r + 1].first_value : values_.size();
  };
  // The index of the value of `column` in a record at `at` of the same thread and labels.
  const auto find = [&](const Record& like, ContextId at, std::uint32_t column) -> std::size_t {
    const auto found = records_at.find(key(like, at));
    if (found == records_at.end()) return values_.size();
    for (const std::uint32_t r : found->second) {
      const Record& record = records_[r];
      if (record.at != at || record.thread != like.thread || record.labels != like.labels) continue;
      for (std::size_t v = record.first_value; v < values_end(r); ++v)
        if (stored[v].column == column) return v;
    }
    return values_.size();
  };
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    const Record& record = records_[r];
    for (std::size_t v = record.first_value; v < values_end(r); ++v) {
      if (roles[stored[v].column] != Role::inclusive) continue;
      for (ContextId at = record.at; at != kRootContext;) {
        at = parents_.at(at.v);
        if (at == kRootContext) break;  // outside any region is no caller
        const std::size_t above = find(record, at, stored[v].column);
        if (above == values_.size()) continue;
        values_[above].value -= stored[v].value;
        break;
      }
    }
  }
  for (std::size_t v = 0; v < values_.size(); ++v)
    if (roles[stored[v].column] == Role::inclusive &&
        std::abs(values_[v].value) <= 1e-12 * std::abs(stored[v].value))
      values_[v].value = 0;
}

Result<void> Table::finish() {
  const std::vector<Role> role = roles();
  subtract_children(role);
  std::vector<std::uint32_t> metric(columns_.size(), kNone);
  std::optional<MetricId> best;
  std::uint64_t n_skipped = 0;
  for (std::uint32_t i = 0; i < columns_.size(); ++i) {
    if (role[i] == Role::skipped) {
      ++n_skipped;
      continue;
    }
    const std::string name = !columns_[i].alias.empty()   ? columns_[i].alias
                             : role[i] == Role::inclusive ? without_inclusive(columns_[i].name)
                                                          : columns_[i].name;
    const MetricId id = builder_.add_metric(name, unit_of(i), true);
    metric[i] = id.v;
    if (!best && (columns_[i].name.find("time") != std::string::npos ||
                  columns_[i].name.find("duration") != std::string::npos))
      best = id;
  }
  if (best) builder_.set_default_metric(*best);
  if (columns_.empty()) return count_records();
  if (builder_.n_metrics() == 0)
    return fail(ErrorCode::malformed, "no column is a sum: minima, maxima and averages cannot be added up");
  if (n_skipped > 0)
    context_.report.add(
        "column-not-additive", Severity::loss,
        "Columns that cannot be added up (minima, maxima, averages, ratios), are hidden, or follow "
        "from another one are not shown.",
        std::nullopt, n_skipped);
  std::vector<double> row(builder_.n_metrics());
  std::uint64_t n_negative = 0, n_empty = 0;
  for (std::uint32_t r = 0; r < records_.size(); ++r) {
    if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::size_t end = r + 1 < records_.size() ? records_[r + 1].first_value : values_.size();
    std::fill(row.begin(), row.end(), 0.0);
    bool any = false;
    for (std::size_t v = records_[r].first_value; v < end; ++v) {
      const std::uint32_t m = metric[values_[v].column];
      if (m == kNone) continue;
      row[m] += values_[v].value;
      n_negative += values_[v].value < 0;
      any = true;
    }
    n_empty += end == records_[r].first_value;
    if (any) builder_.add_sample(place_of(records_[r]), std::span<const double>(row), where_of(records_[r]));
  }
  context_.report.add("record-without-value", Severity::info,
                      "Records without a value beside others that have one were left out.", std::nullopt,
                      n_empty);
  if (n_negative > 0)
    context_.report.add("negative-self", Severity::info,
                        "Regions have less than the regions below them; their own value is negative.",
                        std::nullopt, n_negative);
  return {};
}

// A trace of events alone says where the program was, and how often.
Result<void> Table::count_records() {
  if (records_.empty()) return fail(ErrorCode::malformed, "there is no record");
  builder_.add_metric("records", "count");
  const std::int64_t one = 1;
  for (const Record& record : records_) {
    if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    builder_.add_sample(place_of(record), std::span(&one, 1), where_of(record));
  }
  context_.report.add("no-values", Severity::info, "No record carries a value; the records are counted.");
  return {};
}

ContextId Table::place_of(const Record& record) {
  return record.at == kRootContext ? region(kRootContext, "(outside any region)") : record.at;
}

SampleContext Table::where_of(const Record& record) {
  SampleContext where;
  where.thread = record.thread;
  where.labels = record.labels;
  return where;
}

}  // namespace profd::caliper

#include "formats/easyview/samples.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace profd::easyview {
namespace {

constexpr std::uint64_t kText = 2;  // value_type of a text column

// What the columns of the file are.
struct Columns {
  struct Number {
    std::size_t column;
    bool is_unsigned;
    MetricId metric;
  };
  struct Text {
    std::size_t column;
    StringId key;
  };
  std::vector<Number> numbers;
  std::vector<Text> texts;
  std::vector<std::size_t> links;   // columns that hold context ids
  std::vector<std::string> roles;   // of the links; the sample's own context has the last role
  std::optional<std::size_t> type;  // "sample type"
  std::vector<MetricInfo> metrics;  // of `numbers`
  std::string association;
};

bool contains(std::string_view text, std::string_view word) {
  const auto same = [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? a + 32 : a) == (b >= 'A' && b <= 'Z' ? b + 32 : b);
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

std::string role_of(std::string_view link) {
  link.remove_suffix(std::min(link.size(), std::string_view("context").size()));
  while (!link.empty() && (link.back() == ' ' || link.back() == '_')) link.remove_suffix(1);
  if (link == "alloc") return "allocation";
  return link.empty() ? "other" : std::string(link);
}

// What the pairs mean shows in the names of the columns.
void name_association(Columns& columns, const std::vector<std::string_view>& names) {
  const auto any = [&](std::string_view word) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return contains(name, word); });
  };
  const auto role = [&](std::string_view word) {
    return std::find(columns.roles.begin(), columns.roles.end(), word) != columns.roles.end();
  };
  if (any("race")) {
    columns.association = "race";
    columns.roles.emplace_back(role("second") ? "first" : "second");
  } else if (any("sharing")) {
    columns.association = "false sharing";
    columns.roles.emplace_back(role("second") ? "first" : "second");
  } else if (any("redundan") || any("kill") || any("dead")) {
    columns.association = "redundancy";
    columns.roles.emplace_back(any("kill") && !role("killed") ? "killed" : "redundant");
  } else if (role("use") || any("reuse")) {
    columns.association = "reuse";
    columns.roles.emplace_back("reuse");
  } else if (role("allocation")) {
    columns.association = "access";
    columns.roles.emplace_back("access");
  } else {
    columns.association = "pairs";
    columns.roles.emplace_back("own");
  }
}

Result<Columns> declare_columns(const Records& records, ReadContext& context, ProfileBuilder& builder) {
  Columns columns;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < records.metrics.size(); ++i) {
    const MetricType& type = records.metrics[i];
    PROFD_TRY(const std::string_view name, string_at(records, type.name, "metric_type.des"));
    PROFD_TRY(std::string_view unit, string_at(records, type.unit, "metric_type.unit"));
    names.push_back(name);
    if (contains(name, "context") && name.size() >= 7 && contains(name.substr(name.size() - 7), "context")) {
      columns.links.push_back(i);
      columns.roles.push_back(role_of(name));
      continue;
    }
    if (contains(name, "sample type") && !columns.type) {
      columns.type = i;
      continue;
    }
    const std::string shown = name.empty() ? fmt::format("metric {}", i) : std::string(name);
    if (type.value_type == kText) {
      columns.texts.push_back({i, builder.string(shown)});
      continue;
    }
    while (unit.starts_with(' ')) unit.remove_prefix(1);
    if (unit == "times" || unit == "number") unit = "count";
    if (unit == "sec") {
      unit = "microseconds";
      context.report.add("seconds-are-microseconds", Severity::info,
                         "The file labels whole numbers of microseconds as seconds, as the converters of "
                         "DrCCTProf do; they are shown as microseconds.");
    }
    columns.numbers.push_back({i, type.value_type != 0, builder.add_metric(shown, unit)});
    columns.metrics.push_back({shown, normalize_unit(unit), false});
  }
  if (columns.numbers.empty()) {
    columns.numbers.push_back({records.metrics.size(), false, builder.add_metric("samples", "count")});
    columns.metrics.push_back({"samples", "count", false});
  }
  if (!columns.links.empty()) name_association(columns, names);
  return columns;
}

class Adding {
 public:
  Adding(const Records& records, const Tree& tree, const Columns& columns, ReadContext& context,
         ProfileBuilder& builder)
      : in_(records), tree_(tree), columns_(columns), context_(context), builder_(builder) {
    if (!columns.links.empty()) {
      association_.resize(columns.roles.size());
      association_threads_.resize(columns.roles.size());
      association_values_.resize(columns.numbers.size());
    }
  }

  Result<void> run() {
    find_shape();
    for (std::size_t i = 0; i < in_.sample_context.size(); ++i) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      PROFD_CHECK(sample(i));
    }
    finish();
    return {};
  }

 private:
  std::span<const MetricValue> values_of(std::size_t i) const {
    return std::span(in_.values)
        .subspan(in_.sample_first_value[i], in_.sample_first_value[i + 1] - in_.sample_first_value[i]);
  }

  // Writers put numbers into either field whatever they declare: the declared one first, else the other.
  std::int64_t number(std::span<const MetricValue> values, std::size_t column, bool is_unsigned) {
    if (column >= values.size()) return column == in_.metrics.size() ? 1 : 0;
    const MetricValue& v = values[column];
    const bool take_unsigned = v.uint_value != 0 && (is_unsigned || v.int_value == 0);
    if (!take_unsigned) return v.int_value;
    if (v.uint_value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      ++n_too_large_;
      return std::numeric_limits<std::int64_t>::max();
    }
    return static_cast<std::int64_t>(v.uint_value);
  }
  std::uint64_t link(std::span<const MetricValue> values, std::size_t column) const {
    if (column >= values.size()) return 0;
    const MetricValue& v = values[column];
    return v.uint_value != 0 ? v.uint_value : static_cast<std::uint64_t>(v.int_value);
  }

  // Files with a sample type write one record as several samples that repeat its values: those of lower
  // types are the record's other contexts.
  void find_shape() {
    if (!columns_.type || columns_.links.empty()) return;
    for (std::size_t i = 0; i < in_.sample_context.size(); ++i)
      record_type_ = std::max(record_type_, link(values_of(i), *columns_.type));
  }

  Result<void> sample(std::size_t i) {
    const std::uint64_t id = in_.sample_context[i];
    const std::uint32_t row = tree_.index.find(id);
    if (row == kNone) {
      if (!in_.truncated)
        return fail(ErrorCode::malformed, fmt::format("sample of context {}, which is not in the file", id),
                    in_.sample_offset[i]);
      ++n_unresolved_;
      return {};
    }
    const std::span<const MetricValue> values = values_of(i);
    if (values.size() > in_.metrics.size())
      return fail(
          ErrorCode::malformed,
          fmt::format("a sample has {} values, the file has {} metrics", values.size(), in_.metrics.size()),
          in_.sample_offset[i]);
    numbers_.clear();
    for (const Columns::Number& column : columns_.numbers)
      numbers_.push_back(number(values, column.column, column.is_unsigned));
    if (!columns_.links.empty()) {
      if (columns_.type && link(values, *columns_.type) < record_type_) {
        ++n_parts_;
        remember_part(row, values);
        for (std::size_t m = 0; m < numbers_.size(); ++m) part_sum_ += static_cast<double>(numbers_[m]);
        return {};
      }
      record(row, values);
    }
    SampleContext where;
    where.thread = tree_.threads[row];
    if (!columns_.texts.empty()) {
      PROFD_TRY(where.labels, labels(values));
    }
    if (tree_.any_thread || !columns_.texts.empty()) {
      builder_.add_sample(tree_.contexts[row], std::span<const std::int64_t>(numbers_), where);
    } else {
      for (std::size_t m = 0; m < numbers_.size(); ++m)
        builder_.add_self(tree_.contexts[row], columns_.numbers[m].metric, numbers_[m]);
      ++n_plain_;
    }
    return {};
  }

  void record(std::uint32_t row, std::span<const MetricValue> values) {
    ++n_records_;
    for (std::size_t m = 0; m < numbers_.size(); ++m) {
      association_values_[m].push_back(numbers_[m]);
      record_sum_ += static_cast<double>(numbers_[m]);
    }
    for (std::size_t l = 0; l < columns_.links.size(); ++l) {
      const std::uint64_t id = link(values, columns_.links[l]);
      std::uint32_t other = id == 0 ? kNone : tree_.index.find(id);
      if (id != 0 && other == kNone && l < parts_.size() && parts_[l].values == numbers_) {
        other = parts_[l].row;
        ++n_links_by_part_;
      }
      if (id != 0 && other == kNone) ++n_lost_links_;
      tie(l, other);
    }
    parts_.clear();
    tie(association_.size() - 1, row);
  }

  void tie(std::size_t role, std::uint32_t row) {
    association_[role].push_back(row == kNone ? kNone : tree_.contexts[row].v);
    association_threads_[role].push_back(row == kNone ? kNone : tree_.threads[row].v);
  }

  // The parts of a record stand before it, each with one link more than the last.
  void remember_part(std::uint32_t row, std::span<const MetricValue> values) {
    std::size_t n_links = 0;
    for (const std::size_t column : columns_.links) n_links += link(values, column) != 0;
    parts_.resize(std::min(n_links, parts_.size()));
    if (parts_.size() == n_links) parts_.push_back({row, numbers_});
  }

  Result<LabelSetId> labels(std::span<const MetricValue> values) {
    labels_.clear();
    for (const Columns::Text& column : columns_.texts) {
      if (column.column >= values.size()) continue;
      PROFD_TRY(const std::string_view text,
                string_at(in_, values[column.column].str_value, "metric.str_value"));
      if (!text.empty()) labels_.push_back({column.key, false, builder_.string(text)});
    }
    return builder_.label_set(labels_);
  }

  void finish() {
    if (n_plain_ > 0) builder_.set_n_samples(n_plain_);
    const auto loss = [&](std::string_view kind, std::uint64_t n, std::string_view text) {
      if (n > 0) context_.report.add(kind, Severity::loss, text, std::nullopt, n);
    };
    loss("value-too-large", n_too_large_, "Values above the largest 64-bit integer were clamped to it.");
    loss("unknown-link", n_lost_links_, "Records name a context that is not in the file.");
    if (n_links_by_part_ > 0)
      context_.report.add(
          "link-by-neighbour", Severity::info,
          "Records name a context that was not written; the context of the sample before, which "
          "stands for it and has the same values, was taken.",
          std::nullopt, n_links_by_part_);
    loss("unresolved-sample", n_unresolved_,
         "Samples were left out: their context was cut off with the file.");
    if (columns_.links.empty()) return;
    if (n_parts_ > 0) {
      const std::uint64_t per_record = columns_.links.size();
      const bool repeats =
          n_parts_ == n_records_ * per_record && part_sum_ == record_sum_ * static_cast<double>(per_record);
      context_.report.add(
          "parts-of-records", repeats ? Severity::info : Severity::loss,
          repeats
              ? "Samples that repeat the values of a record for its other contexts are counted once, with "
                "the record."
              : "Samples for the other contexts of records do not match the records; their values are left "
                "out.",
          std::nullopt, n_parts_);
    }
    AssociationTable table;
    table.name = columns_.association;
    table.roles = columns_.roles;
    table.metrics = columns_.metrics;
    for (auto& column : association_) table.contexts.emplace_back(std::move(column));
    if (tree_.any_thread)
      for (auto& column : association_threads_) table.threads.emplace_back(std::move(column));
    for (auto& column : association_values_)
      table.values.emplace_back(Column<std::int64_t>(std::move(column)));
    builder_.add_association(std::move(table));
  }

  const Records& in_;
  const Tree& tree_;
  const Columns& columns_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  struct Part {
    std::uint32_t row;
    std::vector<std::int64_t> values;
  };
  std::uint64_t record_type_ = 0;
  std::vector<Part> parts_;  // since the last record
  std::vector<std::int64_t> numbers_;
  std::vector<Label> labels_;
  std::vector<std::vector<std::uint32_t>> association_, association_threads_;
  std::vector<std::vector<std::int64_t>> association_values_;
  std::uint64_t n_plain_ = 0, n_parts_ = 0, n_records_ = 0, n_lost_links_ = 0, n_links_by_part_ = 0,
                n_too_large_ = 0, n_unresolved_ = 0;
  double part_sum_ = 0, record_sum_ = 0;
};

}  // namespace

Result<void> add_samples(const Records& records, const Tree& tree, ReadContext& context,
                         ProfileBuilder& builder) {
  PROFD_TRY(const Columns columns, declare_columns(records, context, builder));
  return Adding(records, tree, columns, context, builder).run();
}

}  // namespace profd::easyview

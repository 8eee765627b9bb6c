#include "formats/caliper/json.h"

#include <algorithm>

#include <fmt/format.h>

#include "formats/support/text_number.h"

namespace profd::caliper {
namespace {

struct JsonColumn {
  std::string name, alias, unit;
  bool is_value = false;
  std::uint32_t column = kNone;  // of the table, when it is a number
};

struct PathNode {
  std::string label;
  std::uint32_t parent = kNone;
};

// Paths that are call stacks or regions; of several the stack wins, as regions are in it.
bool is_path(std::string_view name) {
  return name == "path" || name.find("callpath") != std::string_view::npos || name == "function" ||
         name == "annotation" || name == "region";
}

// One scalar as text.
std::string scalar(JsonCursor& in) {
  switch (in.kind()) {
    case JsonKind::string:
      return std::string(in.string());
    case JsonKind::number:
      return std::string(in.number().text);
    case JsonKind::boolean:
      return in.boolean() ? "true" : "false";
    default:
      in.skip();
      return {};
  }
}

class Split {
 public:
  Split(JsonCursor in, ReadContext& context, ProfileBuilder& builder, Table& table)
      : in_(std::move(in)), context_(context), builder_(builder), table_(table) {}

  Result<void> run() {
    PROFD_CHECK(outline());
    PROFD_CHECK(read_columns());
    PROFD_CHECK(read_nodes());
    PROFD_CHECK(read_rows());
    return {};
  }

 private:
  Result<void> outline() {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const std::uint64_t at = in_.offset();
      if (key == "data" || key == "columns" || key == "column_metadata" || key == "nodes") {
        (key == "data"      ? data_
         : key == "columns" ? columns_at_
         : key == "nodes"   ? nodes_at_
                            : metadata_) = at;
        in_.skip();
      } else {
        const std::string name(key);
        const std::string value = scalar(in_);
        constexpr std::size_t kMax = 1000;
        if (!value.empty() && builder_.info().properties.size() < kMax)
          builder_.info().properties.emplace_back(name, value);
        if (name == "executablepath" || name == "executable") builder_.info().program = value;
      }
    }
    PROFD_CHECK(in_.finish());
    if (!data_ || !columns_at_) return fail(ErrorCode::malformed, "the file lacks its data or columns");
    return {};
  }

  Result<void> read_columns() {
    in_.seek(*columns_at_, 1);
    for (in_.begin_array(); in_.next_element();)
      columns_.push_back({std::string(in_.string()), {}, {}, true, kNone});
    if (metadata_) {
      in_.seek(*metadata_, 1);
      std::size_t i = 0;
      std::string_view key;
      for (in_.begin_array(); in_.next_element(); ++i) {
        JsonColumn unused;
        JsonColumn& column = i < columns_.size() ? columns_[i] : unused;
        for (in_.begin_object(); in_.next_key(key);) {
          if (key == "is_value" && in_.kind() == JsonKind::boolean)
            column.is_value = in_.boolean();
          else if (key == "attribute.alias")
            column.alias = scalar(in_);
          else if (key == "attribute.unit" || key == "time.unit")
            column.unit = scalar(in_);
          else
            in_.skip();
        }
      }
    }
    PROFD_CHECK(in_.status());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      JsonColumn& column = columns_[i];
      if (column.is_value && Table::is_metric(column.name, column.alias, column.unit)) {
        column.column = table_.column(column.name, column.alias, column.unit, false);
      }
      if (!column.is_value && is_path(column.name) &&
          (path_column_ == SIZE_MAX || columns_[path_column_].name == "path"))
        path_column_ = i;
      if (column.name.starts_with("sourceloc#")) source_column_ = i;
      if (column.name.starts_with("module#")) module_column_ = i;
    }
    return {};
  }

  Result<void> read_nodes() {
    if (!nodes_at_) return {};
    in_.seek(*nodes_at_, 1);
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      const std::uint64_t at = in_.offset();
      PathNode node;
      std::int64_t parent = -1;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "label")
          node.label = scalar(in_);
        else if (key == "parent" && in_.kind() == JsonKind::number)
          parent = in_.integer();
        else
          in_.skip();
      }
      if (in_.ok() && parent >= static_cast<std::int64_t>(nodes_.size()))
        in_.fail_at(
            at, ErrorCode::malformed,
            fmt::format("node {} has the parent {}, which does not stand before it", nodes_.size(), parent));
      if (parent >= 0) node.parent = static_cast<std::uint32_t>(parent);
      nodes_.push_back(std::move(node));
    }
    paths_.assign(nodes_.size(), ContextId{});
    return in_.status();
  }

  ContextId path(std::uint32_t node) {
    pending_.clear();
    while (node != kNone && !paths_[node].valid()) {
      pending_.push_back(node);
      node = nodes_[node].parent;
    }
    ContextId at = node == kNone ? kRootContext : paths_[node];
    for (auto i = pending_.rbegin(); i != pending_.rend(); ++i)
      at = paths_[*i] = table_.region(at, nodes_[*i].label);
    return at;
  }

  // The leaf of a sampled stack has a source line and a module.
  ContextId leaf(std::uint32_t node, std::uint32_t source, std::uint32_t module) {
    if (source == kNone && module == kNone) return path(node);
    FrameSpec frame;
    frame.function = builder_.function(nodes_[node].label);
    if (source != kNone) {
      const std::string_view text = nodes_[source].label;
      const std::size_t colon = text.rfind(':');
      std::uint32_t line = 0;
      if (colon != std::string_view::npos && parse_uint(text.substr(colon + 1), line) && line != kNone &&
          text.substr(0, colon) != "UNKNOWN") {
        frame.line = line;
        frame.file = builder_.string(text.substr(0, colon));
      }
    }
    if (module != kNone) frame.module = builder_.module({nodes_[module].label});
    const std::uint32_t above = nodes_[node].parent;
    return table_.below(above == kNone ? kRootContext : path(above), builder_.frame(frame));
  }

  Result<void> read_rows() {
    in_.seek(*data_, 1);
    std::vector<std::pair<std::size_t, double>> values;
    std::vector<std::pair<std::size_t, std::string>> dimensions;
    std::vector<std::pair<std::size_t, std::uint32_t>> node_cells;
    for (in_.begin_array(); in_.next_element();) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint64_t row_at = in_.offset();
      values.clear();
      dimensions.clear();
      node_cells.clear();
      std::size_t i = 0;
      for (in_.begin_array(); in_.next_element(); ++i) {
        if (i >= columns_.size()) {
          in_.fail_at(row_at, ErrorCode::malformed,
                      fmt::format("a row has more cells than {} columns", columns_.size()));
          break;
        }
        const std::uint64_t at = in_.offset();
        if (in_.kind() == JsonKind::null) {
          in_.skip();
        } else if (!columns_[i].is_value) {
          const std::int64_t node = in_.integer();
          if (in_.ok() && (node < 0 || static_cast<std::uint64_t>(node) >= nodes_.size()))
            in_.fail_at(at, ErrorCode::malformed,
                        fmt::format("a cell names node {} of {}", node, nodes_.size()));
          node_cells.emplace_back(i, static_cast<std::uint32_t>(node));
        } else if (columns_[i].column != kNone && in_.kind() == JsonKind::number) {
          values.emplace_back(i, in_.number().value);
        } else {
          dimensions.emplace_back(i, scalar(in_));
        }
      }
      if (!in_.ok()) break;
      std::uint32_t node = kNone, source = kNone, module = kNone;
      for (const auto& [column, cell] : node_cells) {
        if (column == path_column_)
          node = cell;
        else if (column == source_column_)
          source = cell;
        else if (column == module_column_)
          module = cell;
      }
      const ContextId at = node == kNone ? kRootContext : leaf(node, source, module);
      table_.begin_record(at);
      for (const auto& [column, value] : values) table_.value(columns_[column].column, value);
      for (const auto& [column, text] : dimensions) table_.dimension(columns_[column].name, text);
      for (const auto& [column, cell] : node_cells)
        if (column != path_column_ && column != source_column_ && column != module_column_)
          table_.dimension(columns_[column].name, nodes_[cell].label);
      table_.end_record();
    }
    return in_.status();
  }

  JsonCursor in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Table& table_;
  std::optional<std::uint64_t> data_, columns_at_, metadata_, nodes_at_;
  std::vector<JsonColumn> columns_;
  std::vector<PathNode> nodes_;
  std::vector<ContextId> paths_;
  std::vector<std::uint32_t> pending_;
  std::size_t path_column_ = SIZE_MAX, source_column_ = SIZE_MAX, module_column_ = SIZE_MAX;
};

// "main/solve/inner", one region after another.
ContextId split_path(Table& table, std::string_view text) {
  ContextId at = kRootContext;
  while (!text.empty()) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    if (slash > 0) at = table.region(at, text.substr(0, slash));
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  return at;
}

Result<void> read_records(JsonCursor& in, ReadContext& context, Table& table) {
  std::vector<std::pair<std::string, double>> values;
  std::vector<std::pair<std::string, std::string>> dimensions;
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    if (context.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    values.clear();
    dimensions.clear();
    std::string path;
    for (in.begin_object(); in.next_key(key);) {
      const std::string name(key);
      const bool number = in.kind() == JsonKind::number;
      const std::string text = scalar(in);
      double value = 0;
      if (is_path(name))
        path = name == "path" || path.empty() ? text : path;
      else if ((number || name.find('#') != std::string::npos) && Table::is_metric(name, {}, {}) &&
               parse_double(text, value))
        values.emplace_back(name, value);
      else if (!text.empty())
        dimensions.emplace_back(name, text);
    }
    table.begin_record(split_path(table, path));
    for (const auto& [name, value] : values) table.value(table.column(name, {}, {}, false), value);
    for (const auto& [name, text] : dimensions) table.dimension(name, text);
    table.end_record();
  }
  return in.status();
}

}  // namespace

Confidence sniff_json(const JsonKeys& keys, bool at_end) {
  if (keys.kind() == JsonKind::object) {
    const bool data = keys.has("data", JsonKind::array), columns = keys.has("columns", JsonKind::array);
    const bool metadata = keys.has("column_metadata", JsonKind::array),
               nodes = keys.has("nodes", JsonKind::array);
    if (columns && metadata && (data || nodes)) return Confidence::certain;
    if (keys.has("records", JsonKind::array) && keys.has("globals", JsonKind::object) &&
        keys.has("attributes", JsonKind::object))
      return Confidence::certain;
    // The rows come first and may fill the prefix: arrays of numbers and nulls.
    if (const JsonKey* rows = keys.find("data"); data && !keys.complete() && !at_end) {
      JsonCursor in(rows->value);
      if (in.begin_array() && in.next_element() && in.kind() == JsonKind::array) return Confidence::maybe;
    }
    return Confidence::no;
  }
  if (keys.kind() != JsonKind::array) return Confidence::no;
  for (const JsonKey& key : keys.keys())
    if (key.name_contains("#time.duration") || key.name_contains("#time.inclusive"))
      return Confidence::certain;
  return Confidence::no;
}

Result<void> read_json(JsonCursor in, ReadContext& context, ProfileBuilder& builder, Table& table) {
  if (in.kind() == JsonKind::array) {
    PROFD_CHECK(read_records(in, context, table));
    return in.finish();
  }
  JsonCursor look = in;
  std::optional<std::uint64_t> records;
  std::string_view key;
  for (look.begin_object(); look.next_key(key);) {
    if (key == "records") records = look.offset();
    look.skip();
  }
  if (records) {
    PROFD_CHECK(look.finish());
    in.seek(*records, 1);
    return read_records(in, context, table);
  }
  return Split(std::move(in), context, builder, table).run();
}

}  // namespace profd::caliper

#include "formats/caliper/cali.h"

#include <cstring>

#include <fmt/format.h>

#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::caliper {
namespace {

// Built-in nodes, which files never define: 0-7 types, 8 the name of an attribute, 9 its type, 10 its
// properties.
constexpr std::uint64_t kNameAttribute = 8, kTypeAttribute = 9, kPropertyAttribute = 10;
constexpr std::uint64_t kFirstFree = 11;
constexpr std::uint32_t kNested = 256, kHidden = 128;

// What an attribute is, once it was asked.
enum class Role : std::uint8_t { unknown, metric, rank, dimension };

// A node of the metadata tree, with what it inherits.
struct Node {
  std::uint32_t parent = kNone;
  std::uint64_t attribute = 0;  // id
  StringId value{0u};
  ContextId path = kRootContext;  // of nested attributes down to here
  bool any_nested = false, any_dimension = false;
  // Of an attribute: its name is `value`; inherited from the nodes above.
  std::uint32_t properties = 0;
  StringId alias{0u}, unit{0u};
  std::uint32_t column = kNone;
  Role role = Role::unknown;
};

// The next piece of `text` up to `end`, escapes left in; steps over it and the separator.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  if (at != std::string_view::npos && std::memchr(text.data(), '\\', at) == nullptr) {
    const std::string_view piece = text.substr(0, at);
    text.remove_prefix(at + 1);
    return piece;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] != end) continue;
    const std::string_view piece = text.substr(0, i);
    text.remove_prefix(i + 1);
    return piece;
  }
  const std::string_view piece = text;
  text = {};
  return piece;
}

std::string_view unescape(std::string_view text, std::string& scratch) {
  if (text.find('\\') == std::string_view::npos) return text;
  scratch.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      ++i;
      scratch += text[i] == 'n' ? '\n' : text[i];
    } else {
      scratch += text[i];
    }
  }
  return scratch;
}

struct Fields {
  std::string_view rec, id, attr, data, parent, ref;
};

Fields fields_of(std::string_view line) {
  Fields out;
  while (!line.empty()) {
    std::string_view field = take(line, ',');
    const std::string_view key = take(field, '=');
    if (key == "__rec")
      out.rec = field;
    else if (key == "id")
      out.id = field;
    else if (key == "attr")
      out.attr = field;
    else if (key == "data")
      out.data = field;
    else if (key == "parent")
      out.parent = field;
    else if (key == "ref")
      out.ref = field;
  }
  return out;
}

class Reading {
 public:
  Reading(ReadContext& context, ProfileBuilder& builder, Table& table)
      : context_(context), builder_(builder), table_(table) {
    for (std::uint64_t id = 0; id < kFirstFree; ++id) {
      ids_[id] = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    const std::string_view names[] = {"cali.attribute.name", "cali.attribute.type", "cali.attribute.prop"};
    for (std::size_t i = 0; i < 3; ++i) nodes_[kNameAttribute + i].value = builder.string(names[i]);
  }

  Result<void> run(std::string_view text) {
    LineReader lines(text);
    std::string_view line;
    while (lines.next(line)) {
      if (context_.stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (line.empty()) continue;
      const Fields fields = fields_of(line);
      const bool done = fields.rec == "node"      ? node(fields)
                        : fields.rec == "ctx"     ? record(fields)
                        : fields.rec == "globals" ? globals(fields)
                                                  : false;
      if (done) continue;
      if (!lines.ended())
        context_.report.add("truncated", Severity::loss, "The last line is cut off; it was left out.",
                            lines.offset());
      else
        context_.report.add(
            "malformed-line", Severity::loss,
            "Lines that are no record, or refer to something that is not defined, were left out.",
            lines.offset());
    }
    return {};
  }

 private:
  std::uint32_t find(std::string_view id) const {
    std::uint64_t number;
    if (!parse_uint(id, number)) return kNone;
    const auto found = ids_.find(number);
    return found == ids_.end() ? kNone : found->second;
  }

  bool node(const Fields& fields) {
    Node node;
    std::uint64_t id;
    if (!parse_uint(fields.id, id) || id < kFirstFree || !parse_uint(fields.attr, node.attribute))
      return false;
    const auto attribute = ids_.find(node.attribute);
    if (attribute == ids_.end()) return false;
    if (!fields.parent.empty()) {
      node.parent = find(fields.parent);
      if (node.parent == kNone) return false;
      const Node& above = nodes_[node.parent];
      node.path = above.path;
      node.any_nested = above.any_nested;
      node.any_dimension = above.any_dimension;
      node.properties = above.properties;
      node.alias = above.alias;
      node.unit = above.unit;
    }
    node.value = builder_.string(unescape(fields.data, scratch_));
    const Node& of = nodes_[attribute->second];
    const std::string_view attribute_name = builder_.text(of.value);
    if (node.attribute == kPropertyAttribute) {
      parse_uint(fields.data, node.properties);
    } else if (node.attribute == kNameAttribute || node.attribute == kTypeAttribute) {
      // a definition of an attribute
    } else if (attribute_name == "attribute.alias") {
      node.alias = node.value;
    } else if (attribute_name == "attribute.unit" || attribute_name == "time.unit") {
      node.unit = node.value;
    } else if ((of.properties & kNested) != 0) {
      const std::string name(builder_.text(node.value));
      node.path = table_.region(node.path, name);
      node.any_nested = true;
    } else {
      node.any_dimension = true;
    }
    ids_[id] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(node);
    return true;
  }

  // Nested nodes of a chain below `above`, outermost first.
  ContextId append_path(ContextId above, std::uint32_t row) {
    if (!nodes_[row].any_nested) return above;
    if (above == kRootContext) return nodes_[row].path;
    chain_.clear();
    for (; row != kNone; row = nodes_[row].parent) chain_.push_back(row);
    for (auto at = chain_.rbegin(); at != chain_.rend(); ++at) {
      const Node& node = nodes_[*at];
      const auto attribute = ids_.find(node.attribute);
      if (node.attribute < kFirstFree || (nodes_[attribute->second].properties & kNested) == 0) continue;
      const std::string name(builder_.text(node.value));
      above = table_.region(above, name);
    }
    return above;
  }

  template <class Visit>
  void for_dimensions(std::uint32_t row, const Visit& visit) {
    for (; row != kNone && nodes_[row].any_dimension; row = nodes_[row].parent) {
      const Node& node = nodes_[row];
      if (node.attribute < kFirstFree) continue;
      const Node& attribute = nodes_[ids_.find(node.attribute)->second];
      if ((attribute.properties & kNested) != 0) continue;
      visit(std::string(builder_.text(attribute.value)), std::string(builder_.text(node.value)));
    }
  }

  bool refs(std::string_view text) {
    refs_.clear();
    while (!text.empty()) {
      const std::uint32_t row = find(take(text, '='));
      if (row == kNone) return false;
      refs_.push_back(row);
    }
    return true;
  }

  std::uint32_t column_of(Node& attribute) {
    if (attribute.column == kNone) {
      const std::string name(builder_.text(attribute.value)), alias(builder_.text(attribute.alias)),
          unit(builder_.text(attribute.unit));
      attribute.column = table_.column(name, alias, unit, (attribute.properties & kHidden) != 0);
    }
    return attribute.column;
  }

  bool is_metric(Node& attribute) {
    if (attribute.role == Role::unknown && builder_.text(attribute.value) == "mpi.rank")
      attribute.role = Role::rank;
    else if (attribute.role == Role::unknown)
      attribute.role = Table::is_metric(builder_.text(attribute.value), builder_.text(attribute.alias),
                                        builder_.text(attribute.unit))
                           ? Role::metric
                           : Role::dimension;
    return attribute.role == Role::metric;
  }

  bool record(const Fields& fields) {
    if (!refs(fields.ref)) return false;
    ContextId path = kRootContext;
    for (const std::uint32_t row : refs_) path = append_path(path, row);
    table_.begin_record(path);
    for (const std::uint32_t row : refs_)
      for_dimensions(
          row, [&](const std::string& name, const std::string& value) { table_.dimension(name, value); });
    std::string_view attributes = fields.attr, data = fields.data;
    bool complete = true;
    while (!attributes.empty()) {
      const std::uint32_t row = find(take(attributes, '='));
      const std::string_view text = unescape(take(data, '='), scratch_);
      if (row == kNone) {
        complete = false;
        continue;
      }
      double value = 0;
      if (is_metric(nodes_[row]) && parse_double(text, value)) {
        table_.value(column_of(nodes_[row]), value);
      } else if (std::int64_t rank = 0; nodes_[row].role == Role::rank && parse_int(text, rank)) {
        table_.rank(rank);
      } else {
        const std::string name(builder_.text(nodes_[row].value));
        table_.dimension(name, text);
      }
    }
    table_.end_record();
    return complete;
  }

  bool globals(const Fields& fields) {
    if (!refs(fields.ref)) return false;
    const auto add = [&](const std::string& name, const std::string& value) {
      constexpr std::size_t kMax = 1000;
      ProfileInfo& info = builder_.info();
      if (info.properties.size() < kMax) info.properties.emplace_back(name, value);
      if (name == "executable" || name == "program") info.program = value;
    };
    for (const std::uint32_t row : refs_) for_dimensions(row, add);
    std::string_view attributes = fields.attr, data = fields.data;
    while (!attributes.empty()) {
      const std::uint32_t row = find(take(attributes, '='));
      const std::string_view text = unescape(take(data, '='), scratch_);
      if (row == kNone) return false;
      add(std::string(builder_.text(nodes_[row].value)), std::string(text));
    }
    return true;
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  Table& table_;
  std::unordered_map<std::uint64_t, std::uint32_t> ids_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> refs_, chain_;
  std::string scratch_;
};

}  // namespace

bool is_cali(std::string_view text) {
  return text.starts_with("__rec=node,") || text.starts_with("__rec=ctx,") ||
         text.starts_with("__rec=globals,");
}

Result<void> read_cali(std::string_view text, ReadContext& context, ProfileBuilder& builder, Table& table) {
  return Reading(context, builder, table).run(text);
}

}  // namespace profd::caliper

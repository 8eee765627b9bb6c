#include "formats/jfr/metadata.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "core/support/id.h"

namespace profd::jfr {
namespace {

enum class ElementKind : std::uint8_t { other, type, field, annotation };

struct Annotation {
  std::uint32_t cls, field;
  std::uint64_t type;
  std::uint32_t value;  // index of the string, kNone when there is none
};

struct Open {
  ElementKind kind;
  std::uint64_t children_left;
  std::uint32_t cls = 0, field = 0;  // which one it is or belongs to
};

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  text = text.substr(0, 20);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

FieldUnit unit_of(std::string_view annotation, std::string_view value) {
  if (!annotation.ends_with(".Timespan") && !annotation.ends_with(".Timestamp")) return FieldUnit::none;
  if (value == "TICKS") return FieldUnit::ticks;
  if (value == "NANOSECONDS") return FieldUnit::nanoseconds;
  if (value == "MICROSECONDS") return FieldUnit::microseconds;
  if (value.starts_with("MILLISECONDS")) return FieldUnit::milliseconds;
  if (value.starts_with("SECONDS")) return FieldUnit::seconds;
  return FieldUnit::none;
}

std::string plain_name(std::string_view name) {
  for (const std::string_view old : {"com.oracle.jdk.", "com.oracle.jfr.types."}) {
    if (name.starts_with(old))
      return (old == "com.oracle.jdk." ? "jdk." : "jdk.types.") + std::string(name.substr(old.size()));
  }
  return std::string(name);
}

}  // namespace

const Field* Class::field(std::string_view wanted) const {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == wanted; });
  return found == fields.end() ? nullptr : &*found;
}

std::uint32_t Metadata::index_of(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? kNone : found->second;
}

std::uint32_t Metadata::index_of(std::string_view name) const {
  for (std::uint32_t i = 0; i < classes_.size(); ++i)
    if (classes_[i].name == name) return i;
  return kNone;
}

bool Metadata::has_prefix(std::string_view prefix) const {
  return std::any_of(classes_.begin(), classes_.end(),
                     [&](const Class& c) { return c.name.starts_with(prefix); });
}

Result<Metadata> Metadata::parse(const Chunk& chunk, std::uint32_t max_depth) {
  Record record;
  if (chunk.metadata == 0 || !read_record(chunk, chunk.metadata, record))
    return fail(ErrorCode::malformed, "a chunk has no metadata", chunk.at);
  Wire& in = record.body;
  const auto broken = [&](std::string_view what) {
    return fail(ErrorCode::malformed, fmt::format("the metadata of a chunk: {}", what), in.offset());
  };
  in.varint(), in.varint(), in.varint();  // start, duration, id of the metadata
  const std::uint64_t n_strings = in.varint();
  if (n_strings > in.left()) return broken("more strings than bytes");
  std::vector<std::string> strings(static_cast<std::size_t>(n_strings));
  for (std::string& s : strings) append_text(in.text(), s);
  if (!in.ok()) return broken("it ends early");

  Metadata out;
  std::vector<std::uint64_t> supers;
  std::vector<Annotation> annotations;
  std::vector<Open> open{{ElementKind::other, 1}};
  std::size_t name_budget = in.left() * 16 + (1u << 20);
  while (!open.empty()) {
    if (open.back().children_left == 0) {
      open.pop_back();
      continue;
    }
    --open.back().children_left;
    if (open.size() > max_depth)
      return fail(ErrorCode::limit, "the metadata is nested too deeply (limit nesting)", in.offset());
    const std::uint64_t name = in.varint(), n_attributes = in.varint();
    if (!in.ok() || name >= strings.size() || n_attributes > in.left())
      return broken("an element is ill-formed");
    const std::string_view element = strings[static_cast<std::size_t>(name)];
    const Open& parent = open.back();
    Open here{ElementKind::other, 0, parent.cls, parent.field};
    std::vector<Class>& classes = out.classes_;
    if (element == "class") {
      here.kind = ElementKind::type;
      here.cls = static_cast<std::uint32_t>(classes.size());
      classes.emplace_back();
      supers.push_back(~0ull);
    } else if (element == "field" && parent.kind == ElementKind::type) {
      here.kind = ElementKind::field;
      here.field = static_cast<std::uint32_t>(classes[here.cls].fields.size());
      classes[here.cls].fields.emplace_back();
    } else if (element == "annotation" && parent.kind == ElementKind::field) {
      here.kind = ElementKind::annotation;
      annotations.push_back({here.cls, here.field, 0, kNone});
    }
    for (std::uint64_t i = 0; i < n_attributes; ++i) {
      const std::uint64_t k = in.varint(), v = in.varint();
      if (!in.ok() || k >= strings.size() || v >= strings.size()) return broken("an attribute is ill-formed");
      const std::string_view key = strings[static_cast<std::size_t>(k)];
      const std::string& value = strings[static_cast<std::size_t>(v)];
      if (key == "name" && (here.kind == ElementKind::type || here.kind == ElementKind::field)) {
        // Two bytes name what may be as long as the file.
        if (value.size() > name_budget)
          return fail(ErrorCode::limit, "the names of types repeat too much (limit 16 times the metadata)",
                      in.offset());
        name_budget -= value.size();
      }
      if (here.kind == ElementKind::type) {
        Class& cls = classes[here.cls];
        if (key == "id") cls.id = number(value);
        if (key == "name") cls.name = plain_name(value);
        if (key == "superType") supers[here.cls] = v;
      } else if (here.kind == ElementKind::field) {
        Field& field = classes[here.cls].fields[here.field];
        if (key == "name") field.name = value;
        if (key == "class") field.type = number(value);
        if (key == "constantPool") field.pooled = value == "true";
        if (key == "dimension") field.array = value != "0";
      } else if (here.kind == ElementKind::annotation) {
        if (key == "class") annotations.back().type = number(value);
        if (key.starts_with("value")) annotations.back().value = static_cast<std::uint32_t>(v);
      }
    }
    here.children_left = in.varint();
    open.push_back(here);
    if (!in.ok() || open.back().children_left > in.left()) return broken("an element is ill-formed");
  }

  for (std::uint32_t i = 0; i < out.classes_.size(); ++i) {
    if (supers[i] < strings.size())
      out.classes_[i].is_event = strings[static_cast<std::size_t>(supers[i])].ends_with("jfr.Event");
    out.by_id_.emplace(out.classes_[i].id, i);
  }
  for (const Annotation& a : annotations) {
    const std::uint32_t type = out.index_of(a.type);
    if (type == kNone || a.value == kNone) continue;
    const FieldUnit unit = unit_of(out.classes_[type].name, strings[a.value]);
    if (unit != FieldUnit::none) out.classes_[a.cls].fields[a.field].unit = unit;
  }
  return out;
}

}  // namespace profd::jfr

#include "server/cli/flame_json.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/cli/json_writer.h"
#include "server/feature/estimate.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

void write_amount(const Value& value, const Value& whole, const std::string& unit, JsonWriter& json) {
  json.begin_object();
  json.field("value", value);
  json.field("text", format_value(value, unit));
  if (as_double(whole) != 0) {
    json.field("share", as_double(value) / as_double(whole));
    json.field("shareText", format_share(value, whole));
  }
  json.end_object();
}

// FrameKind of psp.json.
int wire_kind(FrameKind kind) {
  switch (kind) {
    case FrameKind::native:
      return 1;
    case FrameKind::jit:
      return 2;
    case FrameKind::interpreted:
      return 3;
    case FrameKind::kernel:
      return 4;
    case FrameKind::gc:
      return 6;
    case FrameKind::waker:
      return 7;
    case FrameKind::data_object:
      return 8;
  }
  return 0;
}

// BoxFlag of psp.json.
constexpr int kInlined = 1, kRecursive = 4, kCollapsed = 32;
// Stacks can be thousands deep, and this is asked for each box.
constexpr int kMaxRecursionSteps = 256;

int flags_of(const Selection& selection, const FlameLayout& layout, std::uint32_t i) {
  const Key key = layout.key[i];
  if (key == kNoKey) return 0;
  int flags = layout.inlined[i] != 0 ? kInlined : 0;
  if (key >= selection.keys->first_group()) flags |= kCollapsed;
  std::uint32_t up = layout.parent[i];
  for (int steps = 0; up != kNone && steps < kMaxRecursionSteps; up = layout.parent[up], ++steps) {
    if (layout.key[up] == key) return flags | kRecursive;
  }
  return flags;
}

struct Columns {
  std::vector<std::uint32_t> boxes, remainders;  // of the layout
  std::vector<std::uint32_t> number;             // by box of the layout: its row in `boxes`
  std::vector<std::uint32_t> name;               // by row in `boxes`
  std::vector<std::string> names, labels;
};

Columns split(const OpenView& view, const FlameLayout& layout) {
  const Selection& selection = *view.selection;
  Columns out;
  out.number.resize(layout.size(), kNone);
  std::vector<std::uint32_t> name_of(selection.keys->n_keys() + 1, kNone);  // the last is for no key
  std::vector<NameAndPlace> frames;
  std::vector<Key> keys;
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    if (layout.n_merged[i] > 0) {
      out.remainders.push_back(i);
      continue;
    }
    out.number[i] = static_cast<std::uint32_t>(out.boxes.size());
    out.boxes.push_back(i);
    std::uint32_t& name = name_of[std::min<std::size_t>(layout.key[i], name_of.size() - 1)];
    if (name == kNone) {
      name = static_cast<std::uint32_t>(keys.size());
      keys.push_back(layout.key[i]);
    }
    out.name.push_back(name);
  }
  out.names.reserve(keys.size());
  frames.reserve(keys.size());
  for (const Key key : keys) {
    out.names.push_back(key == kNoKey ? "all" : key_name(*view.profile, *selection.keys, key));
  }
  for (std::size_t n = 0; n < keys.size(); ++n) {
    const KeyPlace place =
        keys[n] == kNoKey ? KeyPlace{} : key_place(*view.profile, *selection.keys, keys[n]);
    frames.push_back({out.names[n], place.file.empty() ? place.module : place.file});
  }
  out.labels = distinct_short_names(frames);
  return out;
}

template <class Write>
void column(JsonWriter& json, std::string_view name, const std::vector<std::uint32_t>& rows, Write write) {
  json.key(name);
  json.begin_array();
  for (std::size_t n = 0; n < rows.size(); ++n) write(n, rows[n]);
  json.end_array();
}

void write_strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name);
  json.begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

}  // namespace

std::string flame_json(const std::string& file, const OpenView& view, const FlameLayout& layout) {
  const Selection& selection = *view.selection;
  const std::string& unit = view.metric().unit;
  const Columns c = split(view, layout);
  const auto parent_of = [&](std::uint32_t i) {
    return layout.parent[i] == kNone ? std::int64_t{-1} : std::int64_t{c.number[layout.parent[i]]};
  };
  std::string out;
  JsonWriter json(out, layout.size() * 150 + 4096);
  json.begin_object();
  json.field("profile", file);
  json.field("revision", 1);
  ViewSpec spec = view.spec;
  spec.metric = view.metric().name;
  json.field("spec", to_text(spec));
  json.field("metric", view.metric().name);
  json.field("unit", unit == "nanoseconds" ? std::string("ns") : unit);  // as every client is told
  json.key("total");
  write_amount(selection.profile_total, selection.total, unit, json);
  json.key("viewTotal");
  write_amount(selection.total, selection.total, unit, json);
  json.key("zoomTotal");
  write_amount(layout.total_width, selection.total, unit, json);
  json.field("rows", layout.deepest);
  write_strings(json, "names", c.names);
  write_strings(json, "labels", c.labels);
  json.key("boxes");
  json.begin_object();
  column(json, "depth", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(layout.depth[i]); });
  column(json, "x", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(layout.x[i]); });
  column(json, "width", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(layout.width[i]); });
  column(json, "name", c.boxes, [&](std::size_t n, std::uint32_t) { json.value(c.name[n]); });
  column(json, "self", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(layout.self[i]); });
  column(json, "total", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(layout.total[i]); });
  std::string text;
  column(json, "text", c.boxes, [&](std::size_t, std::uint32_t i) {
    text.assign(format_value(layout.total[i], unit)).append(" · ");
    json.value(text.append(format_share(layout.total[i], selection.total)));
  });
  column(json, "flags", c.boxes,
         [&](std::size_t, std::uint32_t i) { json.value(flags_of(selection, layout, i)); });
  column(json, "kind", c.boxes, [&](std::size_t, std::uint32_t i) {
    json.value(layout.key[i] == kNoKey ? 0 : wire_kind(layout.kind[i]));
  });
  column(json, "key", c.boxes, [&](std::size_t, std::uint32_t i) {
    json.value(layout.key[i] == kNoKey ? std::int64_t{-1} : std::int64_t{layout.key[i]});
  });
  column(json, "parent", c.boxes, [&](std::size_t, std::uint32_t i) { json.value(parent_of(i)); });
  json.end_object();
  json.key("remainder");
  json.begin_object();
  column(json, "depth", c.remainders, [&](std::size_t, std::uint32_t i) { json.value(layout.depth[i]); });
  column(json, "x", c.remainders, [&](std::size_t, std::uint32_t i) { json.value(layout.x[i]); });
  column(json, "width", c.remainders, [&](std::size_t, std::uint32_t i) { json.value(layout.width[i]); });
  column(json, "count", c.remainders, [&](std::size_t, std::uint32_t i) { json.value(layout.n_merged[i]); });
  column(json, "parent", c.remainders, [&](std::size_t, std::uint32_t i) { json.value(parent_of(i)); });
  column(json, "text", c.remainders, [&](std::size_t, std::uint32_t i) {
    json.value(fmt::format("{} more: {} · {}", format_count(std::uint64_t{layout.n_merged[i]}),
                           format_value(layout.total[i], unit),
                           format_share(layout.total[i], selection.total)));
  });
  json.end_object();
  if (layout.truncated) {
    json.key("truncated");
    json.begin_object();
    json.field("byBoxes", true);
    json.field("byDepth", false);
    json.field("text", fmt::format("only the {} widest boxes are shown", layout.size()));
    json.end_object();
  }
  if (const std::string estimated = estimate_text(selection); !estimated.empty())
    json.field("estimated", estimated);
  json.end_object();
  out += '\n';
  return out;
}

}  // namespace profd

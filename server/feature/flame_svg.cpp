#include "server/feature/flame_svg.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "server/feature/assets.h"
#include "server/feature/escape.h"
#include "server/feature/flame_svg_data.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr int kWidth = 1200;  // of the picture before a script fits it to the window
constexpr int kRow = 18;      // ux.md: 18 px rows, 12 px text
constexpr int kTop = 58, kBottom = 34, kSide = 10;
constexpr double kCharWidth = 6.7;  // of the 12 px font, for what fits without a script
constexpr double kDrawnWidth = kWidth - 2 * kSide;

struct Frames {
  std::unordered_map<Key, std::size_t> number;
  std::vector<std::string> full, label, tooltip;  // not escaped
  std::vector<KeyPlace> places;
};

Frames collect(const Selection& selection, const FlameLayout& layout) {
  Frames out;
  for (const Key key : layout.key) {
    if (key == kNoKey || !out.number.emplace(key, out.full.size()).second) continue;
    out.full.push_back(key_name(*selection.profile, *selection.keys, key));
    out.places.push_back(key_place(*selection.profile, *selection.keys, key));
  }
  std::vector<NameAndPlace> named;
  for (std::size_t i = 0; i < out.full.size(); ++i) {
    const KeyPlace& place = out.places[i];
    named.push_back({out.full[i], place.file.empty() ? place.module : place.file});
    std::string tip = out.full[i];
    if (!place.file.empty()) {
      tip += fmt::format(" ({}{})", place.file, place.line > 0 ? fmt::format(":{}", place.line) : "");
    } else if (!place.module.empty() && place.module != tip) {
      tip += fmt::format(" ({})", place.module);
    }
    out.tooltip.push_back(std::move(tip));
  }
  out.label = distinct_short_names(named);
  return out;
}

std::string_view kind_words(const FlameLayout& layout, std::uint32_t i) {
  if (layout.inlined[i] != 0) return "inlined";
  switch (layout.kind[i]) {
    case FrameKind::kernel:
      return "kernel";
    case FrameKind::jit:
      return "compiled at run time";
    case FrameKind::interpreted:
      return "interpreted";
    case FrameKind::gc:
      return "collector";
    case FrameKind::waker:
      return "woke the thread";
    case FrameKind::data_object:
      return "data object";
    case FrameKind::native:
      break;
  }
  return {};
}

std::string value_words(const Selection& selection, const FlameLayout& layout, std::uint32_t i,
                        const std::string& unit) {
  std::string text = fmt::format("total {}, {}", format_value(layout.total[i], unit),
                                 format_share(layout.total[i], selection.total));
  if (as_double(layout.self[i]) != 0) {
    text += fmt::format("; self {}, {}", format_value(layout.self[i], unit),
                        format_share(layout.self[i], selection.total));
  }
  if (layout.parent[i] != kNone && layout.key[layout.parent[i]] != kNoKey) {
    text += fmt::format("; {} of its caller", format_share(layout.total[i], layout.total[layout.parent[i]]));
  }
  return text;
}

// Attributes are short because there are thousands: k depth, s x and w width as fractions of the whole.
void add_box(const Selection& selection, const FlameLayout& layout, const Frames& frames, std::uint32_t i,
             const FlameSvgOptions& options, const std::string& unit, std::string& out) {
  const double whole = as_double(layout.total_width);
  const double x = as_double(layout.x[i]) / whole, width = as_double(layout.width[i]) / whole;
  const double left = kSide + x * kDrawnWidth, drawn = std::max(width * kDrawnWidth - 0.5, 0.1);
  const int top = kTop + static_cast<int>(layout.depth[i]) * kRow;
  const bool root = layout.parent[i] == kNone, remainder = layout.n_merged[i] > 0;

  std::string label, tooltip;
  Hsl color{220, 8, 80};
  if (remainder) {
    label = fmt::format("{} more", format_count(std::uint64_t{layout.n_merged[i]}));
    tooltip = label + " too small to draw";
  } else if (root) {
    label = tooltip = "all";
  } else {
    const std::size_t n = frames.number.at(layout.key[i]);
    label = frames.label[n];
    tooltip = frames.tooltip[n];
    color = flame_color(options.scheme, {frames.full[n], frames.places[n].module, frames.places[n].file,
                                         layout.kind[i], layout.inlined[i] != 0});
    if (const std::string_view kind = kind_words(layout, i); !kind.empty()) {
      tooltip.append(" [").append(kind).append("]");
    }
  }
  fmt::format_to(std::back_inserter(out),
                 "<g class=\"b{}\" data-k=\"{}\" data-s=\"{:.9g}\" data-w=\"{:.9g}\"", remainder ? " r" : "",
                 layout.depth[i], x, width);
  if (as_double(layout.total[i]) < 0) out += " data-neg=\"1\"";
  if (!root && !remainder) {
    fmt::format_to(std::back_inserter(out), " style=\"--h:{};--s:{}%;--l:{}\"", color.hue, color.saturation,
                   color.lightness);
  }
  fmt::format_to(std::back_inserter(out), "><title>{}\n{}</title>", escape_markup(tooltip),
                 escape_markup(value_words(selection, layout, i, unit)));
  if (remainder) {
    fmt::format_to(std::back_inserter(out),
                   "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"url(#hatch)\"/>", left,
                   top, drawn, kRow - 1);
  } else {
    const Rgb rgb = to_rgb(color);
    fmt::format_to(
        std::back_inserter(out),
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" rx=\"1\" fill=\"#{:02x}{:02x}{:02x}\"/>",
        left, top, drawn, kRow - 1, rgb.r, rgb.g, rgb.b);
  }
  // The whole label travels in data-n; what is drawn is cut to the box.
  const std::string safe = sanitize_text(label);
  const auto room = static_cast<std::size_t>(std::max(0.0, (drawn - 6) / kCharWidth));
  const std::string drawn_label = room >= 3 ? cut_to_width(safe, room) : std::string();
  fmt::format_to(std::back_inserter(out), "<text x=\"{:.2f}\" y=\"{}\" data-n=\"{}\">{}</text></g>\n",
                 left + 3, top + 13, escape_markup(safe), escape_markup(drawn_label));
}

// Who gets the page does not see the command that made it.
std::string view_text(ViewSpec view) {
  view.metric.clear();
  std::string text = to_text(view);
  return text == to_text(ViewSpec{}) ? std::string() : text + " · ";
}

}  // namespace

std::string flame_svg(const Selection& selection, const FlameLayout& layout, const FlameSvgOptions& options) {
  const MetricInfo& metric = selection.profile->metrics()[selection.metric.v];
  const int height = kTop + static_cast<int>(layout.deepest + 1) * kRow + kBottom;
  const bool empty = as_double(layout.total_width) <= 0;
  std::string subtitle = view_text(options.view);
  subtitle += fmt::format("{} {}", metric.name, format_value(selection.total, metric.unit));
  if (as_double(selection.total) != as_double(selection.profile_total)) {
    subtitle +=
        fmt::format(", {} of the whole profile", format_share(selection.total, selection.profile_total));
  }
  if (selection.saturated) subtitle += ", at least: a sum passed 2^63";
  if (layout.truncated) subtitle += "; the smallest boxes are left out";

  std::string out;
  out.reserve(layout.size() * 420 + 32768);
  fmt::format_to(
      std::back_inserter(out),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"profd\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"Inter, 'DejaVu Sans', Verdana, sans-serif\" font-size=\"12\" "
      "data-top=\"{2}\" data-row=\"{3}\" data-side=\"{4}\" data-bottom=\"{5}\">\n",
      kWidth, height, kTop, kRow, kSide, kBottom);
  fmt::format_to(std::back_inserter(out), "<title>{} - {}</title>\n", escape_markup(options.title),
                 escape_markup(metric.name));
  out += flame_svg_data(selection, layout, options.view, options.title);
  out += "<style><![CDATA[\n";
  out += kFlameCss;
  out +=
      "]]></style>\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect class=\"hatch0\" width=\"6\" height=\"6\" fill=\"#e4e4e8\"/>"
      "<rect class=\"hatch1\" width=\"2\" height=\"6\" fill=\"#b9b9c2\"/></pattern></defs>\n"
      "<rect id=\"ground\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  fmt::format_to(std::back_inserter(out),
                 "<text id=\"name\" x=\"{0}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{1}</text>\n"
                 "<text id=\"sub\" x=\"{0}\" y=\"44\">{2}</text>\n"
                 "<g id=\"tools\"></g>\n<g id=\"boxes\">\n",
                 kSide, escape_markup(options.title), escape_markup(subtitle));
  if (empty) {
    fmt::format_to(std::back_inserter(out), "<text x=\"{}\" y=\"{}\">Nothing was measured.</text>\n", kSide,
                   kTop + 14);
  } else {
    const Frames frames = collect(selection, layout);
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      add_box(selection, layout, frames, i, options, metric.unit, out);
    }
  }
  fmt::format_to(
      std::back_inserter(out),
      "</g>\n<rect id=\"barground\" x=\"0\" y=\"{0}\" width=\"100%\" height=\"{1}\" fill=\"#ffffff\"/>"
      "<text id=\"bar\" x=\"{2}\" y=\"{3}\"></text>\n<script><![CDATA[\n",
      height - kBottom, kBottom, kSide, height - 12);
  out += kFlameScript;
  out += "]]></script>\n</svg>\n";
  return out;
}

}  // namespace profd

#include "server/feature/flame_svg.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "core/view/name_cuts.h"
#include "server/feature/assets.h"
#include "server/feature/escape.h"
#include "server/feature/estimate.h"
#include "server/feature/exclusion.h"
#include "server/feature/fitted_name.h"
#include "server/feature/flame_svg_data.h"
#include "server/feature/names.h"
#include "server/feature/share.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr int kWidth = 1200;  // of the picture before a script fits it to the window
constexpr int kRow = 18;      // ux.md: 18 px rows, 12 px text
constexpr int kHead = 58, kNotes = 18, kBottom = 8, kSide = 10;
constexpr double kDrawnWidth = kWidth - 2 * kSide;

// Widths of the printable ASCII characters in the widest of the common fonts (DejaVu Sans, 12 px), in half
// pixels from 'a' = 0: what fits without a script to measure it.
constexpr std::string_view kCharWidths =
    "ikmvqxthkkmvijijqqqqqqqqqqjjvvvnysrrtqottiiqovstptrqpsryrprkjkvmmpqoqpjqqhhohyqpqqknkqpuppnqjqv";
double text_width(std::string_view text, double font_size) {
  double half_pixels = 0;
  for (const char c : text) {
    if (c >= ' ' && c <= '~') half_pixels += kCharWidths[static_cast<std::size_t>(c - ' ')] - 'a';
    // Other characters are as wide as the font is high, at most; bytes after the first of one add nothing.
    else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
      half_pixels += 24;
  }
  return half_pixels / 2 * font_size / 12;
}
// As much of its beginning as fits; "" when that would tell nothing.
std::string fit_text(const std::string& safe, double room, double font_size = 12) {
  if (text_width(safe, font_size) <= room) return safe;
  std::size_t low = 0, high = display_width(safe);
  while (low + 1 < high) {
    const std::size_t middle = (low + high) / 2;
    (text_width(cut_to_width(safe, middle), font_size) <= room ? low : high) = middle;
  }
  return low < 3 ? std::string() : cut_to_width(safe, low);
}

// The longest form of a label that fits (name_cuts()), and of the shortest as much as does.
std::string fit_label(const std::string& safe, const std::vector<std::uint32_t>& cuts, double room) {
  if (text_width(safe, 12) <= room) return safe;
  for (const std::uint32_t at : cuts) {
    if (text_width(std::string_view(safe).substr(at), 12) <= room) return safe.substr(at);
  }
  return fit_text(cuts.empty() ? safe : safe.substr(cuts.back()), room);
}

struct Frames {
  std::unordered_map<Key, std::size_t> number;
  std::vector<std::string> full, label, where;  // not escaped
  std::vector<KeyPlace> places;
};

Frames collect(const Selection& selection, const FlameLayout& layout) {
  Frames out;
  for (const Key key : layout.key) {
    if (key == kNoKey || !out.number.emplace(key, out.full.size()).second) continue;
    out.full.push_back(key_name(*selection.profile, *selection.boxes->keys, key));
    out.places.push_back(key_place(*selection.profile, *selection.boxes->keys, key));
  }
  std::vector<NameAndPlace> named;
  for (std::size_t i = 0; i < out.full.size(); ++i) {
    const KeyPlace& place = out.places[i];
    named.push_back({out.full[i], place.file.empty() ? place.module : place.file});
    std::string where;
    if (!place.file.empty()) {
      where = place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : std::string(place.file);
    } else if (place.module != out.full[i]) {
      where = place.module;
    }
    out.where.push_back(std::move(where));
  }
  out.label = distinct_short_names(named);
  return out;
}

std::string_view kind_words(FrameKind kind) {
  switch (kind) {
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

std::string exact(const Value& value) {
  return std::visit([](auto v) { return fmt::format("{}", v); }, value);
}

std::string value_words(const Selection& selection, const FlameLayout& layout, std::uint32_t i,
                        const std::string& unit) {
  const Whole whole{selection.sums->total, unit};
  const auto estimate_of = [&](std::uint32_t box) {
    return layout.estimate.empty() ? kExact : layout.estimate[box];
  };
  const auto words = [&](const Value& value, bool estimated) {
    return marked(whole.text(value), estimated) + ", " + marked(whole.share_text(value), estimated);
  };
  const bool estimated = (estimate_of(i) & kTotalEstimated) != 0;
  // How often a function was called says nothing of what is below it.
  const bool counted = counts_calls(*selection.profile, selection.metric()) && layout.parent[i] != kNone;
  std::string text = counted ? "" : "total " + words(layout.total[i], estimated);
  if (counted || as_double(layout.self[i]) != 0) {
    text += (counted ? "self " : "; self ") + words(layout.self[i], (estimate_of(i) & kSelfEstimated) != 0);
  }
  if (!counted && layout.parent[i] != kNone && layout.key[layout.parent[i]] != kNoKey) {
    const bool either = estimated || (estimate_of(layout.parent[i]) & kTotalEstimated) != 0;
    text += fmt::format("; {} of its caller",
                        marked(format_share(layout.total[i], layout.total[layout.parent[i]]), either));
  }
  return text;
}

// What is the same for all boxes of a page.
struct PageShape {
  int top = 0;
  std::uint32_t rows = 0;
  bool inverted = false;
  int y(std::uint32_t depth) const {
    return top + static_cast<int>(inverted ? rows - 1 - depth : depth) * kRow;
  }
};

Hsl color_by_metric(const BoxColors& colors, std::uint32_t box) {
  const std::optional<Value>& value = colors.value[box];
  return scale_color(value ? std::optional(place_on(colors.scale, as_double(*value))) : std::nullopt);
}

// What colours mean, from left to right.
class Legend {
 public:
  Legend(int y, std::string& out) : y_(y), out_(out) { out_ += "<g id=\"scale\">\n"; }
  void text(const std::string& words) {
    const std::string safe = sanitize_text(words);
    fmt::format_to(std::back_inserter(out_), "<text x=\"{}\" y=\"{}\">{}</text>\n", x_, y_,
                   escape_markup(safe));
    x_ += static_cast<int>(std::lround(text_width(safe, 12))) + 8;
  }
  void bar(const Hsl& color, int width) {
    const Rgb rgb = to_rgb(color);
    fmt::format_to(std::back_inserter(out_),
                   "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#{:02x}{:02x}{:02x}\"/>\n", x_,
                   y_ - kBar + 1, width, kBar, rgb.r, rgb.g, rgb.b);
    x_ += width;
  }
  void gap(int width) { x_ += width; }
  // A square of the colour, then what it is.
  void entry(const Hsl& color, const std::string& words) {
    bar(color, kBar);
    gap(6);
    text(words);
    gap(8);
  }
  void end() { out_ += "</g>\n"; }

 private:
  static constexpr int kBar = 10;
  int x_ = kSide, y_;
  std::string& out_;
};

// A bar of the colours between the ends of the scale, and what has no value.
void add_scale(const ColorScale& scale, int y, std::string& out) {
  constexpr int kSteps = 24, kStep = 5;
  Legend legend(y, out);
  legend.text(scale.metric);
  legend.text(scale.low_text);
  for (int i = 0; i < kSteps; ++i) {
    const double share = static_cast<double>(i) / (kSteps - 1);
    legend.bar(scale_color(scale.by_root ? std::sqrt(share) : share), kStep);
  }
  legend.gap(8);
  legend.text(scale.high_text);
  legend.gap(8);
  if (scale.n_without > 0) legend.entry(scale_color(std::nullopt), std::string(kNotAvailable));
  legend.end();
}

void add_kinds(const BoxWork& work, int y, std::string& out) {
  Legend legend(y, out);
  for (const WorkKind& kind : work.kinds) legend.entry(work_color(kind.hue, ""), kind.title);
  if (std::find(work.work.begin(), work.work.end(), -1) != work.work.end())
    legend.entry(work_color(std::nullopt, ""), "no kind");
  legend.end();
}

// Attributes are short because there are thousands; flame_svg.h says what they are.
void add_box(const Selection& selection, const FlameLayout& layout, const Frames& frames, std::uint32_t i,
             const FlameSvgOptions& options, const PageShape& shape, const std::string& unit,
             std::string& out) {
  const double whole = as_double(layout.total_width);
  const double x = as_double(layout.x[i]) / whole, width = as_double(layout.width[i]) / whole;
  const double left = kSide + x * kDrawnWidth, drawn = std::max(width * kDrawnWidth - 0.5, 0.1);
  const int top = shape.y(layout.depth[i]);
  const bool root = layout.parent[i] == kNone, remainder = layout.n_merged[i] > 0;
  const auto to = std::back_inserter(out);

  std::string label, name, where;
  Hsl color{220, 8, 80};
  std::string_view kind;
  if (remainder) {
    label = fmt::format("{} more", format_count(std::uint64_t{layout.n_merged[i]}));
    name = label + " too small to draw";
  } else if (root) {
    label = name = "all";
  } else {
    const std::size_t n = frames.number.at(layout.key[i]);
    label = frames.label[n];
    name = frames.full[n];
    where = frames.where[n];
    kind = kind_words(layout.kind[i]);
    const bool inlined = layout.inlined[i] != 0;
    color = flame_color(options.scheme,
                        {name, frames.places[n].module, frames.places[n].file, layout.kind[i], inlined});
    if (options.changes != nullptr) color = change_color(options.changes->strength[i]);
    if (options.colors != nullptr) color = color_by_metric(*options.colors, i);
    if (options.work != nullptr) color = work_color(hue_of(*options.work, i), name);
    for (const std::string_view word : {inlined ? std::string_view("inlined") : std::string_view(), kind}) {
      if (!word.empty()) where.append(where.empty() ? "" : " · ").append(word);
    }
  }
  fmt::format_to(to, "<g class=\"b{}\" data-k=\"{}\" data-s=\"{:.9g}\" data-w=\"{:.9g}\" data-v=\"{}\"",
                 remainder ? " r" : "", layout.depth[i], x, width, exact(layout.total[i]));
  if (as_double(layout.self[i]) != 0) fmt::format_to(to, " data-self=\"{}\"", exact(layout.self[i]));
  if (!kind.empty()) fmt::format_to(to, " data-kind=\"{}\"", kind);
  if (!root && !remainder) {
    if (layout.inlined[i] != 0) out += " data-inlined=\"1\"";
    fmt::format_to(to, " style=\"--h:{};--s:{}%;--l:{}\"", color.hue, color.saturation, color.lightness);
  }
  fmt::format_to(to, "><title>{}\n", escape_markup(name));
  if (!where.empty()) fmt::format_to(to, "{}\n", escape_markup(where));
  const BoxChanges* const changes = remainder ? nullptr : options.changes;
  const Change change = changes == nullptr ? Change::same : changes->change[i];
  if (changes != nullptr) fmt::format_to(to, "{} {}\n", change_mark(change), escape_markup(changes->text[i]));
  if (options.colors != nullptr && !remainder)
    fmt::format_to(to, "{} {}\n", escape_markup(options.colors->scale.metric),
                   escape_markup(options.colors->text[i]));
  fmt::format_to(to, "{}</title>", escape_markup(value_words(selection, layout, i, unit)));
  const Rgb rgb = to_rgb(color);
  constexpr double kWideEnough = 8;  // of a box that is narrower the edge would be all
  const bool one_side = drawn >= kWideEnough && (change == Change::added || change == Change::deleted);
  constexpr std::string_view kDashed = " stroke=\"#444\" stroke-dasharray=\"4 2\"";
  fmt::format_to(to, "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"{} fill=\"{}\"/>", left, top,
                 drawn, kRow - 1, one_side ? kDashed : "",
                 remainder ? "url(#hatch)" : fmt::format("#{:02x}{:02x}{:02x}", rgb.r, rgb.g, rgb.b));
  // The whole label travels in data-n, and where it may be cut in data-c; what is drawn is cut to the box.
  const std::string safe = sanitize_text(label);
  const std::vector<std::uint32_t> cuts =
      root || remainder || safe != label ? std::vector<std::uint32_t>() : name_cuts(label);
  fmt::format_to(to, "<text x=\"{:.2f}\" y=\"{}\" data-n=\"{}\"", left + 3, top + 13, escape_markup(safe));
  if (!cuts.empty()) fmt::format_to(to, " data-c=\"{}\"", fmt::join(cuts_in_utf16(label, cuts), " "));
  fmt::format_to(to, ">{}</text></g>\n", escape_markup(fit_label(safe, cuts, drawn - 6)));
}

// Who gets the page does not see the command that made it.
std::string view_text(ViewSpec view) {
  view.metric.clear();
  std::string text = to_text(view);
  return text == to_text(ViewSpec{}) ? std::string() : text + " · ";
}

std::string subtitle_of(const Selection& selection, const FlameLayout& layout,
                        const FlameSvgOptions& options) {
  const MetricInfo& metric = selection.profile->metrics()[selection.metric().v];
  std::string text = view_text(options.view);
  text += fmt::format("{} {}", metric.name, format_value(selection.sums->total, metric.unit));
  if (as_double(selection.sums->total) != as_double(selection.sums->profile_total)) {
    text += fmt::format(", {} of the whole profile",
                        format_share(selection.sums->total, selection.sums->profile_total));
  }
  // The root of the layout has what became of all of it.
  if (options.changes != nullptr && !options.changes->text.empty())
    text += fmt::format(" · {} · orange is more, blue is less, a dashed edge is one side alone",
                        options.changes->text[0]);
  if (selection.sums->saturated) text += ", at least: a sum passed 2^63";
  if (layout.truncated) text += "; the smallest boxes are left out";
  return text;
}

// Who gets the page sees nothing of what was said beside it.
std::string notes_of(const Selection& selection, const FlameSvgOptions& options) {
  std::vector<std::string> notes = selection.warnings();
  for (std::string each : {estimate_text(selection), exclusion_text(selection)}) {
    if (!each.empty()) notes.push_back(std::move(each));
  }
  notes.insert(notes.end(), options.notes.begin(), options.notes.end());
  return fmt::format("{}", fmt::join(notes, " · "));
}

// One line; the whole of it is in data-full.
void add_line(std::string_view id, std::string_view more, int y, int font_size, const std::string& text,
              std::string& out) {
  const std::string safe = sanitize_text(text);
  fmt::format_to(std::back_inserter(out), "<text id=\"{}\" x=\"{}\" y=\"{}\"{} data-full=\"{}\">{}</text>\n",
                 id, kSide, y, more, escape_markup(safe),
                 escape_markup(fit_text(safe, kDrawnWidth * 0.95, font_size)));
}

}  // namespace

std::string flame_svg(const Selection& selection, const FlameLayout& layout, const FlameSvgOptions& options) {
  const MetricInfo& metric = selection.profile->metrics()[selection.metric().v];
  const bool empty = as_double(layout.total_width) <= 0;
  PageShape shape;
  const std::string notes = notes_of(selection, options);
  const int scale_top = kHead + (notes.empty() ? 0 : kNotes);
  shape.top = scale_top + (options.colors == nullptr && options.work == nullptr ? 0 : kNotes);
  shape.inverted = options.inverted;
  for (const std::uint32_t depth : layout.depth) shape.rows = std::max(shape.rows, depth + 1);
  const int height = shape.top + static_cast<int>(std::max(shape.rows, 1u)) * kRow + kBottom;

  std::string out;
  out.reserve(layout.size() * 480 + 65536);
  const auto to = std::back_inserter(out);
  if (options.html) {
    fmt::format_to(
        to,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>{} - {}</title><style>html,body{{margin:0;height:100%;"
        "overflow:hidden}}svg{{display:block}}</style></head><body>\n",
        escape_markup(options.title), escape_markup(metric.name));
  } else {
    out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  }
  fmt::format_to(to,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"profd\" width=\"{0}\" height=\"{1}\" "
                 "viewBox=\"0 0 {0} {1}\" font-family=\"Inter, 'DejaVu Sans', Verdana, sans-serif\" "
                 "font-size=\"12\" data-row=\"{2}\" data-side=\"{3}\"",
                 kWidth, height, kRow, kSide);
  if (options.inverted) out += " data-inverted=\"1\"";
  if (options.html) out += " data-alone=\"1\"";
  fmt::format_to(to, " data-metric=\"{}\" data-unit=\"{}\" data-total=\"{}\" data-view=\"{}\">\n",
                 escape_markup(metric.name), escape_markup(metric.unit), exact(selection.sums->total),
                 escape_markup(to_text(options.view)));
  fmt::format_to(to, "<title>{} - {}</title>\n", escape_markup(options.title), escape_markup(metric.name));
  if (!options.html) out += flame_svg_data(selection, layout, options.view, options.title);
  out += "<style><![CDATA[\n";
  out += kFlameCss;
  out +=
      "]]></style>\n"
      "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><rect class=\"hatch0\" width=\"6\" height=\"6\" fill=\"#e4e4e8\"/>"
      "<rect class=\"hatch1\" width=\"2\" height=\"6\" fill=\"#b9b9c2\"/></pattern></defs>\n"
      "<rect id=\"ground\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  add_line("sname", " font-size=\"15\" font-weight=\"600\"", 24, 17, options.title, out);  // bold is wider
  add_line("ssub", "", 44, 12, subtitle_of(selection, layout, options), out);
  if (!notes.empty()) add_line("snotes", "", 44 + kNotes, 12, notes, out);
  const int legend_y = 44 + scale_top - kHead + kNotes;
  if (options.colors != nullptr)
    add_scale(options.colors->scale, legend_y, out);
  else if (options.work != nullptr)
    add_kinds(*options.work, legend_y, out);
  out += "<g id=\"boxes\">\n";
  if (empty) {
    fmt::format_to(to, "<text x=\"{}\" y=\"{}\">Nothing was measured.</text>\n", kSide, shape.top + 14);
  } else {
    const Frames frames = collect(selection, layout);
    for (std::uint32_t i = 0; i < layout.size(); ++i) {
      add_box(selection, layout, frames, i, options, shape, metric.unit, out);
    }
  }
  out += "</g>\n<script><![CDATA[\n";
  out += kFlameScript;
  out += "]]></script>\n</svg>\n";
  if (options.html) out += "</body></html>\n";
  return out;
}

}  // namespace profd

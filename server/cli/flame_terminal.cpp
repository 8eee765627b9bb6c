#include "server/cli/flame_terminal.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include "server/cli/align.h"
#include "server/feature/estimate.h"
#include "server/feature/fitted_name.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// The nearest of the 6x6x6 cube.
int cube_color(const Rgb& rgb) {
  const auto level = [](int v) { return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40; };
  return 16 + 36 * level(rgb.r) + 6 * level(rgb.g) + level(rgb.b);
}

std::string paint(Colors colors, const Hsl& color, std::string_view text) {
  // Black on a mid-light ground reads the same whatever the terminal's own colours are.
  const Rgb rgb = to_rgb(color);
  if (colors == Colors::truecolor) {
    return fmt::format("\x1b[38;2;20;20;20;48;2;{};{};{}m{}\x1b[0m", rgb.r, rgb.g, rgb.b, text);
  }
  return fmt::format("\x1b[38;5;16;48;5;{}m{}\x1b[0m", cube_color(rgb), text);
}

struct Box {
  int from = 0, to = 0;  // columns
  std::uint32_t id = 0;
};

std::string box_text(const std::string& name, int width, bool colors) {
  const auto w = static_cast<std::size_t>(width);
  if (colors) {
    // The last column stays a gap of the box's colour, so that neighbours of one colour are told apart.
    if (width < 3) return std::string(w, ' ');
    return left_aligned(" " + fitted_name(name, w - 2), w);
  }
  if (width == 1) return "|";
  if (width < 4) return "|" + std::string(w - 1, '-');
  return left_aligned("|" + fitted_name(name, w - 1), w);
}

}  // namespace

std::string flame_text(const Terminal& terminal, const OpenView& view, const FlameLayout& layout,
                       const FlameTextOptions& options) {
  const Selection& selection = view.selection();
  const std::string& unit = view.metric().unit;
  const double whole = as_double(layout.total_width);
  const bool colored = terminal.colors != Colors::none;
  std::string out = fmt::format("{}  {}", terminal.bold(sanitize_text(view.metric().name)),
                                sanitize_text(format_value(selection.sums->total, unit)));
  if (!view.spec.filters.empty()) {
    out += fmt::format(", {} of the whole profile",
                       format_share(selection.sums->total, selection.sums->profile_total));
  }
  if (options.colors != nullptr) {
    const ColorScale& scale = options.colors->scale;
    out += fmt::format(", colour {} from {} to {}", sanitize_text(scale.metric),
                       sanitize_text(scale.low_text), sanitize_text(scale.high_text));
  }
  out += '\n';
  if (options.work != nullptr) {
    for (const WorkKind& kind : options.work->kinds) {
      const std::string title = " " + sanitize_text(kind.title) + " ";
      out += colored ? paint(terminal.colors, work_color(kind.hue, ""), title) + " " : title;
    }
    out += '\n';
  }
  if (whole <= 0) return out + "Nothing was measured.\n";

  std::vector<std::vector<Box>> rows;
  std::vector<std::uint32_t> keys_seen;
  std::unordered_map<Key, std::size_t> name_of;
  std::vector<std::string> full;
  std::vector<KeyPlace> places;
  std::uint32_t rows_cut = 0;
  for (std::uint32_t i = 0; i < layout.size(); ++i) {
    if (layout.depth[i] >= options.max_rows) {
      rows_cut = std::max(rows_cut, layout.depth[i] - options.max_rows + 1);
      continue;
    }
    const double x = as_double(layout.x[i]), width = as_double(layout.width[i]);
    const int from = static_cast<int>(std::lround(x / whole * terminal.columns));
    const int to = static_cast<int>(std::lround((x + width) / whole * terminal.columns));
    if (to <= from) continue;
    if (rows.size() <= layout.depth[i]) rows.resize(layout.depth[i] + 1);
    rows[layout.depth[i]].push_back({from, to, i});
    if (layout.key[i] != kNoKey && name_of.emplace(layout.key[i], full.size()).second) {
      full.push_back(key_name(view.profile(), *selection.boxes->keys, layout.key[i]));
      places.push_back(key_place(view.profile(), *selection.boxes->keys, layout.key[i]));
    }
  }
  std::vector<NameAndPlace> frames;
  for (std::size_t n = 0; n < full.size(); ++n) {
    frames.push_back({full[n], places[n].file.empty() ? places[n].module : places[n].file});
  }
  const std::vector<std::string> short_names = distinct_short_names(frames);

  std::vector<std::string> lines;
  for (std::vector<Box>& row : rows) {
    std::string& line = lines.emplace_back();
    std::sort(row.begin(), row.end(), [](const Box& a, const Box& b) { return a.from < b.from; });
    int column = 0;
    for (const Box& box : row) {
      const int from = std::max(box.from, column);
      if (box.to <= from) continue;
      line.append(static_cast<std::size_t>(from - column), ' ');
      column = box.to;
      const int width = box.to - from;
      const bool root = layout.parent[box.id] == kNone;
      if (layout.key[box.id] == kNoKey) {
        const std::string text =
            root ? "all" : fmt::format("{} more", format_count(std::uint64_t{layout.n_merged[box.id]}));
        const std::string label = box_text(text, width, colored);
        line += colored ? paint(terminal.colors, root ? Hsl{220, 10, 78} : Hsl{0, 0, 58}, label) : label;
        continue;
      }
      const std::size_t n = name_of.at(layout.key[box.id]);
      std::string name = sanitize_text(short_names[n]);
      const bool estimated = !layout.estimate.empty() && (layout.estimate[box.id] & kTotalEstimated) != 0;
      if (width > 14 && options.colors != nullptr)
        name += "  " + sanitize_text(options.colors->text[box.id]);
      else if (width > 14)
        name += "  " + marked(format_share(layout.total[box.id], selection.sums->total), estimated);
      const std::string label = box_text(
          display_width(name) + 2 > static_cast<std::size_t>(width) ? sanitize_text(short_names[n]) : name,
          width, colored);
      if (!colored) {
        line += label;
        continue;
      }
      if (options.colors != nullptr) {
        const std::optional<Value>& value = options.colors->value[box.id];
        const auto place =
            value ? std::optional(place_on(options.colors->scale, as_double(*value))) : std::nullopt;
        line += paint(terminal.colors, scale_color(place), label);
        continue;
      }
      if (options.work != nullptr) {
        line += paint(terminal.colors, work_color(hue_of(*options.work, box.id), full[n]), label);
        continue;
      }
      const ColoredFrame frame{full[n], places[n].module, places[n].file, layout.kind[box.id],
                               layout.inlined[box.id] != 0};
      line += paint(terminal.colors, flame_color(options.scheme, frame), label);
    }
    line += '\n';
  }
  if (rows_cut > 0) {
    lines.push_back(
        terminal.dim(fmt::format("{} more {} {}; --depth 0 shows all", rows_cut,
                                 rows_cut == 1 ? "row" : "rows", options.inverted ? "above" : "below")) +
        '\n');
  }
  if (options.inverted) std::reverse(lines.begin(), lines.end());
  for (const std::string& line : lines) out += line;
  return out;
}

}  // namespace profd

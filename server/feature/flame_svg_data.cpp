#include "server/feature/flame_svg_data.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include <fmt/format.h>

#include "core/view/keys.h"
#include "formats/flamegraph_svg/profd_words.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

using namespace flamegraph_svg;

// Doubles in full: what is read back is what was drawn.
std::string number(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(value));
}

}  // namespace

std::string flame_svg_data(const Selection& selection, const FlameLayout& layout, const ViewSpec& view,
                           const std::string& title) {
  const Profile& profile = *selection.profile;
  const MetricInfo& metric = profile.metrics()[selection.metric().v];
  std::string out;
  const auto put = std::back_inserter(out);
  fmt::format_to(
      put, "<metadata id=\"{}\" data-version=\"{}\" data-title=\"{}\" data-metric=\"{}\" data-unit=\"{}\"",
      kPageData, kPageVersion, escape_markup(title), escape_markup(metric.name), escape_markup(metric.unit));
  // The usual view is not said, here as on the page.
  ViewSpec shown = view;
  shown.metric.clear();
  if (view.shape != Shape::top_down) fmt::format_to(put, " data-shape=\"{}\"", to_text(view.shape));
  if (view.granularity != Granularity::function)
    fmt::format_to(put, " data-by=\"{}\"", to_text(view.granularity));
  if (shown != ViewSpec{}) fmt::format_to(put, " data-view=\"{}\"", escape_markup(to_text(shown)));
  if (std::holds_alternative<double>(layout.total_width)) out += " data-fractional=\"1\"";
  if (std::any_of(layout.estimate.begin(), layout.estimate.end(),
                  [](Estimate estimate) { return estimate != kExact; }))
    out += " data-estimated=\"1\"";
  out += ">\n";
  for (const std::string& name : view.focus) fmt::format_to(put, "<focus n=\"{}\"/>\n", escape_markup(name));

  std::unordered_map<Key, std::size_t> rows;
  for (const Key key : layout.key) {
    if (key == kNoKey || !rows.emplace(key, rows.size()).second) continue;
    const KeyPlace place = key_place(profile, *selection.boxes->keys, key);
    fmt::format_to(put, "<f n=\"{}\"", escape_markup(key_name(profile, *selection.boxes->keys, key)));
    if (!place.file.empty()) fmt::format_to(put, " p=\"{}\"", escape_markup(place.file));
    if (place.line > 0) fmt::format_to(put, " l=\"{}\"", place.line);
    if (!place.module.empty()) fmt::format_to(put, " m=\"{}\"", escape_markup(place.module));
    out += "/>\n";
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    out += "<b";
    if (layout.parent[i] != kNone) fmt::format_to(put, " u=\"{}\"", layout.parent[i]);
    if (layout.n_merged[i] > 0)
      fmt::format_to(put, " r=\"{}\"", layout.n_merged[i]);
    else if (layout.key[i] != kNoKey)
      fmt::format_to(put, " f=\"{}\"", rows.at(layout.key[i]));
    fmt::format_to(put, " t=\"{}\"", number(layout.total[i]));
    if (as_double(layout.self[i]) != 0) fmt::format_to(put, " s=\"{}\"", number(layout.self[i]));
    if (layout.kind[i] != FrameKind::native)
      fmt::format_to(put, " k=\"{}\"", kPageKinds[static_cast<std::size_t>(layout.kind[i])]);
    if (layout.inlined[i] != 0) out += " i=\"1\"";
    out += "/>\n";
  }
  out += "</metadata>\n";
  return out;
}

}  // namespace profd

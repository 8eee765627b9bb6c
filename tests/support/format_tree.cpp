#include "tests/support/format_tree.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "tests/support/text_profile.h"

namespace profd::test {

std::string format_value(const Value& value) {
  return std::visit([](auto v) { return fmt::format("{}", v); }, value);
}

std::vector<Key> keys_called(const Selection& selection, const std::vector<std::string>& names) {
  std::vector<Key> keys;
  for (const std::string& name : names) {
    const std::vector<Key> found = find_keys(*selection.profile, *selection.boxes->keys, name);
    if (found.empty()) throw std::invalid_argument("no key is called " + name);
    keys.push_back(found.front());
  }
  return keys;
}

std::string format_layout(const Selection& selection, const FlameLayout& layout) {
  // Boxes are breadth first; print them depth first.
  std::vector<std::vector<std::uint32_t>> children(layout.size());
  for (std::uint32_t i = 1; i < layout.size(); ++i) children[layout.parent[i]].push_back(i);
  std::string out;
  std::vector<std::uint32_t> pending{0};
  while (!pending.empty()) {
    const std::uint32_t box = pending.back();
    pending.pop_back();
    std::string name = layout.parent[box] == kNone ? "all" : fmt::format("{} more", layout.n_merged[box]);
    if (layout.key[box] != kNoKey)
      name = key_name(*selection.profile, *selection.boxes->keys, layout.key[box]);
    const Estimate estimate = layout.estimate.empty() ? kExact : layout.estimate[box];
    const auto mark = [&](Estimate bit) { return (estimate & bit) != 0 ? "≈" : ""; };
    out += fmt::format("{:{}}{} {}{} {}{}\n", "", 2 * layout.depth[box], name, mark(kTotalEstimated),
                       format_value(layout.total[box]), mark(kSelfEstimated), format_value(layout.self[box]));
    pending.insert(pending.end(), children[box].rbegin(), children[box].rend());
  }
  return out;
}

std::string format_tree(const Selection& selection, Shape shape, const std::vector<std::string>& focus) {
  LayoutRequest request;
  request.shape = shape;
  request.focus = keys_called(selection, focus);
  request.min_width_px = 0;
  request.max_boxes = 5000;
  const Result<FlameLayout> layout = layout_flame(selection, request, {});
  if (!layout) return "error: " + layout.error().message;
  return format_layout(selection, *layout);
}

std::string format_flat(const Selection& selection) {
  const Result<FlatView> view = flat_view(selection, {});
  if (!view) return "error: " + view.error().message;
  TableRequest request;
  request.sort = SortBy::name;
  request.descending = false;
  request.limit = view->key.size();
  std::string out;
  for (std::uint32_t row : page_of(selection, *view, request).rows)
    out += fmt::format("{} {} {}\n", key_name(*selection.profile, *selection.boxes->keys, view->key[row]),
                       format_value(view->total[row]), format_value(view->self[row]));
  return out;
}

SelectionPtr select_text(std::string_view profile_text, std::string_view spec_text) {
  const Result<ViewSpec> spec = parse_view_spec(spec_text);
  if (!spec) throw std::invalid_argument(describe(spec.error()));
  Result<SelectionPtr> selection = select(profile_from_text(profile_text), *spec, {});
  if (!selection) throw std::invalid_argument(describe(selection.error()));
  return *selection;
}

std::string dedent(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (text.empty() && line.find_first_not_of(' ') == std::string_view::npos) break;
    line.remove_prefix(std::min(indent, line.size()));
    out += line;
    out += '\n';
  }
  return out;
}

}  // namespace profd::test

#include "tests/support/box_paths.h"

#include <cmath>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>

#include "tests/support/gen.h"

namespace profd::test {
namespace {

std::int64_t scaled(const Value& value, double scale) {
  return std::llround(std::visit([](auto v) { return static_cast<double>(v); }, value) * scale);
}

}  // namespace

std::string show(const oracle::Path& path) {
  std::string out = "all";
  for (const std::string& name : path) out += " / " + name;
  return out;
}

Result<FlameLayout> whole_layout(const Selection& selection, Shape shape, const std::vector<Key>& focus) {
  LayoutRequest request;
  request.shape = shape;
  request.focus = focus;
  request.min_width_px = 0;
  request.max_boxes = 5000;
  return layout_flame(selection, request, {});
}

std::vector<oracle::Path> paths_of(const Selection& selection, const FlameLayout& layout) {
  std::vector<oracle::Path> paths(layout.size());
  for (std::size_t i = 0; i < layout.size(); ++i) {
    if (layout.parent[i] == kNone) continue;
    paths[i] = paths[layout.parent[i]];
    paths[i].push_back(oracle_name(selection, layout.key[i]));
  }
  return paths;
}

std::string oracle_name(const Columns& columns, Key key) {
  std::size_t column = 0;
  while (columns.own_key(column, key) == kNone) ++column;
  return oracle_name(*columns.of[column], columns.own_key(column, key));
}

std::vector<oracle::Path> paths_of(ColumnTree& tree) {
  std::vector<oracle::Path> paths(1);
  StopToken stop;
  for (std::uint32_t id = 0; id < tree.size(); ++id) {
    if (const auto done = tree.expand(id, stop); !done) throw std::runtime_error(done.error().message);
    const ColumnTree::Node node = tree.node(id);
    paths.resize(tree.size());
    for (std::uint32_t child = node.first_child; child < node.first_child + node.n_children; ++child) {
      paths[child] = paths[id];
      paths[child].push_back(oracle_name(tree.columns(), tree.node(child).key));
    }
  }
  return paths;
}

void drop_zeros(SumsByPath& sums) {
  std::erase_if(sums, [](const auto& entry) { return entry.second == BoxSums(); });
}

SumsByPath sums_by_path(const Selection& selection, Shape shape, double scale) {
  const auto layout = whole_layout(selection, shape);
  if (!layout) throw std::runtime_error(layout.error().message);
  const std::vector<oracle::Path> paths = paths_of(selection, *layout);
  SumsByPath out;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    out[paths[i]].total += scaled(layout->total[i], scale);
    out[paths[i]].self += scaled(layout->self[i], scale);
  }
  drop_zeros(out);
  return out;
}

SumsByPath sums_by_path(const std::vector<PlainStack>& stacks, ViewSpec spec, Shape shape) {
  spec.shape = shape;
  SumsByPath out;
  for (const auto& [path, sums] : oracle::tree_of(stacks, spec)) out[path] = {sums.total, sums.self};
  drop_zeros(out);
  return out;
}

std::string difference(const SumsByPath& found, const SumsByPath& expected) {
  for (const auto& [path, sums] : expected) {
    const auto at = found.find(path);
    if (at == found.end()) return show(path) + " is missing";
    if (at->second != sums)
      return fmt::format("{}: total {} self {}, expected {} {}", show(path), at->second.total,
                         at->second.self, sums.total, sums.self);
  }
  for (const auto& [path, sums] : found)
    if (!expected.contains(path)) return show(path) + " should not be there";
  return "";
}

}  // namespace profd::test

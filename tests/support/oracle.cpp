#include "tests/support/oracle.h"

#include <algorithm>
#include <set>

namespace profd::test::oracle {
namespace {

std::string name_of(const PlainFrame& f, Granularity granularity) {
  switch (granularity) {
    case Granularity::module:
      return f.module;
    case Granularity::file:
      return f.file;
    case Granularity::function:
      return f.function;
    default:
      return f.function + " " + f.file + ":" + std::to_string(f.line);
  }
}

bool frame_matches(const PlainFrame& f, const Filter& filter) {
  if (filter.by == FilterBy::module) return f.module == filter.pattern;
  if (filter.by == FilterBy::file) return f.file == filter.pattern;
  return filter.by == FilterBy::function && f.function == filter.pattern;
}

// The first filter of the kind that the frame matches.
const Filter* first_with(FilterOp op, const PlainFrame& f, const ViewSpec& spec) {
  for (const Filter& filter : spec.filters)
    if (filter.op == op && frame_matches(f, filter)) return &filter;
  return nullptr;
}

bool stack_matches(const PlainStack& stack, const Filter& filter) {
  switch (filter.by) {
    case FilterBy::thread:
      return stack.thread == filter.pattern;
    case FilterBy::time:
      return (!filter.from_ns || stack.time >= *filter.from_ns) &&
             (!filter.to_ns || stack.time < *filter.to_ns);
    case FilterBy::fragment: {
      Path names;
      for (const PlainFrame& f : stack.frames) names.push_back(f.function);
      return std::search(names.begin(), names.end(), filter.names.begin(), filter.names.end()) != names.end();
    }
    case FilterBy::path:
      return stack.frames.size() >= filter.names.size() &&
             std::equal(filter.names.begin(), filter.names.end(), stack.frames.begin(),
                        [](const std::string& name, const PlainFrame& f) { return f.function == name; });
    default:
      return std::any_of(stack.frames.begin(), stack.frames.end(),
                         [&](const PlainFrame& f) { return frame_matches(f, filter); });
  }
}

void add(Sums& sums, std::int64_t value, bool ends_here) {
  sums.total += value;
  sums.width += value < 0 ? -value : value;
  if (ends_here) sums.self += value;
}

// Every prefix of the path gets the value, the whole path as self.
void add_path(Tree& tree, const Path& path, std::int64_t value) {
  for (std::size_t n = 0; n <= path.size(); ++n)
    add(tree[Path(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(n))], value, n == path.size());
}

// What passes, equal stacks added up.
std::vector<PlainStack> passing(const std::vector<PlainStack>& stacks, const ViewSpec& spec) {
  std::map<std::vector<PlainFrame>, std::int64_t> sums;
  for (const PlainStack& stack : stacks) {
    if (passes(stack, spec)) sums[stack.frames] += stack.value;
  }
  std::vector<PlainStack> out;
  for (const auto& [frames, value] : sums) out.push_back({frames, value, "", 0});
  return out;
}

template <class Map>
Map with_width(Map map) {
  std::erase_if(map, [](const auto& entry) { return entry.second.width == 0; });
  return map;
}

}  // namespace

Path boxes_of(const PlainStack& stack, const ViewSpec& spec) {
  Path boxes;
  bool last_is_group = false;
  for (const PlainFrame& f : stack.frames) {
    if (first_with(FilterOp::hide, f, spec) != nullptr) continue;
    const Filter* const group = first_with(FilterOp::collapse, f, spec);
    const bool is_group = group != nullptr;
    const std::string name = is_group ? "group " + group->pattern : name_of(f, spec.granularity);
    const bool recursion = std::any_of(spec.filters.begin(), spec.filters.end(),
                                       [](const Filter& filter) { return filter.by == FilterBy::recursion; });
    if (!boxes.empty() && boxes.back() == name && (recursion || (is_group && last_is_group))) continue;
    boxes.push_back(name);
    last_is_group = is_group;
  }
  return boxes;
}

bool passes(const PlainStack& stack, const ViewSpec& spec) {
  return std::all_of(spec.filters.begin(), spec.filters.end(), [&](const Filter& filter) {
    if (filter.op == FilterOp::keep) return stack_matches(stack, filter);
    return filter.op != FilterOp::drop || !stack_matches(stack, filter);
  });
}

Tree tree_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec) {
  Tree tree;
  for (const PlainStack& stack : passing(stacks, spec)) {
    Path path = boxes_of(stack, spec);
    if (spec.shape == Shape::callers) {
      const auto at = std::search(path.begin(), path.end(), spec.focus.begin(), spec.focus.end());
      if (at == path.end()) continue;
      path.erase(at, path.end());
    } else if (spec.shape == Shape::callees) {
      const auto at = std::find_end(path.begin(), path.end(), spec.focus.begin(), spec.focus.end());
      if (at == path.end()) continue;
      path.erase(path.begin(), at + static_cast<std::ptrdiff_t>(spec.focus.size()));
    }
    if (spec.shape == Shape::bottom_up || spec.shape == Shape::callers)
      std::reverse(path.begin(), path.end());
    add_path(tree, path, stack.value);
  }
  return with_width(std::move(tree));
}

std::map<std::string, Sums> flat_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec) {
  std::map<std::string, Sums> flat;
  for (const PlainStack& stack : passing(stacks, spec)) {
    const Path path = boxes_of(stack, spec);
    for (const std::string& name : std::set<std::string>(path.begin(), path.end()))
      add(flat[name], stack.value, name == path.back());
  }
  return with_width(std::move(flat));
}

std::map<std::uint32_t, Sums> lines_of(const std::vector<PlainStack>& stacks, const ViewSpec& spec,
                                       const std::string& file) {
  std::map<std::uint32_t, Sums> lines;
  for (const PlainStack& stack : passing(stacks, spec)) {
    std::set<std::uint32_t> on_stack;
    std::uint32_t last = 0;  // of the last frame that is left; 0: it is on no line of the file
    for (const PlainFrame& f : stack.frames) {
      if (first_with(FilterOp::hide, f, spec) != nullptr) continue;
      const bool here = f.file == file && first_with(FilterOp::collapse, f, spec) == nullptr;
      last = here ? f.line : 0;
      if (here) on_stack.insert(f.line);
    }
    for (std::uint32_t line : on_stack) add(lines[line], stack.value, line == last);
  }
  return lines;
}

}  // namespace profd::test::oracle

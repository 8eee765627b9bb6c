#include "core/source/whole_functions.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace profd {
namespace {

constexpr std::string_view kFileBody = "<module>";

Value zero_of(const FlatView& table) {
  const bool is_real = !table.self.empty() && std::holds_alternative<double>(table.self.front());
  return is_real ? Value(0.0) : Value(std::int64_t{0});
}

}  // namespace

std::vector<WholeFunction> whole_functions(const Profile& profile, const KeyTable& keys,
                                           const std::vector<StringId>& files,
                                           const std::vector<std::uint32_t>& taken) {
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  std::vector<WholeFunction> found;
  if (keys.granularity != Granularity::function) return found;
  const auto is_candidate = [&](FunctionId function) {
    const std::uint32_t line = functions.start_line[function.v];
    return line != 0 && std::find(files.begin(), files.end(), functions.file[function.v]) != files.end() &&
           !std::binary_search(taken.begin(), taken.end(), line);
  };
  std::vector<std::uint8_t> has_lines(keys.n_keys(), 0);
  for (std::size_t f = 0; f < frames.size(); ++f)
    if (frames.line[f] != 0) has_lines[keys.of_frame[f]] = 1;
  for (Key key = 0; key < keys.first_group(); ++key) {
    const std::uint32_t frame = keys.example[key];
    if (frame >= frames.size()) continue;
    const FunctionId function = frames.function[frame];
    if (has_lines[key] == 0 && is_candidate(function))
      found.push_back({key, functions.start_line[function.v]});
  }
  std::sort(found.begin(), found.end(),
            [](const WholeFunction& a, const WholeFunction& b) { return a.line < b.line; });
  // The body of a file of Python is not on the file's first line, it only says so: it stands back there.
  const auto is_body = [&](const WholeFunction& whole) {
    return profile.function_name(frames.function[keys.example[whole.key]]) == kFileBody;
  };
  const auto is_first = [](const WholeFunction& whole) { return whole.line == 1; };
  if (std::any_of(found.begin(), found.end(), [&](const auto& f) { return is_first(f) && !is_body(f); }))
    std::erase_if(found, [&](const auto& f) { return is_first(f) && is_body(f); });
  std::vector<WholeFunction> alone;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool shared = (i > 0 && found[i - 1].line == found[i].line) ||
                        (i + 1 < found.size() && found[i + 1].line == found[i].line);
    if (!shared) alone.push_back(found[i]);
  }
  return alone;
}

void add_whole_functions(LineValues& lines, const std::vector<WholeFunction>& functions,
                         const std::vector<std::shared_ptr<const FlatView>>& flat) {
  const std::size_t n_lined = lines.line.size();
  for (const WholeFunction& function : functions) lines.line.push_back(function.line);
  lines.is_function.assign(n_lined, 0);
  lines.is_function.resize(lines.line.size(), 1);
  for (std::size_t m = 0; m < flat.size(); ++m) {
    const FlatView& table = *flat[m];
    for (const WholeFunction& function : functions) {
      const std::optional<std::size_t> row = table.row_of(function.key);
      lines.self[m].push_back(row ? table.self[*row] : zero_of(table));
      lines.total[m].push_back(row ? table.total[*row] : zero_of(table));
      if (row && table.estimate_of(*row) != kExact) lines.estimated[m] = 1;
    }
  }
  std::vector<std::size_t> order(lines.line.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return lines.line[a] < lines.line[b]; });
  const auto sort = [&](auto& column) {
    auto sorted = column;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
    column = std::move(sorted);
  };
  sort(lines.line);
  sort(lines.is_function);
  for (auto* columns : {&lines.self, &lines.total})
    for (auto& column : *columns) sort(column);
}

}  // namespace profd

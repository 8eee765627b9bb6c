#include "server/cli/row_text.h"

#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "server/cli/path_text.h"
#include "server/feature/escape.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {

std::string place_text(const RowsAnswer& answer, std::size_t row) {
  const std::int32_t file = answer.rows.file[row], module = answer.rows.module[row];
  if (file < 0)
    return module < 0 ? "" : std::string(base_name(answer.modules[static_cast<std::size_t>(module)]));
  std::string text(base_name(answer.files[static_cast<std::size_t>(file)]));
  if (answer.rows.line[row] > 0) text += fmt::format(":{}", answer.rows.line[row]);
  return text;
}

std::vector<std::string> row_names(const RowsAnswer& answer, bool full_names) {
  std::vector<std::string> names;
  if (full_names) {
    std::vector<NameAndPlace> frames;
    for (std::size_t i = 0; i < answer.rows.name.size(); ++i) {
      const std::int32_t file = answer.rows.file[i];
      frames.push_back({answer.names[answer.rows.name[i]],
                        file < 0 ? std::string_view() : answer.files[static_cast<std::size_t>(file)]});
    }
    names = distinct_names(frames);
  } else {
    for (const std::uint32_t name : answer.rows.name) names.push_back(answer.labels[name]);
  }
  for (std::string& name : names) name = sanitize_text(name);
  return names;
}

std::vector<std::string> path_names(const PathRows& answer, std::optional<std::size_t> columns) {
  std::vector<std::vector<std::string>> paths;
  for (std::size_t row = 0; row < answer.rows.name.size(); ++row) {
    const std::vector<std::string_view> path = answer.path_of(row);
    paths.emplace_back(path.begin(), path.end());
  }
  return path_texts(paths, columns.value_or(std::numeric_limits<std::size_t>::max()));
}

}  // namespace profd

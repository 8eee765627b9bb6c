#include "server/engine/project_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

// toml++ asserts what none of its callers checks ("[}" where a value begins), and in release builds may tell
// the compiler to rely on it, although an error for each case stands behind. A file must not end the program.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_cast<void>(0)
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "server/engine/workspace_files.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::uintmax_t kMaxBytes = 1 << 20;

std::string absolute_from(const std::string& folder, std::string_view path) {
  return (fs::path(folder) / path).lexically_normal().string();
}

// Reads the keys of the table one by one; what is wrong becomes a problem, not an error.
class Reader {
 public:
  Reader(ProjectFile& project, std::string folder) : project_(project), folder_(std::move(folder)) {}

  void read(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "profiles") {
        for (const std::string& glob : strings(name, node))
          project_.profiles.push_back(absolute_from(folder_, glob));
      } else if (name == "metric") {
        project_.metric = value<std::string>(name, node, "a text");
      } else if (name == "filters") {
        for (const std::string& text : strings(name, node)) add_filter(text);
      } else if (name == "threshold") {
        project_.threshold = share(name, node);
      } else if (name == "code_lens") {
        project_.code_lens = value<bool>(name, node, "true or false");
      } else if (name == "inlay_hints") {
        project_.inlay_hints = value<bool>(name, node, "true or false");
      } else if (name == "map") {
        add_mappings(node);
      } else {
        problem(name, node, "is not a setting of profd");
      }
    }
  }

 private:
  void problem(std::string_view key, const toml::node& node, std::string_view what) {
    project_.problems.push_back(
        fmt::format("{}:{}: {} {}", project_.path, node.source().begin.line, key, what));
  }

  template <class T>
  std::optional<T> value(std::string_view key, const toml::node& node, std::string_view expected) {
    auto result = node.value_exact<T>();
    if (!result) problem(key, node, fmt::format("must be {}", expected));
    return result;
  }

  std::optional<double> share(std::string_view key, const toml::node& node) {
    const auto number = node.value<double>();
    if (number && *number >= 0 && *number <= 1) return number;
    problem(key, node, "must be a share from 0 to 1");
    return std::nullopt;
  }

  std::vector<std::string> strings(std::string_view key, const toml::node& node) {
    std::vector<std::string> result;
    if (const auto* array = node.as_array()) {
      for (const toml::node& item : *array)
        if (auto text = value<std::string>(key, item, "a list of texts")) result.push_back(std::move(*text));
    } else if (auto text = value<std::string>(key, node, "a list of texts")) {
      result.push_back(std::move(*text));
    }
    return result;
  }

  void add_filter(const std::string& text) {
    auto spec = parse_view_spec("top-down by function | " + text);
    if (!spec) {
      project_.problems.push_back(
          fmt::format("{}: filter \"{}\": {}", project_.path, text, describe(spec.error())));
      return;
    }
    for (Filter& filter : spec->filters) project_.filters.push_back(std::move(filter));
  }

  void add_mappings(const toml::node& node) {
    const auto* array = node.as_array();
    if (array == nullptr) return problem("map", node, "must be a list: [[map]]");
    for (const toml::node& item : *array) {
      const auto* table = item.as_table();
      const auto from = table != nullptr ? (*table)["from"].value<std::string>() : std::nullopt;
      const auto to = table != nullptr ? (*table)["to"].value<std::string>() : std::nullopt;
      if (!from || !to) {
        problem("map", item, "needs `from` and `to`");
        continue;
      }
      project_.mappings.push_back({*from, absolute_from(folder_, *to)});
    }
  }

  ProjectFile& project_;
  std::string folder_;
};

}  // namespace

std::string find_project_file(std::string_view folder) {
  fs::path at(folder);
  for (int level = 0; level < 64; ++level) {
    std::error_code ignored;
    const fs::path candidate = at / ".profd.toml";
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
    if (!at.has_relative_path()) break;
    at = at.parent_path();
  }
  return "";
}

Result<ProjectFile> read_project_file(const std::string& path) {
  std::error_code error;
  if (fs::file_size(path, error) > kMaxBytes || error)
    return fail(ErrorCode::limit, path + ": cannot be read, or is larger than 1 MiB");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return fail(ErrorCode::io, path + ": cannot be read");
  return parse_project_file(content.str(), path);
}

Result<ProjectFile> parse_project_file(std::string_view text, const std::string& path) {
  // toml++ recurses over nested values and bounds that itself; a file of brackets is refused before.
  if (std::count(text.begin(), text.end(), '[') > 10'000)
    return fail(ErrorCode::limit, path + ": more than 10,000 brackets");
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed)
    return fail(ErrorCode::malformed,
                fmt::format("{}:{}:{}: {}", path, parsed.error().source().begin.line,
                            parsed.error().source().begin.column, parsed.error().description()));
  ProjectFile project;
  project.path = path;
  Reader(project, fs::path(path).parent_path().string()).read(parsed.table());
  return project;
}

bool glob_matches(std::string_view glob, std::string_view path) {
  // Two levels of backtracking: to the last `**`, and to the last `*` after it.
  std::size_t g = 0, p = 0;
  std::size_t star_g = glob.npos, star_p = 0;
  std::size_t deep_g = glob.npos, deep_p = 0;
  while (true) {
    if (g < glob.size() && glob.substr(g, 2) == "**") {
      g += 2;
      if (g < glob.size() && glob[g] == '/') ++g;  // "**/" also matches nothing
      deep_g = g;
      deep_p = p;
      star_g = glob.npos;
      continue;
    }
    if (g < glob.size() && glob[g] == '*') {
      star_g = ++g;
      star_p = p;
      continue;
    }
    if (p == path.size() && g == glob.size()) return true;
    if (p < path.size() && g < glob.size() && (glob[g] == path[p] || (glob[g] == '?' && path[p] != '/'))) {
      ++g;
      ++p;
      continue;
    }
    if (star_g != glob.npos && star_p < path.size() && path[star_p] != '/') {
      g = star_g;
      p = ++star_p;
    } else if (deep_g != glob.npos && deep_p < path.size()) {
      g = deep_g;
      p = ++deep_p;
      star_g = glob.npos;
    } else {
      return false;
    }
  }
}

std::vector<std::string> glob_folders(const std::string& glob, std::size_t limit) {
  const auto wildcard = glob.find_first_of("*?");
  std::string base = glob.substr(0, glob.rfind('/', wildcard));
  const bool deep = wildcard != glob.npos &&
                    (glob.find('/', wildcard) != glob.npos || glob.find("**", wildcard) != glob.npos);
  std::error_code error;
  if (base.empty()) base = "/";
  if (!fs::is_directory(base, error)) {
    fs::path above = fs::path(base).parent_path();
    while (above.has_relative_path() && !fs::is_directory(above, error)) above = above.parent_path();
    return {above.string()};
  }
  std::vector<std::string> folders = {base};
  if (deep)
    walk_folders(base, {}, [&](const std::string& path) {
      if (folders.size() < limit) folders.push_back(path);
    });
  return folders;
}

std::vector<std::string> expand_glob(const std::string& glob, std::size_t limit) {
  const auto wildcard = glob.find_first_of("*?");
  std::error_code error;
  if (wildcard == glob.npos) {
    if (fs::is_regular_file(glob, error)) return {glob};
    return {};
  }
  const std::string folder = glob.substr(0, glob.rfind('/', wildcard));
  const bool deep = glob.find('/', wildcard) != glob.npos || glob.find("**") != glob.npos;
  WalkLimits limits;
  limits.max_depth = deep ? limits.max_depth : 0;
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  walk_files(folder.empty() ? "/" : folder, limits, [&](const std::string& path) {
    if (glob_matches(glob, path)) found.emplace_back(fs::last_write_time(path, error), path);
  });
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> result;
  for (auto& [time, path] : found)
    if (result.size() < limit) result.push_back(std::move(path));
  return result;
}

}  // namespace profd

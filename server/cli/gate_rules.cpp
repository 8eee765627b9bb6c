#include "server/cli/gate_rules.h"

#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "server/cli/project_here.h"

namespace profd {
namespace {

// "#" begins a line that is no rule.
Result<void> add_rules_of_file(const std::string& path, std::vector<std::string>& rules) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::io, fmt::format("{}: it cannot be read", path));
  std::string line;
  std::size_t n_bytes = 0;
  while (std::getline(in, line)) {
    n_bytes += line.size() + 1;
    if (n_bytes > kMostBytes) return fail(ErrorCode::limit, fmt::format("{}: it has more than 16 MiB", path));
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin != std::string::npos && line[begin] != '#') rules.push_back(line);
  }
  return {};
}

std::string as_seen_from_here(const std::string& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::string relative = error ? "" : std::filesystem::path(path).lexically_relative(here).string();
  return relative.empty() ? path : relative;
}

Result<GivenRules> rules_of_project(const Console& console) {
  auto project = project_file_here(console);
  if (!project || (project->settings.gate_rules.empty() && project->problems.empty()))
    return fail(
        ErrorCode::invalid,
        "a gate needs a rule: --rule 'total(main.*) < +5%', --rules FILE, or rules in the table [gate] "
        "of .profd.toml");
  if (!project->problems.empty()) return fail(ErrorCode::invalid, project->problems.front());
  GivenRules out;
  out.rules = std::move(project->settings.gate_rules);
  out.from = as_seen_from_here(project->path);
  out.metric = project->settings.gate_metric;
  out.undecided_fails = project->settings.gate_undecided_fails;
  out.allow_empty = project->settings.gate_allow_empty;
  return out;
}

}  // namespace

Result<GivenRules> given_rules(std::vector<std::string> texts, const std::string& file,
                               const Console& console) {
  if (texts.empty() && file.empty()) return rules_of_project(console);
  GivenRules out;
  if (!file.empty()) {
    out.from = texts.empty() ? file : file + " and of the command line";
    PROFD_CHECK(add_rules_of_file(file, texts));
  }
  if (texts.empty()) return fail(ErrorCode::invalid, fmt::format("{}: there is no rule in it", file));
  for (const std::string& text : texts) {
    auto rule = parse_gate_rule(text);
    if (!rule) return fail(ErrorCode::invalid, fmt::format("{}: {}", text, rule.error().message));
    out.rules.push_back(std::move(*rule));
  }
  return out;
}

}  // namespace profd

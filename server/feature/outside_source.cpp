#include "server/feature/outside_source.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "server/engine/source_text.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kEndings[] = {
    ".c",   ".cc",    ".cpp", ".cxx", ".c++",  ".h",   ".hh",    ".hpp",    ".hxx", ".inc", ".inl",
    ".ipp", ".tcc",   ".m",   ".mm",  ".cu",   ".cuh", ".s",     ".S",      ".asm", ".py",  ".pyx",
    ".pxd", ".pyi",   ".go",  ".rs",  ".java", ".kt",  ".scala", ".groovy", ".clj", ".cs",  ".fs",
    ".vb",  ".js",    ".mjs", ".cjs", ".jsx",  ".ts",  ".tsx",   ".rb",     ".php", ".pl",  ".pm",
    ".lua", ".swift", ".d",   ".zig", ".nim",  ".hs",  ".ml",    ".jl"};

// Settings, secrets and state of the system; what the kernel makes up.
constexpr std::string_view kNeverBelow[] = {"/etc",  "/proc", "/sys",         "/dev",         "/run",
                                            "/boot", "/var",  "/private/etc", "/private/var", "/lost+found"};
// Where users' homes are.
constexpr std::string_view kHomes[] = {"/home", "/Users", "/root"};

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(path.size(), end + 1));
  }
  return parts;
}

std::string joined(const std::vector<std::string_view>& parts, std::size_t n) {
  std::string path;
  for (std::size_t i = 0; i < n; ++i) path.append("/").append(parts[i]);
  return path;
}

// How many parts of the path lead to a folder that package managers and compilers keep sources in; 0: none.
std::size_t library_of(const std::vector<std::string_view>& parts) {
  const auto is = [&](std::size_t at, std::string_view name) {
    return at < parts.size() && parts[at] == name;
  };
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (is(i, "site-packages") || is(i, "dist-packages") || is(i, "node_modules")) return i + 1;
    if (is(i, "pkg") && is(i + 1, "mod")) return i + 2;
    if (is(i, ".cargo") && is(i + 1, "registry") && is(i + 2, "src")) return i + 3;
    if (is(i, "rustlib") && is(i + 1, "src")) return i + 2;
    if ((is(i, "go") || parts[i].starts_with("go1") || parts[i].starts_with("go-")) && is(i + 1, "src"))
      return i + 2;
    if (i > 0 && parts[i].starts_with("python3.") && is(i - 1, "lib")) return i + 1;
  }
  if (is(0, "usr") && is(1, "include")) return 2;
  if (is(0, "usr") && is(1, "local") && is(2, "include")) return 3;
  if (is(0, "usr") && is(1, "lib") && is(2, "gcc")) return 3;
  return 0;
}

bool names_file(const Profile& profile, std::string_view named) {
  const auto has = [&](const Column<StringId>& files) {
    std::vector<std::uint8_t> seen(profile.strings().size(), 0);
    for (const StringId file : files) {
      if (seen[file.v] != 0) continue;
      seen[file.v] = 1;
      if (profile.strings()[file] == named) return true;
    }
    return false;
  };
  return !named.empty() && (has(profile.functions().file) || has(profile.frames().file));
}

}  // namespace

std::string root_of_source(std::string_view path, const std::string& home) {
  const std::vector<std::string_view> parts = parts_of(path);
  if (path.empty() || path.front() != '/' || parts.size() < 3) return "";
  for (const std::string_view folder : kNeverBelow)
    if (lies_below(path, folder)) return "";
  const bool own = !home.empty() && home != "/" && lies_below(path, home);
  for (const std::string_view homes : kHomes)
    if (lies_below(path, homes) && !own) return "";
  const std::size_t library = library_of(parts);
  const std::string_view name = parts.back();
  const std::size_t dot = name.rfind('.');
  const std::string_view ending = dot == name.npos ? std::string_view() : name.substr(dot);
  // Headers of C++ have no ending.
  const bool known = std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
  if (!known && !(library > 0 && ending.empty())) return "";
  for (std::size_t i = library; i < parts.size(); ++i)
    if (parts[i].front() == '.') return "";
  const std::size_t n = library > 0 ? library : parts.size() - 1;
  if (n < 2) return "";
  std::string root = joined(parts, n);
  if (!home.empty() && lies_below(home, root)) return "";
  return root;
}

Result<OutsideSource> outside_source(const Profile& profile, std::string_view named,
                                     const std::string& home) {
  const std::string shown = sanitize_text(named);
  const std::string path(named);
  if (!names_file(profile, named))
    return fail(ErrorCode::not_found, shown + " is no file that the profile names");
  std::error_code error;
  const fs::path real = is_local_file(path) ? fs::canonical(path, error) : fs::path();
  if (error || real.empty()) return fail(ErrorCode::not_found, shown + " is not on this machine");
  std::error_code ignored;
  const fs::path real_home = home.empty() ? fs::path() : fs::canonical(home, ignored);
  std::string root = root_of_source(real.string(), real_home.string());
  if (root.empty())
    return fail(
        ErrorCode::unsupported,
        shown +
            " is outside of the workspace, where profd shows sources of libraries and other folders, and "
            "nothing of the system's settings, of hidden folders and of the home folder itself; a mapping in "
            ".profd.toml, or `profd view` from its project, makes it a source");
  return OutsideSource{real.string(), std::move(root)};
}

}  // namespace profd

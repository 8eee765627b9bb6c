#include "server/engine/project_globs.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "server/engine/watches.h"
#include "server/engine/workspace_files.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWildcards = "*?";

// Globs whose walks begin in the same folder.
struct GlobsOfFolder {
  std::vector<std::string> globs;
  bool deep = false;  // they reach into folders below
};

struct Dated {
  fs::file_time_type time;
  std::string path;
};

class GlobWalk {
 public:
  GlobWalk(const GlobLimits& limits, const StopToken& stop)
      : limits_(limits), stop_(stop), until_(std::chrono::steady_clock::now() + limits.max_time) {}

  void walk(const std::string& base, const GlobsOfFolder& globs) {
    std::deque<std::pair<std::string, int>> folders = {{base, 0}};
    for (; !folders.empty() && !over(); folders.pop_front()) {
      const auto [folder, depth] = folders.front();
      watch(folder);
      std::error_code error;
      fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error);
      for (const auto end = fs::directory_iterator(); !error && it != end; it.increment(error)) {
        if (over()) return;
        if (++n_entries_ > limits_.max_entries) {
          too_many_ = true;
          return;
        }
        std::error_code ignored;
        if (it->is_directory(ignored)) {
          if (!globs.deep || it->is_symlink(ignored) || is_skipped_folder(it->path().filename().string()))
            continue;
          if (depth >= limits_.max_depth)
            too_deep_ = true;
          else
            folders.emplace_back(it->path().string(), depth + 1);
        } else if (it->is_regular_file(ignored)) {
          add(it->path().string(), globs.globs);
        }
      }
    }
  }

  void watch(const std::string& folder) {
    if (!seen_folders_.insert(folder).second) return;
    if (folders_.size() >= limits_.max_folders) {
      not_watched_ = true;
      return;
    }
    if (const auto stamp = Watches::stamp_of_folder(folder)) folders_.push_back({folder, *stamp});
  }

  // The rest of the answer.
  void finish(std::vector<std::string> named, GlobMatches& out) {
    std::sort(found_.begin(), found_.end(), [](const Dated& a, const Dated& b) {
      return a.time != b.time ? a.time > b.time : a.path > b.path;
    });
    for (Dated& one : found_) named.push_back(std::move(one.path));
    std::unordered_set<std::string> taken;
    for (std::string& path : named) {
      if (!taken.insert(path).second) continue;
      if (out.paths.size() < limits_.max_files)
        out.paths.push_back(std::move(path));
      else
        ++out.n_left_out;
    }
    out.folders = std::move(folders_);
    if (out.n_left_out > 0)
      out.cut.push_back(fmt::format("matches {} files; the {} newest are loaded, {} are left out",
                                    out.paths.size() + out.n_left_out, out.paths.size(), out.n_left_out));
    constexpr const char* kRest = "there may be profiles that are not loaded";
    if (too_many_)
      out.cut.push_back(fmt::format("reaches into more than the {} files and folders that are looked at; {}",
                                    limits_.max_entries, kRest));
    if (too_deep_)
      out.cut.push_back(
          fmt::format("reaches deeper than the {} folders that are gone into; {}", limits_.max_depth, kRest));
    if (too_long_)
      out.cut.push_back(fmt::format("takes longer than the {} ms that are spent on it; {}",
                                    limits_.max_time.count(), kRest));
    if (not_watched_)
      out.cut.push_back(
          fmt::format("reaches into more than {} folders; new profiles in the rest are not noticed",
                      limits_.max_folders));
  }

 private:
  bool over() {
    if (std::chrono::steady_clock::now() > until_) too_long_ = true;
    return too_long_ || too_many_ || stop_.stop_requested();
  }

  void add(std::string path, const std::vector<std::string>& globs) {
    if (std::none_of(globs.begin(), globs.end(),
                     [&](const std::string& glob) { return glob_matches(glob, path); }))
      return;
    std::error_code error;
    const auto time = fs::last_write_time(path, error);
    found_.push_back({time, std::move(path)});
  }

  const GlobLimits& limits_;
  const StopToken& stop_;
  std::chrono::steady_clock::time_point until_;
  std::vector<Dated> found_;
  std::vector<GlobMatches::WatchedFolder> folders_;
  std::unordered_set<std::string> seen_folders_;
  std::size_t n_entries_ = 0;
  bool too_many_ = false, too_deep_ = false, too_long_ = false, not_watched_ = false;
};

std::string folder_of(const std::string& glob, std::size_t before) {
  std::string folder = glob.substr(0, glob.rfind('/', before));
  return folder.empty() ? "/" : folder;
}

std::string nearest_folder(const std::string& folder) {
  std::error_code error;
  fs::path at = folder;
  while (at.has_relative_path() && !fs::is_directory(at, error)) at = at.parent_path();
  return at.string();
}

}  // namespace

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

GlobMatches match_globs(const std::vector<std::string>& globs, const GlobLimits& limits,
                        const StopToken& stop) {
  GlobMatches result;
  const std::size_t n_globs = std::min(globs.size(), limits.max_globs);
  if (n_globs < globs.size())
    result.cut.push_back(
        fmt::format("has {} patterns; the first {} are looked for", globs.size(), limits.max_globs));
  std::vector<std::string> named;
  std::map<std::string, GlobsOfFolder> by_folder;
  GlobWalk walk(limits, stop);
  std::error_code error;
  for (std::size_t i = 0; i < n_globs && !stop.stop_requested(); ++i) {
    const std::string& glob = globs[i];
    const auto wildcard = glob.find_first_of(kWildcards);
    if (wildcard == glob.npos) {
      if (fs::is_regular_file(glob, error)) named.push_back(glob);
      walk.watch(nearest_folder(folder_of(glob, glob.npos)));
      continue;
    }
    GlobsOfFolder& group = by_folder[folder_of(glob, wildcard)];
    group.globs.push_back(glob);
    group.deep =
        group.deep || glob.find('/', wildcard) != glob.npos || glob.find("**", wildcard) != glob.npos;
  }
  // What is named most closely first: a pattern over the whole disk takes all that is left.
  std::vector<const std::pair<const std::string, GlobsOfFolder>*> order;
  order.reserve(by_folder.size());
  for (const auto& item : by_folder) order.push_back(&item);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.deep != b->second.deep ? b->second.deep : a->first.size() > b->first.size();
  });
  for (const auto* item : order) {
    if (fs::is_directory(item->first, error))
      walk.walk(item->first, item->second);
    else
      walk.watch(nearest_folder(item->first));
  }
  walk.finish(std::move(named), result);
  return result;
}

}  // namespace profd

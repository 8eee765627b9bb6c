#include "server/engine/project_globs.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "server/engine/glob.h"
#include "server/engine/watches.h"
#include "server/engine/workspace_files.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kWildcards = "*?";

// Globs whose walks begin in the same folder.
struct GlobsOfFolder {
  struct Numbered {
    std::size_t number;  // its place in the project file
    Glob glob;
  };
  std::vector<Numbered> globs;  // by their numbers
  bool deep = false;            // they reach into folders below
};

struct Match {
  std::string path;
  std::size_t glob;  // the number of the first that matches
  fs::file_time_type time;
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
          add(it->path().string(), globs);
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

  void add_named(const std::string& path, std::size_t glob) { named_.push_back({path, glob, time_of(path)}); }

  // The rest of the answer.
  void finish(GlobMatches& out) {
    const auto newer = [](const Match& a, const Match& b) {
      return a.time != b.time ? a.time > b.time : a.path > b.path;
    };
    std::sort(found_.begin(), found_.end(), newer);
    // Those that are named, and then the newest, are the ones that are taken.
    std::vector<Match> taken;
    std::unordered_map<std::string, std::size_t> place;
    for (std::vector<Match>* matches : {&named_, &found_})
      for (Match& one : *matches) {
        if (const auto known = place.find(one.path); known != place.end()) {
          if (known->second < taken.size())
            taken[known->second].glob = std::min(taken[known->second].glob, one.glob);
          continue;
        }
        place.emplace(one.path, taken.size() < limits_.max_files ? taken.size() : limits_.max_files);
        if (taken.size() < limits_.max_files)
          taken.push_back(std::move(one));
        else
          ++out.n_left_out;
      }
    std::sort(taken.begin(), taken.end(), [&](const Match& a, const Match& b) {
      return a.glob != b.glob ? a.glob < b.glob : newer(a, b);
    });
    for (Match& one : taken) out.paths.push_back(std::move(one.path));
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
  static fs::file_time_type time_of(const std::string& path) {
    std::error_code error;
    return fs::last_write_time(path, error);
  }

  bool over() {
    if (std::chrono::steady_clock::now() > until_) too_long_ = true;
    return too_long_ || too_many_ || stop_.stop_requested();
  }

  void add(std::string path, const GlobsOfFolder& globs) {
    for (const auto& [number, glob] : globs.globs) {
      if (!glob.matches(path, stop_)) {
        if (over()) return;
        continue;
      }
      const auto time = time_of(path);
      found_.push_back({std::move(path), number, time});
      return;
    }
  }

  const GlobLimits& limits_;
  const StopToken& stop_;
  std::chrono::steady_clock::time_point until_;
  std::vector<Match> named_, found_;
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

GlobMatches match_globs(const std::vector<std::string>& globs, const GlobLimits& limits,
                        const StopToken& stop) {
  GlobMatches result;
  const std::size_t n_globs = std::min(globs.size(), limits.max_globs);
  if (n_globs < globs.size())
    result.cut.push_back(
        fmt::format("has {} patterns; the first {} are looked for", globs.size(), limits.max_globs));
  std::map<std::string, GlobsOfFolder> by_folder;
  GlobWalk walk(limits, stop);
  std::size_t n_too_long = 0;
  std::error_code error;
  for (std::size_t i = 0; i < n_globs && !stop.stop_requested(); ++i) {
    const std::string& glob = globs[i];
    const auto wildcard = glob.find_first_of(kWildcards);
    if (wildcard == glob.npos) {
      if (fs::is_regular_file(glob, error)) walk.add_named(glob, i);
      walk.watch(nearest_folder(folder_of(glob, glob.npos)));
      continue;
    }
    if (glob.size() > Glob::kMaxBytes) {
      ++n_too_long;
      continue;
    }
    GlobsOfFolder& group = by_folder[folder_of(glob, wildcard)];
    group.globs.push_back({i, Glob(glob)});
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
  if (n_too_long > 0)
    result.cut.push_back(fmt::format("has patterns of more than {} bytes, of which {} are not looked for",
                                     Glob::kMaxBytes, n_too_long));
  walk.finish(result);
  return result;
}

}  // namespace profd

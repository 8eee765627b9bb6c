#include "core/view/match_paths.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/support/hash.h"

namespace profd {
namespace {

// Of several paths with the same end, no more are looked at: a file called `mod.rs` stands in every folder.
constexpr std::size_t kMostOfOneEnd = 8;
// Longer ends are not looked for: what agrees in so many folders agrees.
constexpr std::size_t kMostFolders = 32;

bool is_separator(char c) {
  return c == '/' || c == '\\';
}

// Visits the ends of a path by their hashes, the shortest first: "c", "b/c", "a/b/c" of "a/b/c". The visit
// says whether to go on.
template <class Visit>
void for_each_end(std::string_view path, Visit visit) {
  std::uint64_t hash = 0;
  std::size_t n_ends = 0;
  for (std::size_t i = path.size(); i > 0; --i) {
    const char c = path[i - 1];
    if (is_separator(c) && i < path.size() && (!visit(mix64(hash)) || ++n_ends == kMostFolders)) return;
    hash = (hash + static_cast<unsigned char>(is_separator(c) ? '/' : c) + 1) * 0x100000001b3ull;
  }
  if (!path.empty() && !is_separator(path[0])) visit(mix64(hash));
}

std::string_view without_separator(std::string_view folder) {
  while (folder.size() > 1 && is_separator(folder.back())) folder.remove_suffix(1);
  return folder;
}

bool have_one_in_common(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) return true;
    a[i] < b[j] ? ++i : ++j;
  }
  return false;
}

struct Pair {
  std::uint32_t path = 0, other = 0;  // of an end in common that is as long as any
};
using Folders = std::pair<std::string_view, std::string_view>;  // of the path, of the other

class PathMatching {
 public:
  PathMatching(std::span<const std::string_view> paths, std::span<const std::vector<std::uint32_t>> inputs_of)
      : paths_(paths), inputs_of_(inputs_of.begin(), inputs_of.end()) {
    out_.same_as.resize(paths.size());
    std::iota(out_.same_as.begin(), out_.same_as.end(), 0u);
    in_order_ = out_.same_as;
    std::sort(in_order_.begin(), in_order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return paths_[a] < paths_[b]; });
  }

  PathMatches run() && {
    std::map<std::uint32_t, std::vector<std::uint32_t>> first_in;  // by input: the paths that it has first
    for (std::uint32_t path = 0; path < paths_.size(); ++path)
      if (!inputs_of_[path].empty()) first_in[inputs_of_[path][0]].push_back(path);
    for (const auto& [input, added] : first_in) {
      if (input != first_in.begin()->first) match(input, added);
      for (const std::uint32_t path : added)
        if (out_.same_as[path] == path) keep_ends(path);
    }
    std::stable_sort(out_.folders.begin(), out_.folders.end(),
                     [](const MovedFolder& a, const MovedFolder& b) { return a.n_files > b.n_files; });
    return std::move(out_);
  }

 private:
  void keep_ends(std::uint32_t path) {
    for_each_end(paths_[path], [&](std::uint64_t end) {
      auto& known = known_ends_[end];
      if (known.size() < kMostOfOneEnd) known.push_back(path);
      return true;
    });
  }

  // What earlier inputs have and neither this one nor who else has `path`, of the longest end in common.
  void find_others(std::uint32_t path, std::vector<Pair>& pairs) const {
    std::vector<std::uint32_t> best;
    for_each_end(paths_[path], [&](std::uint64_t end) {
      const auto known = known_ends_.find(end);
      if (known == known_ends_.end()) return false;
      std::vector<std::uint32_t> here;
      for (const std::uint32_t other : known->second)
        if (!have_one_in_common(inputs_of_[path], inputs_of_[other])) here.push_back(other);
      if (!here.empty()) best = std::move(here);
      return true;
    });
    for (const std::uint32_t other : best) pairs.push_back({path, other});
  }

  // The two as their folders and the end that they have in common.
  [[nodiscard]] Folders folders_of(const Pair& pair) const {
    const std::string_view a = paths_[pair.path], b = paths_[pair.other];
    std::size_t n = 0, end = 0;
    while (n < a.size() && n < b.size()) {
      const char x = a[a.size() - 1 - n], y = b[b.size() - 1 - n];
      if (x != y && !(is_separator(x) && is_separator(y))) break;
      ++n;
      if (is_separator(x)) end = n - 1;
    }
    // One path is the end of the other: "src/a.c" of "/build/src/a.c".
    if (n == a.size() && n < b.size() && is_separator(b[b.size() - 1 - n])) end = n;
    if (n == b.size() && n < a.size() && is_separator(a[a.size() - 1 - n])) end = n;
    return {a.substr(0, a.size() - end), b.substr(0, b.size() - end)};
  }

  void match(std::uint32_t input, const std::vector<std::uint32_t>& added) {
    std::vector<Pair> pairs;
    for (const std::uint32_t path : added) find_others(path, pairs);
    std::map<Folders, std::vector<Pair>> by_folders;
    for (const Pair& pair : pairs) {
      const Folders folders = folders_of(pair);
      // Else the hashes of their ends are the same, and nothing more.
      if (folders.first.size() < paths_[pair.path].size()) by_folders[folders].push_back(pair);
    }
    if (by_folders.empty()) return;
    std::vector<std::string_view> here, there;  // what either side alone has, in order
    for (const std::uint32_t path : in_order_) {
      const auto& inputs = inputs_of_[path];
      if (inputs.empty() || out_.same_as[path] != path) continue;
      if (inputs[0] == input) here.push_back(paths_[path]);
      if (inputs[0] < input && !std::binary_search(inputs.begin(), inputs.end(), input))
        there.push_back(paths_[path]);
    }

    std::vector<const std::pair<const Folders, std::vector<Pair>>*> order;
    for (const auto& entry : by_folders) order.push_back(&entry);
    // The most files first, then the longest end that one of them has in common. Which of two is `from` does
    // not matter, so that a comparison turned round is the same one.
    const auto rank = [&](const auto* entry) {
      const auto& [from, to] = entry->first;
      const auto rest = [](std::size_t n) { return std::numeric_limits<std::size_t>::max() - n; };
      const std::size_t end = paths_[entry->second[0].path].size() - from.size();
      return std::tuple(rest(entry->second.size()), rest(end), std::min(from, to), std::max(from, to));
    };
    std::sort(order.begin(), order.end(), [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    for (const auto* entry : order) {
      const auto& [from, to] = entry->first;
      take(entry->first, entry->second, std::min(n_below(here, from), n_below(there, to)));
    }
  }

  static std::size_t n_below(const std::vector<std::string_view>& paths, std::string_view folder) {
    const auto begin = std::lower_bound(paths.begin(), paths.end(), folder);
    const auto end = std::partition_point(
        begin, paths.end(), [&](std::string_view path) { return path.substr(0, folder.size()) == folder; });
    return static_cast<std::size_t>(end - begin);
  }

  // `n_below`: of the side that has fewer files in its folder.
  void take(const Folders& folders, const std::vector<Pair>& pairs, std::size_t n_below) {
    const auto is_free = [&](const Pair& pair) {
      return out_.same_as[pair.path] == pair.path &&
             !have_one_in_common(inputs_of_[pair.path], inputs_of_[pair.other]);
    };
    const auto n_free = static_cast<std::size_t>(std::count_if(pairs.begin(), pairs.end(), is_free));
    if (n_free * 2 < n_below) return;

    std::uint32_t n_taken = 0;
    for (const Pair& pair : pairs) {
      if (!is_free(pair)) continue;
      auto& inputs = inputs_of_[pair.other];
      std::vector<std::uint32_t> all;
      std::merge(inputs.begin(), inputs.end(), inputs_of_[pair.path].begin(), inputs_of_[pair.path].end(),
                 std::back_inserter(all));
      inputs = std::move(all);
      out_.same_as[pair.path] = pair.other;
      ++n_taken;
    }
    if (n_taken != 0)
      out_.folders.push_back({std::string(without_separator(folders.first)),
                              std::string(without_separator(folders.second)), n_taken});
  }

  std::span<const std::string_view> paths_;
  std::vector<std::uint32_t> in_order_;                // paths, by text
  std::vector<std::vector<std::uint32_t>> inputs_of_;  // of a path with all that are the same as it
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known_ends_;
  PathMatches out_;
};

}  // namespace

PathMatches match_paths(std::span<const std::string_view> paths,
                        std::span<const std::vector<std::uint32_t>> inputs_of) {
  return PathMatching(paths, inputs_of).run();
}

}  // namespace profd

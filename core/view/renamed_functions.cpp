#include "core/view/renamed_functions.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/support/hash.h"
#include "core/view/values.h"

namespace profd {
namespace {

// Of a whole side, what a function has to have where lines, or callees, tell that it is renamed.
constexpr double kLeastNear = 0.001, kLeastCalling = 0.005;
// Of a function's cost, what its callees have to have to tell anything of it.
constexpr double kLeastCalled = 0.2;

constexpr std::uint8_t kHasBefore = 1, kHasAfter = 2, kHasBoth = 3;

// The paths of both sides by function, and what they have.
struct JointTree {
  const PathClasses* paths = nullptr;
  std::array<std::vector<double>, 2> total;  // by side, by path
  std::vector<std::uint32_t> first_child, child;

  [[nodiscard]] std::size_t size() const { return paths->size(); }
  [[nodiscard]] Key key(std::uint32_t node) const { return paths->key[node]; }
  [[nodiscard]] std::span<const std::uint32_t> children_of(std::uint32_t node) const {
    return std::span(child).subspan(first_child[node], first_child[node + 1] - first_child[node]);
  }
};

JointTree joint_tree(const Profile& diff, const PathClasses& paths) {
  JointTree out;
  out.paths = &paths;
  const ComposedMetric& metric = diff.composition()->metrics[diff.default_metric().v];
  for (const std::size_t side : {0u, 1u}) {
    std::vector<double>& total = out.total[side];
    total.resize(out.size(), 0);
    const MetricId id = side == 0 ? metric.before : metric.after;
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < values.size(); ++row)
            total[paths.of_context[diff.self().contexts[row]]] += static_cast<double>(values[row]);
        },
        diff.self().values[id.v]);
    for (std::size_t node = out.size() - 1; node > 0; --node) total[paths.parent[node]] += total[node];
  }
  out.first_child.resize(out.size() + 1, 0);
  for (std::size_t node = 1; node < out.size(); ++node) ++out.first_child[paths.parent[node] + 1];
  for (std::size_t node = 0; node < out.size(); ++node) out.first_child[node + 1] += out.first_child[node];
  std::vector<std::uint32_t> next(out.first_child.begin(), out.first_child.end() - 1);
  out.child.resize(out.size() - 1);
  for (std::uint32_t node = 1; node < out.size(); ++node) out.child[next[paths.parent[node]]++] = node;
  return out;
}

// What a function calls, by what it is matched by, with its part of all that is called. By that, ascending.
struct Callees {
  std::vector<std::pair<std::uint64_t, double>> part;
  bool tell = false;  // they have enough of the function's cost
};

// One of two that are compared below a parent.
struct OneSided {
  std::uint32_t node = 0;
  double share = 0;  // of its whole side
  Callees callees;
};

struct RenameCandidate {
  bool near_line = false;
  double same_callees = 0;
  double largest = 0;  // of the parents where they are compared, the one that says most
  double share = 0;

  [[nodiscard]] bool holds() const { return near_line || same_callees >= kSameCallees; }
};

double same_part(const Callees& a, const Callees& b) {
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < a.part.size() && j < b.part.size();) {
    if (a.part[i].first == b.part[j].first)
      sum += std::min(a.part[i++].second, b.part[j++].second);
    else
      a.part[i].first < b.part[j].first ? ++i : ++j;
  }
  return sum;
}

class Looking {
 public:
  Looking(const Profile& diff, const JoinedKeys& joined, const JointTree& tree)
      : diff_(diff), joined_(joined), keys_(*joined.keys), tree_(tree) {
    const Composition& composition = *diff.composition();
    sides_.resize(keys_.n_keys(), 0);
    for (std::size_t input = 0; input < composition.inputs.size(); ++input)
      for (const std::uint32_t frame : composition.frames_of[input])
        sides_[keys_.of_frame[frame]] |= composition.inputs[input].before ? kHasBefore : kHasAfter;
  }

  [[nodiscard]] bool both_have_some_alone() const {
    const auto has = [&](std::uint8_t side) {
      return std::find(sides_.begin(), sides_.end(), side) != sides_.end();
    };
    return has(kHasBefore) && has(kHasAfter);
  }

  Result<RenamedFunctions> run(StopToken& stop) {
    for (std::uint32_t node = 0; node < tree_.size(); ++node) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (node == 0 || (tree_.total[0][node] != 0 && tree_.total[1][node] != 0)) look_below(node);
    }
    choose();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::uint32_t function_of(Key key) const {
    return diff_.frames().function[keys_.example[key]].v;
  }
  [[nodiscard]] std::string_view name_of(Key key) const {
    return diff_.function_name(FunctionId{function_of(key)});
  }

  void look_below(std::uint32_t node) {
    const auto children = tree_.children_of(node);
    const auto alone = [&](std::uint8_t side) {
      return std::any_of(children.begin(), children.end(),
                         [&](std::uint32_t child) { return sides_[tree_.key(child)] == side; });
    };
    if (!alone(kHasBefore) || !alone(kHasAfter)) return;
    const std::vector<OneSided> gone = largest_of(children, 0), added = largest_of(children, 1);
    for (const OneSided& before : gone)
      for (const OneSided& after : added) compare(before, after);
  }

  std::vector<OneSided> largest_of(std::span<const std::uint32_t> children, std::size_t side) {
    const double whole = std::fabs(tree_.total[side][0]);
    std::vector<OneSided> out;
    for (const std::uint32_t child : children) {
      if (sides_[tree_.key(child)] != (side == 0 ? kHasBefore : kHasAfter) || whole == 0) continue;
      const double share = std::fabs(tree_.total[side][child]) / whole;
      if (share >= kLeastNear) out.push_back({child, share, {}});
    }
    std::sort(out.begin(), out.end(), [&](const OneSided& a, const OneSided& b) {
      if (a.share != b.share) return a.share > b.share;
      return keys_.name_rank[tree_.key(a.node)] < keys_.name_rank[tree_.key(b.node)];
    });
    if (out.size() > kMostOfParent) {
      out_.n_not_looked_at += out.size() - kMostOfParent;
      out.resize(kMostOfParent);
    }
    for (OneSided& one : out) one.callees = callees_of(one.node, side);
    return out;
  }

  // Both sides call a function of both the same; one that is called after its caller, as a closure is,
  // changes its name with it.
  [[nodiscard]] std::uint64_t identity(Key callee, std::string_view caller) const {
    constexpr std::uint64_t kOneSided = std::uint64_t{1} << 33;
    if (sides_[callee] == kHasBoth) return callee;
    const std::string_view name = name_of(callee);
    if (caller.empty() || name.substr(0, caller.size()) != caller) return kOneSided + callee;
    std::uint64_t hash = 0;
    for (const char c : name.substr(caller.size()))
      hash = hash_combine(hash, static_cast<unsigned char>(c) + std::uint64_t{1});
    return mix64(hash) | (std::uint64_t{1} << 34);
  }

  Callees callees_of(std::uint32_t node, std::size_t side) const {
    const std::string_view caller = name_of(tree_.key(node));
    std::vector<std::pair<double, std::uint64_t>> parts;
    double sum = 0;
    for (const std::uint32_t child : tree_.children_of(node)) {
      const double total = std::fabs(tree_.total[side][child]);
      if (total == 0) continue;
      parts.emplace_back(total, identity(tree_.key(child), caller));
      sum += total;
    }
    if (parts.size() > kMostCallees) {
      std::nth_element(parts.begin(), parts.begin() + kMostCallees, parts.end(), std::greater<>());
      parts.resize(kMostCallees);
    }
    Callees out;
    for (const auto& [total, id] : parts) out.part.emplace_back(id, total / sum);
    std::sort(out.part.begin(), out.part.end());
    out.tell = sum > 0 && sum >= kLeastCalled * std::fabs(tree_.total[side][node]);
    return out;
  }

  void compare(const OneSided& before, const OneSided& after) {
    const Key gone = tree_.key(before.node), added = tree_.key(after.node);
    RenameCandidate found;
    const std::uint32_t file = joined_.file[gone];
    const std::uint32_t line = diff_.functions().start_line[function_of(gone)],
                        other = diff_.functions().start_line[function_of(added)];
    found.near_line = file != 0 && file == joined_.file[added] && line != 0 && other != 0 &&
                      std::max(line, other) - std::min(line, other) <= kNearLines;
    if (before.callees.tell && after.callees.tell && std::min(before.share, after.share) >= kLeastCalling)
      found.same_callees = same_part(before.callees, after.callees);
    if (!found.holds()) return;
    found.largest = std::min(before.share, after.share);
    RenameCandidate& known = candidates_[{gone, added}];
    const double share = known.share + std::max(before.share, after.share);
    if (std::pair(found.largest, found.same_callees) > std::pair(known.largest, known.same_callees))
      known = found;
    known.share = std::min(share, 1.0);
  }

  // The better pair first. Ids of functions decide nothing.
  void choose() {
    struct Ranked {
      double score = 0, share = 0;
      std::string_view less, more;  // the names, in order
      Key gone = 0, added = 0;
      const RenameCandidate* candidate = nullptr;
    };
    std::vector<Ranked> order;
    for (const auto& [pair, candidate] : candidates_) {
      const std::string_view a = name_of(pair.first), b = name_of(pair.second);
      order.push_back({candidate.same_callees + (candidate.near_line ? 1.0 : 0.0), candidate.share,
                       std::min(a, b), std::max(a, b), pair.first, pair.second, &candidate});
    }
    std::sort(order.begin(), order.end(), [&](const Ranked& a, const Ranked& b) {
      const auto ranks = [&](const Ranked& x) {
        const auto [less, more] = std::minmax(keys_.name_rank[x.gone], keys_.name_rank[x.added]);
        return std::tuple(-x.score, -x.share, x.less, x.more, less, more);
      };
      return ranks(a) < ranks(b);
    });
    for (const Ranked& one : order) {
      // What has found another has both sides now.
      if (sides_[one.gone] != kHasBefore || sides_[one.added] != kHasAfter) continue;
      sides_[one.gone] = sides_[one.added] = kHasBoth;
      out_.pairs.push_back({FunctionId{function_of(one.gone)}, FunctionId{function_of(one.added)},
                            std::string(name_of(one.gone)), std::string(name_of(one.added)),
                            one.candidate->near_line, one.candidate->same_callees, one.candidate->share});
    }
    std::stable_sort(out_.pairs.begin(), out_.pairs.end(),
                     [](const Suggestion& a, const Suggestion& b) { return a.share > b.share; });
  }

  const Profile& diff_;
  const JoinedKeys& joined_;
  const KeyTable& keys_;
  const JointTree& tree_;
  std::vector<std::uint8_t> sides_;  // by key
  std::map<std::pair<Key, Key>, RenameCandidate> candidates_;
  RenamedFunctions out_;
};

}  // namespace

Result<RenamedFunctions> renamed_functions(const Profile& diff, const JoinedKeys& joined,
                                           const PathClasses& paths, StopToken stop) {
  assert(diff.composition() != nullptr && diff.composition()->kind == Composed::diff);
  const JointTree none;
  if (!Looking(diff, joined, none).both_have_some_alone()) return RenamedFunctions();
  const JointTree tree = joint_tree(diff, paths);
  return Looking(diff, joined, tree).run(stop);
}

}  // namespace profd

#include <algorithm>
#include <map>
#include <tuple>

#include "core/model/module_address.h"
#include "core/model/symbolize.h"

namespace profd {
namespace {

class Gathering {
 public:
  Gathering(const Profile& profile, StopToken stop) : p_(profile), stop_(std::move(stop)) {}

  Result<std::vector<BinaryCode>> run() && {
    group_modules();
    PROFD_CHECK(look_at_frames());
    PROFD_CHECK(sum());
    std::stable_sort(out_.begin(), out_.end(),
                     [](const BinaryCode& a, const BinaryCode& b) { return a.total > b.total; });
    return std::move(out_);
  }

 private:
  void group_modules() {
    const ModuleTable& modules = p_.modules();
    std::map<std::tuple<StringId, StringId, AddressKind>, std::uint32_t> known;
    for (std::size_t m = 0; m < modules.size(); ++m) {
      const auto next = static_cast<std::uint32_t>(out_.size());
      const auto [at, is_new] =
          known.try_emplace({modules.name[m], modules.build_id[m], modules.addresses[m]}, next);
      if (is_new)
        out_.push_back({.name = modules.name[m],
                        .build_id = modules.build_id[m],
                        .kind = modules.addresses[m],
                        .addresses = {}});
      group_.push_back(at->second);
    }
  }

  std::uint32_t group_of(std::uint32_t frame) const {
    const ModuleId module = p_.frames().module[frame];
    return module.valid() ? group_[module.v] : kNone;
  }
  bool is_unnamed(std::uint32_t frame) const {
    return p_.functions().unresolved[p_.frames().function[frame].v] != 0;
  }

  Result<void> look_at_frames() {
    const FrameTable& frames = p_.frames();
    std::vector<std::uint8_t> used(frames.size(), 0);
    for (std::uint32_t c = 1; c < p_.tree().size(); ++c) used[p_.tree().frame[c]] = 1;
    for (std::uint32_t f = 0; f < frames.size(); ++f) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t group = group_of(f);
      if (used[f] == 0 || group == kNone || frames.address[f] == 0) continue;
      BinaryCode& code = out_[group];
      ++code.n_frames;
      const bool unnamed = is_unnamed(f);
      if (unnamed)
        ++code.n_unnamed;
      else if (frames.line[f] == 0)
        ++code.n_without_line;
      else
        continue;
      if (code.kind != AddressKind::unknown && frames.inlined[f] == 0)
        code.addresses.push_back(lookup_address(frames, f));
    }
    for (BinaryCode& code : out_) {
      std::sort(code.addresses.begin(), code.addresses.end());
      code.addresses.erase(std::unique(code.addresses.begin(), code.addresses.end()), code.addresses.end());
    }
    return {};
  }

  // In preorder, with the number of frames of each binary that the path to a context has: a binary's total is
  // that of the contexts where its first one is.
  Result<void> sum() {
    const ContextTree& tree = p_.tree();
    const auto n = static_cast<std::uint32_t>(tree.size());
    if (p_.metrics().empty()) return {};
    std::vector<double> below(n, 0);
    const SelfTable& self = p_.self();
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < self.contexts.size(); ++row)
            below[self.contexts[row]] += static_cast<double>(values[row]);
        },
        self.values[p_.default_metric().v]);
    for (std::uint32_t c = 1; c < n; ++c) {
      const std::uint32_t frame = tree.frame[c], group = group_of(frame);
      if (group == kNone) continue;
      out_[group].self += below[c];
      if (is_unnamed(frame)) out_[group].unnamed_self += below[c];
    }
    for (std::uint32_t c = n; c-- > 1;) below[tree.parent[c]] += below[c];
    std::vector<std::uint32_t> on_path(out_.size(), 0), path;
    for (std::uint32_t c = 1; c < n; ++c) {
      if (stop_.check()) return fail(ErrorCode::cancelled, "cancelled");
      while (!path.empty() && tree.subtree_end[path.back()] <= c) {
        --on_path[group_of(tree.frame[path.back()])];
        path.pop_back();
      }
      const std::uint32_t group = group_of(tree.frame[c]);
      if (group == kNone) continue;
      if (on_path[group]++ == 0) out_[group].total += below[c];
      path.push_back(c);
    }
    return {};
  }

  const Profile& p_;
  StopToken stop_;
  std::vector<BinaryCode> out_;
  std::vector<std::uint32_t> group_;  // by module
};

}  // namespace

Result<std::vector<BinaryCode>> gather_code(const Profile& profile, StopToken stop) {
  return Gathering(profile, std::move(stop)).run();
}

}  // namespace profd

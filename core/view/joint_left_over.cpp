#include "core/view/joint_left_over.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace profd::joint {
namespace {

// Names that several functions have which are not one another.
bool says_nothing(std::string_view name) {
  return name.empty() || name.front() == '[' || name.starts_with("0x") || name.starts_with("??") ||
         name.starts_with("(anonymous)") || name.starts_with("(unknown)");
}

class JoiningLeftOver {
 public:
  JoiningLeftOver(Items& items, Parts& parts) : in_(items), parts_(parts) {}

  void run() {
    joined_to_.resize(parts_.n);
    std::iota(joined_to_.begin(), joined_to_.end(), 0u);
    join_by_name();
    join_what_is_said();
    for (std::uint32_t& part : parts_.of_item) part = root_of(part);
  }

  std::size_t n_by_name = 0;

 private:
  // A joint key as far as it is found, of a name that several have.
  struct LeftOver {
    std::uint32_t part = 0, same = 0, numbers = 0, linker_name = 0, module = 0;
    bool placed = true, renamed = false;
    std::vector<std::uint32_t> inputs;
  };

  // The root of what part_ has become by joining others to it.
  std::uint32_t root_of(std::uint32_t part) {
    while (joined_to_[part] != part) part = joined_to_[part] = joined_to_[joined_to_[part]];
    return part;
  }

  [[nodiscard]] bool by_name_alone() const {
    return in_.asked != nullptr && in_.asked->matching != nullptr &&
           in_.asked->matching->rules.mode == MatchMode::name;
  }
  [[nodiscard]] bool needs_no_file(const Item& item) const {
    return item.renamed || in_.sames[item.same].what != 0;
  }

  void join_by_name() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < in_.items.size(); ++i) {
      const Same& same = in_.sames[in_.items[i].same];
      if ((same.what & kGroup) == 0 && !says_nothing(in_.texts[StringId{same.name}])) order.push_back(i);
    }
    const auto name_of = [&](std::uint32_t item) { return in_.sames[in_.items[item].same].name; };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(name_of(a), parts_.of_item[a], a) < std::tuple(name_of(b), parts_.of_item[b], b);
    });
    std::vector<std::span<const std::uint32_t>> runs;
    std::vector<std::uint8_t> wanted;
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      bool any = by_name_alone();
      for (end = begin; end < order.size() && name_of(order[end]) == name_of(order[begin]); ++end)
        any = any || needs_no_file(in_.items[order[end]]);
      if (!any || parts_.of_item[order[begin]] == parts_.of_item[order[end - 1]]) continue;
      runs.push_back(std::span(order).subspan(begin, end - begin));
      wanted.resize(in_.items.size(), 0);
      for (std::size_t i = begin; i < end; ++i) wanted[order[i]] = 1;
    }
    if (runs.empty()) return;
    find_sides_of_modules();
    const std::vector<std::vector<std::uint32_t>> inputs = inputs_of(in_, wanted);
    for (const std::span<const std::uint32_t> run : runs) join_run_by_name(run, inputs);
  }

  // Which sides have anything of a module.
  void find_sides_of_modules() {
    sides_of_module_.clear();
    if (in_.asked == nullptr || in_.asked->is_before.empty()) return;
    for (std::uint32_t input = 0; input < in_.inputs.size(); ++input)
      in_.for_each_key_of(input, [&](Key key) {
        sides_of_module_[module_of(in_, in_.sources[in_.source_of[input]].first_item + key)] |=
            in_.asked->is_before[input] != 0 ? 1 : 2;
      });
  }
  // One build may call its program otherwise; two libraries that both sides have are two.
  [[nodiscard]] bool may_be_one_module(std::uint32_t a, std::uint32_t b) const {
    if (a == b || a == 0 || b == 0) return true;
    const auto of_a = sides_of_module_.find(a), of_b = sides_of_module_.find(b);
    return of_a != sides_of_module_.end() && of_b != sides_of_module_.end() &&
           (of_a->second & of_b->second) == 0;
  }

  void join_run_by_name(std::span<const std::uint32_t> run,
                        const std::vector<std::vector<std::uint32_t>>& inputs) {
    constexpr std::size_t kMostLeft = 16;  // of a name that more have, it says too little
    std::vector<LeftOver> left;
    for (std::size_t begin = 0, end = 0; begin < run.size(); begin = end) {
      const Item& first = in_.items[run[begin]];
      LeftOver part{parts_.of_item[run[begin]], first.same, first.numbers, first.match_linker_name,
                    module_of(in_, run[begin]), true,       false,         {}};
      for (end = begin; end < run.size() && parts_.of_item[run[end]] == part.part; ++end) {
        const Item& item = in_.items[run[end]];
        part.placed = part.placed && in_.sames[item.same].what == 0;
        part.renamed = part.renamed || item.renamed;
        part.inputs.insert(part.inputs.end(), inputs[run[end]].begin(), inputs[run[end]].end());
      }
      std::sort(part.inputs.begin(), part.inputs.end());
      part.inputs.erase(std::unique(part.inputs.begin(), part.inputs.end()), part.inputs.end());
      if (!part.inputs.empty() && !is_matched(part)) left.push_back(std::move(part));
      if (left.size() > kMostLeft) return;
    }
    constexpr std::size_t kNobody = kMostLeft, kSeveral = kMostLeft + 1;
    std::vector<std::size_t> only(left.size(), kNobody);
    for (std::size_t i = 0; i < left.size(); ++i)
      for (std::size_t j = 0; j < left.size(); ++j)
        if (j != i && may_be_one(left[i], left[j])) only[i] = only[i] == kNobody ? j : kSeveral;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (only[i] >= kNobody || only[i] < i || only[only[i]] != i) continue;
      joined_to_[root_of(left[only[i]].part)] = root_of(left[i].part);
      ++n_by_name;
    }
  }

  // Both sides have it, or where there are no sides, all do.
  [[nodiscard]] bool is_matched(const LeftOver& part) const {
    if (in_.asked == nullptr || in_.asked->is_before.empty()) return part.inputs.size() == in_.inputs.size();
    const auto before = [&](std::uint32_t input) { return in_.asked->is_before[input] != 0; };
    return std::any_of(part.inputs.begin(), part.inputs.end(), before) &&
           !std::all_of(part.inputs.begin(), part.inputs.end(), before);
  }
  [[nodiscard]] bool may_be_one(const LeftOver& a, const LeftOver& b) const {
    // Of one file something else has told them apart.
    if (a.same == b.same || a.numbers != b.numbers) return false;
    if (a.placed && b.placed && !a.renamed && !b.renamed && !by_name_alone()) return false;
    if (!a.renamed && !b.renamed && !by_name_alone() && !may_be_one_module(a.module, b.module)) return false;
    if (!a.renamed && !b.renamed && a.linker_name != 0 && b.linker_name != 0 &&
        a.linker_name != b.linker_name)
      return false;
    for (std::size_t i = 0, j = 0; i < a.inputs.size() && j < b.inputs.size();) {
      if (a.inputs[i] == b.inputs[j]) return false;
      a.inputs[i] < b.inputs[j] ? ++i : ++j;
    }
    return true;
  }

  void join_what_is_said() {
    if (in_.asked == nullptr || in_.asked->matching == nullptr || in_.asked->matching->same.empty()) return;
    const Source& source = in_.sources[0];
    const FrameTable& frames = source.profile->frames();
    std::vector<Key> key_of(source.profile->functions().size(), kNone);
    for (std::uint32_t frame = 0; frame < frames.size(); ++frame)
      if (const Key key = source.keys->of_frame[frame]; key < source.keys->first_group())
        key_of[frames.function[frame].v] = key;
    for (const auto& [before, after] : in_.asked->matching->same) {
      const Key a = before.v < key_of.size() ? key_of[before.v] : kNone,
                b = after.v < key_of.size() ? key_of[after.v] : kNone;
      if (a != kNone && b != kNone) joined_to_[root_of(parts_.of_item[b])] = root_of(parts_.of_item[a]);
    }
  }

  Items& in_;
  Parts& parts_;
  std::vector<std::uint32_t> joined_to_;                             // by part
  std::unordered_map<std::uint32_t, std::uint8_t> sides_of_module_;  // 1: before, 2: after
};

}  // namespace

std::size_t join_left_over(Items& items, Parts& parts) {
  JoiningLeftOver joining(items, parts);
  joining.run();
  return joining.n_by_name;
}

}  // namespace profd::joint

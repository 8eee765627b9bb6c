#include "core/view/joint_members.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace profd::joint {
namespace {

// An item as one of the inputs that have it.
struct Member {
  std::uint32_t item = 0, input = 0;
};

class JoiningItems {
 public:
  explicit JoiningItems(const Items& items) : items_(items) {}

  Parts run() && {
    const std::vector<Item>& items = items_.items;
    parts_.of_item.assign(items.size(), kNone);
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return items[a].same < items[b].same; });
    struct Run {
      std::size_t begin, end;
    };
    std::vector<Run> dense;  // a source has several of these
    std::vector<std::uint8_t> in_dense(items.size(), 0);
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      bool several = false;
      for (end = begin + 1; end < order.size() && items[order[end]].same == items[order[begin]].same; ++end)
        several = several || items[order[end]].source == items[order[end - 1]].source;
      if (several) {
        dense.push_back({begin, end});
        for (std::size_t i = begin; i < end; ++i) in_dense[order[i]] = 1;
        continue;
      }
      for (std::size_t i = begin; i < end; ++i) parts_.of_item[order[i]] = parts_.n;
      ++parts_.n;
    }
    if (!dense.empty()) {
      const std::vector<std::vector<std::uint32_t>> inputs = inputs_of(items_, in_dense);
      for (const Run run : dense) {
        members_.clear();
        for (std::size_t i = run.begin; i < run.end; ++i)
          for (const std::uint32_t input : inputs[order[i]]) members_.push_back({order[i], input});
        join_members();
      }
    }
    for (std::uint32_t& part : parts_.of_item)
      if (part == kNone) part = parts_.n++;  // of no input
    return std::move(parts_);
  }

 private:
  const Item& item(const Member& member) const { return items_.items[member.item]; }

  // What tells members apart is tried in turn, as long as some input has several.
  void join_members() {
    split(0, members_.size(), &Item::numbers, [&](std::size_t b, std::size_t e) {
      const bool same_build = in_common(b, e, &Item::linker_name);
      // Those of a function that a rule renames are others than its new ones.
      const bool renamed = std::any_of(at(b), at(e), [&](const Member& m) { return item(m).renamed; });
      if (renamed && !same_build && !in_common(b, e, &Item::match_linker_name)) return join_by_line(b, e);
      split(b, e, same_build ? &Item::linker_name : &Item::match_linker_name,
            [&](std::size_t begin, std::size_t end) { join_by_line(begin, end); });
    });
  }

  void join_by_line(std::size_t begin, std::size_t end) {
    const bool one_input = std::all_of(
        at(begin), at(end), [&](const Member& member) { return member.input == members_[begin].input; });
    if (!one_input && !in_common(begin, end, &Item::first_line)) return join_run(begin, end);
    split(begin, end, &Item::first_line, [&](std::size_t b, std::size_t e) { join_run(b, e); });
  }

  // Where some input has several, each group that has `by` in common; else all.
  template <class Then>
  void split(std::size_t begin, std::size_t end, std::uint32_t Item::*by, Then then) {
    if (!some_input_has_several(begin, end)) return join_run(begin, end);
    sort(begin, end, by);
    for (std::size_t b = begin, e = begin; b < end; b = e) {
      while (e < end && item(members_[e]).*by == item(members_[b]).*by) ++e;
      then(b, e);
    }
  }
  // Two inputs have one of the values. What nobody has says nothing.
  bool in_common(std::size_t begin, std::size_t end, std::uint32_t Item::*by) {
    sort(begin, end, by);
    for (std::size_t i = begin + 1; i < end; ++i)
      if (members_[i].input != members_[i - 1].input && item(members_[i]).*by == item(members_[i - 1]).*by)
        return true;
    return false;
  }
  void join_run(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) parts_.of_item[members_[i].item] = parts_.n;
    ++parts_.n;
  }
  void sort(std::size_t begin, std::size_t end, std::uint32_t Item::*by) {
    std::sort(at(begin), at(end), [&](const Member& a, const Member& b) {
      return std::tuple(item(a).*by, a.input, a.item) < std::tuple(item(b).*by, b.input, b.item);
    });
  }
  std::vector<Member>::iterator at(std::size_t i) {
    return members_.begin() + static_cast<std::ptrdiff_t>(i);
  }
  bool some_input_has_several(std::size_t begin, std::size_t end) {
    n_of_input_.resize(items_.inputs.size(), 0);
    bool several = false;
    for (std::size_t i = begin; i < end; ++i) several = ++n_of_input_[members_[i].input] > 1 || several;
    for (std::size_t i = begin; i < end; ++i) n_of_input_[members_[i].input] = 0;
    return several;
  }

  const Items& items_;
  Parts parts_;
  std::vector<Member> members_;            // scratch: of items that are to be told apart
  std::vector<std::uint32_t> n_of_input_;  // scratch, all 0 between calls
};

}  // namespace

Parts join_items(const Items& items) {
  return JoiningItems(items).run();
}

}  // namespace profd::joint

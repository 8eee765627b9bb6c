// Laws of sets of frames, on random profiles: classes of stacks against filters, and both against each other.
#include <fmt/format.h>

#include "core/view/set_sums.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// Of the few names that random profiles have; each letter is in some of the sets.
std::vector<FrameSet> random_sets(Rng& rng) {
  std::vector<FrameSet> out;
  for (std::size_t i = 0; i < 5; ++i) {
    FrameSet set;
    set.name = fmt::format("s{}", i);
    std::string letters;
    for (char c = 'a'; c <= 'h'; ++c)
      if (chance(rng, 0.3)) letters += c;
    set.patterns.push_back({Runtime::any, {"[" + letters + "0]"}, {}, {}, {}});
    set.kind = chance(rng, 0.6);
    set.background = chance(rng, 0.2);
    set.helper = chance(rng, 0.3);
    set.idle = chance(rng, 0.15);
    set.called = chance(rng, 0.3);
    set.not_inlined = chance(rng, 0.1);
    out.push_back(std::move(set));
  }
  return out;
}

Result<Value> total_with(const Case& c, const FrameSetsPtr& sets, FilterOp op, FilterBy by,
                         const std::string& pattern, bool regex = false) {
  ViewSpec spec = c.spec;
  Filter filter;
  filter.op = op;
  filter.by = by;
  filter.pattern = pattern;
  filter.regex = regex;
  filter.rule = set_rule(sets, filter);
  spec.filters.push_back(std::move(filter));
  PROFD_TRY(const SelectionPtr selection, select(build(c), spec, {}));
  return selection->sums->total;
}

}  // namespace

TEST_CASE("classes of stacks come to what filters by sets leave and take") {
  check_law([](const Case& c) -> std::string {
    Rng rng(c.seed + 5);
    const auto sets = FrameSets::compile(random_sets(rng));
    if (!sets) return sets.error().message;
    ViewSpec unhidden = c.spec;  // what is hidden is in no set, and filters look at all frames
    std::erase_if(unhidden.filters, [](const Filter& filter) { return filter.op == FilterOp::hide; });
    Case plain = c;
    plain.spec = unhidden;
    const auto selection = select(build(plain), unhidden, {});
    if (!selection) return "";
    const auto masks = (*sets)->masks(*(*selection)->profile, {});
    const auto classes = stack_classes(**selection, *masks, (*sets)->rules(), {}, {});
    const auto sum = [&](const std::function<bool(const StackClass&)>& wanted) {
      return units(c, sum_of_classes(**selection, *classes, wanted));
    };
    const std::int64_t all = units(c, (*selection)->sums->total);
    if (sum([](const StackClass&) { return true; }) != all) return "the classes are not the whole";
    std::int64_t of_kinds = sum([](const StackClass& one) { return one.kind < 0; });
    for (std::size_t i = 0; i < (*sets)->sets().size(); ++i) {
      const SetMask bit = SetMask{1} << i;
      const std::string& name = (*sets)->sets()[i].name;
      of_kinds += sum([&](const StackClass& one) { return one.kind == static_cast<int>(i); });
      for (const FilterBy by : {FilterBy::kind, FilterBy::work}) {
        const std::int64_t part = sum([&](const StackClass& one) {
          return ((by == FilterBy::kind ? one.through : one.own) & bit) != 0;
        });
        const auto kept = total_with(plain, *sets, FilterOp::keep, by, name);
        const auto left = total_with(plain, *sets, FilterOp::drop, by, name);
        if (!kept || !left) return "a filter by a set fails";
        if (units(c, *kept) != part)
          return fmt::format("{} {} keeps {}, the classes have {}", static_cast<int>(by), name,
                             units(c, *kept), part);
        // What a tip promises is what dropping saves.
        if (all - units(c, *left) != part) return fmt::format("dropping {} saves something else", name);
      }
    }
    if (of_kinds != all) return "kinds and what has none are not the whole";
    const std::int64_t of_any = sum([](const StackClass& one) { return (one.through & 3) != 0; });
    const auto kept = total_with(plain, *sets, FilterOp::keep, FilterBy::kind, "^s[01]$", true);
    if (!kept || units(c, *kept) != of_any) return "two sets together are not what both let through";
    return "";
  });
}

TEST_CASE("callers of own work share what is below them") {
  check_law([](const Case& c) -> std::string {
    Rng rng(c.seed + 6);
    const auto sets = FrameSets::compile(random_sets(rng));
    const auto selection = select(build(c), c.spec, {});
    if (!sets || !selection) return "";
    const auto masks = (*sets)->masks(*(*selection)->profile, {});
    const auto classes = stack_classes(**selection, *masks, (*sets)->rules(), {}, {});
    for (std::size_t i = 0; i < (*sets)->sets().size(); ++i) {
      if (!(*sets)->sets()[i].called) continue;  // each then has somebody who calls
      const auto callers = callers_of_work(**selection, *masks, (*sets)->rules(), i, {});
      std::int64_t sum = 0;
      for (const KeyAmount& one : *callers) sum += units(c, one.amount);
      const std::int64_t own = units(c, sum_of_classes(**selection, *classes, [&](const StackClass& one) {
                                       return (one.own >> i & 1) != 0;
                                     }));
      if (sum != own) return fmt::format("callers of {} have {} of {}", (*sets)->sets()[i].name, sum, own);
    }
    return "";
  });
}

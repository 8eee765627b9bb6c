#include "server/feature/sets_answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/view/divided_search.h"
#include "core/view/filters.h"
#include "core/view/resolve.h"
#include "server/feature/estimate.h"
#include "server/feature/set_masks.h"

namespace profd {
namespace {

constexpr SetMask set_bit(std::size_t set) {
  return SetMask{1} << set;
}

Result<std::size_t> set_called(const FrameSets& sets, const std::string& name) {
  if (const auto found = sets.find(name)) return *found;
  std::vector<std::string_view> names;
  for (const FrameSet& set : sets.sets()) names.push_back(set.name);
  return fail(ErrorCode::not_found, fmt::format("no set is called \"{}\"{}; there are {}", name,
                                                did_you_mean(name, names), fmt::join(names, ", ")));
}

Result<void> find_run(const Selection& selection, const NamedSet& one, std::size_t set, NamedSets& out,
                      StopToken& stop) {
  if (selection.divided)
    return fail(ErrorCode::invalid, "runs of frames need stacks, and the file has functions and calls alone");
  const Profile& profile = *selection.profile;
  Filter run;
  run.by = FilterBy::fragment;
  run.names = one.frames;
  PROFD_TRY(const std::vector<Filter> whole, with_whole_names(profile, {run}));
  PROFD_TRY(ContextRanges ranges, subtrees_of_fragment(profile, whole.front().names, stop));
  std::vector<std::uint8_t> of_key(selection.boxes->keys->n_keys(), 0);
  for (const std::string& name : whole.front().names) {
    const std::vector<std::uint8_t> frames = frames_called(profile, name);
    for (std::size_t f = 0; f < frames.size(); ++f)
      if (frames[f] != 0) of_key[selection.boxes->keys->of_frame[f]] = 1;
  }
  out.runs.push_back({set, std::move(ranges)});
  out.frames_of_runs.push_back(std::move(of_key));
  return {};
}

// What the stacks through keys of a set come to, in a tree that is made of calls.
Result<Value> in_calls(const Selection& selection, const std::vector<SetMask>& of_key, SetMask sets,
                       StopToken& stop) {
  std::vector<std::uint8_t> matches(of_key.size());
  for (std::size_t key = 0; key < matches.size(); ++key) matches[key] = (of_key[key] & sets) != 0 ? 1 : 0;
  return matched_in_calls(selection, matches, stop);
}

// Sums by set over the stacks of a view.
class SetSums {
 public:
  SetSums(const PreparedView& view, std::vector<SetMask> of_key, std::vector<StackClass> classes)
      : view_(view), of_key_(std::move(of_key)), classes_(std::move(classes)) {}

  // Of the stacks through any of the sets.
  Result<Amount> through(SetMask sets, StopToken stop) const {
    const Selection& selection = *view_.selection;
    if (selection.divided) {
      PROFD_TRY(const Value sum, in_calls(selection, of_key_, sets, stop));
      return amount_of(view_.whole, sum, true);
    }
    return amount_of(
        view_.whole,
        sum_of_classes(selection, classes_, [&](const StackClass& one) { return (one.through & sets) != 0; }),
        selection.estimated);
  }
  std::optional<Amount> first(std::size_t set) const {
    if (view_.selection->divided) return std::nullopt;
    return amount_of(view_.whole,
                     sum_of_classes(*view_.selection, classes_,
                                    [&](const StackClass& one) { return one.kind == static_cast<int>(set); }),
                     view_.selection->estimated);
  }
  const std::vector<SetMask>& of_key() const { return of_key_; }

 private:
  const PreparedView& view_;
  std::vector<SetMask> of_key_;
  std::vector<StackClass> classes_;
};

// By key: the sets that some of its frames are in.
std::vector<SetMask> any_of_keys(const KeyTable& keys, const std::vector<SetMask>& of_frame) {
  std::vector<SetMask> out(keys.n_keys(), 0);
  for (std::size_t f = 0; f < of_frame.size(); ++f) out[keys.of_frame[f]] |= of_frame[f];
  return out;
}

// By set, the names with a value that are in it.
std::vector<std::uint64_t> names_of_sets(const FlatView& flat, const std::vector<SetMask>& of_key) {
  std::vector<std::uint64_t> out(kMaxFrameSets, 0);
  for (const Key key : flat.key)
    for (SetMask left = of_key[key]; left != 0; left &= left - 1)
      ++out[static_cast<std::size_t>(std::countr_zero(left))];
  return out;
}

Result<void> add_asked(Views& views, const SetsAnswerRequest& request, const PreparedView& view,
                       SetsAnswer& out, const StopToken& stop) {
  const Selection& selection = *view.selection;
  PROFD_TRY(NamedSets named,
            find_named_sets(views, *request.open, request.spec, request.asked, request.sets.get(), stop));
  std::vector<StackClass> classes;
  if (!selection.divided) {
    std::vector<SetMask> of_frame(selection.boxes->keys->of_frame.size());
    for (std::size_t f = 0; f < of_frame.size(); ++f)
      of_frame[f] = named.of_key[selection.boxes->keys->of_frame[f]];
    PROFD_TRY(classes, stack_classes(selection, of_frame, SetRules{}, named.runs, stop));
  }
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  const SetSums sums(view, std::move(named.of_key), std::move(classes));
  std::vector<std::uint64_t> n_names = names_of_sets(*flat, sums.of_key());
  for (std::size_t r = 0; r < named.runs.size(); ++r)
    n_names[named.runs[r].set] = static_cast<std::uint64_t>(
        std::count(named.frames_of_runs[r].begin(), named.frames_of_runs[r].end(), std::uint8_t{1}));
  SetMask all = 0;
  for (std::size_t i = 0; i < request.asked.size(); ++i) {
    all |= set_bit(i);
    SetRow row;
    row.name = row.title = request.asked[i].name;
    PROFD_TRY(row.amount, sums.through(set_bit(i), stop));
    row.n_names = n_names[i];
    out.sets.push_back(std::move(row));
  }
  PROFD_TRY(out.any, sums.through(all, stop));
  return {};
}

Result<void> add_kinds(Views& views, const SetsAnswerRequest& request, const PreparedView& view,
                       SetsAnswer& out, const StopToken& stop) {
  const Selection& selection = *view.selection;
  const FrameSets& sets = *request.sets;
  PROFD_TRY(const auto masks, masks_of(views, *request.open, sets, kAllSets, stop));
  std::vector<StackClass> classes;
  if (!selection.divided) {
    PROFD_TRY(const auto kept, classes_of(views, *request.open, request.spec, sets, kAllSets, stop));
    classes = kept->classes;
  }
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  const SetSums sums(view, any_of_keys(*selection.boxes->keys, masks->of_frame), std::move(classes));
  const std::vector<std::uint64_t> n_names = names_of_sets(*flat, sums.of_key());
  SetMask all = 0;
  for (std::size_t i = 0; i < sets.sets().size(); ++i) {
    const FrameSet& set = sets.sets()[i];
    if ((sets.rules().kinds & set_bit(i)) == 0) continue;
    SetRow row;
    row.name = set.name;
    row.title = set.title;
    PROFD_TRY(row.amount, sums.through(set_bit(i), stop));
    if (as_double(row.amount.value) == 0) continue;
    row.first = sums.first(i);
    row.n_names = n_names[i];
    row.hue = set.hue;
    row.own = set.own;
    row.background = set.background;
    if (!set.background) all |= set_bit(i);
    out.sets.push_back(std::move(row));
  }
  std::stable_sort(out.sets.begin(), out.sets.end(), [](const SetRow& a, const SetRow& b) {
    return std::pair(a.background ? 1 : 0, -std::fabs(as_double(a.amount.value))) <
           std::pair(b.background ? 1 : 0, -std::fabs(as_double(b.amount.value)));
  });
  PROFD_TRY(out.any, sums.through(all, stop));
  return {};
}

}  // namespace

Result<NamedSets> find_named_sets(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                  const std::vector<NamedSet>& asked, const FrameSets* sets,
                                  const StopToken& stop) {
  if (asked.size() > kMaxNamedSets)
    return fail(ErrorCode::limit, fmt::format("at most {} sets are asked for at once", kMaxNamedSets));
  PROFD_TRY(const SelectionPtr selection, views.selection(open, spec, stop));
  const KeyTable& keys = *selection->boxes->keys;
  NamedSets out;
  out.of_key.assign(keys.n_keys(), 0);
  StopToken token = stop;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const NamedSet& one = asked[i];
    const int n_given =
        (one.pattern.empty() ? 0 : 1) + (one.frames.empty() ? 0 : 1) + (one.set.empty() ? 0 : 1);
    if (n_given != 1)
      return fail(
          ErrorCode::invalid,
          fmt::format("{}: one of a pattern, a run of frames or the name of a set is given", one.name));
    if (!one.frames.empty()) {
      PROFD_CHECK(find_run(*selection, one, i, out, token));
    } else if (!one.pattern.empty()) {
      PROFD_TRY(const auto found, views.search(open, spec, one.pattern, stop));
      for (Key key = 0; key < out.of_key.size(); ++key)
        if (found->matches[key] != 0) out.of_key[key] |= set_bit(i);
    } else {
      if (sets == nullptr) return fail(ErrorCode::invalid, "no sets are known here");
      PROFD_TRY(const std::size_t set, set_called(*sets, one.set));
      PROFD_TRY(const auto masks, masks_of(views, open, *sets, set_bit(set), stop));
      for (std::size_t f = 0; f < masks->of_frame.size(); ++f)
        if ((masks->of_frame[f] & set_bit(set)) != 0) out.of_key[keys.of_frame[f]] |= set_bit(i);
    }
  }
  return out;
}

Needs needs_of(const SetsAnswerRequest& request) {
  return needs_of_table(request.spec);
}

Result<SetsAnswer> sets_answer(Views& views, const SetsAnswerRequest& request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  SetsAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.whole = view.whole;
  if (request.asked.empty()) {
    PROFD_CHECK(add_kinds(views, request, view, out, stop));
  } else {
    PROFD_CHECK(add_asked(views, request, view, out, stop));
  }
  return out;
}

std::string kinds_text(const SetsAnswer& kinds) {
  constexpr double kWorthSaying = 0.01;
  std::string out;
  std::size_t n = 0;
  for (const SetRow& row : kinds.sets) {
    if (row.background || std::fabs(kinds.whole.share(row.amount.value)) < kWorthSaying) continue;
    out += fmt::format("{}{} {}", n++ == 0 ? "" : " · ", row.title, row.amount.share_text);
  }
  if (n > 1) out += fmt::format("; {} together", kinds.any.share_text);
  return out;
}

}  // namespace profd

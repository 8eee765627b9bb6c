#include "core/compare/gate_sums.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/compare/sample_windows.h"
#include "core/view/pattern.h"
#include "core/view/resolve.h"

namespace profd {
namespace {

const Composition& composition_of(const GateStacks& stacks) {
  return *stacks.selection->profile->composition();
}

template <class Visit>
void for_each_input_value(const InputValues& values, std::uint32_t row, Visit visit) {
  std::visit(
      [&](const auto& value) {
        for (std::uint32_t i = values.first[row]; i < values.first[row + 1]; ++i)
          visit(values.input[i], static_cast<double>(value[i]));
      },
      values.value);
}

// Boxes by the context that starts them.
class GateBoxes {
 public:
  explicit GateBoxes(const GateStacks& stacks)
      : tree_(stacks.selection->profile->tree()), boxes_(*stacks.selection->boxes) {}
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(tree_.size()); }
  [[nodiscard]] std::uint32_t box_of(std::uint32_t context) const { return boxes_.owner_of(context); }
  [[nodiscard]] std::uint32_t above(std::uint32_t box) const { return box_of(tree_.parent[box]); }
  [[nodiscard]] Key key(std::uint32_t box) const { return boxes_.keys->of_frame[tree_.frame[box]]; }

 private:
  const ContextTree& tree_;
  const Boxes& boxes_;
};

// Where subjects are: by context, the nearest box at or above it that matches, and which subject that is.
struct Matches {
  std::vector<std::uint32_t> nearest;  // kNone: none
  std::vector<std::uint32_t> subject;  // of boxes that match
};

Result<Matches> find_matches(const GateStacks& stacks, const SubjectRequest& request, SubjectSums& sums,
                             StopToken& stop) {
  const GateBoxes boxes(stacks);
  const std::size_t n_patterns = request.in_a_row.size();
  std::vector<std::uint64_t> places(stacks.names.size(), 0);
  for (std::size_t i = 0; i < n_patterns; ++i)
    for (Key key = 0; key < places.size(); ++key)
      if (request.in_a_row[i][key] != 0) places[key] |= std::uint64_t{1} << i;
  const std::uint64_t last = std::uint64_t{1} << (n_patterns - 1);

  Matches matches{std::vector<std::uint32_t>(boxes.size(), kNone),
                  std::vector<std::uint32_t>(boxes.size(), kNone)};
  // Bit i: the patterns up to i match the boxes down to this one.
  std::vector<std::uint64_t> matched(boxes.size(), 0);
  std::map<std::vector<Key>, std::uint32_t> subject_of;
  std::vector<Key> row(n_patterns);
  if (!request.each) sums.keys.emplace_back();
  for (std::uint32_t c = 1; c < boxes.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t box = boxes.box_of(c);
    if (box != c) {
      matches.nearest[c] = matches.nearest[box];
      continue;
    }
    const std::uint32_t above = boxes.above(c);
    matched[c] = (matched[above] << 1 | 1) & places[boxes.key(c)];
    matches.nearest[c] = matches.nearest[above];
    if ((matched[c] & last) == 0) continue;
    matches.nearest[c] = c;
    matches.subject[c] = 0;
    if (!request.each) continue;
    for (std::size_t i = n_patterns, at = c; i-- > 0; at = boxes.above(static_cast<std::uint32_t>(at)))
      row[i] = boxes.key(static_cast<std::uint32_t>(at));
    const auto [found, is_new] = subject_of.try_emplace(row, static_cast<std::uint32_t>(sums.keys.size()));
    if (is_new) {
      if (sums.keys.size() >= kMaxSubjectValues / sums.n_runs)
        return fail(ErrorCode::limit, "a rule matches more than can be judged one by one");
      sums.keys.push_back(row);
    }
    matches.subject[c] = found->second;
  }
  return matches;
}

class Summing {
 public:
  Summing(const GateStacks& stacks, const SubjectRequest& request, SubjectSums& sums)
      : stacks_(stacks),
        composition_(composition_of(stacks)),
        values_(composition_.of[request.of].values),
        scale_(composition_.of[request.of].scale),
        counts_(request.counts),
        sums_(sums),
        most_(sums.size(), 0) {
    sums.values.assign(sums.size() * sums.n_runs, 0);
    if (counts_ != nullptr) sums.samples.assign(sums.size() * sums.n_runs, 0);
    sums.most_grown.assign(sums.size(), kNone);
  }

  void add(std::uint32_t row, std::uint32_t subject) {
    const std::size_t first = subject * sums_.n_runs;
    double grown = 0;
    const auto n_before = static_cast<double>(stacks_.n_before);
    const double n_after = static_cast<double>(sums_.n_runs) - n_before;
    for_each_input_value(values_, row, [&](std::uint32_t input, double value) {
      const std::uint32_t run = stacks_.run[input];
      sums_.values[first + run] += value;
      grown += run < stacks_.n_before ? -value * scale_ / n_before : value / n_after;
    });
    if (grown > most_[subject]) {
      most_[subject] = grown;
      sums_.most_grown[subject] = composition_.contexts[row];
    }
    if (counts_ == nullptr) return;
    for_each_input_value(composition_.of[counts_->of].values, row, [&](std::uint32_t input, double value) {
      sums_.samples[first + stacks_.run[input]] += value * counts_->factor[input];
    });
  }

 private:
  const GateStacks& stacks_;
  const Composition& composition_;
  const InputValues& values_;
  double scale_;
  const SampleCounts* counts_;
  SubjectSums& sums_;
  std::vector<double> most_;
};

// Subjects of `each` that no run has a value of.
void drop_empty(SubjectSums& sums) {
  std::vector<std::size_t> kept;
  for (std::size_t s = 0; s < sums.size(); ++s)
    for (std::size_t r = 0; r < sums.n_runs; ++r)
      if (sums.values[s * sums.n_runs + r] != 0) {
        kept.push_back(s);
        break;
      }
  keep_subjects(sums, kept);
}

void keep_rows(std::vector<double>& columns, std::size_t width, const std::vector<std::size_t>& kept) {
  if (columns.empty()) return;
  for (std::size_t i = 0; i < kept.size(); ++i)
    std::copy_n(columns.begin() + static_cast<std::ptrdiff_t>(kept[i] * width), width,
                columns.begin() + static_cast<std::ptrdiff_t>(i * width));
  columns.resize(kept.size() * width);
}

// Which subjects a stack counts for, each once however often it matches.
class StackSubjects {
 public:
  StackSubjects(const GateStacks& stacks, const SubjectRequest& request, const Matches& matches,
                std::size_t n_subjects)
      : boxes_(stacks),
        matches_(matches),
        self_(request.self),
        each_(request.each),
        added_in_(n_subjects, kNone) {}

  // `number`: of the stack, another one each time.
  template <class Visit>
  void for_each(std::uint32_t context, std::uint32_t number, Visit visit) {
    const std::uint32_t box = boxes_.box_of(context);
    std::uint32_t match = matches_.nearest[box];
    if (self_ && match != box) return;
    for (; match != kNone; match = matches_.nearest[boxes_.above(match)]) {
      const std::uint32_t subject = matches_.subject[match];
      if (std::exchange(added_in_[subject], number) != number) visit(subject);
      if (!each_ || self_) return;
    }
  }

 private:
  GateBoxes boxes_;
  const Matches& matches_;
  bool self_, each_;
  std::vector<std::uint32_t> added_in_;
};

// Of one input; empty where its samples have no times.
Result<std::vector<double>> windows_of_input(const GateStacks& stacks, const SubjectRequest& request,
                                             const Matches& matches, std::size_t input,
                                             std::size_t n_subjects, StopToken& stop) {
  const Composition& composition = composition_of(stacks);
  std::vector<std::uint8_t> passes(stacks.selection->profile->tree().size(), 0);
  for (const std::uint32_t row : stacks.rows) passes[composition.contexts[row]] = 1;
  std::vector<double> windows(n_subjects * kWindows, 0);
  StackSubjects subjects(stacks, request, matches, n_subjects);
  PROFD_TRY(
      const bool timed,
      for_each_in_windows(composition.inputs[input], composition.of[request.counts->of].metric_of[input],
                          request.counts->factor[input], stop, [&](const WindowedSample& sample) {
                            if (passes[sample.context] == 0) return;
                            subjects.for_each(sample.context, sample.number, [&](std::uint32_t subject) {
                              windows[subject * kWindows + sample.window] += sample.count;
                            });
                          }));
  if (!timed) windows.clear();
  return windows;
}

}  // namespace

Result<GateStacks> gate_stacks(SelectionPtr selection, StopToken stop) {
  const Composition* const composition = selection->profile->composition();
  if (composition == nullptr || composition->kind != Composed::diff)
    return fail(ErrorCode::invalid, "a gate judges a comparison of two sides");
  for (const Filter& filter : selection->rows->filters)
    if (filters_samples(filter))
      return fail(ErrorCode::invalid, fmt::format("a gate cannot judge by `{}`", to_text(filter)));
  GateStacks stacks;
  const bool all = selection->rows->filters.empty();
  std::vector<std::uint8_t> passes;
  if (!all) {
    passes.assign(selection->profile->tree().size(), 0);
    for (const std::uint32_t context : selection->rows->self.contexts) passes[context] = 1;
  }
  for (std::uint32_t row = 0; row < composition->contexts.size(); ++row)
    if (all || passes[composition->contexts[row]] != 0) stacks.rows.push_back(row);
  const KeyTable& keys = *selection->boxes->keys;
  for (Key key = 0; key < keys.n_keys(); ++key) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    stacks.names.push_back(key_name(*selection->profile, keys, key));
  }
  stacks.n_before = composition->n_before();
  std::uint32_t n_before = 0, n_after = static_cast<std::uint32_t>(stacks.n_before);
  for (const ComposedInput& input : composition->inputs)
    stacks.run.push_back(input.before ? n_before++ : n_after++);
  stacks.selection = std::move(selection);
  return stacks;
}

Result<std::vector<std::uint8_t>> keys_of_pattern(const GateStacks& stacks, const NamePattern& pattern) {
  std::vector<std::uint8_t> found(stacks.names.size(), 0);
  if (pattern.kind == NamePattern::Kind::regex) {
    PROFD_TRY(const Pattern regex, Pattern::compile(pattern.text, true));
    for (Key key = 0; key < found.size(); ++key) found[key] = regex.matches(stacks.names[key]) ? 1 : 0;
    return found;
  }
  const Profile& profile = *stacks.selection->profile;
  const KeyTable& keys = *stacks.selection->boxes->keys;
  // Names have asterisks too: `main.(*Tree).walk`, `copy(char*)`.
  std::vector<Key> named = find_keys(profile, keys, pattern.text);
  if (named.empty() && pattern.kind == NamePattern::Kind::glob) {
    for (Key key = 0; key < found.size(); ++key)
      found[key] = matches_glob(stacks.names[key], pattern.text) ? 1 : 0;
    return found;
  }
  if (named.empty()) {
    auto one = resolve_key(profile, keys, pattern.text);
    if (one) {
      named.push_back(*one);
    } else if (one.error().code != ErrorCode::not_found) {
      return tl::unexpected<Error>(std::move(one).error());
    }
  }
  for (const Key key : named) found[key] = 1;
  return found;
}

std::vector<std::uint8_t> keys_of_one_side(const GateStacks& stacks, std::uint32_t of, bool after) {
  const GateBoxes boxes(stacks);
  constexpr std::uint8_t kBefore = 1, kAfter = 2;
  const Composition& composition = composition_of(stacks);
  std::vector<std::uint8_t> sides(boxes.size(), 0), of_key(stacks.names.size(), 0);
  for (const std::uint32_t row : stacks.rows)
    for_each_input_value(composition.of[of].values, row, [&](std::uint32_t input, double value) {
      if (value != 0)
        sides[composition.contexts[row]] |= stacks.run[input] < stacks.n_before ? kBefore : kAfter;
    });
  const ContextTree& tree = stacks.selection->profile->tree();
  for (std::uint32_t c = boxes.size(); c-- > 1;) {
    sides[tree.parent[c]] |= sides[c];
    if (const std::uint32_t box = boxes.box_of(c); box != 0) of_key[boxes.key(box)] |= sides[c];
  }
  for (std::uint8_t& key : of_key) key = key == (after ? kAfter : kBefore) ? 1 : 0;
  return of_key;
}

void keep_subjects(SubjectSums& sums, const std::vector<std::size_t>& kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (i == kept[i]) continue;
    sums.keys[i] = std::move(sums.keys[kept[i]]);
    sums.most_grown[i] = sums.most_grown[kept[i]];
  }
  sums.keys.resize(kept.size());
  sums.most_grown.resize(kept.size());
  keep_rows(sums.values, sums.n_runs, kept);
  keep_rows(sums.samples, sums.n_runs, kept);
  keep_rows(sums.windows_before, kWindows, kept);
  keep_rows(sums.windows_after, kWindows, kept);
}

Result<SubjectSums> sum_subjects(const GateStacks& stacks, const SubjectRequest& request, StopToken stop) {
  SubjectSums sums;
  sums.n_runs = stacks.run.size();
  PROFD_TRY(const Matches matches, find_matches(stacks, request, sums, stop));
  const Composition& composition = composition_of(stacks);
  Summing summing(stacks, request, sums);
  StackSubjects subjects(stacks, request, matches, sums.size());
  for (const std::uint32_t row : stacks.rows) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    subjects.for_each(composition.contexts[row], row,
                      [&](std::uint32_t subject) { summing.add(row, subject); });
  }
  if (request.windows && sums.n_runs == 2 && request.counts != nullptr &&
      sums.size() <= kMaxSubjectValues / kWindows)
    for (std::size_t input = 0; input < 2; ++input) {
      PROFD_TRY((stacks.run[input] == 0 ? sums.windows_before : sums.windows_after),
                windows_of_input(stacks, request, matches, input, sums.size(), stop));
    }
  if (request.each) drop_empty(sums);
  return sums;
}

std::vector<double> run_totals(const GateStacks& stacks, std::uint32_t of) {
  std::vector<double> totals(stacks.run.size(), 0);
  for (const std::uint32_t row : stacks.rows)
    for_each_input_value(composition_of(stacks).of[of].values, row,
                         [&](std::uint32_t input, double value) { totals[stacks.run[input]] += value; });
  return totals;
}

}  // namespace profd

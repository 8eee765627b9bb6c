#include "core/view/record_pairs.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/support/sums.h"
#include "core/view/passing.h"
#include "core/view/sample_parts.h"

namespace profd {
namespace {

// By row of the sample table, 1: it passes the filters of the selection.
Result<std::vector<std::uint8_t>> samples_in(const Selection& selection, StopToken& stop) {
  const Column<std::uint32_t>& contexts = selection.profile->samples()->context;
  std::vector<std::string> told;  // by the selection already
  PROFD_TRY(const SampleParts parts,
            SampleParts::of(*selection.profile, selection.rows->filters, told, stop));
  PROFD_TRY(const std::vector<std::uint8_t> stacks, stacks_that_pass(selection, stop));
  std::vector<std::uint8_t> passes(contexts.size());
  for (std::size_t row = 0; row < passes.size(); ++row)
    passes[row] = parts.passes(row) && (stacks.empty() || stacks[contexts[row]] != 0) ? 1 : 0;
  return passes;
}

std::uint64_t joined(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{a} << 32 | b;
}

// From the root down, without it.
void path_to(const ContextTree& tree, std::uint32_t context, std::vector<std::uint32_t>& out) {
  out.clear();
  for (std::uint32_t c = context; c != kNone && c != 0; c = tree.parent[c]) out.push_back(tree.frame[c]);
  std::reverse(out.begin(), out.end());
}

template <class T>
class Adding {
 public:
  Adding(const Selection& selection, std::size_t left, std::size_t right, const Column<T>& values)
      : selection_(selection),
        records_(*records_of_samples(*selection.profile).table),
        left_(records_.contexts[left]),
        right_(records_.contexts[right]),
        left_threads_(records_.threads.empty() ? nullptr : &records_.threads[left]),
        right_threads_(records_.threads.empty() ? nullptr : &records_.threads[right]),
        values_(values),
        saturated_(selection.profile->metrics()[selection.metric().v].saturated) {
    out_.function_keys =
        selection.boxes->keys->granularity == Granularity::function
            ? selection.boxes->keys
            : std::make_shared<const KeyTable>(make_keys(*selection.profile, Granularity::function));
  }

  Result<RecordPairs> run(const std::vector<std::uint8_t>& passes, const Column<std::int64_t>* counts,
                          StopToken& stop) {
    T total{}, across{};
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      if (passes[i] == 0) continue;
      const std::uint64_t n = counts == nullptr ? 1 : static_cast<std::uint64_t>((*counts)[i]);
      const bool meets_nowhere = is_across(i);
      if (meets_nowhere) across = profd::add(across, finite(values_[i]), saturated_);
      add(left_[i], right_[i], meets_nowhere, finite(values_[i]), n);
      total = profd::add(total, finite(values_[i]), saturated_);
    }
    out_.total = total;
    out_.across = across;
    count_roles(passes, counts);
    finish();
    return std::move(out_);
  }

 private:
  struct Sum {
    T value{};
    std::uint64_t records = 0;
  };

  Key key_of(std::uint32_t context) const {
    return context == kNone ? kNone
                            : selection_.boxes->keys->of_frame[selection_.profile->tree().frame[context]];
  }

  // Whether two threads were at the contexts of a record.
  bool is_across(std::size_t row) {
    if (left_[row] == kNone || right_[row] == kNone) return false;
    const std::uint32_t left = left_threads_ == nullptr ? kNone : (*left_threads_)[row];
    const std::uint32_t right = right_threads_ == nullptr ? kNone : (*right_threads_)[row];
    if (left != kNone && right != kNone) return left != right;
    out_.threads_unknown = out_.threads_unknown || meet_of(left_[row], right_[row]) != kNone;
    return false;
  }

  // Records of two contexts meet in one function, whatever else they have.
  Key meet_of(std::uint32_t left, std::uint32_t right) {
    if (left == kNone || right == kNone) return kNone;
    const auto [at, added] = meet_of_contexts_.try_emplace(joined(left, right), kNone);
    if (!added) return at->second;
    const ContextTree& tree = selection_.profile->tree();
    path_to(tree, left, left_path_);
    path_to(tree, right, right_path_);
    const std::size_t n = std::min(left_path_.size(), right_path_.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Key key = out_.function_keys->of_frame[left_path_[i]];
      if (key != out_.function_keys->of_frame[right_path_[i]]) break;
      at->second = key;
    }
    return at->second;
  }

  void add(std::uint32_t left, std::uint32_t right, bool meets_nowhere, T value, std::uint64_t n) {
    const Key meet = meets_nowhere ? kNone : meet_of(left, right);
    const auto [pair, added] = pair_of_keys_.try_emplace(joined(key_of(left), key_of(right)),
                                                         static_cast<std::uint32_t>(pairs_.size()));
    if (added) pairs_.push_back({key_of(left), key_of(right), {}, {}});
    more(pairs_[pair->second].sum, value, n);
    more(pairs_[pair->second].meets[meet], value, n);
    more(meets_[meet], value, n);
  }

  void more(Sum& sum, T value, std::uint64_t n) {
    sum.value = profd::add(sum.value, value, saturated_);
    sum.records += n;
  }

  void count_roles(const std::vector<std::uint8_t>& passes, const Column<std::int64_t>* counts) {
    std::vector<std::uint8_t> seen;
    for (const Column<std::uint32_t>& contexts : records_.contexts) {
      seen.assign(selection_.profile->tree().size(), 0);
      std::uint64_t records = 0, different = 0;
      for (std::size_t i = 0; i < passes.size(); ++i) {
        if (passes[i] == 0 || contexts[i] == kNone) continue;
        records += counts == nullptr ? 1 : static_cast<std::uint64_t>((*counts)[i]);
        different += seen[contexts[i]] == 0 ? 1 : 0;
        seen[contexts[i]] = 1;
      }
      out_.records.push_back(records);
      out_.contexts.push_back(different);
    }
  }

  // Most first; what is as much by its keys, so that the order is the same every time.
  void finish() {
    const auto more_than = [](const auto& a, const auto& b) {
      return magnitude(a.value) > magnitude(b.value);
    };
    for (Pair& pair : pairs_) {
      RecordPair& to = out_.pairs.emplace_back();
      to = {pair.left, pair.right, pair.sum.value, pair.sum.records, kNone};
      const auto most =
          std::min_element(pair.meets.begin(), pair.meets.end(), [&](const auto& a, const auto& b) {
            if (magnitude(a.second.value) != magnitude(b.second.value)) return more_than(a.second, b.second);
            return a.first < b.first;
          });
      to.meet = most->first;
    }
    for (const auto& [key, sum] : meets_) out_.meets.push_back({key, sum.value, sum.records});
    const auto by_value = [](const auto& a, const auto& b) {
      return magnitude(std::get<T>(a.value)) > magnitude(std::get<T>(b.value));
    };
    std::sort(out_.pairs.begin(), out_.pairs.end(), [&](const RecordPair& a, const RecordPair& b) {
      if (by_value(a, b) || by_value(b, a)) return by_value(a, b);
      return std::pair(a.left, a.right) < std::pair(b.left, b.right);
    });
    std::sort(out_.meets.begin(), out_.meets.end(), [&](const RecordMeet& a, const RecordMeet& b) {
      if (by_value(a, b) || by_value(b, a)) return by_value(a, b);
      return a.function < b.function;
    });
  }

  struct Pair {
    Key left, right;
    Sum sum;
    std::unordered_map<Key, Sum> meets;
  };

  const Selection& selection_;
  const AssociationTable& records_;
  const Column<std::uint32_t>&left_, &right_;
  const Column<std::uint32_t>*left_threads_, *right_threads_;
  const Column<T>& values_;
  bool saturated_;
  std::unordered_map<std::uint64_t, Key> meet_of_contexts_;
  std::unordered_map<std::uint64_t, std::uint32_t> pair_of_keys_;
  std::vector<Pair> pairs_;
  std::unordered_map<Key, Sum> meets_;
  std::vector<std::uint32_t> left_path_, right_path_;
  RecordPairs out_;
};

}  // namespace

Result<RecordPairs> record_pairs(const Selection& selection, std::size_t left, std::size_t right,
                                 StopToken stop) {
  const Profile& profile = *selection.profile;
  const SampleTable* const samples = profile.samples();
  assert(samples != nullptr && records_of_samples(profile).table != nullptr);
  PROFD_TRY(const std::vector<std::uint8_t> passes, samples_in(selection, stop));
  const Column<std::int64_t>* counts = nullptr;
  if (const auto metric = profile.find_metric(kRecordsMetric))
    counts = std::get_if<Column<std::int64_t>>(&samples->values[metric->v]);
  return std::visit(
      [&](const auto& values) -> Result<RecordPairs> {
        return Adding(selection, left, right, values).run(passes, counts, stop);
      },
      samples->values[selection.metric().v]);
}

}  // namespace profd

#include "server/feature/sample_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/support/checked.h"
#include "core/view/beside_samples.h"
#include "core/view/spec.h"

namespace profd {
namespace {

constexpr std::size_t kRowsBetweenLooks = 1 << 16;

// Sums end at the ends of int64, as those of views do.
Value sum_of(const Value& a, const Value& b) {
  const auto* x = std::get_if<std::int64_t>(&a);
  const auto* y = std::get_if<std::int64_t>(&b);
  if (x == nullptr || y == nullptr) return as_double(a) + as_double(b);
  std::int64_t sum = *x;
  add_saturating(sum, *y);
  return sum;
}

// The self values of samples, added up by a number that each of them has; kNone: none.
template <class NumberOf>
Result<std::vector<Value>> totals_by(const SampleTable& samples, MetricId metric, std::size_t numbers,
                                     const NumberOf& number_of, StopToken stop) {
  return std::visit(
      [&](const auto& column) -> Result<std::vector<Value>> {
        using Number = std::decay_t<decltype(column[0])>;
        std::vector<Value> totals(numbers, Value(Number{}));
        for (std::size_t i = 0; i < samples.size(); ++i) {
          if (i % kRowsBetweenLooks == 0 && stop.check()) return fail(ErrorCode::cancelled, "cancelled");
          const std::uint32_t number = number_of(i);
          if (number < numbers) totals[number] = sum_of(totals[number], Value(Number(column[i])));
        }
        return totals;
      },
      samples.values[metric.v]);
}

Value rest_of(const Value& whole, const Value& part) {
  const auto* x = std::get_if<std::int64_t>(&whole);
  const auto* y = std::get_if<std::int64_t>(&part);
  std::int64_t rest = 0;
  if (x != nullptr && y != nullptr && !__builtin_sub_overflow(*x, *y, &rest)) return rest;
  return as_double(whole) - as_double(part);
}

// Values by name, and what they hold together, where a sample that has several counts once.
struct Named {
  std::map<std::string, Value> values;
  Value together = std::int64_t{0};
  void add(std::string name, const Value& value) {
    const auto [at, fresh] = values.emplace(std::move(name), value);
    if (!fresh) at->second = sum_of(at->second, value);
  }
};

// The heaviest rows, and what comes after them.
SampleGroup group_of(const Whole& whole, std::string key, const Named& named, Filter filter,
                     std::size_t limit) {
  SampleGroup out;
  out.key = std::move(key);
  std::vector<std::pair<std::string, Value>> rows(named.values.begin(), named.values.end());
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::fabs(as_double(a.second)) > std::fabs(as_double(b.second));
  });
  Value left = std::int64_t{0};
  for (std::size_t i = limit; i < rows.size(); ++i) left = sum_of(left, rows[i].second);
  if (rows.size() > limit) out.left = remainder_of(whole, rows.size() - limit, left, limit);
  rows.resize(std::min(rows.size(), limit));
  for (auto& [name, value] : rows) {
    filter.pattern = name;
    out.rows.push_back({name, to_text(filter), amount_of(whole, value)});
  }
  out.without = amount_of(whole, rest_of(whole.total, named.together));
  return out;
}

Result<std::optional<SampleGroup>> threads_of(const Profile& profile, MetricId metric, const Whole& whole,
                                              std::size_t limit, const StopToken& stop) {
  const SampleTable& samples = *profile.samples();
  if (samples.thread.empty()) return std::optional<SampleGroup>();
  const ThreadTable& threads = profile.threads();
  PROFD_TRY(const auto totals,
            totals_by(
                samples, metric, threads.size(), [&](std::size_t i) { return samples.thread[i]; }, stop));
  // As the filter has it: threads of one name are kept together, those without one by number.
  Named named;
  const std::vector<std::uint8_t> beside = threads_beside_samples(profile);
  for (std::size_t t = 0; t < threads.size(); ++t) {
    if (!beside.empty() && beside[t] != 0) continue;
    std::string name(profile.strings()[threads.name[t]]);
    if (name.empty() && threads.tid[t] >= 0) name = std::to_string(threads.tid[t]);
    if (name.empty()) continue;
    named.add(std::move(name), totals[t]);
    named.together = sum_of(named.together, totals[t]);
  }
  Filter chosen;
  chosen.op = FilterOp::keep;
  chosen.by = FilterBy::thread;
  return std::optional(group_of(whole, "", named, chosen, limit));
}

Result<void> add_labels(const Profile& profile, MetricId metric, const Whole& whole, std::size_t limit,
                        StopToken stop, SampleGroups& out) {
  const SampleTable& samples = *profile.samples();
  if (samples.label_set.empty()) return {};
  const LabelTable& labels = profile.labels();
  PROFD_TRY(const auto totals,
            totals_by(
                samples, metric, labels.n_sets(), [&](std::size_t i) { return samples.label_set[i]; }, stop));
  std::map<std::string, Named> by_key;
  std::vector<std::pair<std::string, std::string>> of_set;
  const std::vector<std::uint8_t> beside = label_sets_beside_samples(profile);
  for (std::size_t set = 0; set < labels.n_sets(); ++set) {
    if (!beside.empty() && beside[set] != 0) continue;
    if (set % kRowsBetweenLooks == 0 && stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    of_set.clear();
    for (std::size_t entry = labels.first[set]; entry < labels.first[set + 1]; ++entry)
      of_set.emplace_back(profile.strings()[labels.key[entry]],
                          labels.is_number[entry] != 0 ? std::to_string(labels.number[entry])
                                                       : std::string(profile.strings()[labels.text[entry]]));
    // A set that has a value twice is counted once.
    std::sort(of_set.begin(), of_set.end());
    of_set.erase(std::unique(of_set.begin(), of_set.end()), of_set.end());
    const std::string* last = nullptr;
    for (auto& [key, value] : of_set) {
      Named& named = by_key[key];
      named.add(std::move(value), totals[set]);
      if (last == nullptr || *last != key) named.together = sum_of(named.together, totals[set]);
      last = &key;
    }
  }
  for (const auto& [key, named] : by_key) {
    if (out.labels.size() == kMaxLabelKeys) {
      out.keys_left = by_key.size() - kMaxLabelKeys;
      break;
    }
    Filter chosen;
    chosen.op = FilterOp::keep;
    chosen.by = FilterBy::label;
    chosen.key = key;
    out.labels.push_back(group_of(whole, key, named, chosen, limit));
  }
  return {};
}

}  // namespace

Result<SampleGroups> sample_groups(const Profile& profile, MetricId metric, std::size_t limit,
                                   const StopToken& stop) {
  const Whole whole{profile.total(metric), profile.metrics()[metric.v].unit};
  SampleGroups out;
  out.total = amount_of(whole, whole.total);
  if (profile.samples() == nullptr) return out;
  PROFD_TRY(out.threads, threads_of(profile, metric, whole, limit, stop));
  PROFD_CHECK(add_labels(profile, metric, whole, limit, stop, out));
  return out;
}

}  // namespace profd

#include "core/model/compose.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/two_sides.h"

namespace profd {
namespace {

constexpr std::array kDiffRoles{MetricRole::after, MetricRole::before, MetricRole::change, MetricRole::larger,
                                MetricRole::difference};

__extension__ using WideSum = __int128;

// By row, what the inputs that `takes` says have there.
template <class T>
BigVector<T> sums_over(const InputValues& values, const GrowingVector<T>& value,
                       const std::vector<std::uint8_t>& takes, bool& fits) {
  BigVector<T> out(values.first.size() - 1);
  for (std::size_t row = 0; row < out.size(); ++row) {
    std::conditional_t<std::is_same_v<T, std::int64_t>, WideSum, T> sum{};
    for (std::uint32_t i = values.first[row]; i < values.first[row + 1]; ++i)
      if (takes[values.input[i]] != 0) sum += value[i];
    if constexpr (std::is_same_v<T, std::int64_t>) {
      using Limits = std::numeric_limits<std::int64_t>;
      out[row] = static_cast<T>(std::clamp<WideSum>(sum, Limits::min(), Limits::max()));
      fits = fits && out[row] == sum;
    } else {
      out[row] = sum;
    }
  }
  return out;
}

BigVector<double> multiplied(const BigVector<double>& values, double factor) {
  BigVector<double> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = values[i] * factor;
  return out;
}
BigVector<double> multiplied(const BigVector<std::int64_t>& values, double factor) {
  BigVector<double> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(values[i]) * factor;
  return out;
}

// By function, what it has itself on either side.
std::vector<Composing::Sides> selfs_by_function(const InputMetric& metric, const MergedRows& merged,
                                                const Composition& composition) {
  std::vector<Composing::Sides> out;
  const double n_before = static_cast<double>(composition.n_before());
  const double n_after = static_cast<double>(composition.inputs.size()) - n_before;
  std::visit(
      [&](const auto& value) {
        for (std::size_t row = 0; row < merged.contexts.size(); ++row) {
          const std::uint32_t context = merged.contexts[row];
          if (context == 0) continue;
          const std::uint32_t function = merged.builder.function_of(FrameId{merged.tree.frame[context]}).v;
          if (out.size() <= function) out.resize(function + std::size_t{1});
          for (std::uint32_t i = metric.values.first[row]; i < metric.values.first[row + 1]; ++i) {
            const bool before = composition.inputs[metric.values.input[i]].before;
            (before ? out[function].before : out[function].after) +=
                static_cast<double>(value[i]) / (before ? n_before : n_after);
          }
        }
      },
      metric.values.value);
  return out;
}

// Without rows that are 0 in every metric, where values cancel out.
SelfTable self_table_of(const Column<std::uint32_t>& contexts, std::vector<ValueColumn> columns) {
  std::vector<std::uint8_t> any(contexts.size(), 0);
  for (const ValueColumn& column : columns)
    std::visit(
        [&](const auto& values) {
          for (std::size_t row = 0; row < any.size(); ++row) any[row] |= values[row] != 0 ? 1 : 0;
        },
        column);
  std::vector<std::uint32_t> kept;
  for (std::uint32_t row = 0; row < contexts.size(); ++row)
    if (any[row] != 0) kept.push_back(row);
  if (kept.size() == contexts.size()) return {contexts, std::move(columns)};
  const auto picked = [&](const auto& column) {
    std::vector<std::remove_cvref_t<decltype(column[0])>> out;
    for (const std::uint32_t row : kept) out.push_back(column[row]);
    return Column(std::move(out));
  };
  SelfTable out;
  out.contexts = picked(contexts);
  for (const ValueColumn& column : columns)
    out.values.push_back(std::visit([&](const auto& values) { return ValueColumn(picked(values)); }, column));
  return out;
}

// What is made of a metric of the inputs, its columns in the order of its metrics.
struct Made {
  std::vector<ValueColumn> columns;
  bool fits = true;
};

template <class T>
Made made_of_sides(BigVector<T> before, BigVector<T> after, bool fits) {
  const std::size_t n = before.size();
  BigVector<T> change(n), larger(n), difference(n);
  for (std::size_t row = 0; row < n; ++row) {
    change[row] = change_between(before[row], after[row], fits);
    larger[row] = larger_of(before[row], after[row]);
    difference[row] = magnitude(change[row]);
  }
  const std::array<BigVector<T>*, kDiffRoles.size()> of_role{&after, &before, &change, &larger, &difference};
  Made out{{}, fits};
  for (BigVector<T>* const column : of_role) out.columns.emplace_back(Column<T>(std::move(*column)));
  return out;
}

Made made_of(const InputMetric& metric, const Composition& composition) {
  const std::size_t n_before = composition.n_before(), n_after = composition.inputs.size() - n_before;
  std::vector<std::uint8_t> is_before, is_after;
  for (const ComposedInput& input : composition.inputs) {
    is_before.push_back(input.before ? 1 : 0);
    is_after.push_back(input.before ? 0 : 1);
  }
  bool fits = !metric.values.saturated;
  return std::visit(
      [&](const auto& value) {
        auto after = sums_over(metric.values, value, is_after, fits);
        if (composition.kind != Composed::diff) {
          Made sum{{}, fits};
          sum.columns.emplace_back(Column(std::move(after)));
          return sum;
        }
        auto before = sums_over(metric.values, value, is_before, fits);
        if (n_before == 1 && n_after == 1 && metric.scale == 1)
          return made_of_sides(std::move(before), std::move(after), fits);
        return made_of_sides(multiplied(before, metric.scale / static_cast<double>(n_before)),
                             multiplied(after, 1 / static_cast<double>(n_after)), fits);
      },
      metric.values.value);
}

// The metrics of the profile that is made, with their values.
struct Columns {
  std::vector<ValueColumn> values;
  std::vector<std::uint8_t> clamped;

  void add(Made made, std::uint32_t of, ProfileBuilder& builder, Composition& composition) {
    const InputMetric& metric = composition.of[of];
    const bool diff = composition.kind == Composed::diff;
    const auto first = static_cast<std::uint32_t>(composition.metrics.size());
    for (std::size_t i = 0; i < made.columns.size(); ++i) {
      const MetricRole role = diff ? kDiffRoles[i] : MetricRole::sum;
      builder.add_metric(diff ? metric_name(metric.name, role) : metric.name, metric.unit,
                         std::holds_alternative<Column<double>>(made.columns[i]));
      values.push_back(std::move(made.columns[i]));
      clamped.push_back(made.fits ? 0 : 1);
      composition.metrics.push_back(
          {role, of, diff ? MetricId{first + 1} : MetricId(), diff ? MetricId{first} : MetricId()});
    }
  }
};

std::string text_of(const std::vector<std::pair<std::string, std::string>>& metrics) {
  std::vector<std::string> texts;
  for (const auto& [name, unit] : metrics) texts.push_back(fmt::format("{} ({})", name, unit));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// What all say; "" where they differ.
template <class Of>
std::string common(const std::vector<ProfileInfo>& infos, Of of) {
  const std::string& first = of(infos[0]);
  return std::all_of(infos.begin(), infos.end(), [&](const ProfileInfo& info) { return of(info) == first; })
             ? first
             : std::string();
}

}  // namespace

std::vector<std::string> Composing::names_of(const Profile& profile, const ComposeInput& how) const {
  std::set<std::string> taken;
  if (kind_ == Composed::join)
    for (const auto& metrics : metrics_of_)
      for (const auto& [name, unit] : metrics) taken.insert(name);
  std::vector<std::string> names;
  for (const MetricInfo& metric : profile.metrics()) {
    const auto renamed = how.rename.find(metric.name);
    std::string name = renamed == how.rename.end() ? metric.name : renamed->second;
    // Two tools' "cpu" are two metrics of a join.
    if (taken.count(name) != 0) name = fmt::format("{} ({})", name, how.name);
    for (int n = 2; taken.count(name) != 0; ++n) name = fmt::format("{} ({} {})", metric.name, how.name, n);
    names.push_back(std::move(name));
  }
  return names;
}

Result<void> Composing::add(const ProfilePtr& profile, ComposeInput how, StopToken stop) {
  for (const auto& [from, to] : how.rename)
    if (!profile->find_metric(from))
      return fail(ErrorCode::invalid, fmt::format("{} has no metric {}", how.name, from));
  const std::vector<std::string> names = names_of(*profile, how);
  auto& metrics = metrics_of_.emplace_back();
  for (std::size_t m = 0; m < names.size(); ++m) metrics.emplace_back(names[m], profile->metrics()[m].unit);
  default_metric_.push_back(names.empty() ? std::string() : names[profile->default_metric().v]);
  infos_.push_back(profile->info());
  n_samples_ += profile->n_samples();
  estimated_ = estimated_ || profile->contexts_estimated();
  ComposedInput& input = inputs_.emplace_back();
  input.name = std::move(how.name);
  input.before = how.before;
  input.time_ns = profile->info().time_ns;
  input.written_ns = how.written_ns;
  if (how.keep) input.profile = profile;
  return merging_.add(*profile, names, how.keep, std::move(stop));
}

Result<ProfilePtr> Composing::finish(Executor& executor, StopToken stop) && {
  auto composition = std::make_shared<Composition>();
  composition->kind = kind_;
  composition->inputs = std::move(inputs_);
  composition->estimated = estimated_;
  composition->scale_text = std::move(scale_text_);
  const std::size_t n_before = composition->n_before();
  if (kind_ == Composed::diff && (n_before == 0 || n_before == composition->inputs.size()))
    return fail(ErrorCode::invalid, "a comparison needs a profile before and one after");
  PROFD_TRY(MergedRows merged, std::move(merging_).finish(executor, stop));
  for (InputMetric& metric : merged.metrics) {
    const auto& measured = metric.values.measured;
    const bool of_all =
        std::all_of(measured.begin(), measured.end(), [](std::uint8_t has) { return has != 0; });
    if (kind_ != Composed::join && !of_all) {
      composition->left_out.push_back(fmt::format("{} in {}", metric.name, metric.unit));
      continue;
    }
    const auto factor = factors_.find(metric.name);
    if (factor != factors_.end()) metric.scale = factor->second;
    if (scale_of_) {
      PROFD_TRY(metric.scale, scale_of_(metric.name, selfs_by_function(metric, merged, *composition)));
    }
    composition->of.push_back(std::move(metric));
  }
  std::vector<Made> made(composition->of.size());
  executor.run(made.size(), [&](std::size_t of) {
    if (!stop.stop_requested()) made[of] = made_of(composition->of[of], *composition);
  });
  PROFD_CHECK(stop.status());
  Columns columns;
  for (std::uint32_t of = 0; of < made.size(); ++of)
    columns.add(std::move(made[of]), of, merged.builder, *composition);
  if (columns.values.empty()) {
    std::size_t other = 1;
    while (other + 1 < metrics_of_.size() && metrics_of_[other] == metrics_of_[0]) ++other;
    return fail(ErrorCode::invalid,
                fmt::format("the profiles have no metric in common: {} has {}; {} has {}",
                            composition->inputs[0].name, text_of(metrics_of_[0]),
                            composition->inputs[other].name, text_of(metrics_of_[other])));
  }
  for (std::uint32_t m = 0; m < composition->metrics.size(); ++m) {
    const ComposedMetric& metric = composition->metrics[m];
    const bool first = metric.role == MetricRole::larger || metric.role == MetricRole::sum;
    if (first && composition->of[metric.of].name == default_metric_[0])
      merged.builder.set_default_metric(MetricId{m});
  }
  ProfileInfo& info = merged.builder.info();
  info.program = common(infos_, [](const ProfileInfo& i) -> const std::string& { return i.program; });
  info.producer = common(infos_, [](const ProfileInfo& i) -> const std::string& { return i.producer; });
  info.format = common(infos_, [](const ProfileInfo& i) -> const std::string& { return i.format; });
  merged.builder.set_n_samples(n_samples_);
  merged.builder.set_contexts(std::move(merged.tree),
                              self_table_of(merged.contexts, std::move(columns.values)),
                              std::move(columns.clamped));
  composition->contexts = std::move(merged.contexts);
  composition->frames_of = std::move(merged.frames_of);
  for (std::size_t i = 0; i < composition->inputs.size(); ++i)
    composition->inputs[i].context_of = std::move(merged.context_of[i]);
  composition->n_left = merged.n_left;
  merged.builder.set_composition(std::move(composition));
  return std::move(merged.builder).finish(executor, std::move(stop));
}

}  // namespace profd

#include "core/model/role_profile.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/near_miss.h"
#include "core/support/sums.h"

namespace profd {
namespace {

constexpr std::string_view kNoRole = "(none)";

template <class T>
Column<T> appended(const Column<T>& column, T value) {
  std::vector<T> out(column.begin(), column.end());
  out.push_back(value);
  return Column<T>(std::move(out));
}

StringId add_text(StringTable& strings, std::string_view text) {
  std::vector<std::uint64_t> offsets(strings.offsets().begin(), strings.offsets().end());
  std::vector<char> bytes(strings.bytes().begin(), strings.bytes().end());
  bytes.insert(bytes.end(), text.begin(), text.end());
  offsets.push_back(bytes.size());
  strings = StringTable(Column(std::move(offsets)), Column(std::move(bytes)));
  return StringId(static_cast<std::uint32_t>(strings.size() - 1));
}

// A function without a caller that is called so. It has the largest frame and context, so that the tree keeps
// its order.
std::uint32_t add_context(ProfileData& data, std::string_view name) {
  const StringId text = add_text(data.strings, name);
  FunctionTable& functions = data.functions;
  const FunctionId function(static_cast<std::uint32_t>(functions.size()));
  functions.name = appended(functions.name, text);
  functions.system_name = appended(functions.system_name, StringId(0u));
  functions.file = appended(functions.file, StringId(0u));
  functions.start_line = appended(functions.start_line, 0u);
  functions.start_column = appended(functions.start_column, 0u);
  functions.unresolved = appended(functions.unresolved, std::uint8_t{0});
  FrameTable& frames = data.frames;
  const auto frame = static_cast<std::uint32_t>(frames.size());
  frames.function = appended(frames.function, function);
  frames.module = appended(frames.module, ModuleId{});
  frames.file = appended(frames.file, StringId(0u));
  frames.line = appended(frames.line, 0u);
  frames.column = appended(frames.column, 0u);
  frames.address = appended(frames.address, std::uint64_t{0});
  frames.kind = appended(frames.kind, FrameKind{});
  frames.inlined = appended(frames.inlined, std::uint8_t{0});
  frames.is_return = appended(frames.is_return, std::uint8_t{0});
  frames.piece = appended(frames.piece, PieceId{});
  ContextTree& tree = data.tree;
  const auto context = static_cast<std::uint32_t>(tree.size());
  tree.parent = appended(tree.parent, 0u);
  tree.frame = appended(tree.frame, frame);
  std::vector<std::uint32_t> ends(tree.subtree_end.begin(), tree.subtree_end.end());
  ends.push_back(context + 1);
  ends.front() = context + 1;
  tree.subtree_end = Column(std::move(ends));
  return context;
}

struct Groups {
  std::vector<std::uint32_t> order;  // rows of the table
  std::vector<std::uint32_t> first;  // in `order`, one more than there are groups
};

// Rows with the same contexts and threads in all roles, in order of their context in `role`, those without it
// last.
Groups group_rows(const AssociationTable& table, std::size_t role) {
  Groups out;
  out.order.resize(table.size());
  std::iota(out.order.begin(), out.order.end(), 0u);
  std::vector<const Column<std::uint32_t>*> by{&table.contexts[role]};
  for (std::size_t r = 0; r < table.contexts.size(); ++r)
    if (r != role) by.push_back(&table.contexts[r]);
  for (const Column<std::uint32_t>& threads : table.threads) by.push_back(&threads);
  const auto compare = [&](std::uint32_t a, std::uint32_t b) {
    for (const Column<std::uint32_t>* column : by)
      if ((*column)[a] != (*column)[b]) return (*column)[a] < (*column)[b] ? -1 : 1;
    return 0;
  };
  static_assert(kNone == static_cast<std::uint32_t>(-1));
  std::sort(out.order.begin(), out.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int c = compare(a, b);
    return c != 0 ? c < 0 : a < b;
  });
  for (std::uint32_t i = 0; i < out.order.size(); ++i)
    if (i == 0 || compare(out.order[i - 1], out.order[i]) != 0) out.first.push_back(i);
  out.first.push_back(static_cast<std::uint32_t>(out.order.size()));
  return out;
}

template <class T>
struct Summed {
  std::vector<T> values;
  T total{};
  bool saturated = false;
};

template <class T>
Summed<T> sum_groups(const Column<T>& values, const Groups& groups) {
  Summed<T> out;
  T magnitudes{};
  for (const T value : values) {
    const T more = magnitude(finite(value));
    if constexpr (std::is_same_v<T, std::int64_t>)
      out.saturated = out.saturated || magnitudes > std::numeric_limits<T>::max() - more;
    magnitudes = add(magnitudes, more, true);
  }
  out.values.reserve(groups.first.size() - 1);
  for (std::size_t g = 0; g + 1 < groups.first.size(); ++g) {
    T sum{};
    for (std::uint32_t i = groups.first[g]; i < groups.first[g + 1]; ++i)
      sum = add(sum, finite(values[groups.order[i]]), out.saturated);
    out.values.push_back(sum);
    out.total = add(out.total, sum, out.saturated);
  }
  return out;
}

}  // namespace

Result<std::size_t> find_records(const Profile& profile, std::string_view table) {
  const std::vector<AssociationTable>& tables = profile.associations();
  if (tables.empty())
    return fail(
        ErrorCode::invalid,
        "the profile has no records of several contexts, such as allocation, use and reuse, or the two "
        "sides of a race");
  if (table.empty()) return 0;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    if (tables[i].name == table) return i;
    names.push_back(tables[i].name);
  }
  return fail(ErrorCode::not_found, fmt::format("the profile has no records \"{}\"{}; it has {}", table,
                                                did_you_mean(table, names), fmt::join(names, ", ")));
}

Result<std::size_t> find_role(const AssociationTable& table, std::string_view role) {
  const auto at = std::find(table.roles.begin(), table.roles.end(), role);
  if (at != table.roles.end()) return static_cast<std::size_t>(at - table.roles.begin());
  const std::vector<std::string_view> names(table.roles.begin(), table.roles.end());
  return fail(ErrorCode::not_found,
              fmt::format("records \"{}\" have no role \"{}\"{}; their roles are {}", table.name, role,
                          did_you_mean(role, names), fmt::join(names, ", ")));
}

Result<ProfilePtr> role_profile(const Profile& profile, std::size_t which, std::size_t role, StopToken stop) {
  const AssociationTable& table = profile.associations()[which];
  PROFD_CHECK(stop.status());
  const Groups groups = group_rows(table, role);
  PROFD_CHECK(stop.status());
  ProfileData data = profile.data();
  const std::size_t n = groups.first.size() - 1;

  std::uint32_t none = kNone;
  AssociationTable records{table.name, table.roles, {}, table.metrics, {}};
  const auto of_groups = [&](const Column<std::uint32_t>& column) {
    std::vector<std::uint32_t> out;
    out.reserve(n);
    for (std::size_t g = 0; g < n; ++g) out.push_back(column[groups.order[groups.first[g]]]);
    return out;
  };
  for (const Column<std::uint32_t>& threads : table.threads) records.threads.emplace_back(of_groups(threads));
  for (std::size_t r = 0; r < table.contexts.size(); ++r) {
    std::vector<std::uint32_t> contexts = of_groups(table.contexts[r]);
    if (r == role)
      for (std::uint32_t& context : contexts) {
        if (context != kNone) continue;
        if (none == kNone) none = add_context(data, kNoRole);
        context = none;
      }
    records.contexts.emplace_back(std::move(contexts));
  }

  data.metrics = table.metrics;
  data.totals.clear();
  SampleTable samples;
  samples.context = records.contexts[role];
  if (!records.threads.empty()) samples.thread = records.threads[role];
  for (std::size_t m = 0; m < table.metrics.size(); ++m) {
    PROFD_CHECK(stop.status());
    std::visit(
        [&](const auto& values) {
          auto summed = sum_groups(values, groups);
          data.metrics[m].saturated = summed.saturated;
          data.totals.emplace_back(summed.total);
          samples.values.emplace_back(Column(std::move(summed.values)));
        },
        table.values[m]);
  }
  std::vector<std::int64_t> counts;
  counts.reserve(n);
  for (std::size_t g = 0; g < n; ++g) counts.push_back(groups.first[g + 1] - groups.first[g]);
  records.metrics = data.metrics;
  records.values = samples.values;
  const bool named = std::any_of(table.metrics.begin(), table.metrics.end(),
                                 [](const MetricInfo& metric) { return metric.name == kRecordsMetric; });
  if (!named) {
    data.metrics.push_back({std::string(kRecordsMetric), "count", false});
    data.totals.emplace_back(static_cast<std::int64_t>(table.size()));
    samples.values.emplace_back(Column(std::move(counts)));
  }
  data.default_metric = MetricId(0u);
  data.n_samples = table.size();
  data.self = {samples.context, samples.values};
  data.samples = std::move(samples);
  data.associations = {std::move(records)};
  data.stated.reset();
  data.timeline.reset();
  data.info.name = fmt::format("{} of {}", table.roles[role], table.name);
  return std::make_shared<const Profile>(std::move(data));
}

RoleRecords records_of_samples(const Profile& profile) {
  const SampleTable* const samples = profile.samples();
  if (samples == nullptr || profile.associations().size() != 1) return {};
  const AssociationTable& table = profile.associations().front();
  for (std::size_t r = 0; r < table.contexts.size(); ++r)
    if (table.size() == samples->size() && table.contexts[r].data() == samples->context.data())
      return {&table, r};
  return {};
}

}  // namespace profd

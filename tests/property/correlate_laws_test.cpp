// The laws of records of several contexts: a role filtered by what other roles are has what a walk over the
// records finds, whatever the order of the filters.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/view/record_pairs.h"
#include "core/view/selection.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::size_t kRoles = 3;

// Any context in any role, some records without one, many of them equal.
ProfilePtr with_records(const ProfilePtr& profile, Rng& rng) {
  AssociationTable table;
  table.name = "reuse";
  table.roles = {"a", "b", "c"};
  table.metrics = {{"n", "count", false}};
  const std::size_t n = 1 + below(rng, 60);
  for (std::size_t r = 0; r < kRoles; ++r) {
    std::vector<std::uint32_t> contexts;
    for (std::size_t i = 0; i < n; ++i)
      contexts.push_back(chance(rng, 0.1) || profile->tree().size() < 2
                             ? kNone
                             : static_cast<std::uint32_t>(
                                   1 + below(rng, std::min<std::size_t>(8, profile->tree().size() - 1))));
    table.contexts.emplace_back(std::move(contexts));
  }
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(static_cast<std::int64_t>(below(rng, 100)));
  table.values.emplace_back(Column(std::move(values)));
  ProfileData data = profile->data();
  data.associations = {std::move(table)};
  return std::make_shared<const Profile>(std::move(data));
}

std::vector<std::string> path_of(const Profile& profile, std::uint32_t context) {
  std::vector<std::string> names;
  for (std::uint32_t c = context; c != 0; c = profile.tree().parent[c])
    names.emplace_back(profile.function_name(profile.frames().function[profile.tree().frame[c]]));
  std::reverse(names.begin(), names.end());
  return names;
}

bool lies_below(const Profile& profile, std::uint32_t context, const std::vector<std::string>& path) {
  if (context == kNone) return false;
  const std::vector<std::string> of = path_of(profile, context);
  return of.size() >= path.size() && std::equal(path.begin(), path.end(), of.begin());
}

struct Choice {
  std::size_t role;
  std::vector<std::string> path;
};

std::string check(const Case& c) {
  Rng rng(c.seed);
  const ProfilePtr profile = with_records(build(c), rng);
  if (profile->tree().size() < 2) return "";
  const AssociationTable& table = profile->associations().front();
  const auto& values = std::get<Column<std::int64_t>>(table.values[0]);
  for (std::size_t own = 0; own < kRoles; ++own) {
    const auto role = role_profile(*profile, 0, own, {});
    if (!role) return role.error().message;
    ViewSpec spec;
    std::vector<Choice> choices;
    for (std::size_t r = 0; r < kRoles; ++r) {
      if (r == own || chance(rng, 0.3)) continue;
      const auto context = static_cast<std::uint32_t>(1 + below(rng, profile->tree().size() - 1));
      choices.push_back({r, path_of(*profile, context)});
      Filter filter;
      filter.by = FilterBy::path;
      filter.names = choices.back().path;
      filter.linked = table.roles[r];
      spec.filters.push_back(std::move(filter));
    }
    if (chance(rng, 0.5)) std::reverse(spec.filters.begin(), spec.filters.end());
    const auto selection = select(*role, spec, {});
    if (!selection) return selection.error().message;
    std::map<std::uint32_t, std::int64_t> expected;
    std::int64_t sum = 0;
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      if (!std::all_of(choices.begin(), choices.end(), [&](const Choice& choice) {
            return lies_below(*profile, table.contexts[choice.role][i], choice.path);
          }))
        continue;
      expected[table.contexts[own][i]] += values[i];
      sum += values[i];
      ++n;
    }
    std::map<std::uint32_t, std::int64_t> found;
    const SelfTable& self = (*selection)->rows->self;
    for (std::size_t i = 0; i < self.contexts.size(); ++i) {
      const std::uint32_t context = self.contexts[i];
      found[context >= profile->tree().size() ? kNone : context] +=
          std::get<Column<std::int64_t>>(self.values[0])[i];
    }
    if (found != expected) return fmt::format("role {}: other values by context", own);
    if (std::get<std::int64_t>((*selection)->sums->total) != sum) return "another total";
    const auto pairs = record_pairs(**selection, 0, 2, {});
    if (!pairs) return pairs.error().message;
    std::int64_t of_pairs = 0, of_meets = 0;
    std::uint64_t records = 0;
    for (const RecordPair& pair : pairs->pairs) of_pairs += std::get<std::int64_t>(pair.value);
    for (const RecordMeet& meet : pairs->meets) of_meets += std::get<std::int64_t>(meet.value);
    for (const RecordMeet& meet : pairs->meets) records += meet.records;
    if (of_pairs != sum || of_meets != sum || records != n)
      return fmt::format("pairs have {}, meets {} in {} records; {} in {} expected", of_pairs, of_meets,
                         records, sum, n);
  }
  return "";
}

}  // namespace

TEST_CASE("law: a role filtered by what other roles are is a walk over the records") {
  check_law(check);
}

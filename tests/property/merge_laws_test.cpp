// The laws of merging profiles: sums over all inputs, and of each input by itself, against brute force.
#include <fmt/format.h>

#include "core/model/rewrite.h"
#include "core/view/column_tree.h"
#include "core/view/joint_keys.h"
#include "tests/support/box_paths.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/gen.h"

using namespace profd;
using namespace profd::test;

namespace {

// Runs of one program that share some stacks. What merging does not keep is not asked for: lines, threads,
// times.
std::vector<Case> runs_of(const Case& c) {
  std::vector<Case> runs;
  Rng rng(c.seed);
  const std::size_t n = 1 + below(rng, 4);
  for (std::size_t i = 0; i < n; ++i) {
    Case run = i == 0 ? c : random_case(c.seed + i * 1'000'003);
    run.spec = c.spec;
    run.fractional = i == 0 ? c.fractional : chance(rng, 0.2);
    for (const PlainStack& stack : c.stacks)
      if (i > 0 && chance(rng, 0.5)) run.stacks.push_back(stack);
    runs.push_back(std::move(run));
  }
  return runs;
}

void without_addresses(Case& c) {
  Rng rng(c.seed);
  do c.spec = random_spec(rng, false);
  while (c.spec.granularity == Granularity::address);
}

// A profile of the rows that one input has in the merged one.
ProfilePtr input_of(const Profile& whole, std::uint32_t input) {
  ProfileBuilder builder;
  const InputValues& values = whole.composition()->of[0].values;
  const Column<std::uint32_t>& contexts = whole.composition()->contexts;
  const bool fractional = std::holds_alternative<GrowingVector<double>>(values.value);
  const MetricId metric = builder.add_metric("samples", "count", fractional);
  RewriteTables tables(whole, builder);
  std::vector<ContextId> context(whole.tree().size(), kRootContext);
  for (std::uint32_t c = 1; c < context.size(); ++c)
    context[c] =
        builder.context(context[whole.tree().parent[c]], tables.copy(FrameId{whole.tree().frame[c]}));
  std::visit(
      [&](const auto& column) {
        for (std::uint32_t row = 0; row < contexts.size(); ++row)
          for (std::uint32_t i = values.first[row]; i < values.first[row + 1]; ++i)
            if (values.input[i] == input) builder.add_self(context[contexts[row]], metric, column[i]);
      },
      values.value);
  return std::move(builder).finish().value();
}

ProfilePtr merged_of(const std::vector<Case>& runs) {
  std::vector<ProfilePtr> inputs;
  for (const Case& run : runs) inputs.push_back(build(run));
  auto merged = composed(Composed::aggregate, inputs);
  if (!merged) FAIL(merged.error().message);
  return std::move(*merged);
}

}  // namespace

TEST_CASE("law: views of merged profiles are those of all their stacks") {
  check_law(
      [](const Case& c) -> std::string {
        std::vector<Case> runs = runs_of(c);
        for (Case& run : runs) run.fractional = c.fractional;
        const ProfilePtr merged = merged_of(runs);
        std::vector<PlainStack> stacks;
        for (const Case& run : runs) stacks.insert(stacks.end(), run.stacks.begin(), run.stacks.end());
        const auto selection = select(merged, c.spec, {});
        if (!selection) return selection.error().message;
        for (const Shape shape : {Shape::top_down, Shape::bottom_up})
          if (auto wrong = difference(sums_by_path(**selection, shape, c.fractional ? 4 : 1),
                                      sums_by_path(stacks, c.spec, shape));
              !wrong.empty())
            return wrong;
        return "";
      },
      without_addresses);
}

TEST_CASE("law: what each input gave to merged profiles is its own view") {
  check_law(
      [](const Case& c) -> std::string {
        const std::vector<Case> runs = runs_of(c);
        const ProfilePtr merged = merged_of(runs);
        for (std::uint32_t input = 0; input < runs.size(); ++input) {
          const auto selection = select(input_of(*merged, input), c.spec, {});
          if (!selection) return selection.error().message;
          if (auto wrong =
                  difference(sums_by_path(**selection, Shape::top_down, runs[input].fractional ? 4 : 1),
                             sums_by_path(runs[input].stacks, c.spec, Shape::top_down));
              !wrong.empty())
            return fmt::format("input {}: {}", input, wrong);
        }
        return "";
      },
      without_addresses);
}

TEST_CASE("law: views of two merged profiles are the sums of both sides of their comparison") {
  check_law(
      [](const Case& c) -> std::string {
        std::vector<Case> runs = runs_of(c);
        runs.resize(2, random_case(c.seed + 7));
        for (Case& run : runs) run.spec = c.spec, run.fractional = false;
        const ProfilePtr merged = merged_of(runs);
        const auto plain = select(merged, c.spec, {});
        const auto before = select(build(runs[0]), c.spec, {}), after = select(build(runs[1]), c.spec, {});
        if (!plain || !before || !after) return "select fails";
        const auto whole =
            with_keys(*plain, joined_keys(*merged, (*plain)->boxes->keys, nullptr, {})->keys, {});
        const auto comparison = compare(*before, *after, {});
        for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
          StopToken stop;
          auto tree = ColumnTree::make(columns_of(*comparison), shape, {}, stop);
          const std::vector<oracle::Path> paths = paths_of(*tree);
          SumsByPath expected;
          for (std::uint32_t id = 0; id < paths.size(); ++id)
            for (const Side side : kSides) {
              expected[paths[id]].total += std::get<std::int64_t>(tree->total(id, index_of(side)));
              expected[paths[id]].self += std::get<std::int64_t>(tree->self(id, index_of(side)));
            }
          drop_zeros(expected);
          if (auto wrong = difference(sums_by_path(**whole, shape), expected); !wrong.empty()) return wrong;
        }
        return "";
      },
      without_addresses);
}

TEST_CASE("law: contexts of inputs are contexts of the merged profile, with the same functions above them") {
  check_law([](const Case& c) -> std::string {
    const std::vector<Case> runs = runs_of(c);
    const ProfilePtr merged = merged_of(runs);
    for (std::size_t input = 0; input < runs.size(); ++input) {
      const ProfilePtr own = build(runs[input]);
      const BigVector<std::uint32_t>& map = merged->composition()->inputs[input].context_of;
      if (map.size() != own->tree().size()) return "a context has no place";
      for (std::uint32_t context = 1; context < map.size(); ++context) {
        if (merged->tree().parent[map[context]] != map[own->tree().parent[context]]) return "another parent";
        const FunctionId mine = own->frames().function[own->tree().frame[context]];
        const FunctionId merged_one = merged->frames().function[merged->tree().frame[map[context]]];
        if (own->function_name(mine) != merged->function_name(merged_one)) return "another function";
      }
    }
    return "";
  });
}

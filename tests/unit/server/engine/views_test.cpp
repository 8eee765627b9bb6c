// What is at hand is what the view cache holds: there is no other memory of what was made.
#include "server/engine/views.h"

#include "core/view/key_memo.h"
#include "server/runtime/executor.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// Large enough that nothing is quick until it is made.
OpenProfile big_profile(std::uint64_t view_id = 7) {
  std::string text = "# metrics: cpu/ns alloc/bytes\n";
  for (int i = 0; i < 110'000; ++i)
    text +=
        "main;f" + std::to_string(i % 50) + ";g" + std::to_string(i) + ";h 1 " + std::to_string(i % 3) + "\n";
  OpenProfile open;
  open.view_id = view_id;
  open.profile = profile_from_text(text);
  REQUIRE_FALSE(Views::is_small(open));
  return open;
}

ViewSpec of_metric(const char* metric) {
  ViewSpec spec;
  spec.metric = metric;
  return spec;
}

}  // namespace

TEST_CASE("what was made is at hand until it is dropped or pushed out") {
  SerialExecutor executor;
  const OpenProfile open = big_profile();
  const ViewSpec cpu = of_metric("cpu");
  {
    Views views(std::size_t{1} << 30, executor);
    CHECK_FALSE(views.has(open, Needs{{Part::selection, cpu}}));
    REQUIRE(views.flat(open, cpu, {}));
    CHECK(views.has(open, needs_of_table(cpu)));
    CHECK_FALSE(views.has(open, needs_of_table(of_metric("alloc"))));
    CHECK(views.has(open, needs_of_table({})));  // the default metric by its name
    views.drop(open.view_id);
    CHECK_FALSE(views.has(open, needs_of_table(cpu)));
    CHECK(views.memory() == 0);
  }
  // Someone still holds it, but who asks now has to make it again.
  Views tiny(1000, executor);
  const auto flat = tiny.flat(open, cpu, {});
  REQUIRE(flat);
  CHECK_FALSE(tiny.has(open, needs_of_table(cpu)));
}

TEST_CASE("whatever a feature needs is at hand once it was made, and each need is made by itself") {
  SerialExecutor executor;
  const OpenProfile open = big_profile();
  const ViewSpec cpu = of_metric("cpu");
  for (const Part part :
       {Part::selection, Part::layout, Part::one_function, Part::flat, Part::lines, Part::neighbours}) {
    Views views(std::size_t{1} << 30, executor);
    const Needs needs = {{part, cpu}};
    CHECK_FALSE(views.has(open, needs));
    REQUIRE(views.make(open, needs.front(), {}));
    CHECK(views.has(open, needs));
    CHECK_FALSE(views.has(open, Needs{{part, cpu}, {part, of_metric("alloc")}}));
  }
}

TEST_CASE("a selection shares work with the one it has most in common with") {
  SerialExecutor executor;
  Views views(std::size_t{1} << 30, executor);
  const OpenProfile open = big_profile();
  ViewSpec hidden = of_metric("cpu");
  Filter hide;
  hide.op = FilterOp::hide;
  hide.by = FilterBy::function;
  hide.pattern = "f1";
  hidden.filters = {hide};
  const SelectionPtr first = views.selection(open, hidden, {}).value();
  ViewSpec by_file = of_metric("cpu");
  by_file.granularity = Granularity::file;
  const SelectionPtr last = views.selection(open, by_file, {}).value();
  hidden.metric = "alloc";
  const SelectionPtr other = views.selection(open, hidden, {}).value();
  CHECK(same_boxes(*first, *other));
  CHECK(first->boxes->memo == other->boxes->memo);
  CHECK_FALSE(same_boxes(*last, *other));
  hidden.metric = "cpu";
  hidden.filters.clear();
  const SelectionPtr plain = views.selection(open, hidden, {}).value();
  CHECK(std::get<Column<std::int64_t>>(plain->sums->totals).data() ==
        std::get<Column<std::int64_t>>(last->sums->totals).data());
}

TEST_CASE("values of some keys are those of the table, made for them or not") {
  SerialExecutor executor;
  Views views(std::size_t{1} << 30, executor);
  const OpenProfile open = big_profile();
  const ViewSpec alloc = of_metric("alloc");
  const SelectionPtr selection = views.selection(open, alloc, {}).value();
  StopToken stop;
  REQUIRE(selection->boxes->memo->key_index(*selection->boxes, true, stop));
  const std::vector<Key> few = {find_keys(*open.profile, *selection->boxes->keys, "g7")[0],
                                find_keys(*open.profile, *selection->boxes->keys, "g9")[0]};
  const KeyValues from_contexts = views.key_values(open, alloc, few, {}).value();
  CHECK_FALSE(views.has(open, Needs{{Part::flat, alloc}}));  // no table for two rows
  CHECK(from_contexts.total == std::vector<Value>{Value{1L}, 0L});
  CHECK(from_contexts.present == std::vector<std::uint8_t>{1, 0});
  std::vector<Key> many(selection->boxes->keys->n_keys());
  for (Key key = 0; key < many.size(); ++key) many[key] = key;
  const KeyValues whole = views.key_values(open, alloc, many, {}).value();
  CHECK(views.has(open, Needs{{Part::flat, alloc}}));
  const KeyValues from_table = views.key_values(open, alloc, few, {}).value();
  CHECK(from_table.total == from_contexts.total);
  CHECK(from_table.self == from_contexts.self);
  CHECK(from_table.present == from_contexts.present);
  CHECK(whole.total[few[0]] == from_contexts.total[0]);
}

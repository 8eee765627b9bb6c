#include "core/view/selection.h"

#include "core/support/executor.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = R"(
  main;http[h.go:3 module=app];read[r.c:9 module=/lib/libc.so.6] 30
  main;http[h.go:4 module=app];json 10
  main;draw 20
  idle 5
)";

Value total_of(std::string_view spec) {
  return select_text(kProgram, spec)->sums->total;
}

}  // namespace

TEST_CASE("keep and drop decide by function, module, file and fragment") {
  CHECK(total_of("top-down") == Value{65L});
  CHECK(total_of("top-down | keep function http") == Value{40L});
  CHECK(total_of("top-down | keep function /^(http|idle)$/") == Value{45L});
  CHECK(total_of("top-down | drop function http") == Value{25L});
  CHECK(total_of("top-down | keep module libc.so.6") == Value{30L});
  CHECK(total_of("top-down | drop module /libc/") == Value{35L});
  CHECK(total_of("top-down | keep file r.c") == Value{30L});
  CHECK(total_of("top-down | keep fragment main > http") == Value{40L});
  CHECK(total_of("top-down | keep fragment main > read") == Value{0L});
  CHECK(total_of("top-down | keep function main | drop function read") == Value{30L});
}

TEST_CASE("a selection without filters shares the profile's rows") {
  const auto selection = select_text(kProgram);
  CHECK(selection->rows->self.contexts.data() == selection->profile->self().contexts.data());
  const auto same = select_text(kProgram, "top-down | keep function main");
  CHECK(same->rows->self.contexts.size() == 3);
}

TEST_CASE("selections that are kept have their parts in common") {
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const auto first = *select(profile_from_text(kProgram), {}, {}, kept);
  ViewSpec by_file;
  by_file.granularity = Granularity::file;
  const auto second = select(first->profile, by_file, {}, kept);
  REQUIRE(second);
  CHECK(std::get<0>((*second)->sums->totals).data() == std::get<0>(first->sums->totals).data());
  CHECK((*second)->boxes->keys != first->boxes->keys);
  const auto third = select(first->profile, {}, {}, kept);
  CHECK((*third)->boxes->keys == first->boxes->keys);
  ViewSpec filtered;
  filtered.filters.emplace_back().pattern = "idle";
  CHECK((*select(first->profile, filtered, {}, kept))->sums->total == Value{5L});
}

TEST_CASE("samples are filtered by thread, label and time") {
  constexpr std::string_view kSamples = R"(
    a;b 1 {thread=t1 time=10 label:env=prod}
    a;c 2 {thread=t2 time=20 label:env=test}
    a;b 4 {thread=t1 time=30 label:size=64}
    a 8 {time=40}
  )";
  const auto total = [&](std::string_view spec) { return select_text(kSamples, spec)->sums->total; };
  CHECK(total("flat | thread t1") == Value{5L});
  CHECK(total("flat | drop thread t1") == Value{10L});
  CHECK(total("flat | label env = prod") == Value{1L});
  CHECK(total("flat | label env = /./") == Value{3L});
  CHECK(total("flat | drop label size = 64") == Value{11L});
  CHECK(total("flat | time 20ns..40ns") == Value{6L});
  CHECK(total("flat | drop time 20ns..40ns") == Value{9L});
  CHECK(total("flat | time ..20ns | thread t1") == Value{1L});
  CHECK(format_tree(*select_text(kSamples, "top-down | thread t1")) == "all 5 0\n  a 5 0\n    b 5 5\n");
}

TEST_CASE("a filter that cannot be applied is refused with a reason") {
  const auto code = [](std::string_view spec) {
    return select(profile_from_text(kProgram), *parse_view_spec(spec), {}).error().code;
  };
  // What no text says, but a value can.
  const auto reason_of = [](FilterOp op, FilterBy by, std::optional<std::int64_t> from,
                            std::optional<std::int64_t> to) {
    Filter filter;
    filter.op = op;
    filter.by = by;
    filter.from_ns = from;
    filter.to_ns = to;
    ViewSpec spec;
    spec.filters = {filter};
    return select(profile_from_text("a 1"), spec, {}).error().message;
  };
  CHECK(code("flat | thread t1") == ErrorCode::invalid);
  CHECK(code("flat | label a = b") == ErrorCode::invalid);
  CHECK(code("flat | time 1s..2s") == ErrorCode::invalid);
  CHECK(code("flat | keep function /(/") == ErrorCode::invalid);
  CHECK(code("flat | hide thread t1") == ErrorCode::invalid);
  CHECK(reason_of(FilterOp::hide, FilterBy::recursion, {}, {}) == "recursion can only be collapsed");
  for (const std::int64_t beyond : {kMaxInstant + 1, -kMaxInstant - 1}) {
    CHECK(reason_of(FilterOp::keep, FilterBy::time, beyond, {}).find("104 days") != std::string::npos);
    CHECK(reason_of(FilterOp::keep, FilterBy::time, {}, beyond).find("104 days") != std::string::npos);
  }
  CHECK(code("flat | metric nope") == ErrorCode::not_found);
  const auto no_label =
      select(profile_from_text("a 1 {label:x=y}"), *parse_view_spec("flat | label z = y"), {});
  CHECK(no_label.error().message == "no sample of the profile has a label \"z\"");
}

TEST_CASE("hide gives the value of a frame to its caller") {
  constexpr std::string_view kStacks = "main;lib;lib2;work 5\nmain;lib 3\nlib;work 2\nlib 1";
  const auto selection = select_text(kStacks, "top-down | hide function /^lib/");
  CHECK(format_tree(*selection) == dedent(R"(
    all 11 1
      main 8 3
        work 5 5
      work 2 2
  )"));
  CHECK(format_tree(*selection, Shape::bottom_up) == dedent(R"(
    all 11 1
      main 3 3
      work 7 2
        main 5 5
  )"));
  CHECK(format_flat(*selection) == "main 8 3\nwork 7 7\n");
}

TEST_CASE("collapse folds recursion, and a library into one frame") {
  CHECK(format_tree(*select_text("a;f;f;f;b 3\na;f;g;f 2", "top-down | collapse recursion")) == dedent(R"(
    all 5 0
      a 5 0
        f 5 0
          b 3 3
          g 2 0
            f 2 2
  )"));
  CHECK(format_tree(*select_text("a;x1;x2;b;x1 3\na;x2 4", "top-down | collapse function /^x/")) == dedent(R"(
    all 7 0
      a 7 0
        /^x/ 7 4
          b 3 0
            /^x/ 3 3
  )"));
  CHECK(format_flat(*select_text("a;x1;x2;b;x1 3\na;x2 4", "flat | collapse function /^x/")) ==
        "/^x/ 7 7\na 7 0\nb 3 0\n");
}

namespace {

// 10 in thread a, 20 in thread b, 5 in none, and 100 that belong to no sample at all.
ProfilePtr mixed_profile() {
  ProfileBuilder builder;
  add_text(builder,
           "main;f 10 {thread=a time=100 label:k=x}\nmain;f 20 {thread=b time=200 label:k=y}\nmain;g 5");
  FunctionSpec function;
  function.name = builder.string("outside");
  FrameSpec frame;
  frame.function = builder.function(function);
  builder.add_self(builder.context(kRootContext, builder.frame(frame)), MetricId{0u}, std::int64_t{100});
  SerialExecutor serial;
  return std::move(builder).finish(serial, {}).value();
}

struct Parts {
  Value total;
  std::vector<Value> excluded;
};

Parts parts_of(const ProfilePtr& profile, std::string_view spec) {
  const auto selection = select(profile, parse_view_spec(spec).value(), {});
  REQUIRE(selection);
  return {(*selection)->sums->total, (*selection)->rows->excluded};
}

}  // namespace

TEST_CASE("what filters of samples cannot decide on is out, and said to be") {
  const ProfilePtr profile = mixed_profile();
  REQUIRE(profile->total(MetricId{0u}) == Value{135L});
  const auto check = [&](std::string_view spec, std::int64_t total, std::int64_t excluded) {
    INFO(spec);
    const Parts parts = parts_of(profile, spec);
    CHECK(parts.total == Value{total});
    REQUIRE(parts.excluded.size() == 1);
    CHECK(parts.excluded[0] == Value{excluded});
  };
  check("top-down | keep thread a", 10, 105);
  check("top-down | drop thread a", 25, 100);  // what has no thread is not of thread a
  check("top-down | keep time 0ns..150ns", 10, 105);
  check("top-down | keep time 0ns..150ns | keep thread b", 0, 105);
  check("top-down | keep label k = x", 10, 100);
  check("top-down | drop label k = x", 25, 100);
  CHECK(parts_of(profile, "top-down | keep function f").excluded.empty());
  CHECK(parts_of(profile, "top-down").excluded.empty());
}

TEST_CASE("selections of the same rows leave out the same") {
  ViewCache cache(1 << 20);
  const PartsOf kept(cache, 1);
  const ProfilePtr profile = mixed_profile();
  ViewSpec spec = parse_view_spec("top-down | keep thread a").value();
  const auto first = select(profile, spec, {}, kept);
  spec.granularity = Granularity::file;
  const auto second = select(profile, spec, {}, kept);
  REQUIRE(second);
  CHECK((*second)->rows->excluded == (*first)->rows->excluded);
}

TEST_CASE("a time that is not known is in no window") {
  const ProfilePtr profile = profile_from_text("a 3 {time=10}\nb 4");
  REQUIRE(profile->samples() != nullptr);
  CHECK(profile->samples()->time[1] == kNoTime);
  CHECK(parts_of(profile, "top-down | keep time 0ns..").total == Value{3L});
  CHECK(parts_of(profile, "top-down | keep time ..99ns").total == Value{3L});
  CHECK(parts_of(profile, "top-down | keep time ..99ns").excluded == std::vector<Value>{Value{4L}});
}

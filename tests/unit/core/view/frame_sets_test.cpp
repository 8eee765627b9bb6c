#include "core/view/frame_sets.h"

#include "core/view/set_sums.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

FrameSet set_of(std::string name, std::vector<std::string> functions) {
  FrameSet set;
  set.name = std::move(name);
  set.patterns.push_back({Runtime::any, std::move(functions), {}, {}, {}});
  return set;
}

// The names of the sets that a frame of the function is in.
std::string sets_of(const FrameSets& sets, const Profile& profile, std::string_view function) {
  const auto masks = sets.masks(profile, {}).value();
  std::string out;
  for (std::uint32_t f = 0; f < masks.size(); ++f) {
    if (profile.function_name(profile.frames().function[f]) != function) continue;
    for (std::size_t i = 0; i < sets.sets().size(); ++i)
      if ((masks[f] >> i & 1) != 0) out += (out.empty() ? "" : " ") + sets.sets()[i].name;
    break;
  }
  return out;
}

Value total_of(const FrameSetsPtr& sets, std::string_view text, FilterOp op, FilterBy by,
               const std::string& set) {
  ViewSpec spec;
  Filter filter;
  filter.op = op;
  filter.by = by;
  filter.pattern = set;
  filter.rule = set_rule(sets, filter);
  spec.filters.push_back(filter);
  const auto selection = select(profile_from_text(text), spec, {});
  REQUIRE(selection);
  return (*selection)->sums->total;
}

}  // namespace

TEST_CASE("a frame is in a set by the name of its function, its module, its file or its kind") {
  FrameSet set = set_of("s", {"^alloc"});
  set.patterns.front().modules = {"libm\\.so"};
  set.patterns.front().files = {"/vendor/"};
  set.patterns.front().kinds = {FrameKind::kernel};
  const auto sets = FrameSets::compile({set}).value();
  const auto profile =
      profile_from_text("main;alloc;sin[module=libm.so.6];v[/a/vendor/x.c:3];sys[kind=kernel];own 1\n");
  for (const char* in : {"alloc", "sin", "v", "sys"}) CHECK(sets_of(*sets, *profile, in) == "s");
  for (const char* out : {"main", "own"}) CHECK(sets_of(*sets, *profile, out).empty());
}

TEST_CASE("expressions of a language mean no code that is of another") {
  FrameSet c = set_of("c", {"^write$"}), python = set_of("python", {"^write$"});
  c.patterns.front().runtime = Runtime::c;
  python.patterns.front().runtime = Runtime::python;
  const auto sets = FrameSets::compile({c, python}).value();
  CHECK(sets_of(*sets, *profile_from_text("write[io.c:1] 1\n"), "write") == "c");
  CHECK(sets_of(*sets, *profile_from_text("write[io.py:1] 1\n"), "write") == "python");
  CHECK(sets_of(*sets, *profile_from_text("write 1\n"), "write") == "c python");
  CHECK(sets_of(*sets, *profile_from_text("write[kind=interpreted] 1\n"), "write") == "python");
}

TEST_CASE("sets of one name are one, and a set may include others") {
  FrameSet all = set_of("all", {"^x$"});
  all.includes = {"a"};
  const auto sets = FrameSets::compile({set_of("a", {"^f$"}), all, set_of("a", {"^g$"})}).value();
  REQUIRE(sets->sets().size() == 2);
  const auto profile = profile_from_text("f;g;x;y 1\n");
  CHECK(sets_of(*sets, *profile, "f") == "a all");
  CHECK(sets_of(*sets, *profile, "g") == "a all");
  CHECK(sets_of(*sets, *profile, "x") == "all");
  CHECK(sets_of(*sets, *profile, "y").empty());
}

TEST_CASE("what is no set is refused with its name") {
  CHECK(FrameSets::compile({set_of("s", {"("})}).error().message.find("the set s: ") == 0);
  FrameSet lost = set_of("s", {"x"});
  lost.includes = {"nothing"};
  CHECK(FrameSets::compile({lost}).error().code == ErrorCode::invalid);
  std::vector<FrameSet> many;
  for (std::size_t i = 0; i <= kMaxFrameSets; ++i) many.push_back(set_of("s" + std::to_string(i), {"x"}));
  CHECK(FrameSets::compile(many).error().code == ErrorCode::limit);
}

TEST_CASE("names without symbols are in no set") {
  const auto sets = FrameSets::compile({set_of("s", {"app"})}).value();
  CHECK(sets_of(*sets, *profile_from_text("app+0x12[unresolved] 1\n"), "app+0x12").empty());
}

TEST_CASE("own work ends where something is called back") {
  FrameSet sort = set_of("sort", {"^sort"}), helper = set_of("helper", {"^std"}),
           idle = set_of("idle", {"^wait"});
  helper.helper = true;
  idle.idle = true;
  const auto sets = FrameSets::compile({sort, helper, idle}).value();
  constexpr std::string_view kText =
      "main;sort 1\nmain;sort;std::swap 2\nmain;sort;compare 4\nmain;sort;compare;std::cmp 8\n"
      "main;sort;compare;sort 16\nmain;sort;std::x;wait 32\nmain 64\n";
  CHECK(total_of(sets, kText, FilterOp::keep, FilterBy::kind, "sort") == Value{63L});
  CHECK(total_of(sets, kText, FilterOp::keep, FilterBy::work, "sort") == Value{19L});
  CHECK(total_of(sets, kText, FilterOp::drop, FilterBy::work, "sort") == Value{108L});
  CHECK(total_of(sets, kText, FilterOp::drop, FilterBy::kind, "sort") == Value{64L});
}

TEST_CASE("a library that nobody else calls does no work of its own") {
  FrameSet log = set_of("log", {"^log"}), helper = set_of("helper", {"^std"});
  log.called = true;
  helper.helper = true;
  const auto sets = FrameSets::compile({log, helper}).value();
  CHECK(total_of(sets, "std::start;log::bench;log::write;std::copy 5\nx 1\n", FilterOp::drop, FilterBy::work,
                 "log") == Value{6L});
  CHECK(total_of(sets, "app;log::write;std::copy 5\nx 1\n", FilterOp::drop, FilterBy::work, "log") ==
        Value{1L});
}

TEST_CASE("a filter by a set that is not there says which there are") {
  const auto sets = FrameSets::compile({set_of("locking", {"x"})}).value();
  ViewSpec spec;
  Filter filter;
  filter.by = FilterBy::kind;
  filter.pattern = "lockin";
  filter.rule = set_rule(sets, filter);
  spec.filters.push_back(filter);
  const auto selection = select(profile_from_text("x 1\n"), spec, {});
  REQUIRE_FALSE(selection);
  CHECK(selection.error().message ==
        "no set is called \"lockin\" (did you mean locking?); there are locking");
}

TEST_CASE("an expression over names of sets keeps the stacks of any of them") {
  const auto sets =
      FrameSets::compile({set_of("aa", {"^f"}), set_of("ab", {"^g"}), set_of("c", {"^h"})}).value();
  ViewSpec spec;
  Filter filter;
  filter.by = FilterBy::kind;
  filter.pattern = "^a";
  filter.regex = true;
  filter.rule = set_rule(sets, filter);
  spec.filters.push_back(filter);
  const auto selection = select(profile_from_text("f 1\ng;f 2\ng 4\nh 8\n"), spec, {});
  REQUIRE(selection);
  CHECK((*selection)->sums->total == Value{7L});
}

TEST_CASE("a set can be hidden or made one frame") {
  const auto sets = FrameSets::compile({set_of("s", {"^s"})}).value();
  Filter filter;
  filter.by = FilterBy::kind;
  filter.pattern = "s";
  filter.rule = set_rule(sets, filter);
  const auto tree = [&](FilterOp op) {
    ViewSpec spec;
    filter.op = op;
    spec.filters = {filter};
    return format_tree(**select(profile_from_text("main;s1;s2 3\nmain;s3;x 2\n"), spec, {}), {});
  };
  CHECK(tree(FilterOp::hide).find("s1") == std::string::npos);
  CHECK(tree(FilterOp::collapse).find("s2") == std::string::npos);
}

TEST_CASE("a stack has the colour of the innermost frame with a kind, whose code it is only without one") {
  FrameSet gc = set_of("gc", {"^gc"}), alloc = set_of("alloc", {"^malloc"}),
           lib = set_of("lib", {"^lib|^malloc"});
  gc.kind = alloc.kind = lib.kind = true;
  lib.background = true;
  const auto sets = FrameSets::compile({gc, alloc, lib}).value();
  const auto selection = select_text(
      "main;malloc;gc 1\nmain;gc;malloc 2\nmain;malloc;lib::x 4\nmain;lib::y 8\nmain 16\nmain;lib::y;own "
      "32\n");
  const auto masks = sets->masks(*selection->profile, {}).value();
  const auto classes = stack_classes(*selection, masks, sets->rules(), {}, {}).value();
  const auto of_kind = [&](int kind) {
    return sum_of_classes(*selection, classes, [&](const StackClass& one) { return one.kind == kind; });
  };
  CHECK(of_kind(0) == Value{1L});
  CHECK(of_kind(1) == Value{6L});
  CHECK(of_kind(2) == Value{40L});
  CHECK(of_kind(-1) == Value{16L});
}

TEST_CASE("who calls for a set's own work is the nearest frame that is neither of it nor a helper") {
  FrameSet set = set_of("s", {"^s$"}), helper = set_of("helper", {"^std"});
  helper.helper = true;
  const auto sets = FrameSets::compile({set, helper}).value();
  const auto selection = select_text("main;a;std::f;s 5\nmain;b;s;std::g 7\nmain;b;s;a;s 1\ns 9\n");
  const auto masks = sets->masks(*selection->profile, {}).value();
  const auto callers = callers_of_work(*selection, masks, sets->rules(), 0, {}).value();
  REQUIRE(callers.size() == 2);
  CHECK(key_name(*selection->profile, *selection->boxes->keys, callers[0].key) == "b");
  CHECK(callers[0].amount == Value{7L});
  CHECK(callers[1].amount == Value{6L});
}

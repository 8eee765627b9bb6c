#include "core/view/spec.h"

#include <limits>
#include <memory>
#include <random>

#include "core/view/spec_words.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

ViewSpec parsed(std::string_view text) {
  INFO(text);
  const auto spec = parse_view_spec(text);
  if (!spec) FAIL(describe(spec.error()));
  return *spec;
}

}  // namespace

TEST_CASE("a view's text names shape, granularity, filters and metric") {
  const ViewSpec spec = parsed(
      "top-down by line | keep function /^http/ | drop module libc.so.6 | hide file /\\/vendor\\// | metric "
      "cpu");
  CHECK(spec.shape == Shape::top_down);
  CHECK(spec.granularity == Granularity::line);
  REQUIRE(spec.filters.size() == 3);
  CHECK(spec.filters[0] ==
        Filter{FilterOp::keep, FilterBy::function, "^http", true, {}, {}, {}, {}, {}, {}, {}});
  CHECK(spec.filters[1] ==
        Filter{FilterOp::drop, FilterBy::module, "libc.so.6", false, {}, {}, {}, {}, {}, {}, {}});
  CHECK(spec.filters[2] ==
        Filter{FilterOp::hide, FilterBy::file, "/vendor/", true, {}, {}, {}, {}, {}, {}, {}});
  CHECK(spec.metric == "cpu");
  CHECK(to_text(spec) ==
        "top-down by line | keep function /^http/ | drop module libc.so.6 | hide file /\\/vendor\\// | "
        "metric cpu");
}

TEST_CASE("a fragment, a thread, a label and a time window have their own words") {
  const ViewSpec spec = parsed(
      "callers of http.(*conn).serve > \"operator ||\" | thread worker-1 | drop label env = prod | time "
      "10ms..1.5s "
      "| keep fragment a > b | collapse recursion");
  CHECK(spec.shape == Shape::callers);
  CHECK(spec.focus == std::vector<std::string>{"http.(*conn).serve", "operator ||"});
  REQUIRE(spec.filters.size() == 5);
  CHECK(spec.filters[0].by == FilterBy::thread);
  CHECK(spec.filters[1].key == "env");
  CHECK(spec.filters[1].pattern == "prod");
  CHECK(spec.filters[2].from_ns == 10'000'000);
  CHECK(spec.filters[2].to_ns == 1'500'000'000);
  CHECK(spec.filters[3].names == std::vector<std::string>{"a", "b"});
  CHECK(to_text(spec) ==
        "callers of http.(*conn).serve > \"operator ||\" by function | thread worker-1 | drop label env = "
        "prod | "
        "time 10ms..1500ms | keep fragment a > b | collapse recursion");
}

TEST_CASE("a text that is not a view is refused with the place") {
  const auto offset_of = [](std::string_view text) {
    const auto spec = parse_view_spec(text);
    REQUIRE_FALSE(spec.has_value());
    CHECK(spec.error().code == ErrorCode::invalid);
    return spec.error().offset.value();
  };
  CHECK(offset_of("") == 0);
  CHECK(offset_of("sideways") == 0);
  CHECK(offset_of("flat by colour") == 8);
  CHECK(offset_of("flat | keep nothing x") == 12);
  CHECK(offset_of("flat | keep function") == 20);
  CHECK(offset_of("flat | keep function /a") == 21);
  CHECK(offset_of("flat | keep function \"a") == 21);
  CHECK(offset_of("flat | keep function \"a\" b") == 25);
  CHECK(offset_of("flat | keep file /a/b/") == 20);
  CHECK(offset_of("flat | time 10..20") == 12);
  CHECK(offset_of("flat | time 1.5ns..") == 12);
  CHECK(offset_of("flat | time 99999999999999999999s..") == 12);
  CHECK(offset_of("callers of") == 10);
  CHECK(parse_view_spec(std::string(70'000, 'a')).error().code == ErrorCode::limit);
}

TEST_CASE("the ends of the range of times are read back as written") {
  ViewSpec spec;
  Filter filter;
  filter.by = FilterBy::time;
  filter.from_ns = -kMaxInstant;
  filter.to_ns = kMaxInstant;
  spec.filters.push_back(filter);
  CHECK(parsed(to_text(spec)) == spec);
}

TEST_CASE("a name goes on to what follows it") {
  CHECK(parsed("callers of scan (util_a.py)").focus == std::vector<std::string>{"scan (util_a.py)"});
  CHECK(parsed("callers of a b > c by line | metric x y").focus == std::vector<std::string>{"a b", "c"});
  CHECK(parsed("callers of a b > c by line | metric x y").metric == "x y");
  CHECK(parsed("callers of sort by name of x").focus == std::vector<std::string>{"sort by name of x"});
  CHECK(parsed("flat | keep label a key = GC Thread#0").filters[0].key == "a key");
  CHECK(parsed("flat | thread GC Thread#0 | mine").filters[0].pattern == "GC Thread#0");
  CHECK(parsed("flat | hide file /usr/include/x y.h").filters[0].pattern == "/usr/include/x y.h");
  CHECK(parsed("flat | hide file /usr/").filters[0].regex);
  CHECK(parsed("flat | hide function /a b/ | keep package net/http").filters[1].by == FilterBy::package);
  // What has no end of its own is quoted when written.
  ViewSpec spec;
  spec.focus = {"a<b", "c"};
  CHECK(parsed(to_text(spec)) == spec);
}

TEST_CASE("a slip in a filter is answered about the word, with those there are") {
  const auto message = [](std::string_view text) { return parse_filters(text).error().message; };
  CHECK(
      message("hid functon foo") ==
      "filter: a filter begins with keep, drop, hide or collapse, and function, module, file, package, code, "
      "kind, work, fragment, path, thread, label, time, marker or recursion, or is mine; \"hid\" is none "
      "(did you "
      "mean "
      "hide?)");
  CHECK(message("hide functon foo") ==
        "filter: keep, drop, hide and collapse are followed by function, module, file, package, code, kind, "
        "work, fragment, path, thread, label, time, marker or recursion; \"functon\" is none (did you mean "
        "function?)");
  CHECK(parse_filters("hide functon foo").error().offset == 5);
  CHECK(parse_filters("metric cpu").error().code == ErrorCode::invalid);
  CHECK(parse_filters("drop module x | mine").value().size() == 2);
}

TEST_CASE("every word of a spec is read as what it is written for") {
  for (std::size_t i = 0; i < kShapeWords.size(); ++i) {
    const std::string text(kShapeWords[i]);
    CHECK(parsed(text).shape == static_cast<Shape>(i));
    CHECK(to_text(static_cast<Shape>(i)) == text);
  }
  for (std::size_t i = 0; i < kGranularityWords.size(); ++i) {
    const std::string text = "flat by " + std::string(kGranularityWords[i]);
    CHECK(parsed(text).granularity == static_cast<Granularity>(i));
    CHECK(to_text(parsed(text)) == text);
  }
  for (std::size_t op = 0; op < kOpWords.size(); ++op)
    for (std::size_t by = 0; by < kByWordsOfOps.size(); ++by) {
      Filter filter;
      filter.op = static_cast<FilterOp>(op);
      filter.by = static_cast<FilterBy>(by);
      if (filter.by == FilterBy::label) filter.key = "k";
      if (filter.by == FilterBy::fragment || filter.by == FilterBy::path) filter.names = {"f"};
      const bool is_named = filter.by != FilterBy::time && filter.by != FilterBy::recursion &&
                            filter.by != FilterBy::fragment && filter.by != FilterBy::path;
      if (is_named) filter.pattern = "p";
      const std::string text = to_text(filter);
      INFO(text);
      CHECK(text.find(kByWords[by]) != std::string::npos);
      const auto read = parse_filters(text);
      if (filter.by == FilterBy::work && filter.op != FilterOp::keep && filter.op != FilterOp::drop) {
        CHECK(read.error().message ==
              "filter: work can only be kept or dropped: it is of stacks, not of frames");
        continue;
      }
      if (filter.by == FilterBy::recursion && filter.op != FilterOp::collapse) {
        CHECK(read.error().message == "filter: recursion can only be collapsed: collapse recursion");
        continue;
      }
      REQUIRE(read);
      CHECK(read->front() == filter);
    }
  CHECK(parsed("flat | mine").filters.front().op == FilterOp::collapse);
  CHECK(parse_view_spec("flat | keep mine").error().offset == 12);
  CHECK(parsed("flat | paths proven").proven);
  CHECK_FALSE(parsed("flat | paths divided").proven);
}

TEST_CASE("words in a sentence are listed with what joins the last two") {
  CHECK(listed(kOpWords) == "keep, drop, hide or collapse");
  CHECK(listed(kPathsWords, "and") == "divided and proven");
}

TEST_CASE("a key text tells apart what a text leaves out: whose code is meant") {
  const auto mine_of = [](const char* rule) {
    ViewSpec spec = parsed("flat | drop module x | mine");
    if (rule != nullptr) spec.filters.back().rule = std::make_shared<FrameRule>(FrameRule{rule, {}});
    return spec;
  };
  const ViewSpec undecided = mine_of(nullptr), of_a = mine_of("files of a"), of_b = mine_of("files of b");
  CHECK(to_text(of_a) == to_text(of_b));
  CHECK(key_text(undecided) == to_text(undecided));
  CHECK(key_text(of_a) != key_text(of_b));
  CHECK(key_text(of_a) != key_text(undecided));
  CHECK(key_text(of_a) == key_text(mine_of("files of a")));
  CHECK(key_text(of_a.filters[0]) == to_text(of_a.filters[0]));
  CHECK(key_text(of_a.filters[1]) != key_text(of_b.filters[1]));
  // A name cannot be read as a rule: its line end is written as an escape.
  ViewSpec odd = parsed("flat | mine");
  odd.metric = "m\nfiles of a";
  CHECK(key_text(odd).find('\n') == std::string::npos);
}

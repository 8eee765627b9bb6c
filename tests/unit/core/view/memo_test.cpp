#include "core/view/memo.h"

#include <thread>

#include "core/layout/flame.h"
#include "core/view/hottest.h"
#include "core/view/table.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/gen.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = "main;f;g 3\nmain;g;f;g 4\nmain;h 5\nx;f;h;g 6\nx 1";

}  // namespace

TEST_CASE("threads that ask one selection for different views get what one thread gets") {
  const auto alone = select_text(kProgram);
  const auto shared = select_text(kProgram);
  const std::vector<std::pair<Shape, std::vector<std::string>>> views = {
      {Shape::top_down, {}},        {Shape::bottom_up, {}},       {Shape::callers, {"g"}},
      {Shape::callees, {"f"}},      {Shape::callers, {"f", "g"}}, {Shape::callees, {"main"}},
      {Shape::callees, {"f", "h"}}, {Shape::callers, {"h"}},
  };
  std::vector<std::string> expected, got(4 * views.size());
  for (const auto& [shape, focus] : views) expected.push_back(format_tree(*alone, shape, focus));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < views.size(); ++i) {
        const auto& [shape, focus] = views[(i + t) % views.size()];
        got[t * views.size() + (i + t) % views.size()] = format_tree(*shared, shape, focus);
        static_cast<void>(shared->memory());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t i = 0; i < views.size(); ++i) CHECK(got[t * views.size() + i] == expected[i]);
  }
}

TEST_CASE("the index from keys to contexts changes no answer") {
  for (std::string_view spec : {"top-down", "top-down | hide function f", "top-down | collapse recursion",
                                "top-down | collapse function /[fg]/", "top-down | keep function h"}) {
    const auto swept = select_text(kProgram, spec), indexed = select_text(kProgram, spec);
    REQUIRE(warm_up(*indexed, {}));
    for (const std::vector<std::string>& focus :
         {std::vector<std::string>{"h"}, {"main"}, {"x"}, {"main", "h"}, {"x", "h"}}) {
      if (find_keys(*swept->profile, *swept->keys, focus.back()).empty()) continue;
      for (Shape shape : {Shape::callers, Shape::callees}) {
        const auto fresh = select_text(kProgram, spec);
        CHECK(format_tree(*indexed, shape, focus) == format_tree(*fresh, shape, focus));
      }
    }
    CHECK(indexed->memory() > swept->memory());
  }
}

TEST_CASE("law: with the index callers and callees are still those of the stacks") {
  check_law([](const Case& c) -> std::string {
    const auto profile = build(c);
    const auto swept = *select(profile, c.spec, {}), indexed = *select(profile, c.spec, {});
    const auto focus = focus_keys(*swept, c.spec);
    if (focus.empty()) return "";
    if (!warm_up(*indexed, {})) return "warm_up fails";
    for (Shape shape : {Shape::callers, Shape::callees}) {
      LayoutRequest request;
      request.shape = shape;
      request.focus = focus;
      request.min_width_px = 0;
      const auto a = layout_flame(*swept, request, {}), b = layout_flame(*indexed, request, {});
      if (format_layout(*swept, *a) != format_layout(*indexed, *b)) return "the index gives another view";
    }
    return "";
  });
}

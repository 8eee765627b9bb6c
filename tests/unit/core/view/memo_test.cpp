#include "core/view/memo.h"

#include <thread>

#include "core/layout/flame.h"
#include "core/view/hottest.h"
#include "core/view/search.h"
#include "core/view/table.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/gen.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = "main;f;g 3\nmain;g;f;g 4\nmain;h 5\nx;f;h;g 6\nx 1";

bool same_focus_views(const Selection& a, const Selection& b, const std::vector<Key>& focus) {
  for (Shape shape : {Shape::callers, Shape::callees}) {
    LayoutRequest request;
    request.shape = shape;
    request.focus = focus;
    request.min_width_px = 0;
    const auto of_a = layout_flame(a, request, {}), of_b = layout_flame(b, request, {});
    if (format_layout(a, *of_a) != format_layout(b, *of_b)) return false;
  }
  return true;
}

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
      if (find_keys(*swept->profile, *swept->boxes->keys, focus.back()).empty()) continue;
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
    return same_focus_views(*swept, *indexed, focus) ? "" : "the index gives another view";
  });
}

TEST_CASE("law: an index made for all rows of any metric serves the selections that share it") {
  std::size_t n_shared = 0;
  check_law([&](const Case& c) -> std::string {
    const auto profile = build(c);
    const auto fresh = *select(profile, c.spec, {});
    const auto focus = focus_keys(*fresh, c.spec);
    if (focus.empty()) return "";
    for (const auto& metric : profile->metrics()) {
      ViewSpec everything;
      everything.metric = metric.name;
      everything.granularity = c.spec.granularity;
      ViewCache cache(std::size_t{1} << 30);
      const PartsOf kept(cache, 1);
      const auto first = *select(profile, everything, {}, kept);
      if (!warm_up(*first, {})) return "warm_up fails";
      const auto shared = *select(profile, c.spec, {}, kept);
      n_shared += shared->boxes->memo == first->boxes->memo ? 1 : 0;
      if (!shared->boxes->owner.empty() && shared->boxes->memo == first->boxes->memo)
        return "other boxes share an index";
      if (!same_focus_views(*fresh, *shared, focus)) return "the index gives another view";
      if (search(*fresh, "a|e", {})->matched != search(*shared, "a|e", {})->matched)
        return "the index gives another share";
    }
    return "";
  });
  CHECK(n_shared > 0);
}

// Trees as deep and as wide as files can make them: nothing recurses, nothing blows up.
#include <limits>
#include <span>

#include "core/layout/flame.h"
#include "core/model/profile_builder.h"
#include "core/source/annotations.h"
#include "core/view/hottest.h"
#include "core/view/search.h"
#include "core/view/table.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

constexpr std::int64_t kMany = 100'000;

// One stack of kMany frames that takes turns between two functions.
ProfilePtr deep_profile() {
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  std::vector<FrameId> frames;
  for (const char* name : {"ping", "pong"}) {
    FrameSpec frame;
    frame.function = builder.function(name, "deep.cc");
    frame.line = static_cast<std::uint32_t>(frames.size() + 1);
    frames.push_back(builder.frame(frame));
  }
  std::vector<FrameId> stack;
  for (std::int64_t i = 0; i < kMany; ++i) stack.push_back(frames[static_cast<std::size_t>(i % 2)]);
  const std::int64_t one[] = {1};
  builder.add_sample(stack, std::span<const std::int64_t>(one));
  return *std::move(builder).finish();
}

ProfilePtr wide_profile() {
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  FrameSpec frame;
  frame.function = builder.function("main");
  const FrameId main = builder.frame(frame);
  const std::int64_t one[] = {1};
  for (std::int64_t i = 0; i < kMany; ++i) {
    frame.function = builder.function("f" + std::to_string(i));
    const FrameId stack[] = {main, builder.frame(frame)};
    builder.add_sample(stack, std::span<const std::int64_t>(one));
  }
  return *std::move(builder).finish();
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec = "top-down") {
  auto selection = select(profile, *parse_view_spec(spec), {});
  REQUIRE(selection);
  return *selection;
}

Key key_called(const Selection& s, std::string_view name) {
  const auto found = find_keys(*s.profile, *s.boxes->keys, name);
  REQUIRE(found.size() == 1);
  return found[0];
}

void check_layouts(const Selection& selection, Key focus, std::int64_t total) {
  for (Shape shape : {Shape::top_down, Shape::bottom_up, Shape::callers, Shape::callees}) {
    LayoutRequest request;
    request.shape = shape;
    if (shape == Shape::callers || shape == Shape::callees) request.focus = {focus};
    const auto layout = layout_flame(selection, request, {});
    REQUIRE(layout);
    CHECK(layout->size() <= 2000);
    CHECK(layout->total[0] == Value{total});
  }
}

}  // namespace

TEST_CASE("a stack of 100,000 frames is shown in every shape") {
  const ProfilePtr profile = deep_profile();
  const auto selection = selected(profile);
  check_layouts(*selection, key_called(*selection, "ping"), 1);
  const auto flat = flat_view(*selection, {});
  CHECK(flat->total == std::vector<Value>{Value{std::int64_t{1}}, std::int64_t{1}});
  CHECK(search(*selection, "pong", {})->matched == Value{std::int64_t{1}});
  CHECK(annotate_lines(*selection, {profile->frames().file[0]}, {})->total[0].size() == 2);
  const auto around = neighbours_of(*selection, key_called(*selection, "ping"), 3, {});
  CHECK(around->no_caller == Value{std::int64_t{1}});
  CHECK(around->callees.size() == 1);

  LayoutRequest request;
  for (std::int64_t i = 0; i < kMany; ++i)
    request.zoom.push_back(key_called(*selection, i % 2 == 0 ? "ping" : "pong"));
  request.max_boxes = 100;
  CHECK(layout_flame(*selection, request, {})->size() == kMany + 1);
}

TEST_CASE("a stack of 100,000 frames can be hidden, folded and focused") {
  const ProfilePtr profile = deep_profile();
  CHECK(flat_view(*selected(profile, "flat | hide function ping"), {})->key.size() == 1);
  CHECK(selected(profile, "flat | keep fragment ping > pong > ping")->sums->total == Value{std::int64_t{1}});
  CHECK(selected(profile, "flat | keep fragment ping > ping")->sums->total == Value{std::int64_t{0}});
  const auto folded = selected(profile, "top-down | hide function ping | collapse recursion");
  const auto layout = layout_flame(*folded, {}, {});
  CHECK(layout->size() == 2);
  CHECK(layout->self[1] == Value{std::int64_t{1}});
  const auto grouped = selected(profile, "top-down | collapse function /p/");
  CHECK(layout_flame(*grouped, {}, {})->size() == 2);
}

TEST_CASE("a caller of 100,000 functions is shown in every shape") {
  const auto selection = selected(wide_profile());
  check_layouts(*selection, key_called(*selection, "main"), kMany);
  LayoutRequest request;
  const auto layout = layout_flame(*selection, request, {});
  REQUIRE(layout->size() == 3);
  CHECK(layout->n_merged[2] == kMany);
  request.min_width_px = 0;
  const auto cut = layout_flame(*selection, request, {});
  CHECK(cut->size() == request.max_boxes);
  CHECK(cut->truncated);
  const auto page = page_of(*selection, *flat_view(*selection, {}), {});
  CHECK(page.n_left_out == kMany + 1 - 100);
  TreeRequest level;
  level.path = {key_called(*selection, "main")};
  CHECK(tree_level(*selection, level, {})->n_children == kMany);
}

TEST_CASE("sums beyond 64 bits are clamped and boxes stay inside their parents") {
  ProfileBuilder builder;
  builder.add_metric("bytes", "bytes");
  FrameSpec frame;
  std::vector<FrameId> frames;
  for (const char* name : {"a", "b", "c"}) {
    frame.function = builder.function(name);
    frames.push_back(builder.frame(frame));
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t value : {kMax, -kMax - 1, kMax / 2, std::int64_t{7}}) {
    for (std::size_t n = 1; n <= 3; ++n) {
      const std::int64_t values[] = {value};
      builder.add_sample(std::span<const FrameId>(frames).first(n), std::span<const std::int64_t>(values));
      const FrameId turned[] = {frames[n % 3], frames[0], frames[n - 1]};
      builder.add_sample(turned, std::span<const std::int64_t>(values));
    }
  }
  const auto selection = selected(*std::move(builder).finish());
  CHECK(selection->sums->saturated);
  CHECK(std::get<0>(selection->sums->widths)[0] == kMax);
  for (Shape shape : {Shape::top_down, Shape::bottom_up, Shape::callers, Shape::callees}) {
    LayoutRequest request;
    request.shape = shape;
    if (shape == Shape::callers || shape == Shape::callees) request.focus = {key_called(*selection, "a")};
    const auto layout = layout_flame(*selection, request, {});
    REQUIRE(layout);
    REQUIRE(layout->size() > 2);
    for (std::size_t i = 1; i < layout->size(); ++i) {
      const std::size_t parent = layout->parent[i];
      const auto x = std::get<0>(layout->x[i]), px = std::get<0>(layout->x[parent]);
      const auto width = std::get<0>(layout->width[i]), parent_width = std::get<0>(layout->width[parent]);
      CHECK(width >= 0);
      CHECK(x >= px);
      CHECK(width <= parent_width);
      CHECK(x - px <= parent_width - width);
    }
  }
  REQUIRE(flat_view(*selection, {}));
}

TEST_CASE("values that are no numbers count as nothing") {
  ProfileBuilder builder;
  builder.add_metric("seconds", "seconds", true);
  FrameSpec frame;
  frame.function = builder.function("a");
  const FrameId a[] = {builder.frame(frame)};
  frame.function = builder.function("b");
  const FrameId b[] = {builder.frame(frame)};
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const double values[] = {value};
    builder.add_sample(a, std::span<const double>(values));
  }
  const double half[] = {0.5};
  builder.add_sample(b, std::span<const double>(half));
  const auto profile = std::move(builder).finish();
  if (!profile) return;  // refusing such a file is as good
  const auto selection = selected(*profile);
  CHECK(selection->sums->total == Value{0.5});
  CHECK(layout_flame(*selection, {}, {})->size() == 2);
  CHECK(flat_view(*selection, {})->key.size() == 1);
}

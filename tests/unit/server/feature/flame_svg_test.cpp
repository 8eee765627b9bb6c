#include "server/feature/flame_svg.h"

#include <map>

#include "core/view/focus.h"
#include "core/view/table.h"
#include "formats/open.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

std::string page_of(const ProfilePtr& profile, const FlameSvgOptions& options = {}) {
  const auto selection = select(profile, ViewSpec{}, StopToken{});
  REQUIRE(selection.has_value());
  const auto layout = layout_flame(**selection, LayoutRequest{}, StopToken{});
  REQUIRE(layout.has_value());
  return flame_svg(**selection, *layout, options);
}

std::string page_of(const char* text) {
  return page_of(test::profile_from_text(text));
}

// Names that the text form of a profile cannot hold.
ProfilePtr page_profile(const std::vector<std::string>& functions) {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("samples", "count");
  for (const std::string& name : functions) {
    const FrameId frame = builder.frame({.function = builder.function(name)});
    builder.add_self(builder.context(kRootContext, frame), metric, std::int64_t{5});
  }
  auto profile = std::move(builder).finish();
  REQUIRE(profile.has_value());
  return *profile;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

}  // namespace

TEST_CASE("a page has a box for every frame and refers to nothing outside", "[flame_svg]") {
  const std::string page = page_of("main;a 3\nmain;b 1\n");
  CHECK(count(page, "<g class=\"b\"") == 4);
  CHECK(page.find("75.0 %") != std::string::npos);
  CHECK(page.find("href") == std::string::npos);
  CHECK(page.find("url(http") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
}

TEST_CASE("a page keeps markup in names and titles as text", "[flame_svg]") {
  const std::string page =
      page_of(page_profile({"</title><script>alert(1)</script>", "]]>"}), {.title = "<b onload='x'>&"});
  CHECK(count(page, "<script") == 1);
  CHECK(page.find("<b onload") == std::string::npos);
  CHECK(page.find("&lt;b onload=&#39;x&#39;&gt;&amp;") != std::string::npos);
  CHECK(count(page, "]]>") == 2);  // the ends of style and script
}

TEST_CASE("a page of nothing says so", "[flame_svg]") {
  CHECK(page_of("a 0\n").find("Nothing was measured.") != std::string::npos);
}

namespace {

ViewSpec view_of(Shape shape, std::vector<std::string> focus = {}) {
  ViewSpec spec;
  spec.shape = shape;
  spec.focus = std::move(focus);
  return spec;
}

std::string page_in(const ProfilePtr& profile, const ViewSpec& spec, LayoutRequest request = {}) {
  const auto selection = select(profile, spec, StopToken{});
  REQUIRE(selection.has_value());
  request.shape = spec.shape;
  const auto focus = keys_of_focus(**selection, spec.focus);
  REQUIRE(focus.has_value());
  request.focus = *focus;
  const auto layout = layout_flame(**selection, request, StopToken{});
  REQUIRE(layout.has_value());
  FlameSvgOptions options;
  options.title = "x";
  options.view = spec;
  return flame_svg(**selection, *layout, options);
}

OpenedFile read_back(const std::string& page) {
  SerialExecutor executor;
  auto opened = open_profiles(memory_source(page, ""), {}, executor, {});
  if (!opened) FAIL_CHECK(describe(opened.error()));
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "flamegraph-svg");
  return std::move(*opened);
}

// "main": {self, total}
std::map<std::string, std::pair<double, double>> functions_of(const ProfilePtr& profile) {
  const auto selection = select(profile, ViewSpec{}, {});
  REQUIRE(selection.has_value());
  const auto view = flat_view(**selection, {});
  REQUIRE(view.has_value());
  std::map<std::string, std::pair<double, double>> out;
  for (std::size_t i = 0; i < view->key.size(); ++i)
    out[key_name(*profile, *(*selection)->boxes->keys, view->key[i])] = {as_double(view->self[i]),
                                                                         as_double(view->total[i])};
  return out;
}

constexpr const char* kTree = "main;a;b 3\nmain;a 4\nmain;c;a;b 9007199254740993\nmain;c;c 2\nother 1\n";

}  // namespace

TEST_CASE("a page is read back with every total and self", "[flame_svg]") {
  const ProfilePtr drawn = test::profile_from_text(kTree);
  LayoutRequest everything;
  everything.min_width_px = 0;
  for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
    const OpenedFile opened = read_back(page_in(drawn, view_of(shape), everything));
    const ProfilePtr& back = opened.profiles.front();
    CHECK(functions_of(back) == functions_of(drawn));
    CHECK(back->total(MetricId{0u}) == drawn->total(MetricId{0u}));
    CHECK(back->tree().size() == drawn->tree().size());
    CHECK(back->metrics().front().name == drawn->metrics().front().name);
    CHECK(back->metrics().front().unit == drawn->metrics().front().unit);
    CHECK(opened.report.rows().empty());
  }
}

TEST_CASE("a page of callers or callees is read back as the stacks through what it is of", "[flame_svg]") {
  const ProfilePtr drawn = test::profile_from_text("main;a;b 3\nmain;a 4\nmain;c;a;b 5\nmain;c 2\n");
  const auto callees =
      functions_of(read_back(page_in(drawn, view_of(Shape::callees, {"a"}))).profiles.front());
  CHECK(callees == decltype(callees){{"a", {4, 12}}, {"b", {8, 8}}});
  const auto callers =
      functions_of(read_back(page_in(drawn, view_of(Shape::callers, {"a"}))).profiles.front());
  CHECK(callers == decltype(callers){{"a", {12, 12}}, {"c", {0, 5}}, {"main", {0, 12}}});
}

TEST_CASE("a page that does not draw everything says so when it is read, and its total is whole",
          "[flame_svg]") {
  const ProfilePtr drawn = test::profile_from_text("main;big;x 1000\nmain;a 1\nmain;b 1\nmain;big;y 1\n");
  LayoutRequest narrow, shallow;
  narrow.viewport_px = 100;
  narrow.min_width_px = 1;
  shallow.max_depth = 2;
  for (const LayoutRequest& request : {narrow, shallow}) {
    for (const Shape shape : {Shape::top_down, Shape::bottom_up}) {
      const OpenedFile opened = read_back(page_in(drawn, view_of(shape), request));
      const ProfilePtr& back = opened.profiles.front();
      CHECK(back->total(MetricId{0u}) == drawn->total(MetricId{0u}));
      CHECK(functions_of(back).contains("[not drawn]"));
      REQUIRE(opened.report.rows().size() == 1);
      CHECK(opened.report.rows().front().kind == "not-drawn");
    }
  }
}

TEST_CASE("a page with estimates says that they are not marked any more when it is read", "[flame_svg]") {
  const std::string path = PROFD_SOURCE_DIR "/formats/pstats/testdata/minimal.pstats";
  SerialExecutor executor;
  const OpenOptions options;
  auto input = open_input(path, options.limits.input_bytes);
  REQUIRE(input.has_value());
  auto calls = open_profiles(*input, options, executor, StopToken{});
  REQUIRE(calls.has_value());
  LayoutRequest everything;
  everything.min_width_px = 0;
  const std::string page = page_in(calls->profiles.front(), {}, everything);
  CHECK(page.find("\u2248") != std::string::npos);
  const auto kinds = [](const OpenedFile& opened) {
    std::vector<std::string> out;
    for (const auto& row : opened.report.rows()) out.emplace_back(row.kind);
    return out;
  };
  CHECK(kinds(read_back(page)) == std::vector<std::string>{"estimates"});
  CHECK(kinds(read_back(page_in(test::profile_from_text(kTree), {}, everything))).empty());
}

TEST_CASE("a page whose boxes stand on what was not drawn is refused", "[flame_svg]") {
  for (const char* shape : {"callees", "bottom-up"}) {
    const std::string page =
        std::string(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"profd\"><metadata id=\"profd-data\" "
            "data-version=\"1\" data-metric=\"samples\" data-unit=\"count\" data-shape=\"") +
        shape +
        "\"><f n=\"a\"/><b t=\"9\"/><b u=\"0\" r=\"2\" t=\"9\"/><b u=\"1\" f=\"0\" t=\"9\" "
        "s=\"9\"/></metadata></svg>";
    SerialExecutor executor;
    const auto opened = open_profiles(memory_source(page, ""), {}, executor, {});
    REQUIRE_FALSE(opened.has_value());
    CHECK(opened.error().message.find("not drawn") != std::string::npos);
  }
}

TEST_CASE("a page of fractions is read back to the last bit, with kinds, places and odd names",
          "[flame_svg]") {
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("time", "seconds", true);
  FunctionSpec function;
  function.name = builder.string("a < \"b\" & c");
  function.file = builder.string("x/y.c");
  function.start_line = 7;
  FrameSpec spec;
  spec.function = builder.function(function);
  spec.module = builder.module({.name = "/lib/z.so"});
  spec.kind = FrameKind::kernel;
  spec.inlined = true;
  builder.add_self(builder.context(kRootContext, builder.frame(spec)), metric, 0.1);
  const ProfilePtr drawn = *std::move(builder).finish();
  const OpenedFile opened = read_back(page_in(drawn, {}));
  const Profile& back = *opened.profiles.front();
  CHECK(std::get<double>(back.total(MetricId{0u})) == 0.1);
  CHECK(back.function_name(FunctionId{0u}) == "a < \"b\" & c");
  CHECK(back.strings()[back.functions().file[0]] == "x/y.c");
  CHECK(back.functions().start_line[0] == 7);
  CHECK(back.frames().kind[0] == FrameKind::kernel);
  CHECK(back.frames().inlined[0] != 0);
}

TEST_CASE("colours are stable, by package, and differ by name", "[flame_svg]") {
  const ColoredFrame serve{.name = "net/http.(*conn).serve"}, read{.name = "net/http.(*conn).read"};
  const Hsl a = flame_color(FlameScheme::module, serve), b = flame_color(FlameScheme::module, read);
  CHECK(a.hue == b.hue);
  CHECK(flame_color(FlameScheme::module, serve).lightness == a.lightness);
  CHECK(color_group(serve) == "net/http");
  CHECK(color_group({.name = "java.util.HashMap.get"}) == "java.util");
  CHECK(color_group({.name = "java/util/HashMap.get"}) == "java/util");
  CHECK(color_group({.name = "std::vector<a.b>::push_back"}) == "std");
  CHECK(color_group({.name = "memcpy", .module = "/lib/libc.so.6"}) == "libc.so.6");
  CHECK(color_group({.name = "f", .file = "src/x/a.c"}) == "src/x");
  CHECK(flame_color(FlameScheme::kind, {.name = "x", .kind = FrameKind::kernel}).hue == 28);
  CHECK(flame_color(FlameScheme::kind, {.name = "a::b", .inlined = true}).hue == 180);
  const Rgb red = to_rgb({0, 100, 50});
  CHECK((red.r == 255 && red.g == 0 && red.b == 0));
}

TEST_CASE("a page says which view it is, unless it is the usual one", "[flame_svg]") {
  const ProfilePtr profile = test::profile_from_text("main;a 3\nmain;b 1\n");
  FlameSvgOptions options;
  options.view = parse_view_spec("bottom-up by file | drop function a").value();
  CHECK(page_of(profile, options).find(">bottom-up by file | drop function a · ") != std::string::npos);
  options.view = ViewSpec{};
  options.view.metric = "samples";
  CHECK(page_of(profile, options).find(">samples 4</text>") != std::string::npos);
}

TEST_CASE("a page holds what a program needs to read it back", "[flame_svg]") {
  const std::string page = page_of("main;a::f 3\nmain 1\n");
  CHECK(page.find(" data-metric=\"samples\" data-unit=\"count\" data-total=\"4\" data-view=\"top-down by "
                  "function\">") != std::string::npos);
  CHECK(page.find("data-v=\"4\" data-self=\"1\"") != std::string::npos);
  CHECK(page.find("<title>a::f\ntotal 3, 75.0 %; self 3, 75.0 %; 75.0 % of its caller</title>") !=
        std::string::npos);
}

TEST_CASE("folded stacks have colours, and frames of one name the same", "[flame_svg]") {
  const ColoredFrame plain{.name = "parse"}, kernel{.name = "do_sys", .kind = FrameKind::kernel};
  CHECK(flame_color(FlameScheme::module, plain).saturation > 50);
  CHECK(flame_color(FlameScheme::module, plain).hue == flame_color(FlameScheme::warm, plain).hue);
  CHECK(flame_color(FlameScheme::module, kernel).hue == 28);
  CHECK(flame_color(FlameScheme::cool, plain).hue >= 160);
  CHECK(flame_color(FlameScheme::file, {.name = "f", .file = "a.c"}).hue ==
        flame_color(FlameScheme::file, {.name = "g", .file = "a.c"}).hue);
}

TEST_CASE("without a script labels are cut by the widths of their letters", "[flame_svg]") {
  const std::string wide = page_of(page_profile({std::string(200, 'W')}));
  const std::string narrow = page_of(page_profile({std::string(200, 'i')}));
  // 1,174 pixels: 12 a letter, and 3.5.
  CHECK(count(wide, std::string(90, 'W') + "…</text>") == 1);
  CHECK(count(narrow, ">" + std::string(200, 'i') + "</text>") == 1);
}

TEST_CASE("names that do not fit their boxes keep their useful end, without a script and with one",
          "[flame_svg]") {
  // 1,180 pixels for 100: the second box has 118, which is not enough for all of its name.
  ProfileBuilder builder;
  const MetricId metric = builder.add_metric("samples", "count");
  const auto add = [&](std::string_view name, std::int64_t value) {
    const FrameId frame = builder.frame({.function = builder.function(name)});
    builder.add_self(builder.context(kRootContext, frame), metric, value);
  };
  add("runtime.mallocgc", 90);
  add("runtime.gcBgMarkWorker", 10);
  const std::string page = page_of(*std::move(builder).finish());
  CHECK(page.find("data-n=\"runtime.mallocgc\" data-c=\"8\">runtime.mallocgc</text>") != std::string::npos);
  CHECK(page.find("data-n=\"runtime.gcBgMarkWorker\" data-c=\"8\">gcBgMarkWorker</text>") !=
        std::string::npos);
}

TEST_CASE("where a name of a page may be cut is counted as scripts count", "[flame_svg]") {
  const std::string page = page_of(page_profile({"größe.𝒳y.läuft"}));
  CHECK(page.find(" data-c=\"6 10\">") != std::string::npos);
  // A character that is shown as another one moves what follows: such a name is cut at its end.
  CHECK(page_of(page_profile({"a\x01.b"})).find(" data-c=") == std::string::npos);
}

TEST_CASE("a page says what its filters did not match, whoever makes it", "[flame_svg]") {
  const ProfilePtr profile = test::profile_from_text("main;a 3\n");
  const auto selection =
      select(profile, parse_view_spec("top-down | drop function nobody").value(), StopToken{});
  REQUIRE(selection.has_value());
  const auto layout = layout_flame(**selection, LayoutRequest{}, StopToken{});
  CHECK(flame_svg(**selection, *layout, {}).find(">`drop function nobody` matches nothing</text>") !=
        std::string::npos);
}

TEST_CASE("notes are a line of their own, and an inverted page has its root at the bottom", "[flame_svg]") {
  const ProfilePtr profile = test::profile_from_text("main;a 3\n");
  CHECK(page_of(profile).find("id=\"snotes\"") == std::string::npos);
  const std::string page = page_of(profile, {.inverted = true, .notes = {"an estimate", "<2> lines lost"}});
  CHECK(page.find(">an estimate · &lt;2&gt; lines lost</text>") != std::string::npos);
  CHECK(page.find("data-inverted=\"1\"") != std::string::npos);
  const auto y_of = [&](const char* name) {
    const std::size_t box = page.find(std::string("<title>") + name), y = page.find(" y=\"", box);
    return std::stoi(page.substr(y + 4));
  };
  CHECK(y_of("all") > y_of("main"));
  CHECK(y_of("main") > y_of("a\n"));
}

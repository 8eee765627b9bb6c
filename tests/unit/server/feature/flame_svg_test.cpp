#include "server/feature/flame_svg.h"

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
ProfilePtr profile_of(const std::vector<std::string>& functions) {
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
      page_of(profile_of({"</title><script>alert(1)</script>", "]]>"}), {.title = "<b onload='x'>&"});
  CHECK(count(page, "<script") == 1);
  CHECK(page.find("<b onload") == std::string::npos);
  CHECK(page.find("&lt;b onload=&#39;x&#39;&gt;&amp;") != std::string::npos);
  CHECK(count(page, "]]>") == 2);  // the ends of style and script
}

TEST_CASE("a page of nothing says so", "[flame_svg]") {
  CHECK(page_of("a 0\n").find("Nothing was measured.") != std::string::npos);
}

TEST_CASE("colours are stable, by package, and differ by name", "[flame_svg]") {
  const ColoredFrame serve{.name = "net/http.(*conn).serve"}, read{.name = "net/http.(*conn).read"};
  const Hsl a = flame_color(FlameScheme::module, serve), b = flame_color(FlameScheme::module, read);
  CHECK(a.hue == b.hue);
  CHECK(flame_color(FlameScheme::module, serve).lightness == a.lightness);
  CHECK(color_group(serve) == "net/http");
  CHECK(color_group({.name = "java.util.HashMap.get"}) == "java.util");
  CHECK(color_group({.name = "java/util/HashMap.get"}) == "java/util/HashMap");
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
  const std::string wide = page_of(profile_of({std::string(200, 'W')}));
  const std::string narrow = page_of(profile_of({std::string(200, 'i')}));
  // 1,174 pixels: 12 a letter, and 3.5.
  CHECK(count(wide, std::string(90, 'W') + "…</text>") == 1);
  CHECK(count(narrow, ">" + std::string(200, 'i') + "</text>") == 1);
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

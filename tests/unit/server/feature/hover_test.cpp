// What a person sees who rests on a line: as text, as Markdown, and what of names can do harm in it.
#include "server/feature/hover.h"

#include "server/feature/hover_text.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/measured_files.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kHoveredText =
    "int parse() {\n"  // 0
    "  read();\n"      // 1
    "  scan();\n"      // 2
    "}\n";             // 3
constexpr const char* kHoveredProfile =
    "# metrics: cpu/nanoseconds alloc/bytes\n"
    "main[m.c:1 start=1];parse[w.c:2 start=1];read[r.c:6 start=5] 60 1024\n"
    "main[m.c:2 start=1];parse[w.c:3 start=1];scan[s.c:1 start=1] 15 0\n"
    "other[m.c:9 start=8];parse[w.c:3 start=1] 25 0\n";

MeasuredFiles files_to_hover(std::string_view profile = kHoveredProfile) {
  return MeasuredFiles(
      profile, {{"w.c", kHoveredText}, {"m.c", "main\n\n\n\n\n\n\nother\n\n"}, {"r.c", "\n\n\n\nread\n\n"}});
}

Result<std::optional<std::string>> shown(MeasuredFiles& files, const HoverRequest& request,
                                         bool markdown = false) {
  return hover_at(files.viewed.views, request, {}).map([&](const std::optional<Hover>& hover) {
    if (!hover) return std::optional<std::string>();
    return std::optional(markdown ? hover_markdown(*hover) : hover_plain_text(*hover));
  });
}

std::optional<std::string> hover(MeasuredFiles& files, std::uint32_t line, bool markdown = false) {
  HoverRequest request;
  request.file = files.of("w.c");
  request.line = line;
  auto text = shown(files, request, markdown);
  REQUIRE(text);
  return std::move(*text);
}

bool hover_says(const std::optional<std::string>& text, std::string_view part) {
  return text && text->find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("hover: every metric of the line, its function and place, and the profile it is of") {
  MeasuredFiles files = files_to_hover();
  const auto text = hover(files, 1);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(text->starts_with("parse w.c:2\n\n"));
  CHECK(hover_says(text, "cpu: total 60 ns (60.0 %), self 0 s\n"));
  CHECK(hover_says(text, "alloc: total 1.00 KiB (100 %), self 0 B\n"));
  CHECK(text->ends_with("test"));
}

TEST_CASE("hover: metrics by formula stand below those they are made of") {
  MeasuredFiles files = files_to_hover();
  auto open = std::make_shared<OpenProfile>(*files.viewed.open);
  open->derived = std::make_shared<const DerivedMetrics>(
      derive_metrics(*open->profile, {{"size", "alloc / cpu", ""}, {"more", "2 * cpu", ""}}));
  files.viewed.open = std::move(open);
  const auto text = hover(files, 1);
  CHECK(hover_says(text, "size: total 17.1 B/ns, self n/a\n"));
  CHECK(hover_says(text, "more: total 120 ns, self 0 s\n"));
  CHECK(hover_says(hover(files, 1, true), "| size | n/a | 17.1 B/ns |  |\n"));
}

TEST_CASE("hover: callers and callees through the line, then those of its function") {
  MeasuredFiles files = files_to_hover();
  const auto text = hover(files, 1);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(hover_says(text, "callers:\n  main 100 %\n"));
  CHECK(hover_says(text, "callees:\n  read 100 %\n"));
  CHECK(hover_says(text, "callers of parse:\n  main 75.0 %\n  other 25.0 %\n"));
  CHECK(text->find("callers:") < text->find("callers of parse:"));
}

TEST_CASE("hover: a function of one line hover_says its callers once") {
  MeasuredFiles files("main;parse[w.c:2 start=1] 10\n", {{"w.c", kHoveredText}});
  const auto text = hover(files, 1);
  CHECK(hover_says(text, "callers:\n  main 100 %\n"));
  CHECK_FALSE(hover_says(text, "callers of parse"));
}

TEST_CASE("hover: there is nothing on a line that costs nothing, and a line below the threshold speaks") {
  MeasuredFiles files = files_to_hover();
  CHECK_FALSE(hover(files, 3));
  HoverRequest request;
  request.file = files.of("w.c");
  request.file.threshold = 0.9;
  request.line = 1;
  CHECK(hover_says(*shown(files, request), "60.0 %"));
}

TEST_CASE("hover: where a function begins and costs nothing itself stands the whole of it") {
  MeasuredFiles files = files_to_hover();
  const auto text = hover(files, 0);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(text->starts_with("parse the whole function\n\n"));
  CHECK(hover_says(text, "cpu: total 100 ns (100 %), self 25 ns\n"));
  CHECK(hover_says(text, "main 75.0 %"));
}

TEST_CASE("hover: filters hold, and shares are of what they let through") {
  MeasuredFiles files = files_to_hover();
  HoverRequest request;
  request.file = files.of("w.c");
  request.file.filters = parse_filters("keep function read").value();
  request.line = 1;
  const auto filtered = *shown(files, request);
  CHECK(hover_says(filtered, "cpu: total 60 ns (100 %)"));
  CHECK(hover_says(
      filtered,
      "Shares are of what passes the filters, 60 ns of 100 ns; of the whole profile it is 60.0 %."));
  CHECK_FALSE(hover_says(hover(files, 1), "passes the filters"));
  request.line = 2;
  CHECK_FALSE(*shown(files, request));
}

TEST_CASE("hover: Markdown links lead to files of the workspace alone") {
  MeasuredFiles files = files_to_hover();
  const auto text = hover(files, 1, true);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(text->starts_with("**`parse`** w.c:2\n\n"));
  CHECK(hover_says(text, "| metric | self | total | share |"));
  CHECK(hover_says(text, "](file://" + files.path("r.c")));
  // scan's file is not in the workspace.
  const auto other = hover(files, 2, true);
  CHECK(hover_says(other, "`scan`"));
  CHECK_FALSE(hover_says(other, "s.c"));
}

TEST_CASE("hover: names are no markup, no links and no control characters") {
  ProfileBuilder builder;
  const std::string name = "evil`](command:x)<b>\x1b[31m";
  builder.add_metric("sam|ples", "count");
  FunctionSpec evil;
  evil.name = builder.string(name);
  evil.file = builder.string("w.c");
  const FrameId frame = builder.frame({.function = builder.function(evil), .line = 2});
  const FrameId caller = builder.frame({.function = builder.function(std::string_view("[x](http://y)\x07"))});
  const std::int64_t one = 1;
  builder.add_sample(builder.context_of(std::vector<FrameId>{caller, frame}), std::span(&one, 1));
  SerialExecutor serial;
  MeasuredFiles files(std::move(builder).finish(serial, StopToken{}).value(), {{"w.c", "evil\nevil\n"}});
  for (const bool markdown : {true, false}) {
    const auto text = hover(files, 1, markdown);
    REQUIRE(text);
    CAPTURE(*text);
    CHECK_FALSE(hover_says(text, "\x1b"));
    CHECK_FALSE(hover_says(text, "\x07"));
    if (!markdown) continue;
    CHECK(hover_says(text, "``evil`](command:x)<b>"));  // in a code span that the name cannot end
    CHECK(hover_says(text, "`[x](http://y)"));
    CHECK(hover_says(text, "sam\\|ples"));
  }
}

TEST_CASE("hover: the age is told where the time is known") {
  ProfileBuilder builder;
  add_text(builder, "f[w.c:2] 1\n");
  builder.info().time_ns = 1'700'000'000'000'000'000;
  SerialExecutor serial;
  MeasuredFiles files(std::move(builder).finish(serial, StopToken{}).value(), {{"w.c", "f\nf\n"}});
  HoverRequest request;
  request.file = files.of("w.c");
  request.line = 1;
  CHECK_FALSE(hover_says(*shown(files, request), "ago"));
  CHECK(hover_says(*shown(files, request), "2023"));
  request.now_ns = 1'700'000'000'000'000'000 + 3 * 3'600'000'000'000;
  CHECK(hover_says(*shown(files, request), ", 3 h ago"));
}

TEST_CASE("hover: a changed line hover_says whose numbers they are") {
  MeasuredFiles files = files_to_hover();
  const auto document = files.document(kHoveredText);
  REQUIRE(document->change({{TextPosition{1, 2}, TextPosition{1, 6}}}, "write", PositionEncoding::utf8, 2));
  HoverRequest request;
  request.file = files.of("w.c");
  request.file.document = document;
  request.line = 1;
  CHECK(hover_says(*shown(files, request), "the numbers are of what it was"));
}

TEST_CASE("hover: a path that fits several files is told, and nothing guessed") {
  MeasuredFiles files("parse[src/w.c:2] 10\n",
                      {{"a/src/w.c", "parse\nparse\n"}, {"b/src/w.c", "parse\nparse\n"}});
  HoverRequest request;
  request.file = files.of("a/src/w.c");
  request.line = 1;
  const auto text = shown(files, request);
  REQUIRE(text);
  CHECK(hover_says(*text, "fits 2 files equally well"));
  CHECK(hover_says(*text, files.path("b/src/w.c")));
  request.line = 0;  // it has nothing there
  CHECK_FALSE(*shown(files, request));
}

TEST_CASE(
    "hover: a function without lines is told where an open document has its name, and what would help") {
  MeasuredFiles files("main;compute 30\nmain 70\n", {{"w.c", "\nvoid compute() {}\n"}});
  CHECK_FALSE(hover(files, 1));  // nobody reads a file for that
  HoverRequest request;
  request.file = files.of("w.c");
  request.file.document = files.document("\nvoid compute() {}\n");
  request.line = 1;
  const auto text = shown(files, request);
  REQUIRE(text);
  CHECK(hover_says(*text, "compute by its name alone\n\nsamples: total 30 (30.0 %), self 30 (30.0 %)."));
  CHECK(hover_says(*text, "The profile has no line numbers for it."));
  request.line = 0;
  CHECK_FALSE(*shown(files, request));
}

TEST_CASE("hover: of an aggregate, a small plot of what each profile has of the function") {
  const auto run = [](int ns) {
    return "# metrics: cpu/nanoseconds\nmain[m.c:1 start=1];parse[w.c:2 start=1];read[r.c:6 start=5] " +
           std::to_string(ns) + "\n";
  };
  const std::string one = run(10), two = run(20), three = run(60);
  MeasuredFiles files(composed(Composed::aggregate, {one, two, three}).value(), {{"w.c", kHoveredText}});
  const auto text = hover(files, 0);
  REQUIRE(text);
  CAPTURE(*text);
  CHECK(hover_says(
      text,
      "▂▃█ total cpu of parse in 3 of 3 profiles: mean 30 ns, most 60 ns in 3, 100.0 % above the mean"));
  MeasuredFiles single = files_to_hover();
  CHECK_FALSE(hover_says(hover(single, 0), "profiles:"));
}

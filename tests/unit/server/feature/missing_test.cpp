#include "server/feature/missing.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;

namespace {

SelectionPtr selection_by_function(const char* text) {
  auto selection = select(test::profile_from_text(text), ViewSpec{}, StopToken{});
  REQUIRE(selection.has_value());
  return *selection;
}

std::vector<MissingPart> missing_in(const char* text) {
  auto parts = find_missing(*selection_by_function(text), nullptr, StopToken{});
  REQUIRE(parts);
  return *parts;
}

}  // namespace

TEST_CASE("what a profile does not know is counted by self value") {
  const auto parts = missing_in(
      "main[a.c:1];work[a.c:5] 50\nmain[a.c:1];[libc.so.6][module=libc.so.6 unresolved address=0x10] 30\n"
      "main[a.c:1];plain 20\n");
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].kind == MissingKind::symbols);
  CHECK(parts[0].share == "30.0 %");
  CHECK(parts[0].text == "30.0 % of samples is in code without function names.");
  CHECK(parts[1].kind == MissingKind::lines);
  CHECK(parts[1].share == "50.0 %");
  CHECK(parts[1].advice.find("-g") != std::string::npos);
  CHECK(missing_in("main[a.c:1];work[a.c:5] 50\n").empty());
  CHECK(missing_in("main 0\n").empty());
}

TEST_CASE("lines of files that are not named are not called missing lines") {
  const auto parts = missing_in("main[:1] 5\nwork[:7] 4\nplain 1\n");
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].text == "100 % of samples is in code with line numbers of files that are not named.");
}

TEST_CASE("what is said of names and lines is for the kind of code that lacks them") {
  const auto kernel = missing_in("main[a.c:1];[vmlinux][unresolved kind=kernel] 3\nmain[a.c:1] 9\n");
  REQUIRE(kernel.size() == 2);
  CHECK(kernel[0].advice.find("kptr_restrict") != std::string::npos);
  CHECK(missing_in("main[a.c:1];GC[kind=gc] 3\n").empty());
}

TEST_CASE("advice is for the language of the code and the tool that wrote the profile") {
  const auto profile_of = [](const char* format, const char* producer, const char* text) {
    ProfileBuilder builder;
    builder.info().format = format;
    builder.info().producer = producer;
    test::add_text(builder, text);
    auto profile = std::move(builder).finish();
    REQUIRE(profile);
    return *profile;
  };
  const auto lines = [&](const char* format, const char* producer, const char* text = "f 1\n",
                         FrameKind kind = FrameKind::interpreted) {
    return lines_advice(*profile_of(format, producer, text), kind);
  };
  const char* const some = "g[a.py:3] 5\nlen 1\n";
  CHECK(lines("pyinstrument", "", some).find("no lines of Python") != std::string::npos);
  CHECK(lines("pyinstrument", "", "f[a.py:0] 1\n").find("py-spy") != std::string::npos);
  CHECK(lines("stackprof", "", some).find("no lines of Ruby") != std::string::npos);
  CHECK(lines("speedscope", "rbspy 0.12").find("rbspy record") != std::string::npos);
  CHECK(lines("folded", "").find("-g") == std::string::npos);
  CHECK(lines("folded", "", "f[app.py:0] 1\n", FrameKind::native).find("py-spy") != std::string::npos);
  CHECK(lines("perf-script", "", "f 1\n", FrameKind::native).find("--full-source-path") != std::string::npos);
  CHECK(lines("folded", "", "f 1\n", FrameKind::native).find("-g") != std::string::npos);
  for (const char* format : {"pstats", "scalene", "stackprof", "cpuprofile", "jfr"}) {
    const auto selection =
        select(profile_of(format, "", "[lib][unresolved kind=interpreted] 1\n"), ViewSpec{}, StopToken{});
    REQUIRE(selection);
    const auto parts = find_missing(**selection, nullptr, StopToken{});
    REQUIRE(parts);
    for (const MissingPart& part : *parts) {
      CHECK(part.advice.find("stripped") == std::string::npos);
      CHECK(part.advice.find("-g") == std::string::npos);
    }
  }
}

TEST_CASE("code without names is said with its share and the remedy where it is a good part") {
  const auto said = [](const char* text) {
    const auto unnamed = unnamed_text(*selection_by_function(text), StopToken{});
    REQUIRE(unnamed);
    return *unnamed;
  };
  const std::string text = said("main 6\n[libc.so.6][module=libc.so.6 unresolved address=0x10] 4\n");
  CHECK(text.find("40.0 % of samples is in code without function names.") == 0);
  CHECK(text.find("not stripped") != std::string::npos);
  CHECK(said("main 96\n[libc.so.6][module=libc.so.6 unresolved address=0x10] 4\n").empty());
  CHECK(said("main 6\n").empty());
}

TEST_CASE("files that are not in the workspace are missing where a workspace is known") {
  const auto selection = selection_by_function("main[/x/a.c:1];work[/x/b.c:5] 50\n");
  SourceMap map;
  map.profile = selection->profile;
  auto parts = find_missing(*selection, &map, StopToken{});
  REQUIRE(parts);
  REQUIRE(parts->size() == 1);
  CHECK(parts->front().kind == MissingKind::sources);
  CHECK(parts->front().share == "100 %");
  SourceTarget target;
  target.paths = {"/w/b.c"};
  map.targets.emplace("/x/b.c", target);
  CHECK(find_missing(*selection, &map, StopToken{})->empty());
}

TEST_CASE("a view by line of a profile without lines says so") {
  const auto plain = selection_by_function("main;work 5\n");
  CHECK(granularity_note(*plain, Granularity::line).find("no line numbers") != std::string::npos);
  CHECK(granularity_note(*plain, Granularity::address).find("no addresses") != std::string::npos);
  CHECK(granularity_note(*plain, Granularity::function).empty());
  CHECK(granularity_note(*selection_by_function("main;work[a.c:3] 5\n"), Granularity::line).empty());
}

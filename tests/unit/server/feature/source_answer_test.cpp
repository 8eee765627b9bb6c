// A source file as clients get it, and where a path or function of a profile is.
#include "server/feature/source_answer.h"

#include "tests/support/catch.h"
#include "tests/support/measured_files.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kSourceProfile =
    "# metrics: cpu/nanoseconds alloc/bytes\n"
    "main[m.c:1 start=1];parse[w.c:2 start=1];read[w.c:4 start=4] 60 1024\n"
    "main[m.c:1 start=1];parse[w.c:2 start=1] 20 0\n"
    "main[m.c:1 start=1] 20 512\n";

SourceAnswer source_of(MeasuredFiles& files, const AnnotateRequest& request,
                       const std::vector<MetricId>& metrics) {
  auto found = source_answer(files.viewed.views, request, metrics, {});
  REQUIRE(found);
  return std::move(*found);
}

MeasuredFiles source_files() {
  return MeasuredFiles(kSourceProfile, {{"w.c", "parse\n\n\nread\n"}, {"m.c", "main\n"}});
}

ResolveAnswer resolved_in(const MeasuredFiles& files, std::optional<std::string> path,
                          std::optional<std::string> function, std::optional<std::uint32_t> line = {}) {
  return resolve_source({.open = files.viewed.open,
                         .workspace = files.workspace,
                         .path = std::move(path),
                         .function = std::move(function),
                         .line = line});
}

}  // namespace

TEST_CASE("source: the total of a file counts each stack through it once") {
  MeasuredFiles files = source_files();
  const SourceAnswer found = source_of(files, files.of("w.c"), {MetricId{0u}});
  CHECK(whole(found.file_total.value) == 80);
  CHECK(found.file_total.share == 0.8);
  CHECK(found.paths == std::vector<std::string>{"w.c"});
  CHECK(found.metric == "cpu");
  CHECK(found.unit == "ns");
  CHECK(found.functions.size() == 2);
  CHECK_FALSE(found.excluded);
  CHECK(found.estimated.empty());
}

TEST_CASE("source: a column a metric that is asked for, a row a line") {
  MeasuredFiles files = source_files();
  const SourceAnswer found = source_of(files, files.of("w.c"), {MetricId{0u}, MetricId{1u}});
  REQUIRE(found.file.lines.size() == 2);
  REQUIRE(found.columns.size() == 2);
  CHECK(found.columns[0].metric == "cpu");
  CHECK(found.columns[1].metric == "alloc");
  CHECK(found.columns[1].unit == "bytes");
  CHECK(whole(*found.columns[0].total[0]) == 80);
  CHECK(whole(*found.columns[0].self[0]) == 20);
  CHECK(whole(*found.columns[1].total[1]) == 1024);
  CHECK(found.columns[1].total_text[1] == "1.00 KiB");
}

TEST_CASE("source: of a file that the profile has nothing on there are no paths, no columns, no total") {
  MeasuredFiles files(kSourceProfile, {{"z.c", "nothing\n"}});
  const SourceAnswer found = source_of(files, files.of("z.c"), {MetricId{0u}});
  CHECK(found.paths.empty());
  CHECK(found.columns.empty());
  CHECK(whole(found.file_total.value) == 0);
  CHECK(found.functions.empty());
  CHECK_FALSE(found.evidence);
}

TEST_CASE("source: what filters by thread could not decide on is told") {
  MeasuredFiles files("f[w.c:1] 3 {thread=t}\nf[w.c:1] 4\n", {{"w.c", "f\n"}});
  AnnotateRequest request = files.of("w.c");
  request.filters = parse_filters("thread t").value();
  const SourceAnswer found = source_of(files, request, {MetricId{0u}});
  CHECK(whole(found.file_total.value) == 3);
  REQUIRE(found.excluded);
  CHECK(whole(found.excluded->amount.value) == 4);
}

TEST_CASE("source: a doubt about the file is said with its kind") {
  MeasuredFiles files("f[w.c:90 start=88] 3\n", {{"w.c", "f\n"}});
  const SourceAnswer found = source_of(files, files.of("w.c"), {MetricId{0u}});
  REQUIRE(found.evidence);
  CHECK_FALSE(found.evidence->text.empty());
  CHECK((found.evidence->doubt != Doubt::none || found.evidence->uncertain));
  MeasuredFiles sure = source_files();
  CHECK_FALSE(source_of(sure, sure.of("w.c"), {MetricId{0u}}).evidence);
}

TEST_CASE("resolve: a path is the one file that it fits, at the line asked for") {
  const MeasuredFiles files(kSourceProfile, {{"src/w.c", "parse\n\n\nread\n"}});
  const ResolveAnswer found = resolved_in(files, "/build/x/src/w.c", {}, 4);
  REQUIRE(found.places.size() == 1);
  CHECK(found.places[0].path == files.path("src/w.c"));
  CHECK(found.places[0].line == 4);
  CHECK(found.places[0].wanted == "/build/x/src/w.c");
  CHECK(found.text == "w.c:4");
  CHECK(found.symbol.empty());
  CHECK(resolved_in(files, "/build/x/src/w.c", {}).text == "w.c");
}

TEST_CASE("resolve: several files that fit equally well are all told, and none that fits is said") {
  const MeasuredFiles files(kSourceProfile, {{"a/src/w.c", "parse\n"}, {"b/src/w.c", "parse\n"}});
  const ResolveAnswer several = resolved_in(files, "src/w.c", {});
  CHECK(several.places.size() == 2);
  CHECK(several.text == "2 files match equally well");
  const ResolveAnswer none = resolved_in(files, "src/nothing.c", {});
  CHECK(none.places.empty());
  CHECK(none.text == "no file of the workspace matches");
}

TEST_CASE("resolve: a function is where the profile says it begins, and is called as it is written") {
  MeasuredFiles files("a::b::parse(int)[w.c:2 start=7] 1\n", {{"w.c", "\n\n\n\n\n\nvoid parse(int) {}\n"}});
  const ResolveAnswer found = resolved_in(files, {}, "a::b::parse(int)");
  REQUIRE(found.places.size() == 1);
  CHECK(found.places[0].line == 7);
  CHECK(found.symbol == "parse");
  CHECK(resolved_in(files, {}, "nobody").places.empty());
}

TEST_CASE("resolve: a path goes before a function, and a place is told once") {
  const MeasuredFiles files("parse[w.c:2 start=1] 1\nparse[x.c:2 start=9] 1\n",
                            {{"w.c", "parse\n\n"}, {"x.c", "\n\n\n\n\n\n\n\nparse\n"}});
  const ResolveAnswer both = resolved_in(files, "x.c", "parse");
  REQUIRE(both.places.size() == 1);
  CHECK(both.places[0].path == files.path("x.c"));
  CHECK(both.symbol == "parse");
  CHECK(resolved_in(files, {}, "parse").places.size() == 2);
}

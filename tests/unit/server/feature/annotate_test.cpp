// Hints, heat and lenses of a file: which lines have them, where they stand, and what they say.
#include "server/feature/annotate.h"

#include "tests/support/catch.h"
#include "tests/support/measured_files.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kAnnotatedText =
    "int parse() {\n"  // 1
    "  read();\n"      // 2
    "  scan();\n"      // 3
    "}\n"              // 4
    "int read() {\n"   // 5
    "  return 0;\n"    // 6
    "}\n";             // 7
constexpr const char* kAnnotatedProfile =
    "main[m.c:1 start=1];parse[src/w.c:2 start=1];read[src/w.c:6 start=5] 64\n"
    "main[m.c:1 start=1];parse[src/w.c:3 start=1] 16\n"
    "other[m.c:9 start=8];read[src/w.c:6 start=5] 10\n"
    "main[m.c:2 start=1] 10\n";

MeasuredFiles files_to_annotate() {
  return MeasuredFiles(kAnnotatedProfile, {{"src/w.c", kAnnotatedText}, {"m.c", "main other\n"}});
}

FileAnnotations annotated(MeasuredFiles& files, const AnnotateRequest& request) {
  auto found = annotate_file(files.viewed.views, request, {});
  REQUIRE(found);
  return std::move(*found);
}

std::vector<std::uint32_t> annotated_lines(const FileAnnotations& file) {
  std::vector<std::uint32_t> lines;
  for (const AnnotatedLine& line : file.lines) lines.push_back(line.line);
  return lines;
}

}  // namespace

TEST_CASE("annotations: the lines that cost something, by rising line, with share and value") {
  MeasuredFiles files = files_to_annotate();
  const FileAnnotations file = annotated(files, files.of("src/w.c"));
  CHECK(annotated_lines(file) == std::vector<std::uint32_t>{1, 2, 5});
  CHECK(file.lines[0].source_line == 2);
  CHECK(file.lines[0].text == "64.0 %  64");
  CHECK(file.lines[1].text == "16.0 %  16 · self 16.0 %");
  CHECK(file.lines[2].text == "74.0 %  74 · self 74.0 %");
  CHECK(whole(file.whole.total) == 100);
  for (const AnnotatedLine& line : file.lines) {
    CHECK_FALSE(line.changed);
    CHECK_FALSE(line.stale);
    CHECK_FALSE(line.is_function);
  }
}

TEST_CASE("annotations: heat is the root of the share of the hottest line, which is first of the hottest") {
  MeasuredFiles files = files_to_annotate();
  const FileAnnotations file = annotated(files, files.of("src/w.c"));
  CHECK(file.lines[2].heat == 1.0);
  CHECK(file.lines[1].heat == Approx(std::sqrt(16.0 / 74.0)));
  CHECK(file.hottest == std::vector<std::uint32_t>{5, 1, 2});
}

TEST_CASE("annotations: lines below the threshold are counted and left out") {
  MeasuredFiles files = files_to_annotate();
  AnnotateRequest request = files.of("src/w.c");
  request.threshold = 0.2;
  const FileAnnotations file = annotated(files, request);
  CHECK(annotated_lines(file) == std::vector<std::uint32_t>{1, 5});
  CHECK(file.n_below == 1);
}

TEST_CASE("annotations: at most ten lines are the hottest") {
  std::string profile, text;
  for (int line = 1; line <= 14; ++line) {
    profile += "f[a.c:" + std::to_string(line) + "] " + std::to_string(line) + "\n";
    text += "f\n";
  }
  MeasuredFiles files(profile, {{"a.c", text}});
  const FileAnnotations file = annotated(files, files.of("a.c"));
  CHECK(file.lines.size() == 14);
  REQUIRE(file.hottest.size() == 10);
  CHECK(file.hottest.front() == 13);
  CHECK(file.hottest.back() == 4);
}

TEST_CASE("annotations: of a file that the profile does not name there is nothing, and the whole is told") {
  MeasuredFiles files(kAnnotatedProfile, {{"src/w.c", kAnnotatedText}, {"z.c", "nothing\n"}});
  const FileAnnotations file = annotated(files, files.of("z.c"));
  CHECK(file.files.empty());
  CHECK(file.lines.empty());
  CHECK(file.values == nullptr);
  CHECK(whole(file.whole.total) == 100);
}

TEST_CASE("annotations: filters hold, and shares are of what they let through") {
  MeasuredFiles files = files_to_annotate();
  AnnotateRequest request = files.of("src/w.c");
  request.filters = parse_filters("drop function other | drop function /^main$/").value();
  CHECK(annotated(files, request).lines.empty());
  request.filters = parse_filters("keep function other").value();
  const FileAnnotations file = annotated(files, request);
  REQUIRE(annotated_lines(file) == std::vector<std::uint32_t>{5});
  CHECK(file.lines[0].text == "100 %  10 · self 100 %");
}

TEST_CASE("annotations: edits move hints, and a line that was changed says so") {
  MeasuredFiles files = files_to_annotate();
  const auto document = files.document(kAnnotatedText);
  REQUIRE(
      document->change({{TextPosition{0, 0}, TextPosition{0, 0}}}, "// new\n", PositionEncoding::utf8, 2));
  REQUIRE(document->change({{TextPosition{3, 2}, TextPosition{3, 6}}}, "SCAN", PositionEncoding::utf8, 3));
  AnnotateRequest request = files.of("src/w.c");
  request.document = document;
  const FileAnnotations file = annotated(files, request);
  CHECK(annotated_lines(file) == std::vector<std::uint32_t>{2, 3, 6});
  CHECK_FALSE(file.lines[0].changed);
  CHECK(file.lines[1].changed);
  CHECK(file.lines[1].stale);
  CHECK(file.lines[1].text.starts_with("~"));
  CHECK(file.lines[1].source_line == 3);
}

TEST_CASE("annotations: a file without lines has its functions' costs on the lines they begin on") {
  MeasuredFiles files("main;parse[src/w.c:0 start=1] 30\nmain;read[src/w.c:0 start=5] 70\n",
                      {{"src/w.c", kAnnotatedText}});
  const FileAnnotations file = annotated(files, files.of("src/w.c"));
  REQUIRE(annotated_lines(file) == std::vector<std::uint32_t>{0, 4});
  CHECK(file.lines[0].is_function);
  CHECK(file.lines[0].text.ends_with(" · function"));
}

TEST_CASE("annotations: functions of a file are the hottest first, lenses by line, with callers") {
  MeasuredFiles files = files_to_annotate();
  const auto hottest = functions_of_file(files.viewed.views, files.of("src/w.c"), {});
  REQUIRE(hottest);
  REQUIRE(hottest->size() == 2);
  CHECK((*hottest)[0].name == "parse");
  CHECK(whole((*hottest)[0].total) == 80);
  CHECK((*hottest)[0].text.empty());
  const auto lenses = annotate_functions(files.viewed.views, files.of("src/w.c"), {});
  REQUIRE(lenses);
  REQUIRE(lenses->size() == 2);
  CHECK((*lenses)[0].line == 0);
  CHECK((*lenses)[0].text == "total 80.0 % · self 16.0 % · 1 caller");
  CHECK((*lenses)[1].line == 4);
  CHECK((*lenses)[1].text == "total 74.0 % · self 74.0 % · 2 callers · worst: parse 86.5 %");
}

TEST_CASE("annotations: a threshold holds for functions, too, and lenses stop at 200") {
  MeasuredFiles files = files_to_annotate();
  AnnotateRequest request = files.of("src/w.c");
  request.threshold = 0.75;
  CHECK(functions_of_file(files.viewed.views, request, {})->size() == 1);
  std::string profile, text;
  for (int i = 1; i <= 210; ++i) {
    const std::string name = "fn" + std::to_string(i), line = std::to_string(i);
    profile += name + "[many.c:" + line + " start=" + line + "] " + std::to_string(i) + "\n";
    text += name + "\n";
  }
  MeasuredFiles many(profile, {{"many.c", text}});
  const auto lenses = annotate_functions(many.viewed.views, many.of("many.c"), {});
  REQUIRE(lenses);
  REQUIRE(lenses->size() == 200);
  CHECK(lenses->front().name == "fn11");  // the ten that cost least have none
}

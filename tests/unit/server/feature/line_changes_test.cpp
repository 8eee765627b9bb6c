// What hints, lenses, hovers and listings say of the lines of a diff: what each side has where it stands now.
#include "server/feature/line_changes.h"

#include <random>

#include <fmt/format.h>

#include "server/feature/hover.h"
#include "server/feature/hover_text.h"
#include "server/feature/source_answer.h"
#include "tests/support/catch.h"
#include "tests/support/composed.h"
#include "tests/support/measured_files.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kChangedText =
    "int parse() {\n"  // 1
    "  read();\n"      // 2
    "  scan();\n"      // 3
    "}\n"              // 4
    "int draw() {\n"   // 5
    "  return 0;\n"    // 6
    "}\n";             // 7

// A metric of which nobody knows how many samples it was made of: nothing is said of noise.
constexpr const char* kCost = "# metrics: cost/count\n";

MeasuredFiles diff_files(const std::string& before, const std::string& after,
                         const std::string& text = kChangedText) {
  return MeasuredFiles(composed(Composed::diff, {before, after}).value(), {{"src/w.c", text}});
}

// "2: +50.0 %  +30"
std::vector<std::string> hints_of(MeasuredFiles& files, const AnnotateRequest& request) {
  const auto found = annotate_file(files.viewed.views, request, {});
  REQUIRE(found);
  std::vector<std::string> out;
  for (const AnnotatedLine& line : found->lines)
    out.push_back(fmt::format("{}: {}", line.line + 1, line.text));
  return out;
}
std::vector<std::string> hints_of(MeasuredFiles& files) {
  return hints_of(files, files.of("src/w.c"));
}

std::vector<std::string> lenses_of(MeasuredFiles& files, const AnnotateRequest& request) {
  const auto found = annotate_functions(files.viewed.views, request, {});
  REQUIRE(found);
  std::vector<std::string> out;
  for (const FunctionCost& one : *found)
    out.push_back(fmt::format("{}: {} {}", one.line + 1, one.name, one.text));
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("lines of a diff say what became of them: more, less, new, gone, the same") {
  MeasuredFiles files = diff_files(std::string(kCost) +
                                       "parse[src/w.c:2 start=1] 80\nparse[src/w.c:3 start=1] 20\n"
                                       "draw[src/w.c:5 start=5] 10\ndraw[src/w.c:7 start=5] 4\n",
                                   std::string(kCost) +
                                       "parse[src/w.c:2 start=1] 90\nparse[src/w.c:3 start=1] 15\n"
                                       "draw[src/w.c:6 start=5] 7\ndraw[src/w.c:7 start=5] 4\n");
  CHECK(hints_of(files) ==
        Texts{"2: +12.5 %  +10", "3: -25.0 %  -5", "5: [D]  -10", "6: [A]  +7", "7: [=]  4"});
  CHECK(lenses_of(files, files.of("src/w.c")) ==
        Texts{"1: parse total +5 (+5.0 %) · self +5 (+5.0 %)", "5: draw total -3 (-21 %) · self -3 (-21 %)"});
}

TEST_CASE("strength is signed and of the largest change; what may be noise has none") {
  MeasuredFiles files = diff_files("parse[src/w.c:2 start=1] 1000\ndraw[src/w.c:6 start=5] 5000\n",
                                   "parse[src/w.c:2 start=1] 1600\ndraw[src/w.c:6 start=5] 4980\n");
  const auto found = annotate_file(files.viewed.views, files.of("src/w.c"), {});
  REQUIRE(found);
  REQUIRE(found->lines.size() == 2);
  CHECK(found->lines[0].text == "+60.0 %  +600");
  CHECK(found->lines[0].change->strength == 1);
  CHECK(found->lines[0].change->total_standing == Standing::stands_out);
  CHECK(found->lines[1].text == "~ -0.4 %  -20");
  CHECK(found->lines[1].change->strength == 0);
  CHECK(found->hottest == std::vector<std::uint32_t>{1});
  CHECK(lenses_of(files, files.of("src/w.c"))[0].find("beyond noise") != std::string::npos);
}

TEST_CASE("lines before whose text is not known move with their function, and are not certain") {
  // Three lines above the function are new.
  const std::string text = std::string("//\n//\n//\n") + kChangedText;
  MeasuredFiles files = diff_files(std::string(kCost) + "parse[src/w.c:2 start=1] 60\n",
                                   std::string(kCost) + "parse[src/w.c:5 start=4] 90\n", text);
  CHECK(hints_of(files) == Texts{"5: ~+50.0 %  +30"});
  const auto hover = hover_at(files.viewed.views, {files.of("src/w.c"), 4, std::nullopt}, {});
  REQUIRE(hover);
  REQUIRE(*hover);
  CHECK((*hover)->name == "parse");
  CHECK((*hover)->n_others == 0);
  REQUIRE((*hover)->notes.size() == 1);
  CHECK((*hover)->notes[0].find("its line 2") != std::string::npos);
}

TEST_CASE("a function that is not in the text any more is on no line") {
  MeasuredFiles files =
      diff_files(std::string(kCost) + "parse[src/w.c:2 start=1] 60\nlegacy[src/w.c:6 start=5] 40\n",
                 std::string(kCost) + "parse[src/w.c:2 start=1] 60\ndraw[src/w.c:6 start=5] 5\n");
  CHECK(hints_of(files) == Texts{"2: ~[=]  60", "6: [A]  +5"});
  CHECK(lenses_of(files, files.of("src/w.c")).size() == 2);
}

TEST_CASE(
    "a line before that made other calls than the line there is on the one that makes the same, or on none") {
  // Before, a call of legacy() stood between the two others, and another function above.
  const std::string text =
      "void top() {\n"  // 1
      "  first();\n"    // 2
      "  second();\n"   // 3
      "  third();\n"    // 4
      "}\n"
      "void second() {}\n";  // 6
  const auto stacks = [](int second, std::initializer_list<std::pair<std::string, int>> calls) {
    std::string out = kCost;
    int line = 2;
    for (const auto& [name, value] : calls)
      out += fmt::format(
          "top[src/w.c:{} start=1];{} {}\n", line++,
          name == "second" ? fmt::format("second[src/w.c:{0} start={0}]", second) : name + "[lib.c:5]",
          value);
    return out;
  };
  MeasuredFiles files = diff_files(stacks(7, {{"first", 10}, {"legacy", 40}, {"second", 20}}),
                                   stacks(6, {{"first", 15}, {"second", 30}, {"third", 5}}), text);
  const std::vector<std::string> hints = hints_of(files);
  REQUIRE(hints.size() >= 3);
  CHECK(hints[0] == "2: ~+50.0 %  +5");
  CHECK(hints[1] == "3: ~+50.0 %  +10");
  // What legacy() was called from is gone: nothing says that this is new.
  CHECK(hints[2] == "4: ~[A]  +5");
}

TEST_CASE("what was measured on lines that are gone is counted to the function") {
  MeasuredFiles files =
      diff_files(std::string(kCost) + "parse[src/w.c:2 start=1] 60\nparse[src/w.c:3 start=1] 10\n",
                 std::string(kCost) + "parse[src/w.c:2 start=1] 60\nparse[src/w.c:3 start=1] 30\n");
  AnnotateRequest request = files.of("src/w.c");
  const auto document = files.document(kChangedText);
  REQUIRE(document->change(std::pair{TextPosition{2, 0}, TextPosition{3, 0}}, "", PositionEncoding::utf8, 2));
  request.document = document;
  CHECK(hints_of(files, request) == Texts{"2: [=]  60"});
  CHECK(lenses_of(files, request) ==
        Texts{"1: parse total +20 (+29 %) · self +20 (+29 %) · on no line here: 10 before, 30 after"});
}

TEST_CASE("functions of which no line is known stand where they begin") {
  MeasuredFiles files =
      diff_files(std::string(kCost) + "parse[src/w.c:0 start=1] 60\ndraw[src/w.c:0 start=5] 10\n",
                 std::string(kCost) + "parse[src/w.c:0 start=1] 30\n");
  CHECK(hints_of(files) == Texts{"1: -50.0 %  -30 · function", "5: [D]  -10 · function"});
}

TEST_CASE("filters hold in the lines of a diff, those of its inputs too") {
  const std::string
      before = std::string(kCost) +
               "main;parse[src/w.c:2 start=1] 10 {thread=a}\nmain;parse[src/w.c:2 start=1] 20 {thread=b}\n"
               "main;draw[src/w.c:6 start=5] 5 {thread=a}\n",
      after = std::string(kCost) +
              "main;parse[src/w.c:2 start=1] 17 {thread=a}\nmain;parse[src/w.c:2 start=1] 90 {thread=b}\n"
              "main;draw[src/w.c:6 start=5] 9 {thread=a}\n";
  MeasuredFiles files = diff_files(before, after);
  AnnotateRequest request = files.of("src/w.c");
  request.filters = spec_from("top-down | keep thread a").filters;
  CHECK(hints_of(files, request) == Texts{"2: +70.0 %  +7", "6: +80.0 %  +4"});
  request.filters = spec_from("top-down | drop function parse").filters;
  CHECK(hints_of(files, request) == Texts{"6: +80.0 %  +4"});
  request.filters = spec_from("top-down | hide function draw").filters;
  CHECK(hints_of(files, request) == Texts{"2: +256.7 %  +77"});
}

TEST_CASE("a hover on a line of a diff has both sides of every metric") {
  MeasuredFiles files =
      diff_files("# metrics: cost/count size/bytes\nmain;parse[src/w.c:2 start=1] 60 1024\n",
                 "# metrics: cost/count size/bytes\nmain;parse[src/w.c:2 start=1] 90 1024\n");
  const auto hover = hover_at(files.viewed.views, {files.of("src/w.c"), 1, std::nullopt}, {});
  REQUIRE(hover);
  REQUIRE(*hover);
  const std::string text = hover_markdown(**hover);
  CHECK(text.find("| metric | before | after | change |") != std::string::npos);
  CHECK(text.find("| cost | 60 | 90 | +30 (+50 %) |") != std::string::npos);
  CHECK(text.find("| size self | 1.00 KiB | 1.00 KiB |") != std::string::npos);
}

TEST_CASE("a source answer of a diff has both sides as columns") {
  MeasuredFiles files = diff_files(std::string(kCost) + "parse[src/w.c:2 start=1] 60\n",
                                   std::string(kCost) + "parse[src/w.c:2 start=1] 90\n");
  const AnnotateRequest request = files.of("src/w.c");
  const auto answer = source_answer(files.viewed.views, request, {request.metric}, {});
  REQUIRE(answer);
  REQUIRE(answer->changes);
  CHECK(answer->changes->total_change == Texts{"+30 (+50 %)"});
  CHECK(answer->changes->self_before == std::vector<Value>{Value{60L}});
  CHECK(answer->columns[0].total == std::vector<std::optional<Value>>{Value{90L}});
  CHECK(answer->file_total.value == Value{90L});
  REQUIRE(answer->function_changes);
  CHECK(answer->function_changes->change == std::vector<Change>{Change::more});
}

TEST_CASE("lines of an aggregate are the sums of its inputs'") {
  MeasuredFiles files(composed(Composed::aggregate, {std::string(kCost) + "parse[src/w.c:2 start=1] 60\n",
                                                     std::string(kCost) + "parse[src/w.c:2 start=1] 20\n"
                                                                          "parse[src/w.c:3 start=1] 20\n"})
                          .value(),
                      {{"src/w.c", kChangedText}});
  CHECK(hints_of(files) == Texts{"2: 80.0 %  80 · self 80.0 %", "3: 20.0 %  20 · self 20.0 %"});
}

TEST_CASE("law: the changes of its lines and of what is on none add up to the change of a function") {
  std::mt19937_64 rng(7);
  const auto below = [&](std::uint64_t n) { return rng() % n; };
  for (int round = 0; round < 60; ++round) {
    // Three functions of ten lines; before they begin elsewhere in every other round.
    const auto frame = [&](std::uint64_t shift) {
      const std::uint64_t begin = below(3) * 10 + 1;
      const std::string line =
          below(5) == 0 ? std::string("src/w.c:0") : fmt::format("src/w.c:{}", begin + shift + below(9));
      return fmt::format("f{}[{} start={}]", begin / 10, line, begin + shift);
    };
    const auto side = [&](std::uint64_t shift) {
      std::string text = kCost;
      for (int stack = 0; stack < 12; ++stack) {
        const std::string outer = frame(shift), inner = frame(shift);
        text += fmt::format("{};{} {}\n", outer, inner, below(50) + 1);
      }
      return text;
    };
    std::string source;
    for (int line = 0; line < 40; ++line)
      source += line % 10 == 0 ? fmt::format("f{}() {{\n", line / 10) : "x\n";
    MeasuredFiles files = diff_files(side(round % 2 == 1 ? 4 : 0), side(0), source);
    AnnotateRequest request = files.of("src/w.c");
    const auto document = files.document(source);
    const auto gone = static_cast<std::uint32_t>(below(39));
    REQUIRE(document->change(std::pair{TextPosition{gone, 0}, TextPosition{gone + 1, 0}}, "",
                             PositionEncoding::utf8, 2));
    if (round % 3 != 0) request.document = document;
    const auto lines = annotate_file(files.viewed.views, request, {});
    REQUIRE(lines);
    std::int64_t of_lines = 0, of_functions = 0, unplaced = 0;
    for (const AnnotatedLine& line : lines->lines)
      of_lines += whole(line.change->self_after) - whole(line.change->self_before);
    const UnplacedByKey nowhere =
        unplaced_selfs(files.viewed.views, request, *lines->sides, *lines->selection->boxes->keys, {})
            .value();
    for (const auto& [key, selfs] : nowhere) unplaced += whole(selfs.after) - whole(selfs.before);
    for (const bool after : {false, true}) {
      ViewSpec spec = annotation_spec(request);
      spec.metric = after ? "cost" : "cost before";
      const auto flat = files.viewed.views.flat(*files.viewed.open, spec, {});
      REQUIRE(flat);
      for (const Value& self : (*flat)->self) of_functions += (after ? 1 : -1) * whole(self);
    }
    CAPTURE(round);
    CHECK(of_lines + unplaced == of_functions);
  }
}

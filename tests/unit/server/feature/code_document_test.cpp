// Code as a text in an editor, and what is asked about its lines.
#include "server/feature/code_document.h"

#include "tests/support/catch.h"
#include "tests/support/four_rows.h"

using namespace profd;
using namespace profd::test;

namespace {

CodeDocument document_of(DisassemblyAnswer answer, bool costs = false, std::vector<PieceRow> others = {}) {
  return code_document(std::move(answer), std::move(others), "test", costs,
                       [](const std::string&, std::uint32_t line) {
                         return std::optional("  line " + std::to_string(line) + "\t");
                       });
}

CodeDocument document_of_f(bool costs = false) {
  const Program program;
  auto answer = answer_of(program.profile, function("f"));
  REQUIRE(answer);
  answer->paths = {"/w/a.cc"};
  return document_of(std::move(*answer), costs);
}

}  // namespace

TEST_CASE("code is a text: blocks, what rows are of, jumps, targets") {
  CHECK(document_of_f().text() ==
        "; f  cpu of test: self 30.0 %, total 90.0 %  app+0x1000, 16 bytes\n"
        "; cpu may skid: the cost of an instruction can stand on one behind it; cycles:pp does not\n"
        "; between instructions: 10.0 %\n"
        "\n"
        "           ; block 1 of 2, in a loop\n"
        "           ; a.cc:10  line 10\n"
        "+0x0     ,>  add\n"
        "         | ; mix a.cc:20 > a.cc:10  line 20\n"
        "+0x4     |   call  g\n"
        "         | ; a.cc:10  line 10\n"
        "+0x8     '-  jne  +0x0\n"
        "           ; block 2 of 2\n"
        "           ; a.cc:10  line 10\n"
        "+0xc         ret\n");
}

TEST_CASE("an editor without hints has the shares in the text") {
  const CodeDocument document = document_of_f(true);
  CHECK(document.lines[6] == "  20.0 %   20.0 % +0x0     ,>  add");
  CHECK(document.lines[8] == "     0 %   60.0 % +0x4     |   call  g");
  CHECK(document.lines[4].ends_with("; block 1 of 2, in a loop, self 20.0 %"));
}

TEST_CASE("what branch stacks saw stands behind rows and blocks, in hints and in hovers") {
  auto answer = answer_of(Program(true).profile, function("f"));
  REQUIRE(answer);
  const CodeDocument document = document_of(std::move(*answer));
  CHECK(document.lines[2].starts_with("; executed: counted in 200 runs between branches"));
  CHECK(document.lines[document.line_of_block[0]].ends_with("; block 1 of 2, in a loop, executed 100 times"));
  CHECK(document.lines[document.line_of_row[0]] == "+0x0     ,>  add");
  CHECK(document.lines[document.line_of_row[2]] ==
        "+0x8     '-  jne  +0x0  ; taken 80.0 % (80), mispredicted 5.0 %, 3.00 cycles");
  CHECK(document.lines[document.line_of_row[3]].ends_with(
      "ret  ; taken 75.0 % (15) to g+0x4; taken 25.0 % (5) to app+0x3001"));
  const auto hints = code_hints(document);
  REQUIRE(hints.size() == 3);
  CHECK(hints[1].text == "20.0 %  2 · executed 100");
  const auto hover = code_hover(document, document.line_of_row[2]);
  REQUIRE(hover);
  const auto told = [&](std::string_view remark) {
    return std::find(hover->remarks.begin(), hover->remarks.end(), remark) != hover->remarks.end();
  };
  CHECK(told("executed 100 times"));
  CHECK(told("taken 80.0 % (80), mispredicted 5.0 %, 3.00 cycles"));
  CHECK(told("block 1 of 2, in a loop, executed 100 times: self 20.0 %"));
}

TEST_CASE("hints say what rows and blocks cost, and of what costs nothing there is none") {
  std::vector<std::string> told;
  for (const CodeHint& hint : code_hints(document_of_f())) {
    told.push_back(std::to_string(hint.line) + ": " + hint.text);
  }
  CHECK(told == std::vector<std::string>{"4: self 20.0 %", "6: 20.0 %  2", "8: 60.0 %  6"});
}

TEST_CASE("blocks fold, and what a call was inlined as within them") {
  const auto folds = [](const CodeDocument& document) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
    for (const CodeFold& fold : code_folds(document)) out.emplace_back(fold.first, fold.last);
    return out;
  };
  using Folds = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  CHECK(folds(document_of_f()) == Folds{{4, 10}, {11, 13}});
  const Program program;
  auto answer = answer_of(program.profile, function("f"));
  REQUIRE(answer);
  answer->rows.inlined = {-1, 0, 0, 0};  // goes on behind the block, where it is a run of its own
  answer->headings = {{0, 1}, {1, 3}, {"a.cc:10", "mix a.cc:20 > a.cc:10"}};
  const CodeDocument document = document_of(std::move(*answer));
  CHECK(document.line_of_row == std::vector<std::uint32_t>{6, 8, 9, 12});
  CHECK(folds(document) == Folds{{4, 9}, {7, 9}, {10, 12}});
}

TEST_CASE("an instruction says all metrics, its chain, bytes, and what jumps to it") {
  const CodeDocument document = document_of_f();
  CHECK(!code_hover(document, 5));
  CHECK(!code_hover(document, 100));
  const auto call = code_hover(document, 8);
  REQUIRE(call);
  CHECK(call->name == "call");
  CHECK(call->place == "+0x4 of f");
  CHECK(call->inlined);
  REQUIRE(call->rows.size() == 2);  // the metric of the view, and the further one that was asked for
  CHECK(call->rows[0].metric == "cpu");
  CHECK(call->rows[0].self == "0");
  CHECK(call->rows[0].total == "6");
  CHECK(call->rows[0].share == "60.0 %");
  CHECK(call->rows[1].total == "6");
  CHECK(call->remarks ==
        std::vector<std::string>{
            "mix a.cc:20 > a.cc:10: line 20", "bytes 78 78 78 78", "calls g",
            "block 1 of 2, in a loop: self 20.0 %",
            "cpu may skid: the cost of an instruction can stand on one behind it; cycles:pp does not"});
  const auto add = code_hover(document, 6);
  REQUIRE(add);
  CHECK(add->remarks[2] == "reached by jumps from +0x8");
  CHECK(code_hover(document, 10)->remarks[2] == "jumps to +0x0");
}

TEST_CASE("jumps and calls lead to code, all else to the source") {
  const CodeDocument document = document_of_f();
  CHECK(code_link(document, 10)->line == 6);
  const auto call = code_link(document, 8);
  REQUIRE(call);
  CHECK(call->code == "app+0x2000");
  CHECK(call->name == "g");
  for (const auto& [line, source] : {std::pair(6, 10), {7, 20}, {9, 10}, {11, 10}, {13, 10}}) {
    const auto link = code_link(document, static_cast<std::uint32_t>(line));
    REQUIRE(link);
    CHECK(link->path == "/w/a.cc");
    CHECK(link->path_line == static_cast<std::uint32_t>(source));
  }
  CHECK(!code_link(document, 0));
  CHECK(!code_link(document, 100));
}

TEST_CASE("further code of a function stands above its rows, and leads there") {
  const Program program;
  auto answer = answer_of(program.profile, function("f"));
  REQUIRE(answer);
  std::vector<PieceRow> others(10, answer->pieces[0]);
  for (std::size_t i = 0; i < others.size(); ++i) others[i].start = 0x5000 + i;
  others[1].name = "main";
  const CodeDocument document = document_of(std::move(*answer), false, std::move(others));
  CHECK(document.lines[3] == "; also app+0x5000: self 30.0 %");
  CHECK(document.lines[4] == "; also in main  app+0x5001: self 30.0 %");
  CHECK(document.lines[11] == "; and 2 more");
  CHECK(document.lines[12].empty());
  CHECK(code_link(document, 3)->code == "app+0x5000");
  CHECK(code_link(document, 4)->name == "main");
  CHECK(!code_link(document, 11));
}

TEST_CASE("a call of what the profile has no code of leads nowhere") {
  const Program program;
  auto answer = answer_of(program.profile, function("f"));
  REQUIRE(answer);
  answer->rows.target_code[1].clear();
  CHECK(!code_link(document_of(std::move(*answer)), 8));
}

TEST_CASE("what keeps code from being shown stands in its text") {
  const Program program;
  auto answer = answer_of(program.profile, function("f"), nullptr, "no binary");
  REQUIRE(answer);
  const CodeDocument document = document_of(std::move(*answer));
  CHECK(document.lines[1] == "; no binary");
  CHECK(code_hints(document).empty());
  CHECK(code_folds(document).empty());
  CHECK(!code_link(document, 1));
}

TEST_CASE("a lens says the size, the copies and the hottest instruction") {
  const Program program;
  CHECK(code_lens_text(*answer_of(program.profile, function("f"))) == "asm 16 B, hottest 20.0 % add +0x0");
  CHECK(code_lens_text(*answer_of(program.profile, {})).starts_with("asm 8 B, 2 copies"));
  CHECK(code_lens_text(*answer_of(program.profile, function("f"), nullptr, "no binary")) ==
        "asm 16 B: no binary");
}

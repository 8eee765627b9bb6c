// Machine code as clients get it, from instructions that are written down here.
#include "server/feature/disassembly_answer.h"

#include "server/engine/workspace_files.h"
#include "server/feature/code_headings.h"
#include "server/feature/code_notes.h"
#include "tests/support/catch.h"
#include "tests/support/four_rows.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("a function is shown with costs, targets, blocks and what was inlined") {
  const Program program;
  CodeQuestion asked;
  const auto answer = answer_of(program.profile, function("f"), &asked);
  REQUIRE(answer);
  CHECK(asked.name == "/b/app");
  CHECK(asked.build_id == "a1");
  CHECK(asked.start == 0x1000);
  CHECK(asked.size == 16);
  REQUIRE(answer->pieces.size() == 1);
  CHECK(answer->pieces[0].name == "f");
  CHECK(whole(answer->pieces[0].self.value) == 3);
  CHECK(whole(answer->pieces[0].total.value) == 9);
  const InstructionColumns& rows = answer->rows;
  CHECK(rows.text == std::vector<std::string>{"add", "call", "jne", "ret"});
  CHECK(rows.self == std::vector<Value>{2L, 0L, 0L, 0L});
  CHECK(rows.total == std::vector<Value>{2L, 6L, 0L, 0L});
  CHECK(rows.heat[0] == 1);
  CHECK(rows.target == std::vector<std::int64_t>{-1, -1, 0, -1});
  CHECK(rows.target_name == std::vector<std::string>{"", "g", "", ""});
  CHECK(rows.block == std::vector<std::uint32_t>{0, 0, 0, 1});
  CHECK(answer->blocks.loop_depth == std::vector<std::uint32_t>{1, 0});
  CHECK(whole(answer->block_self[0].value) == 2);
  CHECK(answer->jumps.from == std::vector<std::uint32_t>{2});
  CHECK(rows.inlined == std::vector<std::int64_t>{-1, 0, -1, -1});
  CHECK(answer->inlined_calls.function == std::vector<std::string>{"mix"});
  CHECK(answer->inlined_calls.line == std::vector<std::uint32_t>{10});
  CHECK(rows.line == std::vector<std::uint32_t>{10, 20, 10, 10});
  CHECK(answer->lines.line == std::vector<std::uint32_t>{10, 10, 20});
  CHECK(answer->headings.first == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(answer->headings.count == std::vector<std::uint32_t>{1, 1, 2});
  CHECK(answer->headings.text == std::vector<std::string>{"a.cc:10", "mix a.cc:20 > a.cc:10", "a.cc:10"});
  CHECK(answer->paths == std::vector<std::string>{""});
  REQUIRE(answer->rest.size() == 1);
  CHECK(whole(answer->rest[0].amount.value) == 1);
  CHECK(answer->rest[0].why == "between instructions");
  REQUIRE(answer->columns.size() == 1);
  CHECK(answer->columns[0].self[0] == Value(2L));
  REQUIRE(answer->source_lines.size() == 2);
  CHECK(whole(answer->source_lines[0].total.value) == 9);  // line 10: its own and what it calls
  CHECK(whole(answer->source_lines[1].total.value) == 6);
}

namespace {
std::string row_name(std::size_t row) {
  return "row " + std::to_string(row);
}
}  // namespace

TEST_CASE("branch stacks say how often rows were carried out, and where branches went") {
  const auto answer = answer_of(Program(true).profile, function("f"));
  REQUIRE(answer);
  CHECK(answer->rows.executed == std::vector<std::uint64_t>{100, 100, 100, 20});
  CHECK(answer->rows.executed_text[0] == "100");
  CHECK(answer->block_executed == std::vector<std::string>{"100", "20"});
  const BranchColumns& taken = answer->branches;
  CHECK(taken.row == std::vector<std::uint32_t>{1, 2, 3, 3});
  CHECK(taken.target == std::vector<std::int64_t>{-1, 0, -1, -1});
  CHECK(taken.target_name == std::vector<std::string>{"g", "", "g+0x4", "app+0x3001"});
  CHECK(taken.direct == std::vector<std::uint8_t>{1, 1, 0, 0});
  CHECK(taken.taken_share == std::vector<std::string>{"100 %", "80.0 %", "75.0 %", "25.0 %"});
  CHECK(branch_text(taken, 0, row_name) == "taken 100 % (100), mispredicted 0 %");
  CHECK(branch_text(taken, 1, row_name) == "taken 80.0 % (80), mispredicted 5.0 %, 3.00 cycles");
  CHECK(branches_of_row(taken, 3, 1, row_name) == "taken 75.0 % (15) to g+0x4; and 1 more");
  CHECK(branches_of_row(taken, 0, 9, row_name).empty());
  CHECK(answer->branch_note ==
        "executed: counted in 200 runs between branches, from 3 branch stacks (of all samples, whatever is "
        "filtered); 7 more are not counted, beginning or ending outside of this code");
}

TEST_CASE("code that no branch stack saw has no executions, rather than none that were") {
  const auto without = answer_of(Program().profile, function("f"));
  REQUIRE(without);
  CHECK(without->rows.executed.empty());
  CHECK(without->block_executed.empty());
  CHECK(without->branch_note.empty());
  // Only calls were recorded: how often anything was carried out is not known.
  CodeProfile code;
  const PieceId f = code.piece("f", 0x1000, 16);
  code.stack({code.frame("f", {0x1002, f, 10})}, 2);
  BranchSums sums;
  sums.add_stacks(1);
  for (std::uint64_t to = 0; to < 20; ++to)
    sums.add_taken(sums.taken_row({code.module(), 0x1004}, {code.module(), 0x5000 + to}), {to + 1});
  sums.add_taken(sums.taken_row({code.module(), 0x100c}, {code.module(), 0x1008}), {7});
  code.branches(std::move(sums));
  const auto calls = answer_of(code.finish(), function("f"));
  REQUIRE(calls);
  CHECK(calls->rows.executed.empty());
  REQUIRE(calls->branches.size() == 9);
  CHECK(branch_text(calls->branches, 8, row_name) == "taken 7 times to row 2");
  CHECK(branch_text(calls->branches, 0, row_name) == "taken 20 times to app+0x5013");
  CHECK(branch_text(calls->branches, 7, row_name) == "taken 91 times to 13 other places");
  CHECK(
      calls->branch_note ==
      "branches are from 1 branch stack (of all samples, whatever is filtered); how often instructions were "
      "carried out is not known");
}

TEST_CASE("sources are found in the workspace, where its text does not speak against it") {
  const Program program;
  TempFolder folder;
  const auto path_found = [&](std::string_view text) {
    folder.file("a.cc", std::string(text));
    WorkspaceSnapshot workspace;
    workspace.key = folder.path.string();
    workspace.files = index_workspace({folder.path.string()}, 1, StopToken{}, 1 << 20);
    const auto answer = answer_of(program.profile, function("f"), nullptr, "", workspace);
    REQUIRE(answer);
    REQUIRE(answer->paths.size() == 1);
    CHECK(answer->source_lines[0].path == answer->paths[0]);
    return answer->paths[0];
  };
  std::string text(9, '\n');
  text += "int f() { return mix(); }";
  text += std::string(10, '\n') + "int mix()" + std::string(20, '\n') + "int g()\nother\n";
  CHECK(path_found(text) == (folder.path / "a.cc").string());
  CHECK(path_found("nothing of it\n").empty());
}

TEST_CASE("a chain of more calls than can be read is cut in its middle") {
  InstructionColumns rows;
  rows.text = {"nop", "nop"};
  rows.file = {0, -1};
  rows.line = {7, 0};
  rows.inlined = {299, -1};
  InlinedCalls calls;
  for (std::int64_t call = 0; call < 300; ++call) {
    calls.parent.push_back(call - 1);
    calls.function.push_back("step");
    calls.file.push_back(0);
    calls.line.push_back(static_cast<std::uint32_t>(call + 1));
  }
  const CodeHeadings headings = code_headings(rows, calls, {"/src/a.cc"});
  REQUIRE(headings.text.size() == 2);
  CHECK(headings.text[0].starts_with("step a.cc:7 > step a.cc:300 > "));
  CHECK(headings.text[0].ends_with(" > a.cc:1"));
  CHECK(headings.text[0].size() < 1100);
  CHECK(headings.text[1] == "?");
  rows.file = {-1, -1};
  rows.inlined = {-1, -1};
  CHECK(code_headings(rows, {}, {}).text.empty());
}

TEST_CASE("an inlined function opens in what it is inlined into, its rows marked") {
  const Program program;
  const auto answer = answer_of(program.profile, function("mix"));
  REQUIRE(answer);
  REQUIRE(answer->pieces.size() == 1);
  CHECK(answer->pieces[0].name == "f");
  CHECK(answer->rows.matched == std::vector<std::uint8_t>{0, 1, 0, 0});
}

TEST_CASE("an address and a source line open the code that they are in; without a place the hottest") {
  const Program program;
  CodePlace place;
  place.module = "app";
  place.address = 0x1007;
  CHECK(answer_of(program.profile, place)->pieces[0].name == "f");
  place.address = 0x3000;
  CHECK(!answer_of(program.profile, place)->problem.empty());
  CodePlace line;
  line.line = 40;
  for (std::uint32_t id = 0; id < program.profile->strings().size(); ++id) {
    if (program.profile->strings()[StringId{id}] == "a.cc") line.files.emplace_back(id);
  }
  CHECK(answer_of(program.profile, line)->pieces[0].name == "g");
  const auto hottest = answer_of(program.profile, {});
  REQUIRE(hottest->pieces.size() == 2);
  CHECK(hottest->pieces[0].name == "g");
}

TEST_CASE("names of debug information that are no text become text") {
  const Program program;
  Viewed viewed(program.profile);
  DisassemblyRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.place = function("f");
  const auto answer =
      disassembly_answer(viewed.views, request,
                         [](const CodeQuestion&) -> Result<std::shared_ptr<const CodeAnswer>> {
                           auto found = std::make_shared<CodeAnswer>();
                           found->code = four_rows();
                           found->code.symbols.texts = {"", "f", "mi\xff", "g\xff", "a\xff.cc"};
                           return found;
                         },
                         {});
  REQUIRE(answer);
  CHECK(answer->inlined_calls.function == std::vector<std::string>{"mi\uFFFD"});
  CHECK(answer->rows.target_name[1] == "g\uFFFD");
  CHECK(answer->files == std::vector<std::string>{"a\uFFFD.cc"});
}

TEST_CASE("what keeps code from being shown is said") {
  const Program program;
  CHECK(answer_of(program.profile, function("nothing")).error().code == ErrorCode::not_found);
  CHECK(answer_of(program.profile, function("f"), nullptr, "no binary")->problem == "no binary");
  const auto without = answer_of(profile_from_text("# metrics: cpu/count\nf 3"), function("f"));
  REQUIRE(without);
  CHECK(without->pieces.empty());
  CHECK(without->problem == "the profile has no addresses of it, so its instructions are not known");
}

TEST_CASE("timers and plain events may skid, precise ones do not, counted ones cannot") {
  const auto note = [](const char* metric, const char* format) {
    ProfileBuilder builder;
    builder.info().format = format;
    const MetricId id = builder.add_metric(metric, "count");
    const auto profile = std::move(builder).finish();
    return skid_note(**profile, id);
  };
  CHECK(note("cpu-clock", "perf_data") ==
        "cpu-clock may skid: the cost of an instruction can stand on one behind it");
  CHECK(note("cycles:u", "perf_data").find("cycles:pp does not") != std::string::npos);
  CHECK(note("cycles:pp", "perf_data").empty());
  CHECK(note("cycles:upp", "perf_data").empty());
  CHECK(note("cycles:P", "perf_data").empty());
  CHECK(note("Ir", "callgrind").empty());
}

TEST_CASE("code that a compiler made at run time is asked of its dump; a map of names has none") {
  for (const char* module : {"jit-7.dump", "/tmp/perf-7.map"}) {
    CodeProfile code(module, AddressKind::loaded);
    const PieceId f = code.piece("LazyCompile:~f", 0x1000, 16);
    code.stack({code.frame("f", {0x1000, f, 1})}, 1);
    CodeQuestion asked;
    const auto answer = answer_of(code.finish(), function("f"), &asked);
    REQUIRE(answer);
    CHECK(answer->problem.empty() == asked.in_memory);
    CHECK(asked.in_memory == (std::string(module) == "jit-7.dump"));
    CHECK(asked.symbol == (asked.in_memory ? "LazyCompile:~f" : ""));
    CHECK((asked.in_memory || answer->problem.find("a jitdump has both") != std::string::npos));
  }
}

// Machine code as clients get it, from instructions that are written down here.
#include "server/feature/disassembly_answer.h"

#include "server/engine/joined_symbols.h"
#include "server/feature/code_notes.h"
#include "tests/support/catch.h"
#include "tests/support/code_profile.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

// 0x1000 add, 0x1004 call 0x2000, 0x1008 jne 0x1000, 0x100c ret; mix (line 20) is inlined at 0x1004, called
// on line 10.
FoundCode four_rows() {
  FoundCode code;
  code.address = {0x1000, 0x1004, 0x1008, 0x100c};
  code.rows.code = std::string(16, 'x');
  code.rows.length = {4, 4, 4, 4};
  code.rows.kind = {InstructionKind::plain, InstructionKind::call, InstructionKind::conditional_jump,
                    InstructionKind::return_};
  code.rows.target = {kNoTarget, 0x2000, 0x1000, kNoTarget};
  code.rows.text = "addcalljneret";
  code.rows.text_size = {3, 4, 3, 3};
  code.rows.places = {0x2000};
  code.text_begin = {0, 3, 7, 10};
  BinarySymbols& symbols = code.symbols = symbols_for(5);
  symbols.texts = {"", "f", "mix", "g", "a.cc"};
  symbols.functions.name = {1, 2, 3};
  symbols.functions.linkage_name = {0, 0, 0};
  symbols.functions.file = {4, 4, 4};
  symbols.functions.first_line = {9, 19, 0};
  symbols.links.parent = {kNone, 0, kNone};
  symbols.links.function = {0, 1, 2};
  symbols.links.file = {4, 4, 4};
  symbols.links.line = {10, 20, 40};
  symbols.links.column = {0, 0, 0};
  symbols.link = {0, 1, 0, 0, 2};
  return code;
}

struct Program {
  ProfilePtr profile;
  Program() {
    CodeProfile code;
    const PieceId f = code.piece("f", 0x1000, 16), g = code.piece("g", 0x2000, 8);
    const FrameId f_at_call = code.frame("f", {0x1008, f, 10, true});
    const FrameId mix_at_call = code.frame("mix", {0x1008, f, 20, true, true});
    code.stack({code.frame("f", {0x1002, f, 10})}, 2);
    code.stack({f_at_call, mix_at_call, code.frame("g", {0x2000, g, 40})}, 6);
    code.stack({code.frame("f", {0x1010, f, 10})}, 1);  // behind the last instruction
    code.stack({code.frame("other", {0, {}, 1})}, 1);
    profile = code.finish();
  }
};

Result<DisassemblyAnswer> answer_of(const ProfilePtr& profile, const CodePlace& place,
                                    CodeQuestion* asked = nullptr, std::string problem = "") {
  Viewed viewed(profile);
  DisassemblyRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.place = place;
  request.metrics = {"cpu"};
  return disassembly_answer(viewed.views, request,
                            [&](const CodeQuestion& question) -> Result<CodeAnswer> {
                              if (asked != nullptr) *asked = question;
                              CodeAnswer answer;
                              answer.problem = problem;
                              if (problem.empty()) answer.code = four_rows();
                              return answer;
                            },
                            {});
}

CodePlace function(std::string name) {
  CodePlace place;
  place.function = std::move(name);
  return place;
}

}  // namespace

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
  REQUIRE(answer->rest.size() == 1);
  CHECK(whole(answer->rest[0].amount.value) == 1);
  CHECK(answer->rest[0].why == "between instructions");
  REQUIRE(answer->columns.size() == 1);
  CHECK(answer->columns[0].self[0] == Value(2L));
  REQUIRE(answer->source_lines.size() == 2);
  CHECK(whole(answer->source_lines[0].total.value) == 9);  // line 10: its own and what it calls
  CHECK(whole(answer->source_lines[1].total.value) == 6);
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
                         [](const CodeQuestion&) -> Result<CodeAnswer> {
                           CodeAnswer found;
                           found.code = four_rows();
                           found.code.symbols.texts = {"", "f", "mi\xff", "g\xff", "a\xff.cc"};
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

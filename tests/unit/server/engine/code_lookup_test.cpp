// Code that a compiler made at run time, disassembled from its dump by the process that does it for the
// daemon.
#include "server/engine/code_lookup.h"

#include <filesystem>

#include "server/engine/jit_code.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

namespace profd {
namespace {

template <class T>
std::string number(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::uint64_t kAt = 0x7f0000001000, kOther = 0x7f0000002000;

// A dump of a compiler for x86-64, record by record.
struct Dump {
  std::string bytes = number(0x4A695444u) + number(1u) + number(40u) + number(62u) + number(0u) + number(7u) +
                      number(std::uint64_t{0}) + number(std::uint64_t{0});

  void record(std::uint32_t id, const std::string& body) {
    bytes +=
        number(id) + number(static_cast<std::uint32_t>(16 + body.size())) + number(std::uint64_t{1}) + body;
  }
  void load(const std::string& name, std::uint64_t start, const std::string& code) {
    record(0, number(7u) + number(7u) + number(start) + number(start) + number(std::uint64_t{code.size()}) +
                  number(std::uint64_t{0}) + name + '\0' + code);
  }
  void move(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
    record(1, number(7u) + number(7u) + number(to) + number(from) + number(to) + number(size) +
                  number(std::uint64_t{0}));
  }
  void line(std::uint64_t code, std::uint64_t address, std::uint32_t line, const std::string& file) {
    record(2, number(code) + number(std::uint64_t{1}) + number(address) + number(line) + number(0u) + file +
                  '\0');
  }
};

// add eax, N; call kOther; ret
std::string code_calling(std::uint64_t from, char n) {
  return std::string("\x83\xc0") + n + '\xe8' + number(static_cast<std::int32_t>(kOther - (from + 8))) +
         '\xc3';
}

struct RecordedCode {
  test::TempFolder folder;
  SymbolPlaces places;
  CodeQuestion question;

  explicit RecordedCode(const Dump& dump) {
    folder.file("jit-7.dump", dump.bytes);
    places.system = false;
    places.recording = folder.path.string();
    question.name = "jit-7.dump";
    question.start = kAt;
    question.size = 9;
    question.in_memory = true;
    question.symbol = "hot";
  }
  [[nodiscard]] CodeAnswer answer() const {
    auto found = look_up_code(question, {places, PROFD_SYMBOLIZE, {}, std::chrono::seconds(60)}, StopToken{});
    REQUIRE(found);
    return **found;
  }
};

std::string name_of_row(const FoundCode& code, std::size_t row) {
  return code.symbols.texts[code.symbols.functions.name[code.symbols.links.function[code.symbols.link[row]]]];
}

}  // namespace

TEST_CASE("code of a dump has its instructions, lines and the names of what it calls") {
  Dump dump;
  dump.load("called", kOther, "\xc3");
  dump.line(kAt, kAt + 3, 12, "app.js");
  dump.load("hot", kAt, code_calling(kAt, 1));
  const CodeAnswer answer = RecordedCode(dump).answer();
  REQUIRE(answer.problem.empty());
  CHECK(answer.note.empty());
  const FoundCode& code = answer.code;
  REQUIRE(code.rows.size() == 3);
  CHECK(code.address == std::vector<std::uint64_t>{kAt, kAt + 3, kAt + 8});
  CHECK(code.text(0) == "add eax, 0x1");
  CHECK(code.rows.kind[1] == InstructionKind::call);
  CHECK(code.name_of_place(kOther) == "called");
  CHECK(name_of_row(code, 0) == "hot");
  const ChainLinks& links = code.symbols.links;
  CHECK(links.line[code.symbols.link[0]] == 0);
  CHECK(links.line[code.symbols.link[1]] == 12);
  CHECK(code.symbols.texts[links.file[code.symbols.link[2]]] == "app.js");
}

TEST_CASE("of what was at one place the piece with the name and size that were met is shown") {
  Dump dump;
  dump.load("before", kAt, std::string(9, '\x90'));
  dump.load("hot", kAt, code_calling(kAt, 1));
  dump.load("hot", kAt, std::string(4, '\x90'));
  CHECK(RecordedCode(dump).answer().code.text(0) == "add eax, 0x1");
  dump.load("hot", kAt, code_calling(kAt, 2));
  const CodeAnswer answer = RecordedCode(dump).answer();
  CHECK(answer.code.text(0) == "add eax, 0x2");
  CHECK(answer.note == "Code of this name and size was compiled to this place 2 times; this is the last.");
  // Twice the same is no question.
  dump.load("hot", kAt, code_calling(kAt, 1));
  dump.load("hot", kAt, code_calling(kAt, 1));
  CHECK(RecordedCode(dump).answer().note.find("2 times") != std::string::npos);
}

TEST_CASE("code that was moved is shown where it was met, with its lines") {
  Dump dump;
  dump.line(0x5000, 0x5003, 12, "app.js");
  dump.load("hot", 0x5000, code_calling(kAt, 1));
  dump.move(0x5000, kAt, 9);
  const CodeAnswer answer = RecordedCode(dump).answer();
  REQUIRE(answer.code.rows.size() == 3);
  CHECK(answer.code.address[0] == kAt);
  CHECK(answer.code.symbols.links.line[answer.code.symbols.link[1]] == 12);
}

TEST_CASE("code that no dump has is a problem that says what is missing") {
  Dump dump;
  dump.load("hot", kAt + 1, code_calling(kAt, 1));
  RecordedCode recorded(dump);
  CHECK(recorded.answer().problem == "jit-7.dump does not have this code");
  recorded.question.name = "jit-8.dump";
  CHECK(recorded.answer().problem == "its code is in jit-8.dump, which is not beside the recording");
  recorded.folder.file("jit-8.dump", "no dump");
  CHECK_FALSE(recorded.answer().problem.empty());
  CHECK(recorded.answer().code.rows.size() == 0);
}

TEST_CASE("modules in memory are told apart by name: dumps, maps of names, others") {
  CHECK(is_jit_dump("jit-7.dump"));
  CHECK(is_jit_dump("/tmp/jit-71.dump"));
  CHECK_FALSE(is_jit_dump("jit-.dump"));
  CHECK_FALSE(is_jit_dump("jit-7a.dump"));
  CHECK(why_no_code_in_memory("/tmp/perf-7.map").find("jitdump") != std::string::npos);
  CHECK(why_no_code_in_memory("[bpf]").find("jitdump") == std::string::npos);
}

}  // namespace profd

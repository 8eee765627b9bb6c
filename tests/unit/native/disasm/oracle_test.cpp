// Bounds, targets and texts of instructions, against objdump over libraries of the system and programs that
// are compiled here.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "native/disasm/disassembler.h"
#include "tests/support/catch.h"
#include "tests/support/not_run.h"
#include "tests/support/objdump.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::native;
using namespace profd::test;

namespace {

struct Differences {
  std::size_t n_rows = 0, n_bounds = 0, n_targets = 0;
  std::string first;  // some of them
};

void note(Differences& found, const Instructions& rows, std::size_t row, const ObjdumpRow& said) {
  if (found.first.size() > 4000) return;
  found.first += fmt::format("{:x} {} bytes, to {:x}: {}   objdump: {:x} {} bytes, to {:x}: {}\n",
                             rows.address[row], rows.length[row], rows.target[row], rows.text(row),
                             said.address, said.length, said.target, said.text);
}

// objdump takes the wait before an instruction of the x87 for a part of it, where the processor has two.
bool is_wait_joined(const Instructions& rows, std::size_t row, const ObjdumpRow& said) {
  return rows.text(row) == "fwait" && row + 1 < rows.size() && said.text != "fwait" &&
         said.length == 1 + rows.length[row + 1];
}

void compare(Disassembler& disassembler, Machine machine, const ObjdumpRun& run, Differences& found) {
  Code code;
  code.bytes = run.bytes;
  code.start = run.start;
  code.machine = machine;
  code.syntax = Syntax::att;
  const auto rows = disassembler.disassemble(code);
  REQUIRE(rows);
  std::size_t row = 0;
  for (const ObjdumpRow& said : run.rows) {
    ++found.n_rows;
    while (row < rows->size() && rows->address[row] < said.address) ++row;
    if (row == rows->size() || rows->address[row] != said.address) {
      ++found.n_bounds;
      continue;
    }
    if (is_wait_joined(*rows, row, said)) continue;
    if (rows->length[row] != said.length) {
      ++found.n_bounds;
      note(found, *rows, row, said);
    } else if (rows->target[row] != said.target) {
      ++found.n_targets;
      note(found, *rows, row, said);
    }
  }
}

void check_file(Machine machine, const std::string& objdump, const std::string& file,
                std::size_t at_least_rows) {
  INFO(file);
  Disassembler disassembler;
  Differences found;
  for (const ObjdumpRun& run : objdump_runs(objdump, "-M att -j .text", file)) {
    compare(disassembler, machine, run, found);
  }
  INFO(found.first);
  CHECK(found.n_rows >= at_least_rows);
  CHECK(found.n_bounds == 0);
  CHECK(found.n_targets == 0);
}

// Words of a text in which only what is of no meaning differs between assemblers is left out: brackets,
// commas, displacements of 0, the register st(0) as st, sizes in the names of push and mov.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    if (word == "pushq") word = "push";
    if (word == "movabs") word = "mov";
    if (!word.empty() && word != "ptr" && word != "0" && word != "0x0" && word != "cs" && word != "data16")
      words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::string_view(" []()$#%,{}+:").find(c) != std::string_view::npos) {
      flush();
    } else {
      if (c == '-') flush();
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  flush();
  if (words == std::vector<std::string>{"xchg", "ax", "ax"}) return {"nop"};
  // A shift by one, said or not.
  const bool shifts = !words.empty() && (words[0].starts_with("sh") || words[0].starts_with("sa") ||
                                         words[0].starts_with("ro") || words[0].starts_with("rc"));
  if (shifts) std::erase_if(words, [](const std::string& w) { return w == "0x1" || w == "1"; });
  return words;
}

// -0x1 and 0xffffffff are one number where that many bits are written.
bool same_word(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto number = [](const std::string& text, std::uint64_t& value) {
    const bool negative = text.starts_with('-');
    const std::size_t begin = negative ? 1 : 0;
    if (!text.substr(begin).starts_with("0x")) return false;
    value = std::stoull(text.substr(begin), nullptr, 16);
    if (negative) value = 0 - value;
    return true;
  };
  std::uint64_t x = 0, y = 0;
  if (!number(a, x) || !number(b, y)) return false;
  for (const int bits : {8, 16, 32, 64}) {
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
    if (y <= mask) return (x & mask) == y;
  }
  return false;
}

bool same_text(const ObjdumpRow& said, std::string_view text) {
  const std::vector<std::string> a = words_of(text);
  std::vector<std::string> b = words_of(said.text);
  if (said.target != kNoTarget && !b.empty()) b.back() = fmt::format("0x{:x}", said.target);
  // What strings are worked on with is said by the name or by registers that are always the same.
  if (a.size() == 2 && a[0].starts_with("rep") && b.size() > 2) return a[0] == b[0] && a[1].starts_with(b[1]);
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same_word);
}

// How many rows of the files read differently, in thousandths; what they are goes to `first`.
double thousandths_of_other_texts(const std::string& options, Syntax syntax, const std::string& file,
                                  std::string& first) {
  Disassembler disassembler;
  std::size_t n_rows = 0, n_other = 0;
  for (const ObjdumpRun& run : objdump_runs("objdump", options + " -j .text", file)) {
    Code code;
    code.bytes = run.bytes;
    code.start = run.start;
    code.syntax = syntax;
    const auto rows = disassembler.disassemble(code);
    REQUIRE(rows);
    std::size_t row = 0;
    for (const ObjdumpRow& said : run.rows) {
      while (row < rows->size() && rows->address[row] < said.address) ++row;
      REQUIRE(row < rows->size());
      ++n_rows;
      if (same_text(said, rows->text(row))) continue;
      ++n_other;
      if (first.size() < 3000) first += fmt::format("{}   objdump: {}\n", rows->text(row), said.text);
    }
  }
  REQUIRE(n_rows > 0);
  return 1000.0 * static_cast<double>(n_other) / static_cast<double>(n_rows);
}

const std::string kShapes = std::string(PROFD_SOURCE_DIR) + "/tests/fixtures/native/shapes.cc";

}  // namespace

TEST_CASE("x86 instructions of the system's libraries begin, end and lead where objdump says") {
  if (!has_program("objdump")) return not_run("objdump is not installed");
  std::size_t n_files = 0;
  for (const char* library : {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgmp.so.10"}) {
    for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/usr/lib/"}) {
      const std::string file = std::string(folder) + library;
      if (!std::filesystem::exists(file)) continue;
      check_file(Machine::x86_64, "objdump", file, 1000);
      ++n_files;
      break;
    }
  }
  if (n_files == 0) return not_run("no library of x86-64 is here");
}

TEST_CASE("x86 instructions that compilers make begin, end and lead where objdump says") {
  if (!has_program("objdump")) return not_run("objdump is not installed");
  TempFolder folder;
  std::size_t n_files = 0;
  for (const std::string command :
       {"g++ -std=c++17 -O3 -march=sapphirerapids -static-libstdc++",
        "clang++-14 -O3 -march=alderlake -ffast-math", "gcc -m32 -march=i686 -O2 -c -x c"}) {
    const bool narrow = command.find("-m32") != std::string::npos;
    const std::string source =
        narrow ? folder.file("plain.c",
                             "int f(int* a, int n) { int s = 0; for (int i = 0; i < n; ++i) s += a[i] / "
                             "3; return s; }\nlong double g(long double x) { return x * 3 + f(0, 0); }\n")
               : kShapes;
    const std::string file = (folder.path / fmt::format("out{}", n_files)).string();
    if (!runs(fmt::format("{} '{}' -o '{}'", command, source, file))) continue;
    check_file(narrow ? Machine::x86 : Machine::x86_64, "objdump", file, narrow ? 20 : 1000);
    ++n_files;
  }
  if (n_files == 0) return not_run("no compiler for x86 is installed");
}

TEST_CASE("x86 instructions read as objdump writes them, names of comparisons aside") {
  if (!has_program("objdump") || !has_program("g++")) return not_run("objdump or g++ is not installed");
  TempFolder folder;
  const std::string compiled = (folder.path / "shapes").string();
  if (!runs(fmt::format("g++ -std=c++17 -O2 '{}' -o '{}'", kShapes, compiled))) {
    return not_run("g++ makes no program");
  }
  for (const std::string& file : {compiled, std::string("/usr/lib/x86_64-linux-gnu/libm.so.6")}) {
    if (!std::filesystem::exists(file)) continue;
    for (const auto& [options, syntax] : {std::pair("-M intel", Syntax::intel), {"-M att", Syntax::att}}) {
      std::string first;
      const double other = thousandths_of_other_texts(options, syntax, file, first);
      INFO(file << '\n' << first);
      CHECK(other < 1.2);
    }
  }
}

TEST_CASE("AArch64 instructions begin, end and lead where objdump says") {
  const std::string objdump = "aarch64-linux-gnu-objdump";
  if (!has_program(objdump)) return not_run("no objdump for AArch64 is installed");
  if (!Disassembler().prepare(Machine::aarch64)) {
    return not_run("LLVM's library is not installed");
  }
  TempFolder folder;
  const std::string file = (folder.path / "shapes").string();
  const bool built =
      runs(fmt::format("aarch64-linux-gnu-g++ -std=c++17 -O3 -march=armv8.6-a+sve2+dotprod+fp16 "
                       "-mno-outline-atomics '{}' -o '{}' "
                       "-static",
                       kShapes, file));
  if (built) check_file(Machine::aarch64, objdump, file, 1000);
  const std::string library = "/usr/aarch64-linux-gnu/lib/libm.so.6";
  const bool has_library = std::filesystem::exists(library);
  if (has_library) check_file(Machine::aarch64, objdump, library, 1000);
  if (!built && !has_library) return not_run("no compiler and no library of AArch64 is installed");
}

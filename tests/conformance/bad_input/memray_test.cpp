#include <sstream>
#include <tuple>

#include <fmt/format.h>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

std::string little(std::uint64_t value, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}
std::string text(const std::string& what) {
  return what + '\0';
}
std::string varint_of(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
std::string signed_of(std::int64_t value) {
  return varint_of(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
}

struct HeaderOf {
  std::uint32_t version = 13, python = 0x030B0000;
  int native = 0, form = 0, objects = 0;
  std::uint64_t n_skipped = 0;
};

std::string head(const HeaderOf& of) {
  std::string out = text("memray") + little(of.version, 4);
  if (of.version >= 12) out += little(of.python, 4);
  out += little(static_cast<unsigned>(of.native), 1);
  if (of.version >= 10) out += little(static_cast<unsigned>(of.form), 1);
  out += little(0, 16) + little(1000, 8) + little(2000, 8) + text("app.py") + little(7, 4);
  if (of.version >= 9) out += little(1, 8) + little(of.n_skipped, 8);
  out += little(1, 1);
  if (of.version >= 11) out += little(0, 1);
  if (of.version >= 12) out += little(static_cast<unsigned>(of.objects), 1);
  if (of.version >= 13) out += text("/lib") + text("/site") + text("") + text("");
  return out;
}

// Of versions from 12 on.
std::string code(int id, const std::string& name, int line_step, const std::string& table) {
  return "\x0E" + varint_of(static_cast<unsigned>(id)) + text(name) + text("app.py") + signed_of(line_step) +
         varint_of(table.size()) + table;
}
std::string push(int id, int offset) {
  return "\x41" + varint_of(static_cast<unsigned>(id)) + signed_of(offset);
}
std::string pop(unsigned n) {
  return std::string(1, static_cast<char>(0x10 | (n - 1)));
}
std::string allocation(int step, int allocator, std::uint64_t size) {
  const bool fits = allocator < 8;
  std::string out(1, static_cast<char>(0x80 | 15 << 3 | (fits ? allocator : 0)));
  out += signed_of(step);
  if (!fits) out += static_cast<char>(allocator);
  return allocator == 1 || allocator == 5 ? out : out + varint_of(size);
}
std::string again(unsigned place, int allocator, std::uint64_t size) {
  std::string out(1, static_cast<char>(0x80u | place << 3 | static_cast<unsigned>(allocator)));
  return allocator == 1 || allocator == 5 ? out : out + varint_of(size);
}
std::string thread(std::uint64_t id) {
  return "\x0C" + little(id, 8);
}
const std::string kEnd("\x01");
constexpr int kFree = 5, kMalloc = 6, kMmap = 14, kMunmap = 15;

ReadOutcome read_memray(const std::string& name) {
  const auto opened = open_hidden(read_bytes(reader_folder("memray") / "testdata" / name));
  ReadOutcome out;
  if (!opened) {
    out.error = describe(opened.error());
    return out;
  }
  out.profiles = opened->profiles;
  out.report = opened->report;
  return out;
}

}  // namespace

TEST_CASE("memray: bad input is refused or counted") {
  const std::string start = head({}), old = head({.version = 11});
  const std::string known = code(1, "f", 10, "\x80") + push(1, 0);
  std::string deep = start + code(1, "f", 10, "\x80");
  for (int i = 0; i < 10001; ++i) deep += push(1, 0);
  check_bad_inputs(
      "memray",
      {
          {"another file", "hello world\n", "error malformed: begin with memray"},
          {"a cut mark", "mem", "error truncated: the mark"},
          {"a cut header", start.substr(0, 40), "error truncated: the header"},
          {"an older version", text("memray") + little(7, 4), "error unsupported: version 7"},
          {"a newer version", text("memray") + little(14, 4), "error unsupported: version 14"},
          {"an unknown form", head({.form = 2}), "error unsupported: form 2"},
          {"lifetimes of objects", head({.objects = 1}), "error unsupported: lifetimes"},
          {"no allocations", start + kEnd, "report no-allocations"},
          {"no end", start + allocation(1, kMalloc, 5), "report no-end"},
          {"zeros for an end", start + allocation(1, kMalloc, 5) + std::string(100, '\0'), "report no-end"},
          {"a record that is cut", start + "\x0C\x01", "error truncated: a record"},
          {"an unknown record", start + "\x03", "error malformed: unknown kind 3"},
          {"an object", start + "\x20", "error malformed: an object"},
          {"more frames left than there are", start + known + pop(2) + kEnd, "error malformed: more frames"},
          {"code that was not told", start + push(5, 0) + kEnd, "error malformed: code 5"},
          {"an address that was not told", start + again(0, kMalloc, 5), "error malformed: not told"},
          {"a later address that was not told", start + allocation(1, kMalloc, 5) + again(1, kFree, 0),
           "error malformed: not told"},
          {"an allocator of number 0", start + "\xF8\x02" + std::string(1, '\0'),
           "error malformed: number 0"},
          {"an allocator of number 16", start + "\xF8\x02\x10\x05", "error malformed: number 16"},
          {"more than a process can have", start + allocation(1, kMalloc, std::uint64_t{1} << 60),
           "error malformed: bytes"},
          {"a number that does not end", start + "\x02" + std::string(11, '\xFF'), "error malformed: "},
          {"too deep", deep, "error limit: stack_depth"},
          {"native stacks", head({.native = 1}) + kEnd, "report native-stacks"},
          {"to 11: an unknown record", old + "\x0D", "error malformed: unknown kind 13"},
          {"to 11: an unknown end", old + "\x20", "error malformed: unknown kind 32"},
          {"to 11: a frame that was not told", old + "\x04" + signed_of(3) + "\x10",
           "error malformed: frame 3"},
          {"to 11: an allocator of number 0", old + "\x01" + signed_of(8) + "\x05",
           "error malformed: number 0"},
          {"to 11: no end", old + "\x11" + signed_of(8) + "\x05", "report no-end"},
          {"aggregated: no end", head({.form = 1}), "error truncated: no end"},
          {"aggregated: an unknown record", head({.form = 1}) + "\x09", "error malformed: unknown kind 9"},
          {"aggregated: a frame that was not told", head({.form = 1}) + "\x03" + std::string(2, '\0'),
           "error malformed: frame 0"},
          {"aggregated: a stack on none", head({.form = 1}) + "\x03" + std::string(1, '\0') + "\x05",
           "error malformed: stands on none"},
          {"aggregated: a sum of no stack",
           head({.form = 1}) + "\x02" + little(1, 8) + little(6, 8) + little(0, 8) + little(3, 8) +
               little(0, 40),
           "error malformed: a sum is of a stack"},
      });
}

TEST_CASE("memray: the peak is what was allocated when most was, and what is left is leaked") {
  const std::string table("\x80\x0A\x88\x0B", 4);  // two instructions of line 10
  const std::string bytes = head({.n_skipped = 1}) + thread(1) + code(1, "own", 1, table) +
                            code(2, "main", 9, table) + code(3, "kept", 10, table) + push(1, 0) + push(2, 0) +
                            allocation(1, kMalloc, 100) + push(3, 0) + allocation(2, kMalloc, 1000) + pop(1) +
                            again(1, kFree, 0) + thread(2) + allocation(5, kMalloc, 30) + again(0, kFree, 0) +
                            kEnd;
  const auto read = read_with("memray", bytes);
  REQUIRE(read.error == "");
  CHECK(read.report.rows().empty());
  const Profile& p = *read.profiles[0];
  CHECK(self_by_function(p, "allocated") == Paths{{"main", 100}, {"kept", 1000}, {"", 30}});
  CHECK(self_by_function(p, "peak") == Paths{{"main", 100}, {"kept", 1000}, {"", 0}});
  CHECK(self_by_function(p, "leaked") == Paths{{"main", 0}, {"kept", 1000}, {"", 0}});
  CHECK(total_of(p, "allocations") == 3);
  CHECK(p.threads().size() == 2);
}

TEST_CASE("memray: what is unmapped may be a part of what was mapped, or several") {
  const std::string bytes = head({}) + allocation(0x1000, kMmap, 0x3000) + allocation(0x600, kMmap, 0x1000) +
                            // The middle of the first; then all that is left of both.
                            allocation(-0x600 + 0x200, kMunmap, 0x1000) + kEnd;
  const auto read = read_with("memray", bytes);
  REQUIRE(read.error == "");
  CHECK(total_of(*read.profiles[0], "leaked") == 0x3000);
  CHECK(total_of(*read.profiles[0], "peak") == 0x4000);
  const auto all =
      read_with("memray", bytes.substr(0, bytes.size() - 1) + allocation(-0x200, kMunmap, 0x4000) + kEnd);
  REQUIRE(all.error == "");
  CHECK(total_of(*all.profiles[0], "leaked") == 0);
}

TEST_CASE("memray: what memray recorded has the bytes and the peak that its own readers find") {
  struct Recorded {
    const char* name;
    double allocated, allocations, peak;
  };
  for (const Recorded& one : {Recorded{"recorded-v8.bin", 1687444, 112, 800964},
                              {"recorded-v9.bin", 1773593, 165, 842581},
                              {"recorded-v11.bin", 1774423, 167, 843411},
                              {"recorded-v12.bin", 3197142, 2638, 2168537},
                              {"recorded-v13.bin", 1773839, 165, 842827}}) {
    INFO(one.name);
    const auto read = read_memray(one.name);
    REQUIRE(read.error == "");
    const Profile& p = *read.profiles[0];
    CHECK(total_of(p, "allocated") == one.allocated);
    CHECK(total_of(p, "allocations") == one.allocations);
    CHECK(total_of(p, "peak") == one.peak);
    CHECK(p.timeline()->counters.name.size() == 1);
  }
  for (const auto& [name, peak, leaked] : {std::tuple("recorded-v10-aggregated.bin", 842625, 60338),
                                           {"recorded-v13-aggregated.bin", 845577, 63258}}) {
    INFO(name);
    const auto read = read_memray(name);
    REQUIRE(read.error == "");
    CHECK(total_of(*read.profiles[0], "peak") == peak);
    CHECK(total_of(*read.profiles[0], "leaked") == leaked);
    CHECK_FALSE(read.profiles[0]->find_metric("allocated"));
  }
}

TEST_CASE("memray: lines are those of the tables that each Python has") {
  // Where app.py of tests/fixtures/record/memray.sh makes its largest array, once in main and once in a
  // thread.
  for (const char* name : {"recorded-v9.bin", "recorded-v11.bin", "recorded-v12.bin", "recorded-v13.bin"}) {
    INFO(name);
    const auto read = read_memray(name);
    REQUIRE(read.error == "");
    double in_main = 0;
    for (const auto& [path, value] : self_by_path(*read.profiles[0], "allocated"))
      if (path.ends_with("<module>:28;main:19;temporary:10")) in_main += value;
    CHECK(in_main >= 700'000);
    CHECK(in_main < 702'000);
  }
  for (const char* name : {"recorded-v10-aggregated.bin", "recorded-v13-aggregated.bin"}) {
    INFO(name);
    const auto read = read_memray(name);
    REQUIRE(read.error == "");
    double at_peak = 0;
    for (const auto& [path, value] : self_by_path(*read.profiles[0], "peak"))
      if (path.ends_with("temporary:10")) at_peak += value;
    CHECK(at_peak >= 700'000);
    CHECK(at_peak < 702'000);
  }
}

TEST_CASE("memray files of the corpus have the bytes, allocations and peaks of EXPECTED.tsv") {
  if (warn_without_corpus_2026()) return;
  std::size_t n = 0;
  for (const ExpectedRow& row : expected_rows(*corpus_2026(), "memray")) {
    if (!row.file.ends_with(".bin")) continue;
    INFO(row.file << ", " << row.metric);
    const auto opened = open_hidden(read_bytes(*corpus_2026() / row.file));
    REQUIRE(opened);
    CHECK(opened->decision.format == "memray");
    CHECK(opened->decision.certain);
    const Profile& p = *opened->profiles[0];
    CHECK(broken_invariant(p) == "");
    ++n;
    if (row.metric == "allocations") continue;  // of an aggregated file: below
    CHECK(total_of(p, row.metric) == std::stod(row.total));
    if (!row.count.empty()) CHECK(p.n_samples() == std::stoull(row.count));
    std::map<std::string, double> places;  // "app.py:main", whichever folder the file was in
    const SelfTable& self = p.self();
    for (std::size_t i = 0; i < self.contexts.size(); ++i) {
      const std::uint32_t frame = p.tree().frame[self.contexts[i]];
      if (frame == kNone) continue;
      const FunctionId function = p.frames().function[frame];
      places[fmt::format("{}:{}", p.strings()[p.functions().file[function.v]], p.function_name(function))] +=
          std::visit([&](const auto& column) { return static_cast<double>(column[i]); },
                     self.values[p.find_metric("allocated").value().v]);
    }
    for (const auto& [name, value] : row.top_entries()) {
      INFO(name);
      REQUIRE(places.contains(name));
      CHECK(places.at(name) == std::stod(value));
    }
  }
  CHECK(n == 17);
}

TEST_CASE("memray files of the corpus have the peak by stack and line that memray transform csv has") {
  if (warn_without_corpus_2026()) return;
  for (const std::string file : {"memray/py314-v13-plain", "memray/py314-v13-aggregated"}) {
    INFO(file);
    const auto opened = open_hidden(read_bytes(*corpus_2026() / (file + ".bin")));
    REQUIRE(opened);
    const Profile& p = *opened->profiles[0];
    std::map<std::string, double> stacks, expected;
    const SelfTable& self = p.self();
    for (std::size_t i = 0; i < self.contexts.size(); ++i) {
      std::string stack;
      for (std::uint32_t at = self.contexts[i]; at != 0; at = p.tree().parent[at]) {
        const std::uint32_t frame = p.tree().frame[at];
        const FunctionId function = p.frames().function[frame];
        stack += fmt::format("{}{};{};{}", stack.empty() ? "" : "|", p.function_name(function),
                             p.strings()[p.functions().file[function.v]], p.frames().line[frame]);
      }
      const double value = std::visit([&](const auto& column) { return static_cast<double>(column[i]); },
                                      self.values[p.find_metric("peak").value().v]);
      if (value != 0) stacks[stack] += value;
    }
    std::istringstream in(read_bytes(*corpus_2026() / (file + ".transform.csv")));
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
      if (line.ends_with('\r')) line.pop_back();
      std::vector<std::string> cells;
      std::istringstream cut(line);
      for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
      REQUIRE(cells.size() >= 5);
      expected[cells.size() > 5 ? cells[5] : ""] += std::stod(cells[2]);
    }
    for (const auto& [stack, value] : expected) {
      INFO(stack);
      CHECK(stacks[stack] == value);
    }
    CHECK(stacks.size() == expected.size());
  }
}

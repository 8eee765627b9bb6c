#include "formats/support/script_map_reader.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/source/script_text.h"
#include "tests/support/catch.h"

using namespace profd;
namespace fs = std::filesystem;

namespace {

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// "src/a.ts:1:4 name", lines and columns from 0; "-" for none.
std::string at(const ScriptMap& map, std::uint32_t line, std::uint32_t column) {
  const std::uint32_t segment = map.find(line, column);
  if (segment == kNone || map.source[segment] == kNone) return "-";
  std::string out = map.sources[map.source[segment]] + ":" + std::to_string(map.source_line[segment]) + ":" +
                    std::to_string(map.source_column[segment]);
  if (map.name[segment] != kNone) out += " " + map.names[map.name[segment]];
  if (const std::size_t dot = out.find("/./"); dot != std::string::npos) out.erase(dot, 2);  // as npm's does
  return out;
}

ScriptMap read(std::string_view text) {
  auto map = read_script_map(text);
  INFO((map ? std::string() : map.error().message));
  REQUIRE(map);
  return std::move(*map);
}

std::string base64_of(std::string_view text) {
  const std::size_t comma = text.find(',');
  std::string out;
  std::uint32_t bits = 0;
  int n = 0;
  for (const char c : text.substr(comma + 1)) {
    const auto digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if ((n += 6) >= 8) out += static_cast<char>(bits >> (n -= 8) & 0xFF);
  }
  return out;
}

// What npm's source-map said of a script: tests/fixtures/record/source-maps.mjs.
using Rows = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;
Rows recorded(const fs::path& path) {
  Rows out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::uint32_t row = 0, column = 0;
    std::string source, source_line, source_column, name;
    fields >> row >> column >> source >> source_line >> source_column >> name;
    std::string& place = out[{row, column}];
    place = source == "-" ? "-" : source + ":" + source_line + ":" + source_column;
    if (name != "-") place += " " + name;
  }
  return out;
}

// UTF-16 units of every line.
std::vector<std::uint32_t> line_lengths(const ScriptText& script) {
  std::vector<std::uint32_t> out;
  const std::string_view text = script.text();
  for (std::size_t begin = 0, end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find('\n', begin);
    out.push_back(script.place_of(std::min(end, text.size())).column);
  }
  return out;
}

}  // namespace

TEST_CASE("every column of real bundles is where npm's source-map says") {
  std::size_t n_scripts = 0, n_places = 0, n_named = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(PROFD_SOURCE_DIR "/tests/fixtures/source-maps/dist")) {
    if (entry.path().extension() != ".js") continue;
    ++n_scripts;
    CAPTURE(entry.path().string());
    const std::string script = text_of(entry.path());
    const std::string url(source_map_url(script));
    const std::string text =
        url.starts_with("data:") ? base64_of(url) : text_of(entry.path().parent_path() / url);
    const ScriptMap map = read(text);
    const Rows rows = recorded(entry.path().string() + ".places");
    const std::vector<std::uint32_t> lengths = line_lengths(ScriptText(script));
    std::size_t n_rows = 0;
    for (std::uint32_t line = 0; line < lengths.size(); ++line) {
      std::string expected = "-";
      for (std::uint32_t column = 0; column <= lengths[line] + 2; ++column) {
        if (const auto row = rows.find({line, column}); row != rows.end()) {
          expected = row->second;
          ++n_rows;
        }
        const std::string found = at(map, line, column);
        if (found != expected)
          FAIL_CHECK(line << ":" << column << ": " << found << ", expected " << expected);
        ++n_places;
        n_named += found.find(' ') != std::string::npos ? 1 : 0;
      }
    }
    CHECK(n_rows == rows.size());
  }
  CHECK(n_scripts == 9);
  CHECK(n_places > 12'000);
  CHECK(n_named > 1000);
}

TEST_CASE("a place before the first segment of a line is none of the line before") {
  const ScriptMap map = read(R"({"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA;IACA"})");
  CHECK(at(map, 0, 9) == "a.ts:0:0");
  CHECK(at(map, 1, 3) == "-");
  CHECK(at(map, 1, 4) == "a.ts:1:0");
  CHECK(at(map, 2, 0) == "-");
}

TEST_CASE("texts of sources are kept where the map has them") {
  const ScriptMap map =
      read(R"({"version":3,"sources":["a","b","c"],"sourcesContent":["x\ny",null],"mappings":""})");
  CHECK(map.contents == std::vector<std::string>{"x\ny", "", ""});
}

TEST_CASE("segments of no source end what is before them, and lines out of order are sorted") {
  const ScriptMap map = read(R"({"version":3,"sources":["a.ts"],"mappings":"AAAA,I;IAAA,JAAA"})");
  CHECK(at(map, 0, 3) == "a.ts:0:0");
  CHECK(at(map, 0, 4) == "-");
  CHECK(map.column == std::vector<std::uint32_t>{0, 4, 0, 4});
}

TEST_CASE("sources have their root, and those that are null are none") {
  const ScriptMap map =
      read(R"({"version":3,"sourceRoot":"../src","sources":["a.ts",null,"/b.ts","webpack://x/c.ts"],)"
           R"("mappings":"AAAA,CCAA,CCAA,CCAA","ignoreList":[3]})");
  CHECK(map.sources == std::vector<std::string>{"../src/a.ts", "", "/b.ts", "webpack://x/c.ts"});
  CHECK(at(map, 0, 0) == "../src/a.ts:0:0");
  CHECK(at(map, 0, 1) == "-");
  CHECK(at(map, 0, 2) == "/b.ts:0:0");
  CHECK(map.third_party == std::vector<std::uint8_t>{0, 0, 0, 1});
  CHECK(read(R"({"version":3,"sources":["a","b"],"mappings":"","x_google_ignoreList":[0]})").third_party ==
        std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("sections stand behind one another, each with sources and names of its own") {
  const std::string first =
      R"({"version":3,"sources":["a.ts"],"names":["one"],"mappings":"AAAAA;EAAA;EAAA"})";
  const std::string second = R"({"version":3,"sources":["b.ts"],"names":["two"],"mappings":"CAAAA;AACA"})";
  const std::string inner =
      R"({"version":3,"sections":[{"offset":{"line":0,"column":0},"map":)" + second + "}]}";
  const ScriptMap map = read(R"({"version":3,"sections":[{"offset":{"line":0,"column":2},"map":)" + first +
                             R"(},{"offset":{"line":1,"column":5},"map":)" + inner + "}]}");
  CHECK(at(map, 0, 1) == "-");
  CHECK(at(map, 0, 2) == "a.ts:0:0 one");
  CHECK(at(map, 1, 4) == "a.ts:0:0");
  // Where the second begins the first ends, and what it has behind that is not meant.
  CHECK(at(map, 1, 5) == "-");
  CHECK(at(map, 1, 6) == "b.ts:0:0 two");
  CHECK(at(map, 2, 2) == "b.ts:1:0");
}

TEST_CASE("a line that keeps a map from being run, and a byte order mark, are passed over") {
  for (const char* before : {")]}'\n", ")]}'garbage{\n", "\xEF\xBB\xBF", "\xEF\xBB\xBF)]}'\n"})
    CHECK(read(std::string(before) + R"({"version":3,"sources":[],"mappings":";;"})").size() == 0);
}

TEST_CASE("bad source maps are refused, with the byte where") {
  struct Bad {
    const char* text;
    const char* message;
    std::uint64_t offset;
  };
  const std::vector<Bad> bad = {
      {"", "ends", 0},
      {")]}'", "ends", 4},
      {"[]", "expected", 0},
      {R"({"sources":[],"mappings":""})", "version", 0},
      {R"({"version":2,"sources":[],"mappings":""})", "version", 0},
      {R"({"version":3,"sources":[]})", "no mappings", 0},
      {R"({"version":3,"sources":["a"],"mappings":"AAAA"} x)", "found 'x'", 0},
      {R"({"version":3,"sources":["a"],"mappings":"A*AA"})", "decoded", 42},
      {R"({"version":3,"sources":["a"],"mappings":"AAA"})", "3 fields", 44},
      {R"({"version":3,"sources":["a"],"mappings":"AA"})", "2 fields", 43},
      {R"({"version":3,"sources":["a"],"mappings":"AAAAAA"})", "decoded", 46},
      {R"({"version":3,"sources":["a"],"mappings":"AAAg"})", "decoded", 45},
      {R"({"version":3,"sources":["a"],"mappings":"ggggggggggA"})", "decoded", 0},
      {R"({"version":3,"sources":["a"],"mappings":"+/////DAAA"})", "out of range", 0},
      {R"({"version":3,"sources":["a"],"mappings":"DAAA"})", "out of range", 45},
      {R"({"version":3,"sources":["a"],"mappings":"ADAA"})", "out of range", 45},
      {R"({"version":3,"sources":["a"],"mappings":"ACAA"})", "out of range", 45},
      {R"({"version":3,"sources":["a"],"mappings":"AADA"})", "out of range", 45},
      {R"({"version":3,"sources":["a"],"mappings":"AAAD"})", "out of range", 45},
      {R"({"version":3,"sources":["a"],"names":[],"mappings":"AAAAA"})", "out of range", 57},
      {R"({"version":3,"sources":["a"],"mappings":"+/////BAAA,+/////BAAA,+/////BAAA"})", "out of range", 0},
      {R"({"version":3,"sources":["a"],"mappings":"","ignoreList":[1]})", "ignore", 0},
      {R"({"version":3,"sources":["a"],"mappings":"","ignoreList":[-1]})", "ignore", 0},
      {R"({"version":3,"sources":{},"mappings":"AAAA"})", "out of range", 0},
      {R"({"version":3,"sections":[{}]})", "section", 0},
      {R"({"version":3,"sections":[{"offset":{"line":0,"column":0},"url":"b.map"}]})", "another file", 0},
      {R"({"version":3,"sections":[{"offset":{"line":-1,"column":0},"map":{}}]})", "section", 0},
      {R"({"version":3,"sections":[{"offset":{"line":99999999999,"column":0},"map":{}}]})", "section", 0},
      {R"({"version":3,"sections":[{"offset":{"line":1,"column":0},"map":{}},)"
       R"({"offset":{"line":0,"column":9},"map":{}}]})",
       "order", 0},
      {R"({"version":3,"sections":[{"offset":{"line":0,"column":0},"map":{"version":3}}]})", "mappings", 0},
  };
  for (const Bad& one : bad) {
    CAPTURE(one.text);
    const auto map = read_script_map(one.text);
    REQUIRE_FALSE(map);
    CAPTURE(map.error().message);
    CHECK(map.error().message.find(one.message) != std::string::npos);
    if (one.offset != 0) CHECK(map.error().offset == one.offset);
  }
}

TEST_CASE("source maps have limits: segments, names, sections and their depth") {
  ScriptMapLimits limits;
  limits.n_segments = 3;
  limits.n_texts = 2;
  limits.n_sections = 4;
  limits.section_depth = 2;
  const auto code = [&](const std::string& text) {
    const auto map = read_script_map(text, limits);
    return map ? std::string("read") : std::string(to_string(map.error().code));
  };
  CHECK(code(R"({"version":3,"sources":["a"],"mappings":"AAAA,CAAA,CAAA"})") == "read");
  CHECK(code(R"({"version":3,"sources":["a"],"mappings":"AAAA,CAAA,CAAA,CAAA"})") == "limit");
  CHECK(code(R"({"version":3,"sources":[],"names":["a","b"],"mappings":""})") == "read");
  CHECK(code(R"({"version":3,"sources":[],"names":["a","b","c"],"mappings":""})") == "limit");
  std::string nested = R"({"version":3,"sources":[],"mappings":""})";
  for (int depth = 0; depth < 4; ++depth) {
    CHECK(code(nested) == (depth <= 2 ? "read" : "limit"));
    nested = R"({"version":3,"sections":[{"offset":{"line":0,"column":0},"map":)" + nested + "}]}";
  }
  std::string wide;
  for (int i = 0; i < 5; ++i)
    wide += (i == 0 ? "" : ",") + (R"({"offset":{"line":)" + std::to_string(i)) +
            R"(,"column":0},"map":{"version":3,"sources":[],"mappings":""}})";
  CHECK(code(R"({"version":3,"sections":[)" + wide + "]}") == "limit");
  // Lines without segments cost nothing.
  limits = {};
  CHECK(code(R"({"version":3,"sources":[],"mappings":")" + std::string(5'000'000, ';') + "\"}") == "read");
}

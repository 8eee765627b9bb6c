// Which measured functions a line of a document belongs to.
#include "server/feature/functions_at.h"

#include "tests/support/catch.h"
#include "tests/support/measured_files.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr const char* kTwoFunctions =
    "int parse() {\n"  // 0
    "  // begins\n"    // 1
    "  read();\n"      // 2
    "}\n"              // 3
    "\n"               // 4
    "int read() {\n"   // 5
    "  return 0;\n"    // 6
    "}\n";             // 7

FunctionsAt functions_here(MeasuredFiles& files, std::uint32_t line) {
  auto found = functions_at(files.viewed.views, files.of("w.c"), line, {});
  REQUIRE(found);
  return std::move(*found);
}

std::vector<std::string> names_at(const FunctionsAt& found) {
  std::vector<std::string> out;
  for (const Place& place : found.places) out.push_back(place.name);
  return out;
}

using NamesAt = std::vector<std::string>;

}  // namespace

TEST_CASE("functions at: a measured line is of the function that was measured on it") {
  MeasuredFiles files("main;parse[w.c:3 start=1];read[w.c:7 start=6] 60\nmain;parse[w.c:3 start=1] 40\n",
                      {{"w.c", kTwoFunctions}});
  const FunctionsAt found = functions_here(files, 2);
  REQUIRE(names_at(found) == NamesAt{"parse"});
  CHECK(whole(found.places[0].total) == 100);
  CHECK(whole(found.places[0].self) == 40);
  CHECK(found.places[0].path == files.path("w.c"));
  CHECK(found.text == "parse: total 100 %, self 40.0 %");
}

TEST_CASE("functions at: of several on a line the one that costs most there is first") {
  MeasuredFiles files(
      "main;cold[w.c:3 start=1] 10\nmain;hot[w.c:3 start=1] 30\nmain;cold[w.c:7 start=1] 60\n",
      {{"w.c", "cold hot\n\n\n\n\n\n\n"}});
  const FunctionsAt found = functions_here(files, 2);
  CHECK(names_at(found) == NamesAt{"hot", "cold"});
  CHECK(found.text == "2 functions were measured on this line");
  // Costs are those of the whole function.
  CHECK(whole(found.places[1].total) == 70);
}

TEST_CASE("functions at: a line that was not measured is of the function that begins above it") {
  MeasuredFiles files("main;parse[w.c:3 start=1] 40\nmain;read[w.c:7 start=6] 60\n",
                      {{"w.c", kTwoFunctions}});
  CHECK(names_at(functions_here(files, 0)) == NamesAt{"parse"});
  CHECK(names_at(functions_here(files, 1)) == NamesAt{"parse"});
  CHECK(names_at(functions_here(files, 5)) == NamesAt{"read"});
  // Nothing was measured below it that begins above.
  const FunctionsAt between = functions_here(files, 4);
  CHECK(between.places.empty());
  CHECK(between.text == "no measured function is on this line");
  CHECK(functions_here(files, 7).places.empty());
}

TEST_CASE("functions at: where the profile knows no lines, the functions that begin there") {
  MeasuredFiles files("main;parse[w.c:0 start=1] 40\nmain;read[w.c:0 start=6] 60\n",
                      {{"w.c", kTwoFunctions}});
  CHECK(names_at(functions_here(files, 0)) == NamesAt{"parse"});
  CHECK(names_at(functions_here(files, 5)) == NamesAt{"read"});
  CHECK(functions_here(files, 4).places.empty());
}

TEST_CASE("functions at: the threshold of hints does not hold, filters do") {
  MeasuredFiles files("main;parse[w.c:3 start=1] 1\nmain;read[w.c:7 start=6] 999\n",
                      {{"w.c", kTwoFunctions}});
  AnnotateRequest request = files.of("w.c");
  request.threshold = 0.5;
  CHECK(names_at(*functions_at(files.viewed.views, request, 2, {})) == NamesAt{"parse"});
  request.filters = parse_filters("drop function parse").value();
  CHECK(functions_at(files.viewed.views, request, 2, {})->places.empty());
}

TEST_CASE("functions at: a file that the profile does not have says so, without control characters") {
  MeasuredFiles files("main;parse[w.c:3 start=1] 1\n", {{"w.c", kTwoFunctions}, {"o\x1b[1m.c", "x\n"}});
  const auto found = functions_at(files.viewed.views, files.of("o\x1b[1m.c"), 0, {});
  REQUIRE(found);
  CHECK(found->places.empty());
  CHECK(found->text.starts_with("test has nothing on o"));
  CHECK(found->text.find('\x1b') == std::string::npos);
}

TEST_CASE(
    "functions at: within a function of which no line is known, what encloses the line by its indentation") {
  constexpr const char* text =
      "def count(words):\n"          // 0
      "    seen = []\n"              // 1
      "\n"                           // 2
      "    for word in words:\n"     // 3
      "        seen.append(word)\n"  // 4
      "    f = lambda: 0\n"          // 5
      "    return f\n"               // 6
      "\n"                           // 7
      "def other():\n"               // 8
      "    pass\n"                   // 9
      "count([])\n";                 // 10
  MeasuredFiles files("main;count[w.py:0 start=1];<lambda>[w.py:0 start=6] 40\n", {{"w.py", text}});
  AnnotateRequest request = files.of("w.py");
  request.document = files.document(text);
  const auto at = [&](std::uint32_t line) {
    return names_at(*functions_at(files.viewed.views, request, line, {}));
  };
  CHECK(at(1) == NamesAt{"count"});
  CHECK(at(4) == NamesAt{"count"});
  CHECK(at(5) == NamesAt{"<lambda>"});
  CHECK(at(6) == NamesAt{"count"});
  // Blank, of a function that was not measured, and outside of all.
  for (const std::uint32_t line : {2u, 9u, 10u}) CHECK(at(line).empty());
}

#include "core/source/script_text.h"

#include <string>

#include "core/source/script_functions.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// Where `mark` stands in a script, as a place and back again as a byte.
void check_place(const std::string& text, std::string_view mark, std::uint32_t line, std::uint32_t column) {
  CAPTURE(mark);
  const ScriptText script(text);
  const std::size_t at = text.find(mark);
  REQUIRE(at != std::string::npos);
  const ScriptText::Place place = script.place_of(at);
  CHECK(place.line == line);
  CHECK(place.column == column);
  CHECK(script.offset_of({line, column}) == at);
}

// The name that is written where a function begins, whose place is marked with @.
std::string name_at(std::string script, std::string_view name) {
  const std::size_t at = script.find('@');
  script.erase(at, 1);
  const auto found = name_of_function(script, at, name);
  return found ? script.substr(*found, 6) : "-";
}

}  // namespace

TEST_CASE("columns of scripts are UTF-16 units, lines end as JavaScript's do") {
  const std::string text =
      "one\r\ntwo\rthree\xE2\x80\xA8"
      "four é 日 🦊 five\nsix";
  check_place(text, "one", 0, 0);
  check_place(text, "two", 1, 0);
  check_place(text, "three", 2, 0);
  check_place(text, "four", 3, 0);
  check_place(text, "five", 3, 12);
  check_place(text, "six", 4, 0);
  const ScriptText script(text);
  CHECK_FALSE(script.offset_of({3, 10}));  // the second half of a surrogate pair
  CHECK_FALSE(script.offset_of({3, 40}));
  CHECK_FALSE(script.offset_of({9, 0}));
  CHECK(script.offset_of({4, 3}) == text.size());
  CHECK_FALSE(script.offset_of({4, 4}));
}

TEST_CASE("places far into one line are found") {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += i % 3 == 0 ? "日" : "a";
  text += "end";
  check_place(text, "end", 0, 20'000);
  check_place(";\n" + text, "end", 1, 20'000);
}

TEST_CASE("the last comment that names a source map counts, if no code follows it") {
  CHECK(source_map_url("f()\n//# sourceMappingURL=a.js.map\n") == "a.js.map");
  CHECK(source_map_url("//@ sourceMappingURL=a.js.map") == "a.js.map");
  CHECK(source_map_url("/*# sourceMappingURL=a.js.map */\n") == "a.js.map");
  CHECK(source_map_url("//# sourceMappingURL=old\nf()\n//# sourceMappingURL=new\n// end\n/* of it */") ==
        "new");
  CHECK(source_map_url("//# sourceMappingURL=data:application/json;base64,e30=") ==
        "data:application/json;base64,e30=");
  CHECK(source_map_url("//# sourceMappingURL=old\nf()") == "");
  CHECK(source_map_url("x = '//# sourceMappingURL=a.js.map'") == "");
  CHECK(source_map_url("// sourceMappingURL=a.js.map") == "");
  CHECK(source_map_url("# sourceMappingURL=a") == "");
  CHECK(source_map_url("sourceMappingURL=") == "");
  CHECK(source_map_url("//# sourceMappingURL=") == "");
  CHECK(source_map_url("/*# sourceMappingURL=a") == "a");
  CHECK(source_map_url("") == "");
}

TEST_CASE("the name of a function is found where it is written") {
  CHECK(name_at("function f@(a){}", "f") == "f(a){}");
  CHECK(name_at("async function* f @(a){}", "f") == "f (a){");
  CHECK(name_at("class A{f@(a){}}", "f") == "f(a){}");
  CHECK(name_at("const f=@(a)=>a", "f") == "f=(a)=");
  CHECK(name_at("const f = @a => a", "f") == "f = a ");
  CHECK(name_at("const f=async@(a)=>a", "f") == "f=asyn");
  CHECK(name_at("const f=function@(a){}", "f") == "f=func");
  CHECK(name_at("const f=async function*@(a){}", "f") == "f=asyn");
  CHECK(name_at("x={f:@(a)=>a}", "f") == "f:(a)=");
  CHECK(name_at("x={f:function@(a){}}", "f") == "f:func");
  CHECK(name_at("a.b.f=function@(){}", "a.b.f") == "f=func");
  CHECK(name_at("f=(@(a)=>a)", "f") == "f=((a)");
  CHECK(name_at("class A{get f@(){}}", "get f") == "f(){}}");
  // Where the first word is the place.
  CHECK(name_at("@function f(){}", "f") == "f(){}");
  CHECK(name_at("@async function f(){}", "f") == "f(){}");
  CHECK(name_at("@class f extends g{}", "f") == "f exte");
  // A constructor has the name of its class.
  CHECK(name_at("class f{constructor@(a){}}", "f") == "f{cons");
  CHECK(name_at("var f=class extends g{a(){if(x){}}constructor@(a){}}", "f") == "f=clas");
  CHECK(name_at("var f=class g{constructor@(a){}}", "f") == "f=clas");
  CHECK(name_at("class A{f={g:1};constructor@(a){}}", "f") == "-");
}

TEST_CASE("a function is written from its first word, or from its parameters") {
  const auto start = [](std::string script) {
    const std::size_t at = script.find('@');
    script.erase(at, 1);
    return script.substr(start_of_function(script, at));
  };
  CHECK(start("g(function@(a){})") == "function(a){})");
  CHECK(start("g(async function * @(a){})") == "async function * (a){})");
  CHECK(start("g(async @(a)=>a)") == "async (a)=>a)");
  CHECK(start("g(@(a)=>a)") == "(a)=>a)");
  CHECK(start("a * @(b)") == "(b)");
  CHECK(start("class A{constructor@(a){}}") == "constructor(a){}}");
  CHECK(start("@") == "");
}

TEST_CASE("what is put into something is written from that") {
  const std::string script = "x;o.p.name=function(){}";
  CHECK(start_of_reference(script, script.find("name")) == 2);
  CHECK(start_of_reference(script, 0) == 0);
  CHECK(start_of_reference(script, 99) == script.size());
}

TEST_CASE("what a source calls a function is read where it is written") {
  const auto declared = [](std::string source) {
    const std::size_t at = source.find('@');
    source.erase(at, 1);
    return std::string(declared_name(source, at));
  };
  CHECK(declared("@function f(a: number) {}") == "f");
  CHECK(declared("@export default async function* f<T>(a: T) {}") == "f");
  CHECK(declared("export @async function f() {}") == "f");
  CHECK(declared("const f = @(a) => a") == "f");
  CHECK(declared("let f = @async (a) => a") == "f");
  CHECK(declared("let f = async @(a) => a") == "f");
  CHECK(declared("const f: Maker = @(a) => a") == "f");
  CHECK(declared("exports.f = @function (a) {}") == "f");
  CHECK(declared("  static f = @(a) => a") == "f");
  CHECK(declared("x = { a, f: @(a) => a }") == "f");
  CHECK(declared("class f { @constructor(a) {} }") == "f");
  CHECK(declared("class f<T> extends g { a() { if (x) {} } @constructor(a) {} }") == "f");
  CHECK(declared("const f = class extends g { @constructor(a) {} }") == "f");
  // What is not clear is none.
  CHECK(declared("g(@(a) => a)") == "");
  CHECK(declared("g(@function (a) {})") == "");
  CHECK(declared("c ? a : @(b) => b") == "");
  CHECK(declared("const f: Map<string, Maker> = @(a) => a") == "");
  CHECK(declared("const f: (a: number) => void = @(a) => a") == "");
  CHECK(declared("(a) => @(b) => b") == "");
  CHECK(declared("a == @(b)") == "");
  CHECK(declared("{ @constructor(a) {} }") == "");
  CHECK(declared("@") == "");
  CHECK(declared_name("f", 9) == "");
}

TEST_CASE("another name is none") {
  CHECK(name_at("function g@(a){}", "f") == "-");
  CHECK(name_at("function gf@(a){}", "f") == "-");
  CHECK(name_at("if(f==@(a))b", "f") == "-");
  CHECK(name_at("f=>@(a)", "f") == "-");
  CHECK(name_at("f+=@(a)", "f") == "-");
  CHECK(name_at("@", "f") == "-");
  CHECK(name_at("f@", "") == "-");
  CHECK(name_at("f@(", std::string(1000, 'f')) == "-");
}

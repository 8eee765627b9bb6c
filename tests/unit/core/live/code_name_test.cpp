// Where functions stand in a city by their names alone.
#include "core/live/code_name.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/live/methods.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

// "package | class | method"
std::string parts_of_code(std::string_view symbol, std::string_view file = "src/game.cpp") {
  const live::CodeName name = live::code_name_of(symbol, file, "/usr/bin/game");
  return fmt::format("{} | {} | {}", name.package, name.class_name, name.method);
}

}  // namespace

TEST_CASE("namespaces are packages of code, and what a function is in is its class", "[live]") {
  CHECK(parts_of_code("demo::game::Board::drop(int, int)") == "demo::game | Board | drop");
  CHECK(parts_of_code("demo::Board::~Board()") == "demo | Board | ~Board");
  CHECK(parts_of_code("Board::size() const") == " | Board | size");
  CHECK(parts_of_code("std::vector<int, std::allocator<int> >::push_back(int const&)") ==
        "std | vector<> | push_back");
  CHECK(parts_of_code("std::function<void (int)>::operator()(int) const") == "std | function<> | operator()");
  CHECK(parts_of_code("demo::Board::operator bool() const") == "demo | Board | operator bool");
  CHECK(parts_of_code("a::b::operator-><int>()") == "a | b | operator-><int>");
}

TEST_CASE("code of no class stands in its file", "[live]") {
  CHECK(parts_of_code("parse_number") == "game.cpp |  | parse_number");
  CHECK(parts_of_code("demo::(anonymous namespace)::helper(int)") == "demo::game.cpp |  | helper");
  CHECK(parts_of_code("operator new(unsigned long)", "") == "game |  | operator new");
  CHECK(parts_of_code("foo(int) [clone .cold]") == "game.cpp |  | foo");
}

TEST_CASE("the type that a template returns is no part of its name", "[live]") {
  CHECK(parts_of_code("void demo::sort<int>(std::vector<int> const&)") == " | demo | sort<int>");
  CHECK(parts_of_code("bool operator==<int>(A<int> const&, A<int> const&)") ==
        "game.cpp |  | operator==<int>");
  CHECK(parts_of_code("decltype(auto) a::b::c<int>(int)") == "a | b | c<int>");
}

TEST_CASE("code within a function is a part of that function", "[live]") {
  CHECK(parts_of_code("demo::App::run()::{lambda(int)#1}::operator()(int) const") ==
        "demo | App | run()::{lambda(int)#1}::operator()");
  CHECK(parts_of_code("main::{lambda(int)#1}::operator()(int) const") ==
        "game.cpp |  | main::{lambda(int)#1}::operator()");
  CHECK(parts_of_code("{lambda()#2}::operator()() const") == "game.cpp |  | {lambda()#2}::operator()");
}

TEST_CASE("a name that is none is taken as it stands", "[live]") {
  for (const std::string_view odd :
       {"a<b", "(", "x(y", "::", "operator", "operator<", "<", "a::", "{", " ", "((("}) {
    const live::CodeName name = live::code_name_of(odd, "", "");
    CHECK_FALSE(name.method.empty());
  }
}

TEST_CASE("code that is told by its address gets a name once, and keeps it", "[live]") {
  live::Methods methods;
  methods.add(live::ModuleInfo{1, "/usr/bin/game", "ab12", 0});
  live::MethodEntry entry;
  entry.id = 7;
  entry.module = 1;
  entry.address = 0x40;
  methods.add(std::vector{entry});
  CHECK(methods.name(7) == "[game+0x40]");
  REQUIRE(methods.is_unnamed_code(7));
  methods.name_code(7, {});
  CHECK(methods.is_unnamed_code(7));
  methods.name_code(7, {"demo::Board::drop(int)", "src/board.cpp", 12});
  methods.name_code(7, {"other()", "", 1});
  CHECK_FALSE(methods.is_unnamed_code(7));
  CHECK(methods.name(7) == "demo::Board::drop(int)");
  CHECK(methods.label(7) == "Board::drop");
  CHECK(methods.text(methods[7].file) == "src/board.cpp");
  CHECK(methods[7].line == 12);
}

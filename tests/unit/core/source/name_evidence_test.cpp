#include "core/source/name_evidence.h"

#include <array>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("the written name of a function is the identifier of its definition") {
  CHECK(written_name("Foo<int>::bar(char const*) const") == "bar");
  CHECK(written_name("void ns::run<std::vector<int>>(int)") == "run");
  CHECK(written_name("net/http.(*conn).serve") == "serve");
  CHECK(written_name("main.main.func1") == "main");
  CHECK(written_name("main.(*T).Method-fm") == "Method");
  CHECK(written_name("main.Map[go.shape.int]") == "Map");
  CHECK(written_name("core::ops::FnOnce::call_once::h0123456789abcdef") == "call_once");
  CHECK(written_name("alloc::sort::{{closure}}") == "sort");
  CHECK(written_name("org.demo.Outer$Inner.run") == "run");
  CHECK(written_name("Demo.<init>") == "Demo");
  CHECK(written_name("outer.<locals>.inner") == "inner");
  CHECK(written_name("block (2 levels) in Foo#each") == "each");
  CHECK(written_name("parse.constprop.0.isra.0") == "parse");
  CHECK(written_name("get size [as length]") == "size");
  CHECK(written_name("<module>").empty());
  CHECK(written_name("(anonymous)").empty());
  CHECK(written_name("ns::Foo::operator()(int) const").empty());
  CHECK(written_name("glob..func3").empty());
  CHECK(written_name("").empty());
  CHECK(written_name(">>>((((").empty());
}

TEST_CASE("functions near their lines confirm a text, missing ones contradict it") {
  const std::string text = "package main\n\nfunc parse() {\n  x()\n}\n\nfunc draw() {\n}\n";
  const std::vector<NamedLine> right = {{"main.parse", 3, true}, {"main.draw", 8, false}};
  const NameEvidence near = look_for_names(text, right);
  CHECK(near.confirms());
  CHECK_FALSE(near.contradicts());
  const std::vector<NamedLine> wrong = {{"main.serve", 3, true}, {"main.(*C).listen", 5, false}};
  CHECK(look_for_names(text, wrong).contradicts());
  const std::vector<NamedLine> moved = {{"main.parse", 40, true}, {"main.draw", 60, true}};
  const NameEvidence elsewhere = look_for_names(text + std::string(80, '\n'), moved);
  CHECK(elsewhere.n_defined_elsewhere == 2);
  CHECK_FALSE(elsewhere.contradicts());
  const std::vector<NamedLine> past = {{"main.parse", 30, false}};
  CHECK(look_for_names(text, past).past_end);
  const std::vector<NamedLine> unnamed = {{"<module>", 4, false}};
  CHECK_FALSE(look_for_names(text, unnamed).contradicts());
  CHECK_FALSE(look_for_names(text, unnamed).confirms());
}

TEST_CASE("case and underscores that a Fortran compiler changes are no difference") {
  const std::vector<NamedLine> all = {{"solve_", 2, true}, {"matmul_", 3, true}};
  CHECK(look_for_names("\nSUBROUTINE SOLVE(X)\nSUBROUTINE MatMul(Y)\n", all).confirms());
}

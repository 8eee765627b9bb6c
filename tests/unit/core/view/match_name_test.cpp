#include "core/view/match_name.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a name is matched without what a tool made up for one run or one build", "[match_name]") {
  const auto matched = GENERATE(table<std::string, std::string>({
      {"com.acme.Cart$$Lambda$14/0x0000000800c03000.apply", "com.acme.Cart$$Lambda.apply"},
      {"com.acme.Cart$$Lambda$14/1929600551.apply", "com.acme.Cart$$Lambda.apply"},
      {"com.acme.Cart$$Lambda/0x00007f2a1c001000.run", "com.acme.Cart$$Lambda.run"},
      {"com.acme.Cart$$Lambda.0x00007f2a1c001000.run", "com.acme.Cart$$Lambda.run"},
      {"java.lang.invoke.LambdaForm$DMH/0x0000000800c0a400.invokeStatic",
       "java.lang.invoke.LambdaForm$DMH.invokeStatic"},
      {"jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
       "jdk.internal.reflect.GeneratedMethodAccessor.invoke"},
      {"com.sun.proxy.$Proxy14.close", "com.sun.proxy.$Proxy.close"},
      {"Orders$$Lambda$88+0x00007f4f38007a08.937773018.applyAsLong", "Orders$$Lambda.applyAsLong"},
      {"parse_row.isra.0", "parse_row"},
      {"parse_row.constprop.0.isra.1", "parse_row"},
      {"parse_row.part.3.cold", "parse_row"},
      {"parse_row.cold.7", "parse_row"},
      {"init.llvm.1234567890", "init"},
      {"table.lto_priv.0", "table"},
      {"acme::Cart::sum(int) [clone .isra.0] [clone .cold]", "acme::Cart::sum(int)"},
      {"acme::cart::sum::h0123456789abcdef", "acme::cart::sum"},
      {"_ZN4acme4cart3sum17h0123456789abcdefE", "_ZN4acme4cart3sumE"},
  }));
  const MatchName name = match_name(std::get<0>(matched));
  CHECK(name.text == std::get<1>(matched));
  CHECK(name.numbers.empty());
}

TEST_CASE("the numbers of closures are given apart", "[match_name]") {
  const auto matched = GENERATE(table<std::string, std::string, std::string>({
      {"main.work.func1", "main.work.func", "1 "},
      {"main.work.func1.2", "main.work.func.", "1 2 "},
      {"main.work.func2.func13", "main.work.func.func", "2 13 "},
      {"main.(*T).work.func1", "main.(*T).work.func", "1 "},
      {"acme::run::{closure#0}", "acme::run::{closure#}", "0 "},
      {"acme::run::{closure#1}::{closure#0}", "acme::run::{closure#}::{closure#}", "1 0 "},
      {"acme::run()::{lambda(int)#2}::operator()(int) const",
       "acme::run()::{lambda(int)#}::operator()(int) const", "2 "},
      {"com.acme.Cart.lambda$total$3", "com.acme.Cart.lambda$total$", "3 "},
  }));
  const MatchName name = match_name(std::get<0>(matched));
  CHECK(name.text == std::get<1>(matched));
  CHECK(name.numbers == std::get<2>(matched));
}

TEST_CASE("other names are matched as they are", "[match_name]") {
  const std::string name = GENERATE(
      "", "main", "main.main", "operator()", "std::vector<int, std::allocator<int> >::push_back(int const&)",
      "main.func", "main.func1x", "main.funcs.f", "h0123456789abcdef", "::h0123456789abcdef",
      "acme::h0123456789abcde", "acme::h0123456789abcdeg", "_ZN4acme3sumE", ".cold", ".isra.0", "isra.0",
      "x.part", "x.isra.", "$$Lambda", "Foo$1.run", "lambda$", "lambda$a", "lambda$7", "f#1", "a[1]",
      "f [clone .cold", "17h", "Proxy14", "main.go:17", "f [clone .isra.0x]", "libc.so.6");
  const MatchName matched = match_name(name);
  CHECK(matched.text == name);
  CHECK(matched.numbers.empty());
}

TEST_CASE("the hash that a bundler puts into a script's name says nothing", "[match_name]") {
  CHECK(match_path("/srv/dist/main.3f2a9c1b.js") == "/srv/dist/main.js");
  CHECK(match_path("$Proxy26.java") == "$Proxy.java");
  CHECK(match_path("jdk/internal/reflect/GeneratedMethodAccessor7.java") ==
        "jdk/internal/reflect/GeneratedMethodAccessor.java");
  CHECK(match_path("dist/chunk-5HXW3KJQ.js") == "dist/chunk.js");
  CHECK(match_path("assets/index-BxY12abc.mjs") == "assets/index.mjs");
  for (const std::string_view path :
       {"main.js", "lib/renderer.bundle.js", "chunk-renderer.js", "app.deadbeef.js", "3f2a9c1b.js",
        "/.3f2a9c1b.js", "main.3f2a9c1b.css", "main.3f2a9c1.js", "jquery-3.7.1.js", ""})
    CHECK(match_path(path) == path);
}

#include "core/view/name_cuts.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

// The shorter forms of a name, the longest first.
std::vector<std::string> forms(std::string_view name) {
  std::vector<std::string> out;
  for (const std::uint32_t at : name_cuts(name)) out.emplace_back(name.substr(at));
  return out;
}
using Forms = std::vector<std::string>;

}  // namespace

TEST_CASE("a name that does not fit keeps the end of its path, its function, its method") {
  CHECK(forms("runtime.gcDrain") == Forms{"gcDrain"});
  CHECK(forms("http.(*conn).serve") == Forms{"(*conn).serve", "serve"});
  CHECK(forms("o.a.s.Executor.run") == Forms{"a.s.Executor.run", "s.Executor.run", "Executor.run", "run"});
  CHECK(forms("std::map<…, std::less<int>>::find") == Forms{"map<…, std::less<int>>::find", "find"});
  CHECK(forms("<Vec<…> as Drop>::drop") == Forms{"drop"});
  CHECK(forms("/usr/lib/x86_64/libc.so.6") ==
        Forms{"usr/lib/x86_64/libc.so.6", "lib/x86_64/libc.so.6", "x86_64/libc.so.6", "libc.so.6"});
  CHECK(forms("src/a/b.c") == Forms{"a/b.c", "b.c"});
  CHECK(forms("Foo::Bar#baz") == Forms{"Bar#baz", "baz"});
  CHECK(forms("Service->handle") == Forms{"handle"});
  CHECK(forms("http.(*conn).serve server.go:17") ==
        Forms{"(*conn).serve server.go:17", "serve server.go:17"});
}

TEST_CASE("what CPython says of its own functions keeps their names") {
  CHECK(forms("<built-in method builtins.sum>") == Forms{"builtins.sum>", "sum>"});
  CHECK(forms("{built-in method time.sleep}") == Forms{"time.sleep}", "sleep}"});
  CHECK(forms("<method 'append' of 'list' objects>") == Forms{"'append' of 'list' objects>"});
  CHECK(forms("<method ") == Forms{});
}

TEST_CASE("what says nothing alone keeps the name before it") {
  CHECK(forms("main.run.func1") == Forms{"run.func1"});
  CHECK(forms("main.run.func1.2") == Forms{"run.func1.2"});
  CHECK(forms("Demo.λ14.run") == Forms{"run"});
  CHECK(forms("core::ops::λ") == Forms{"ops::λ"});
  CHECK(forms("Compare::operator()") == Forms{});
  CHECK(forms("ns::Compare::operator()") == Forms{"Compare::operator()"});
  CHECK(forms("work.constprop.0") == Forms{});
  CHECK(forms("a.c") == Forms{});
  CHECK(forms("scan (util_a.py)") == Forms{});
  CHECK(forms("app.scan (lib/util_a.py)") == Forms{"scan (lib/util_a.py)"});
  CHECK(forms("(garbage collector)") == Forms{});
  CHECK(forms("-[NSArray count.x]") == Forms{});
  CHECK(forms("malloc") == Forms{});
  CHECK(forms("") == Forms{});
  CHECK(forms("a.") == Forms{});
  CHECK(forms("::::") == Forms{});
}

TEST_CASE("a name of very many parts has few cuts") {
  std::string name;
  for (int i = 0; i < 100'000; ++i) name += "a::";
  CHECK(name_cuts(name + "end").size() == 6);
  CHECK(forms(name + "end").back() == "end");
}

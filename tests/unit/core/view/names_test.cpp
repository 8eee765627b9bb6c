#include "core/view/names.h"

#include <array>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("short names keep what tells a function from others", "[names]") {
  const std::array<std::pair<const char*, const char*>, 51> rows{{
      {"main", "main"},
      {"Foo<int>::bar", "Foo<…>::bar"},
      {"Foo<int, std::vector<char> >::bar(char const*, int) const", "Foo<…>::bar"},
      {"void ns::run<int>(ns::Pool<int>&)", "ns::run<…>"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <…>"},
      {"Foo::operator()(int) const", "Foo::operator()"},
      {"Foo::operator->() const", "Foo::operator->"},
      {"operator new(unsigned long)", "operator new"},
      {"a::b(int) [clone .cold]", "a::b"},
      {"(anonymous namespace)::Worker::run()", "(anonymous namespace)::Worker::run()"},
      {"ns::(anonymous namespace)::run()", "ns::(anon)::run"},
      {"Foo::bar()::{lambda(int)#2}::operator()(int) const", "Foo::bar::λ2"},
      {"Foo::bar()::$_3::operator()() const", "Foo::bar::λ3"},
      {"std::function<void ()>::operator()() const", "std::function<…>::operator()"},
      {"core::ops::function::FnOnce::call_once::h0123456789abcdef", "core::ops::function::FnOnce::call_once"},
      {"<alloc::vec::Vec<T> as core::ops::Drop>::drop::h0123456789abcdef", "<Vec<…> as Drop>::drop"},
      {"<my::Type>::go", "<Type>::go"},
      {"app::main::{{closure}}", "app::main::λ"},
      {"net/http.(*conn).serve", "http.(*conn).serve"},
      {"github.com/u/m/pkg.Do", "pkg.Do"},
      {"github.com/u/m/pkg.Sort[go.shape.[]int,go.shape.int]", "pkg.Sort[…]"},
      {"github.com/u/m/pkg.(*T[github.com/z/w.K]).M", "pkg.(*T[…]).M"},
      {"encoding/json.Marshal", "json.Marshal"},
      {"github.com/dgraph-io/badger/v2.Open", "badger/v2.Open"},
      {"github.com/x/vault.Open", "vault.Open"},
      {"runtime.mcall", "runtime.mcall"},
      {"main.main.func1", "main.main.func1"},
      {"http.Client.Do", "http.Client.Do"},
      {"net/http.HandlerFunc.ServeHTTP", "http.HandlerFunc.ServeHTTP"},
      {"github.com/u/m/promhttp.HandlerOpts.Get", "promhttp.HandlerOpts.Get"},
      {"org.apache.spark.Executor.run", "o.a.s.Executor.run"},
      {"java/util/HashMap.get", "j.u.HashMap.get"},
      {"java/util/HashMap.java", "HashMap.java"},
      {"com/acme/Foo.kt", "Foo.kt"},
      {"java.lang.Thread.run()", "j.l.Thread.run"},
      {"java.util.HashMap$Node.<init>", "j.u.HashMap$Node.<init>"},
      {"Demo.lambda$main$3", "Demo.λ3"},
      {"Demo$$Lambda$14/0x0000000800c031f0.run", "Demo.λ14.run"},
      {"Demo$$Lambda.0x00007fb634004800.apply", "Demo.λ.apply"},
      {"com.acme.app.Demo.lambda$main$3", "c.a.a.Demo.λ3"},
      {"com/acme/Demo$$Lambda$14/0x0000000800c031f0.run", "c.a.Demo.λ14.run"},
      {"com.acme.Demo$$Lambda$14/0x0000000800c031f0.run", "c.a.Demo.λ14.run"},
      {"(garbage collector)", "(garbage collector)"},
      {"[unknown]", "[unknown]"},
      {"-[NSArray objectAtIndex:]", "-[NSArray objectAtIndex:]"},
      {"block in Foo#bar", "block in Foo#bar"},
      {"Run script (line 3)", "Run script (line 3)"},
      {"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6"},
      {"0x42ed43", "0x42ed43"},
      {"unbalanced<int::x", "unbalanced<int::x"},
      {"", ""},
  }};
  for (const auto& [full, expected] : rows) CHECK(short_name(full) == expected);
}

TEST_CASE("two different frames never get the same short name", "[names]") {
  const std::array<NameAndPlace, 8> frames{{
      {"Foo<int>::bar", "a.cc"},
      {"Foo<char>::bar", "a.cc"},
      {"Foo<int>::bar", "a.cc"},
      {"main", "src/a.c"},
      {"main", "src/b.c"},
      {"init", "x/m.go"},
      {"init", "y/m.go"},
      {"alone<int>", ""},
  }};
  const std::vector<std::string> names = distinct_short_names(frames);
  CHECK(names == std::vector<std::string>{"Foo<int>::bar", "Foo<char>::bar", "Foo<int>::bar", "main (a.c)",
                                          "main (b.c)", "init (x/m.go)", "init (y/m.go)", "alone<…>"});
}

TEST_CASE("names that would shorten to one keep what tells them apart", "[names]") {
  using Names = std::vector<std::string>;
  const std::array<std::pair<Names, Names>, 10> rows{{
      {{"std::map<std::string, int, Less>::find(int) const",
        "std::map<std::string, int, Greater>::find(int) const"},
       {"std::map<…, Less>::find", "std::map<…, Greater>::find"}},
      {{"V<std::pair<std::string, V<int> > >::push(std::pair<std::string, V<int> > const&)",
        "V<std::pair<std::string, V<long> > >::push(std::pair<std::string, V<long> > const&)"},
       {"V<std::pair<…, V<int> > >::push", "V<std::pair<…, V<long> > >::push"}},
      {{"void ns::run<int>(ns::Pool<int>&)", "void ns::run<long>(ns::Pool<long>&)"},
       {"ns::run<int>", "ns::run<long>"}},
      {{"int ns::run<int>(int)", "void ns::run<int>(int)"}, {"int ns::run<…>", "void ns::run<…>"}},
      {{"Foo<A>::bar(x)", "Foo<A, B>::bar(x)"}, {"Foo<A>::bar", "Foo<A, B>::bar"}},
      {{"f(int, std::string)", "f(char, std::string)", "f(char, std::string) [clone .cold]"},
       {"f(int, std::string)", "f(char, std::string)", "f(char, std::string) [clone .cold]"}},
      {{"github.com/u/m/pkg.Sort[go.shape.int,go.shape.string]",
        "github.com/u/m/pkg.Sort[go.shape.int8,go.shape.string]"},
       {"pkg.Sort[go.shape.int, …]", "pkg.Sort[go.shape.int8, …]"}},
      {{"drop_in_place<alloc::vec::Vec<u8>>::h0123456789abcdef",
        "drop_in_place<alloc::vec::Vec<u16>>::h0123456789abcde0"},
       {"drop_in_place<alloc::vec::Vec<u8>>", "drop_in_place<alloc::vec::Vec<u16>>"}},
      {{"operator new(unsigned long)", "operator new(unsigned long, std::nothrow_t const&)"},
       {"operator new(unsigned long)", "operator new(unsigned long, std::nothrow_t const&)"}},
      {{"F<a, d<e, f>, h>::go()::{lambda(int)#1}::operator()(int) const",
        "F<a, d<e, x>, h>::go()::{lambda(int)#1}::operator()(int) const"},
       {"F<…, d<…, f>, …>::go::λ1", "F<…, d<…, x>, …>::go::λ1"}},
  }};
  for (const auto& [full, expected] : rows) {
    std::vector<NameAndPlace> frames;
    for (const std::string& name : full) frames.push_back({name, ""});
    CHECK(distinct_short_names(frames) == expected);
  }
}

TEST_CASE("brackets that a hostile file nests or leaves open cost a few walks of the name", "[names]") {
  const std::string open(100'000, '<'), close(100'000, '>');
  const std::vector<std::string> names{"f" + open + "a" + close + "(int)", "f" + open + "b" + close + "(int)",
                                       "g(" + open + "a", "g(" + open + "b"};
  std::vector<NameAndPlace> frames;
  for (const std::string& name : names) frames.push_back({name, ""});
  const std::vector<std::string> shown = distinct_short_names(frames);
  CHECK(shown[0] != shown[1]);
  CHECK(shown[2] != shown[3]);
}

TEST_CASE("a name that looks like another's disambiguated form still differs", "[names]") {
  const std::array<NameAndPlace, 3> frames{{{"f", "a.c"}, {"f", "b/a.c"}, {"f (a.c)", ""}}};
  const std::vector<std::string> names = distinct_names(frames);
  CHECK(names[0] != names[1]);
  CHECK(names[0] != names[2]);
  CHECK(names[1] != names[2]);
}

TEST_CASE("a hundred thousand brackets are shortened in linear memory and without recursion", "[names]") {
  std::string deep = "f" + std::string(100'000, '<') + std::string(100'000, '>') + "::g";
  CHECK(short_name(deep) == "f<…>::g");
}

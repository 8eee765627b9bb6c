#include "formats/support/demangle.h"

#include "formats/support/text_number.h"
#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("C++ and Rust names are shown as people write them") {
  CHECK(demangle("_ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangle("__ZN3foo3barEi") == "foo::bar(int)");
  CHECK(demangle("_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$"
                 "u7d$$GT$17h0123456789abcdefE") ==
        "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>");
  CHECK(demangle("_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17hdeadbeef01234567E") ==
        "<&T as core::fmt::Debug>::fmt");
  CHECK(demangle("_ZNSt6vectorIiSaIiEE9push_backEOi@@GLIBCXX_3.4") ==
        "std::vector<int, std::allocator<int> >::push_back(int&&)@@GLIBCXX_3.4");
}

TEST_CASE("what is no mangled name stays as it is") {
  for (const char* name : {"main", "", "_Z", "_ZN", "__libc_start_main@plt", "runtime.main"})
    CHECK(demangle(name) == name);
  const std::string huge = "_Z" + std::string(5000, 'N');
  CHECK(demangle(huge) == huge);
}

TEST_CASE("a name that refers to itself does not become gigabytes") {
  // f(A<int, int>, A<A<int, int>, A<int, int> >, ...): each parameter twice as long as the one before.
  std::string name = "_Z1f1AIiiE";
  CHECK(demangle(name) == "f(A<int, int>)");
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (int i = 0; i < 6; ++i) {
    const std::string before = std::string("S") + digits[static_cast<std::size_t>(i)] + "_";
    name += "S_I" + before + before + "E";
  }
  CHECK(demangle(name).starts_with("f(A<int, int>, A<A<int, int>, A<int, int> >, A<A<A<int, int>,"));
  for (int i = 6; i < 36; ++i) {
    const std::string before = std::string("S") + digits[static_cast<std::size_t>(i)] + "_";
    name += "S_I" + before + before + "E";
  }
  CHECK(demangle(name) == name);
}

TEST_CASE("numbers are the whole text or nothing") {
  std::int64_t i = 7;
  CHECK_FALSE(parse_int("12x", i));
  CHECK_FALSE(parse_int("", i));
  CHECK_FALSE(parse_int("9223372036854775808", i));
  CHECK(i == 7);
  CHECK(parse_int("-9223372036854775808", i));
  std::uint64_t u = 0;
  CHECK(parse_hex("0xffffffffffffffff", u));
  CHECK(u == ~std::uint64_t{0});
  CHECK_FALSE(parse_hex("0x", u));
  double d = 0;
  CHECK(parse_double("1e3", d));
  CHECK(d == 1000);
  CHECK_FALSE(parse_double("nan", d));
  CHECK_FALSE(parse_double("inf", d));
  CHECK(trim(" \ta b\r\n") == "a b");
}

#include "server/feature/fitted_name.h"

#include "core/view/name_cuts.h"
#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a name keeps its useful end in the columns there are") {
  CHECK(fitted_name("runtime.gcDrain", 15) == "runtime.gcDrain");
  CHECK(fitted_name("runtime.gcDrain", 14) == "gcDrain");
  CHECK(fitted_name("runtime.gcDrain", 5).starts_with("gcD"));
  CHECK(fitted_name("http.(*conn).serve", 13) == "(*conn).serve");
  CHECK(fitted_name("http.(*conn).serve", 12) == "serve");
  CHECK(fitted_name("ns::\x1b[31mevil", 80).find('\x1b') == std::string::npos);
}

TEST_CASE("on the wire places are UTF-16 code units") {
  const std::string name = "é.λx.𝄞𝄞.ok";
  CHECK(cuts_in_utf16(name, name_cuts(name)) == std::vector<std::uint32_t>{5, 10});
  CHECK(cuts_in_utf16("runtime.gcDrain", name_cuts("runtime.gcDrain")) == std::vector<std::uint32_t>{8});
  CHECK(cuts_in_utf16("malloc", {}).empty());
}

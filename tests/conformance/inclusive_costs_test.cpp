// Not run by itself: prints the inclusive costs of the file PROFD_INCLUSIVE_OF for
// tests/e2e/callgrind_agreement.py, as no view shows associations yet.
#include <cstdlib>

#include <fmt/format.h>

#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("inclusive costs of a file", "[.]") {
  const char* const path = std::getenv("PROFD_INCLUSIVE_OF");
  REQUIRE(path != nullptr);
  const auto opened = open_hidden(read_bytes(path));
  REQUIRE(opened.has_value());
  const Profile& p = *opened->profiles.at(0);
  for (const AssociationTable& table : p.associations()) {
    if (table.name != "functions") continue;
    for (std::size_t m = 0; m < table.metrics.size(); ++m)
      for (std::size_t r = 0; r < table.size(); ++r) {
        const FunctionId function = p.frames().function[p.tree().frame[table.contexts[0][r]]];
        const std::string_view file = p.strings()[p.functions().file[function.v]];
        fmt::print("inclusive\t{}\t{}:{}\t{}\n", table.metrics[m].name, file.empty() ? "???" : file,
                   p.function_name(function), std::get<Column<std::int64_t>>(table.values[m])[r]);
      }
  }
}

#include "tests/conformance/bad_input/bad_input.h"

#include <algorithm>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

namespace profd::test {

void check_bad_inputs(const std::string& format, const std::vector<BadInput>& table) {
  for (const BadInput& bad : table) {
    INFO(format << ": " << bad.what << ", expected: " << bad.expected);
    OpenOptions options;
    options.format = format;
    options.limits.stack_depth = 10000;
    const auto opened = open_hidden(bad.bytes, options);
    if (bad.expected.starts_with("error ")) {
      const std::string code = bad.expected.substr(6, bad.expected.find(':') - 6);
      const std::string words = bad.expected.substr(bad.expected.find(": ") + 2);
      REQUIRE_FALSE(opened);
      INFO(describe(opened.error()));
      CHECK(to_string(opened.error().code) == code);
      CHECK(opened.error().message.find(words) != std::string::npos);
      CHECK(opened.error().offset.value_or(0) <= bad.bytes.size());
    } else {
      REQUIRE(bad.expected.starts_with("report "));
      const std::string kind = bad.expected.substr(7);
      INFO((opened ? std::string() : describe(opened.error())));
      REQUIRE(opened);
      const auto& rows = opened->report.rows();
      CHECK(std::any_of(rows.begin(), rows.end(), [&](const ReportRow& row) { return row.kind == kind; }));
      for (const ProfilePtr& profile : opened->profiles) CHECK(broken_invariant(*profile) == "");
    }
  }
}

}  // namespace profd::test

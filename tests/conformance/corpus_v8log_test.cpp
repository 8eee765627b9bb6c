// V8 logs against EXPECTED.tsv, which has them from `node --prof-process`.
#include <algorithm>

#include "tests/conformance/describe_profile.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::uint64_t reported(const OpenedFile& opened, std::string_view kind) {
  for (const ReportRow& row : opened.report.rows()) {
    if (row.kind == kind) return row.count;
  }
  return 0;
}

// Ticks whose leaf is compiled code of a function: 'JS: *fib /opt/demo/demo.js:2:13'.
double compiled_self(const Profile& profile, std::string_view name, std::string_view file,
                     std::uint32_t line) {
  double sum = 0;
  const SampleTable& samples = *profile.samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t frame = profile.tree().frame[samples.context[i]];
    const FunctionId function = profile.frames().function[frame];
    sum += profile.frames().kind[frame] == FrameKind::jit && profile.function_name(function) == name &&
                   profile.strings()[profile.functions().file[function.v]] == file &&
                   profile.functions().start_line[function.v] == line
               ? 1
               : 0;
  }
  return sum;
}

// Ticks whose leaf is of a module that ends so.
double module_self(const Profile& profile, std::string_view end) {
  double sum = 0;
  const SampleTable& samples = *profile.samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const ModuleId module = profile.frames().module[profile.tree().frame[samples.context[i]]];
    sum += module.valid() && profile.strings()[profile.modules().name[module.v]].ends_with(end) ? 1 : 0;
  }
  return sum;
}

double state_ticks(const Profile& profile, std::string_view state) {
  double sum = 0;
  const SampleTable& samples = *profile.samples();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t set = samples.label_set[i];
    const std::uint32_t first = profile.labels().first[set];
    sum += profile.labels().first[set + 1] > first && profile.strings()[profile.labels().text[first]] == state
               ? 1
               : 0;
  }
  return sum;
}

}  // namespace

TEST_CASE("v8log corpus files have the ticks of EXPECTED.tsv") {
  if (warn_without_corpus()) return;
  int n_checked = 0;
  for (const ExpectedRow& row : expected_rows(*corpus(), "v8log")) {
    INFO(row.file);
    const auto opened = open_hidden(read_bytes(*corpus() / row.file));
    REQUIRE(opened);
    const Profile& profile = *opened->profiles.at(0);
    CHECK(as_double(profile.total(profile.find_metric("samples").value())) == std::stod(row.total));
    for (const auto& [entry, value] : row.top_entries()) {
      INFO(entry);
      // 'JS: *fib /opt/demo/demo.js:2:13', 'LazyCompile: *"d /Users/…/simple.js:20:11"'
      std::string text = entry.substr(entry.find('*') + 1);
      text.erase(std::remove(text.begin(), text.end(), '"'), text.end());
      const std::size_t blank = text.find(' '), column = text.rfind(':'), line = text.rfind(':', column - 1);
      CHECK(compiled_self(profile, text.substr(0, blank), text.substr(blank + 1, line - blank - 1),
                          static_cast<std::uint32_t>(std::stoul(text.substr(line + 1)))) == std::stod(value));
      ++n_checked;
    }
  }
  CHECK(n_checked == 6);
}

// expected/node20-demo-v8.log.prof-process.txt: libc 37 without and 38 more with symbols, 43 ticks of GC.
TEST_CASE("v8log corpus: libraries and states have the ticks that node --prof-process gives them") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "v8log/node20-demo-v8.log"));
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.at(0);
  CHECK(state_ticks(profile, "GC") == 43);
  const double libraries =
      module_self(profile, "libc.so.6") + module_self(profile, ".so.6") + module_self(profile, ".so.6.0.30");
  CHECK(libraries >= 37);
  CHECK(reported(*opened, "unknown-address") <= 143);
}

// What `node --prof-process --preprocess` made of a log has the ticks of the log.
#include <map>

#include <fmt/format.h>

#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

// Ticks by time, state and stack: "27 JS: | fib busy.js:4 | work busy.js:14". Functions of scripts only: what
// the tool makes of an address in a library depends on the libraries that are there when it runs.
std::map<std::string, int> ticks(const char* file) {
  const auto opened = open_hidden(read_bytes(reader_folder("v8log") / "testdata" / file));
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "v8log");
  const Profile& p = *opened->profiles.at(0);
  const SampleTable& samples = *p.samples();
  std::map<std::string, int> out;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::uint32_t label = p.labels().first[samples.label_set[i]];
    std::string text = fmt::format("{} {}:", samples.time[i], p.strings()[p.labels().text[label]]);
    for (std::uint32_t c = samples.context[i]; c != 0; c = p.tree().parent[c]) {
      const std::uint32_t frame = p.tree().frame[c];
      const FunctionId function = p.frames().function[frame];
      if (p.strings()[p.functions().file[function.v]].empty()) continue;
      text += fmt::format(" | {} {}:{} {}", p.function_name(function),
                          p.strings()[p.functions().file[function.v]], p.frames().line[frame],
                          static_cast<int>(p.frames().kind[frame]));
    }
    ++out[text];
  }
  return out;
}

}  // namespace

TEST_CASE("v8log: the JSON of --preprocess has the ticks and script functions of the log it was made of") {
  const auto log = ticks("recorded-node-v8.log");
  CHECK(log.size() > 100);
  CHECK(ticks("recorded-node-preprocessed.json") == log);
}

// XRay's logs with their program beside them, against what llvm-xray account says.
#include <map>

#include "formats/support/line_reader.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

struct XRayAccount {
  std::uint64_t calls = 0;
  double seconds = 0;  // of all calls, with what they called
};

std::map<std::string, XRayAccount> accounts_of(const Profile& profile) {
  std::map<std::string, XRayAccount> out;
  REQUIRE(profile.timeline() != nullptr);
  const SpanTable& spans = profile.timeline()->spans;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const std::uint32_t frame = profile.tree().frame[spans.context[i]];
    XRayAccount& account = out[std::string(profile.function_name(profile.frames().function[frame]))];
    ++account.calls;
    account.seconds += static_cast<double>(spans.end[i] - spans.begin[i]) * 1e-9;
  }
  return out;
}

// "funcid,count,min,median,90%ile,99%ile,max,sum,debug,function"
std::map<std::string, XRayAccount> accounts_in(const std::string& csv) {
  std::map<std::string, XRayAccount> out;
  LineReader lines(csv);
  std::string_view line;
  REQUIRE(lines.next(line));
  while (lines.next(line)) {
    std::vector<std::string> cells(1);
    for (const char c : line)
      if (c == ',')
        cells.emplace_back();
      else if (c != '"')
        cells.back() += c;
    REQUIRE(cells.size() == 10);
    out[cells[9]] = {std::stoull(cells[1]), std::stod(cells[7])};
  }
  return out;
}

void check_against_llvm(const std::string& mode, std::size_t n_threads) {
  INFO(mode);
  const auto folder = reader_folder("xray") / "testdata" / "beside";
  const auto opened = open_path((folder / (mode + ".xray")).string());
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "xray");
  const Profile& profile = *opened->profiles.at(0);
  CHECK(profile.info().program == "app");
  CHECK(profile.threads().size() == n_threads);
  const auto ours = accounts_of(profile), llvm = accounts_in(read_bytes(folder / (mode + ".account.csv")));
  CHECK(llvm.size() >= 6);
  CHECK(ours.size() == llvm.size());
  for (const auto& [name, account] : llvm) {
    INFO(name);
    const auto found = ours.find(name);
    REQUIRE(found != ours.end());
    CHECK(found->second.calls == account.calls);
    // It prints seven digits of seconds.
    CHECK(found->second.seconds == Approx(account.seconds).margin(2e-9));
  }
}

}  // namespace

TEST_CASE("xray: a log of the basic mode has the calls and times of llvm-xray") {
  check_against_llvm("basic", 1);
}

TEST_CASE("xray: a log of the flight data recorder has the calls and times of llvm-xray") {
  check_against_llvm("fdr", 3);
}

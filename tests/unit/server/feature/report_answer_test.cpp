#include "server/feature/report_answer.h"

#include <functional>
#include <set>

#include "tests/support/catch.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

using Lines = std::vector<std::string>;

Result<ReportAnswer> report(const Viewed& viewed, Views& views,
                            const std::function<void(ReportRequest&)>& change = {}) {
  ReportRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  if (change) change(request);
  return report_answer(views, request, {});
}

constexpr std::string_view kTwoKinds =
    "main[m.js:1 kind=interpreted];f[f.js:5 kind=jit] 60\n"
    "main[m.js:1 kind=interpreted];f[f.js:6 kind=jit] 20\n"
    "main[m.js:1 kind=interpreted];f[f.js:5 kind=interpreted] 8\n"
    "main[m.js:1 kind=interpreted];gone[f.js:9 kind=interpreted] 2\n"
    "(root) 10\n";

}  // namespace

TEST_CASE("sums are of counts, not of rounded shares") {
  // 46.55 + 20.40 is not 66.94.
  CHECK(report_share(Value(4658L), Value(10007L)) == "46.55%");
  CHECK(report_share(Value(2041L), Value(10007L)) == "20.40%");
  CHECK(report_share(Value(4658L + 2041L), Value(10007L)) == "66.94%");
  CHECK(report_share(Value(3L), Value(10332L)) == "0.03%");
  CHECK(report_share(Value(5L), Value(5L)) == "100.0%");
  CHECK(report_share(Value(99'990L), Value(100'000L)) == "99.99%");
  CHECK(report_share(Value(1L), Value(0L)) == "n/a");
  CHECK(report_share(Value(0.5), Value(2.0)) == "25.00%");
}

TEST_CASE("a report has sections, their functions with running sums, and what is in no frame") {
  Viewed viewed(kTwoKinds);
  const auto answer = report(viewed, viewed.views);
  REQUIRE(answer);
  CHECK(answer->lines ==
        Lines{"80 samples in JIT code (80.00% of total)", "10 samples in interpreted code (10.00% of total)",
              "10 samples in stacks without a frame (10.00% of total)", "",
              "% of JIT code (% of total) (samples) (cumulative)", "100.0% (80.00%) f (80) (100.0%)", "",
              "% of interpreted code (% of total) (samples) (cumulative)", "80.00% ( 8.00%) f (8) (80.00%)",
              "20.00% ( 2.00%) gone (2) (100.0%)", "",
              "% of stacks without a frame (% of total) (samples) (cumulative)",
              "100.0% (10.00%) (no frame) (10) (100.0%)"});
  CHECK(answer->by == ReportSections::kind);
  CHECK(answer->line_rows == std::vector<std::int32_t>{-1, -1, -1, -1, -1, 0, -1, -1, 1, 2, -1, -1, 3});
  CHECK(answer->sections[1].n_functions == 2);
  CHECK(answer->rows.line == std::vector<std::uint32_t>{5, 5, 9, 0});
  CHECK(answer->files == Lines{"f.js"});
}

TEST_CASE("ranges of a function that ran in two ways are those of each") {
  Viewed viewed(kTwoKinds);
  const auto answer = report(viewed, viewed.views, [](ReportRequest& request) { request.function = "f"; });
  REQUIRE(answer);
  CHECK(answer->lines ==
        Lines{"80 samples in JIT code (80.00% of total)", "10 samples in interpreted code (10.00% of total)",
              "", "% of JIT code (% of total) (samples) (cumulative)", "100.0% (80.00%) f (80) (100.0%)",
              "    75.00% f.js:5 (60) (75.00%)", "    25.00% f.js:6 (20) (100.0%)", "",
              "% of interpreted code (% of total) (samples) (cumulative)", "80.00% ( 8.00%) f (8) (80.00%)",
              "    100.0% f.js:5 (8) (100.0%)"});
  CHECK(answer->rows.line == std::vector<std::uint32_t>{5, 5, 6, 5, 5});
}

TEST_CASE("functions below the cut are one row with their number and sum") {
  Viewed viewed("a 90\nb 4\nc 3\nd 3\n");
  const auto answer = report(viewed, viewed.views, [](ReportRequest& request) { request.min_share = 0.04; });
  REQUIRE(answer);
  CHECK(answer->lines == Lines{"100 samples in native code (100.0% of total)", "",
                               "% of native code (% of total) (samples) (cumulative)",
                               "90.00% (90.00%) a (90) (90.00%)", " 4.00% ( 4.00%) b (4) (94.00%)",
                               " 6.00% ( 6.00%) ...others... 2 functions (6) (100.0%)"});
  CHECK(answer->rows.kind.back() == ReportRowKind::others);
  CHECK(answer->rows.count.back() == 2);
  const auto two = report(viewed, viewed.views, [](ReportRequest& request) { request.limit = 1; });
  CHECK(two->lines.back() == "10.00% (10.00%) ...others... 3 functions (10) (100.0%)");
}

TEST_CASE("ranges below the cut are one row, those that are left stay in the order of the code") {
  Viewed viewed("f[a.c:1] 1\nf[a.c:2] 7\nf[a.c:3] 2\nf[a.c:4] 10\n");
  const auto answer = report(viewed, viewed.views, [](ReportRequest& request) {
    request.ranges = true;
    request.range_limit = 2;
  });
  REQUIRE(answer);
  CHECK(Lines(answer->lines.begin() + 4, answer->lines.end()) ==
        Lines{"    35.00% a.c:2 (7) (35.00%)", "    50.00% a.c:4 (10) (85.00%)",
              "    15.00% ...others... 2 ranges (3) (100.0%)"});
}

TEST_CASE("two functions of one name stay two") {
  Viewed viewed("f[a.c:1] 3\nf[b.c:1] 2\nf[b.c:1 start=7] 1\n");
  const auto answer = report(viewed, viewed.views);
  REQUIRE(answer);
  CHECK(answer->rows.name.size() == 3);
  CHECK(std::set<std::string>(answer->rows.name.begin(), answer->rows.name.end()).size() == 3);
}

TEST_CASE("two to eight modules are sections, with filters beside the whole program") {
  Viewed viewed(
      "main[a.c:1 module=/x/app];f[a.c:2 module=/x/app] 6\nmain[module=/x/app];m[module=/y/libm.so] 2\nk "
      "1\n");
  const auto answer = report(viewed, viewed.views, [](ReportRequest& request) {
    request.spec = spec_from("flat | drop function k");
  });
  REQUIRE(answer);
  CHECK(answer->by == ReportSections::module);
  CHECK(Lines(answer->lines.begin(), answer->lines.begin() + 3) ==
        Lines{"8 samples pass the filters, 88.89% of 9 samples", "6 samples in app (66.67% of total)",
              "2 samples in libm.so (22.22% of total)"});
  const auto one =
      report(viewed, viewed.views, [](ReportRequest& request) { request.sections = ReportSections::none; });
  CHECK(one->sections.size() == 1);
  CHECK(one->lines.front() == "9 samples in the program (100.0% of total)");
}

TEST_CASE("other units than counts are shown as everywhere, and names are data") {
  Viewed viewed("# metrics: cpu/nanoseconds\nbad\x1bname 1500000\n");
  const auto answer = report(viewed, viewed.views);
  REQUIRE(answer);
  CHECK(answer->lines.back() == "100.0% (100.0%) bad\\x1bname (1.50 ms) (100.0%)");
  CHECK(answer->rows.name.back() == "bad\x1bname");
  CHECK(
      report(viewed, viewed.views, [](ReportRequest& request) { request.function = "none"; }).error().code ==
      ErrorCode::not_found);
}

TEST_CASE("a view with nothing in it is a sentence") {
  Viewed viewed("a;b 0\n");
  const auto answer = report(viewed, viewed.views);
  REQUIRE(answer);
  CHECK(answer->lines == Lines{"No function has samples of its own."});
}

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string words(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (std::uint64_t v : values)
    for (int i = 0; i < 8; ++i) out += static_cast<char>(v >> (8 * i));
  return out;
}

const std::string kHeader = words({0, 3, 0, 10000, 0});

}  // namespace

TEST_CASE("pprof-legacy: bad input is refused or counted") {
  const std::string heap = "heap profile: 1: 10 [1: 10] @ heapprofile\n";
  std::string deep = "1: 10 [1: 10] @";
  for (int i = 0; i < 1'000'001; ++i) deep += " 0x1";
  check_bad_inputs(
      "pprof-legacy",
      {
          {"another file", "hello\n", "error malformed: no profile of a kind"},
          {"a heap of an unknown kind", "heap profile: 1: 1 [1: 1] @ heapx_v9/1\n",
           "error unsupported: heapx_v9"},
          {"a rate above int64", "heap profile: 1: 1 [1: 1] @ heap/99999999999999999999\n",
           "error malformed: rate"},
          {"a heap sample that is none", heap + "nonsense\n", "error malformed: no sample of a heap"},
          {"bytes without objects", heap + "0: 5 [0: 0] @ 0x1\n", "error malformed: bytes and no objects"},
          {"a count above int64", heap + "99999999999999999999: 5 [0: 0] @ 0x1\n",
           "error malformed: no sample"},
          {"an address above 64 bits", heap + "1: 5 [1: 5] @ 0x11111111111111111\n",
           "error malformed: address"},
          {"a deep stack", heap + deep + "\n", "error malformed: too many"},
          {"a text without its end", heap + "1: 5 [1: 5] @ 0x1", "report no-final-newline"},
          {"a jemalloc rate above int64", "heap_v2/99999999999999999999\n", "error malformed: rate"},
          {"a jemalloc line that is none", "heap_v2/1\n@ 0x1\n  t*: x\n",
           "error malformed: no stack and no counts"},
          {"a jemalloc stack without counts", "heap_v2/1\n@ 0x1\n  t0: 1: 2 [0: 0]\n",
           "error malformed: no line of counts"},
          {"jemalloc counts of no stack", "heap_v2/1\n@ 0x1\n t*: 1: 2 [0: 0]\n t*: 1: 2 [0: 0]\n",
           "error malformed: belong to no stack"},
          {"jemalloc counts by thread", "heap_v2/1\n@ 0x1\n t*: 1: 2 [0: 0]\n t0: 1: 2 [0: 0]\n",
           "report by-thread"},
          {"contention with an unknown header", "--- contentionz 1 ---\nfoo = 3\n", "error malformed: foo"},
          {"contention with a header that is no number", "--- mutex:\ncycles/second=x\n",
           "error malformed: cycles/second"},
          {"a contention count that overflows",
           "--- mutex:\nsampling period=9223372036854775807\n1 2 @ 0x1\n", "error malformed: too large"},
          {"discarded samples", "--- mutex:\ndiscarded samples = 7\n1 2 @ 0x1\n", "report discarded-samples"},
          {"a Go count that is none", "goroutine profile: total 1\nx @ 0x1\n",
           "error malformed: no sample of a Go"},
          {"labels that are no JSON", "goroutine profile: total 1\n1 @ 0x1\n# labels: {\"a\n",
           "report malformed-labels"},
          {"a thread without a name", "--- threadz 1 ---\n--- Thread zzz\n",
           "error malformed: name of a thread"},
          {"threads without a stack", "--- threadz 1 ---\n--- Thread 1 (name: a/1) stack: ---\n",
           "report thread-without-stack"},
          {"symbols and nothing else", "--- symbol\n0x1 main\n", "error truncated: ends in its symbols"},
          {"symbols and no profile", "--- symbol\n0x1 main\n---\n", "error truncated: after its symbols"},
          {"a symbol that is none", "--- symbol\nmain\n---\n", "error malformed: no address with its name"},
          {"Java without objects", "--- heapz 1 ---\nformat = java\n5 0 @ 0x1\n",
           "error malformed: no objects"},
          {"a CPU header alone", kHeader, "report no-end-mark"},
          {"a stack past the end", kHeader + words({1, 5, 1, 2}), "error truncated: after the end"},
          {"a depth of 2^64 - 1", kHeader + words({1, ~0ull, 1, 2}), "error truncated: after the end"},
          {"a count above int64", kHeader + words({1ull << 63, 1, 1}), "error malformed: too large"},
          {"a time that overflows", kHeader + words({1ull << 60, 1, 1}), "error malformed: too large"},
          {"a word cut in two", kHeader + words({1, 1, 1}) + "abc", "error truncated: after the end"},
      });
}

TEST_CASE("pprof-legacy: jemalloc's own heap profiles") {
  const std::string stacks =
      "@ 0x1001 0x2001\n  t*: 9: 7703 [206: 266752]\n  t1: 9: 7703 [206: 266752] worker one\n"
      "@ 0x3001\n  t*: 0: 0 [1: 100]\n  t0: 0: 0 [1: 100]\n"
      "\nMAPPED_LIBRARIES:\n1000-4000 r-xp 00000000 fe:00 5359852                    /bin/app\n";
  const auto opened = open_hidden(
      "heap_v2/1\n  t*: 9: 7703 [207: 266852]\n  t1: 9: 7703 [206: 266752] worker one\n" + stacks);
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  CHECK(total_of(profile, "inuse_space") == 7703);
  CHECK(total_of(profile, "alloc_objects") == 207);
  CHECK(total_of(profile, "alloc_space") == 266852);
  CHECK(self_by_path(profile, "inuse_objects") == std::map<std::string, double>{{"[app];[app]", 9}});
  // Without prof_accum nothing is told of what was allocated. A sample stands for more: 1 / (1 - exp(-s /
  // rate)).
  const auto sampled = open_hidden("heap_v2/1000\n  t*: 1: 1000 [0: 0]\n@ 0x1001\n  t*: 1: 1000 [0: 0]\n");
  REQUIRE(sampled);
  CHECK(sampled->profiles.front()->metrics().size() == 2);
  CHECK(total_of(*sampled->profiles.front(), "inuse_space") == 1581);
}

TEST_CASE("pprof-legacy: what pprof --raw rewrites has no unit") {
  const std::string raw = "--- symbol\nbinary=app\n0x0000000000001000 leaf\n---\n--- profile\n" +
                          words({0, 3, 0, 1, 0}) + words({4096, 1, 0x1000});
  const auto opened = open_hidden(raw);
  REQUIRE(opened);
  const Profile& profile = *opened->profiles.front();
  CHECK(self_by_path(profile, "samples") == std::map<std::string, double>{{"leaf", 4096}});
  CHECK(profile.metrics().size() == 1);
  CHECK_FALSE(opened->report.has_losses());
}

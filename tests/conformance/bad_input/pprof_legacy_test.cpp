#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

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

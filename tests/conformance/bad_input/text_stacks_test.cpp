// The readers of stacks that stand in a text line by line.
#include <map>
#include <string>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("bpftrace: bad input is refused or counted") {
  const std::string good = "@[\n    main+4\n]: 1\n";
  check_bad_inputs(
      "bpftrace",
      {
          {"no map", "hello\n", "error malformed: no map"},
          {"maps without stacks", "@x[1]: 5\n", "error malformed: no map"},
          {"histograms alone", "@x[\n    main+4\n]: \n[1, 2) 3 |@|\n", "error unsupported: histograms"},
          {"JSON that is none", "{\"type\": \"map\", \"data\": {\"@\": {\n", "error truncated: "},
          {"a key without an end", good + "@[\n    main+4\n", "report cut-entry"},
          {"a key inside a key", good + "@[\n    main+4\n@[\n    x+1\n]: 2\n", "report cut-entry"},
          {"a value that is no number", good + "@[\n    main+4\n]: many\n", "report other-value"},
          {"a value that is too large", good + "@[\n    main+4\n]: 99999999999999999999\n",
           "report other-value"},
          {"a histogram", good + "@u[\n    main+4\n]: \n[1, 2) 3 |@|\n", "report histogram"},
          {"a scalar", good + "@x: 3\n", "report no-stack"},
          {"a key whose stack is empty", good + "@[, kworker/0:1]: 3\n", "report empty-stack"},
          {"other text", good + "Attaching\n", "report other-line"},
          {"bytes that are no UTF-8", "@[\n    ma\xffin+4\n]: 1\n", "report invalid-utf8"},
      });
}

TEST_CASE("bpftrace: samples without a stack count, in the text as in the JSON") {
  for (const std::string text :
       {"@[\n    main+4\n, demo]: 5\n@[, kworker/0:1]: 3\n@[]: 1\n@start[demo]: 70\n",
        "{\"type\": \"map\", \"data\": {\"@\": {\"\\n    main+4\\n,demo\": 5, \",kworker/0:1\": 3, \"\": "
        "1}}}\n"}) {
    INFO(text);
    const auto opened = open_hidden(text);
    REQUIRE(opened);
    CHECK(self_by_path(*opened->profiles.front(), "samples") ==
          std::map<std::string, double>{{"main", 5}, {"[no stack]", 4}});
  }
}

TEST_CASE("dtrace: bad input is refused or counted") {
  const std::string good = "    a`b+0x1\n      3\n";
  check_bad_inputs(
      "dtrace",
      {
          {"a header alone", "CPU     ID                    FUNCTION:NAME\n", "error malformed: no stack"},
          {"frames alone", "    a`b\n", "error malformed: no stack"},
          {"frames without a count", good + "    a`b\n", "report no-count"},
          {"a count that does not fit", good + "    a`b\n   99999999999999999999\n",
           "report malformed-count"},
          {"a negative count", good + "    a`b\n   -3\n", "report malformed-count"},
          {"a histogram",
           good + "    a`b\n  value  ------------- Distribution ------------- count\n  1 | 2\n",
           "report histogram"},
          {"a line that is not indented", good + "hello\n", "report other-line"},
          {"bytes that are no UTF-8", "    a`b\xff\n    3\n", "report invalid-utf8"},
      });
}

TEST_CASE("systemtap: bad input is refused or counted") {
  const std::string frame = " 0x400b5c : main+0x1c/0x40 [/usr/bin/demo]\n";
  check_bad_inputs("systemtap",
                   {
                       {"no frame", "hello\n\t5\n", "error malformed: no stack"},
                       {"a negative count", frame + "\t1\n" + frame + "\t-1\n", "report malformed-count"},
                       {"a count without a stack", frame + "\t1\n\t1\n", "report other-line"},
                       {"an address that is none", frame + " 0xzz : a [b]\n", "report other-line"},
                       {"bytes that are no UTF-8", " 0x1 : m\xff+0x1/0x2 [a]\n", "report invalid-utf8"},
                   });
}

TEST_CASE("gdb: bad input is refused or counted") {
  const std::string good = "Thread 1 (process 70):\n#0  0x1 in main ()\n";
  check_bad_inputs(
      "gdb",
      {
          {"no frame", "Thread 1 (process 70):\n", "error malformed: no stack"},
          {"frames without number or name", "#zz 0x1\n#1\n#\n", "error malformed: no stack"},
          {"a stack that stops early", good + "Backtrace stopped: corrupt stack?\n", "report stack-cut"},
          {"other text", good + "[Inferior 1 detached]\n", "report other-line"},
          {"bytes that are no UTF-8", "#0  0x1 in m\xff ()\n", "report invalid-utf8"},
      });
}

TEST_CASE("stack-dump: bad input is refused or counted") {
  const std::string good = "goroutine 1 [running]:\nmain.main()\n\t/a.go:1 +0x1\n\n";
  check_bad_inputs(
      "stack-dump",
      {
          {"no stack", "goroutine 1 [running]:\n", "error malformed: no goroutine"},
          {"frames alone", "  File \"a.py\", line 1 in f\n", "error malformed: no goroutine"},
          {"other text", good + "exit status 2\n", "report other-line"},
          {"elided frames", "goroutine 1 [running]:\nmain.main()\n...5 frames elided...\n",
           "report stack-cut"},
          {"bytes that are no UTF-8", "goroutine 1 [running]:\nm\xff()\n", "report invalid-utf8"},
      });
}

TEST_CASE("stack-dump: Go's own labels, with GODEBUG=tracebacklabels=1") {
  const auto opened = open_hidden(
      "goroutine 7 gp=0xc000102700 m=nil [chan receive, 3 minutes labels:{\"kind\": \"a, \\\"b\\\"]\", "
      "\"user\": "
      "\"7\"}]:\nmain.main()\n\t/a.go:1 +0x1\n\n");
  REQUIRE(opened);
  const Profile& p = *opened->profiles.front();
  REQUIRE(p.n_samples() == 1);
  std::map<std::string, std::string> texts;
  const LabelTable& labels = p.labels();
  const std::uint32_t set = p.samples()->label_set[0];
  for (std::uint32_t i = labels.first[set]; i < labels.first[set + 1]; ++i)
    texts[std::string(p.strings()[labels.key[i]])] = p.strings()[labels.text[i]];
  CHECK(texts["state"] == "chan receive");
  CHECK(texts["kind"] == "a, \"b\"]");
  CHECK(texts["user"] == "7");
}

TEST_CASE("text stacks: a stack of 100,000 frames is as deep as that") {
  std::string deep = "@[\n";
  for (int i = 0; i < 100000; ++i) deep += "    f+1\n";
  OpenOptions options;
  options.format = "bpftrace";
  const auto opened = open_hidden(deep + "]: 3\n", options);
  REQUIRE(opened);
  CHECK(opened->profiles.front()->tree().size() == 100001);
}

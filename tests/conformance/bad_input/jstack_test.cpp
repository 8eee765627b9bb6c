#include <set>

#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

TEST_CASE("jstack: bad input is refused or counted") {
  const std::string head = "Full thread dump X (17):\n\n";
  std::string deep = head + "\"a\" #1 prio=5 nid=0x1\n";
  for (int i = 0; i < 10001; ++i) deep += "\tat a.b(A.java:1)\n";
  check_bad_inputs(
      "jstack",
      {
          {"another text", "hello\n", "error malformed: no thread dump"},
          {"no threads", head, "error malformed: no threads"},
          {"threads before the dump", "\"a\" #1 prio=5\n" + head, "error malformed: no threads"},
          {"too deep", deep, "error limit: stack_depth"},
          {"a frame without a place", head + "\"a\" #1 prio=5\n\tat nowhere\n", "report malformed-frame"},
          {"a thread without a stack", head + "\"a\" #1 prio=5\n", "report no-java-stack"},
      });
}

TEST_CASE("jstack: dumps, threads, states and what threads wait for are kept") {
  const auto read = read_with("jstack", read_bytes(reader_folder("jstack") / "testdata/minimal.txt"));
  REQUIRE(read.error == "");
  const Profile& p = *read.profiles[0];
  CHECK(self_by_path(p, "samples") ==
        Paths{{"java.lang.Thread.run:1583;com.example.Work$$Lambda/"
               "0x00007f0000000000.run;com.example.Work.inner:12",
               1},
              {"[no Java stack]", 1},
              {"something odd;com.example.Work.read;java.net.SocketInputStream.socketRead0", 1}});
  REQUIRE(p.threads().size() == 3);
  CHECK(p.strings()[p.threads().name[0]] == "a \"quoted\" name");
  CHECK(p.threads().tid[0] == 3944);
  CHECK(p.threads().tid[2] == 0xf6a);
  REQUIRE(p.samples());
  CHECK(p.samples()->time[0] == 0);
  CHECK(p.samples()->time[2] == 2'000'000'000);  // over midnight at the end of a leap February
  std::map<std::string, std::string> first;
  const LabelTable& labels = p.labels();
  const std::uint32_t set = p.samples()->label_set[0];
  for (std::uint32_t i = labels.first[set]; i < labels.first[set + 1]; ++i)
    first[std::string(p.strings()[labels.key[i]])] = p.strings()[labels.text[i]];
  CHECK(first["state"] == "BLOCKED (on object monitor)");
  CHECK(first["waits for"] == "java.util.HashMap");
  std::set<std::string> modules;
  for (const StringId name : p.modules().name) modules.emplace(p.strings()[name]);
  CHECK(modules == std::set<std::string>{"java.base"});
}

TEST_CASE("jstack: dumps that jcmd writes to a file hold virtual threads") {
  const Paths expected{{"java.lang.Thread.run:1474;Work.inner:12;java.lang.Object.wait0", 1},
                       {"[no Java stack]", 1},
                       {"Work.lambda$main$0:2", 1}};
  const std::string text =
      "30867\n2026-11-22T02:49:28.187538264Z\n25.0.3+9-LTS\n\n"
      "#13 \"a \"quoted\" name\" WAITING 2026-11-22T02:49:28.239464179Z\n"
      "    at java.base/java.lang.Object.wait0(Native Method)\n"
      "    - waiting on <java.lang.ref.ReferenceQueue$Lock@5416af94>\n"
      "    at Work.inner(Work.java:12)\n    - locked <java.lang.Object@4d7aec51>\n"
      "    at java.base/java.lang.Thread.run(Thread.java:1474)\n\n"
      "#14 \"Signal Dispatcher\" RUNNABLE 2026-11-22T02:49:28.239934705Z\n\n"
      "#22 \"\" virtual TIMED_WAITING 2026-11-22T02:49:28.245605461Z\n    at "
      "Work.lambda$main$0(Work.java:2)\n\n";
  // Before JDK 25 there is no state, and no "at".
  const std::string old_text =
      "30867\n2023-10-01T02:49:28.187538264Z\n21+35\n\n"
      "#13 \"a \"quoted\" name\"\n      java.base/java.lang.Object.wait0(Native Method)\n"
      "      Work.inner(Work.java:12)\n      java.base/java.lang.Thread.run(Thread.java:1474)\n\n"
      "#14 \"Signal Dispatcher\"\n\n#22 \"\" virtual\n      Work.lambda$main$0(Work.java:2)\n\n";
  const std::string json =
      "{\"threadDump\": {\"processId\": \"30867\", \"runtimeVersion\": \"25\", \"threadContainers\": [{\n"
      "\"container\": \"<root>\", \"parent\": null, \"threads\": [\n"
      "{\"tid\": \"13\", \"name\": \"a \\\"quoted\\\" name\", \"state\": \"WAITING\",\n"
      "\"waitingOn\": \"java.lang.ref.ReferenceQueue$Lock@5416af94\",\n"
      "\"stack\": [\"java.base\\/java.lang.Object.wait0(Native Method)\", \"Work.inner(Work.java:12)\",\n"
      "\"java.base\\/java.lang.Thread.run(Thread.java:1474)\"]},\n"
      "{\"tid\": \"14\", \"name\": \"Signal Dispatcher\", \"state\": \"RUNNABLE\", \"stack\": []},\n"
      "{\"tid\": 22, \"virtual\": true, \"name\": \"\", \"stack\": [\"Work.lambda$main$0(Work.java:2)\"]}],\n"
      "\"threadCount\": \"3\"}]}}\n";
  for (const std::string& form : {text, old_text, json}) {
    INFO(form);
    const auto opened = open_hidden(form);
    REQUIRE(opened);
    const Profile& p = *opened->profiles.front();
    CHECK(self_by_path(p, "samples") == expected);
    REQUIRE(p.threads().size() == 3);
    CHECK(p.strings()[p.threads().name[0]] == "a \"quoted\" name");
    CHECK(p.threads().tid[0] == 13);
    CHECK(p.threads().tid[2] == 22);
    CHECK_FALSE(opened->report.has_losses());
  }
}

TEST_CASE("jstack: the debugger's dumps name methods with their arguments") {
  const auto opened = open_hidden(
      "Attaching to process ID 31738, please wait...\nDebugger attached successfully.\n"
      "Server compiler detected.\nJVM version is 17.0.15+6\nDeadlock Detection:\n\nNo deadlocks found.\n\n"
      "\"main\" #1 prio=5 tid=0x00007f3920017ed0 nid=0x7bfe runnable [0x0000000000000000]\n"
      "   java.lang.Thread.State: RUNNABLE\n   JavaThread state: _thread_in_java\n"
      " - App.fib(int) @bci=12, line=12 (Compiled frame; information may be imprecise)\n"
      " - App$$Lambda$3+0x00007f38a0002c00.run() @bci=8 (Interpreted frame)\n"
      " - App.main(java.lang.String[]) @bci=144, line=39 (Interpreted frame)\n\n\n");
  REQUIRE(opened);
  const Profile& p = *opened->profiles.front();
  CHECK(self_by_path(p, "samples") ==
        Paths{{"App.main:39;App$$Lambda$3+0x00007f38a0002c00.run;App.fib:12", 1}});
  CHECK(p.threads().tid[0] == 0x7bfe);
}

TEST_CASE("jstack: the corpus file has four dumps and the threads that grep counts") {
  if (warn_without_corpus()) return;
  const auto opened = open_hidden(read_bytes(*corpus() / "jstack/jstack-4-dumps.txt"));
  REQUIRE(opened);
  const Profile& p = *opened->profiles.front();
  CHECK(p.n_samples() == 92);
  // stackcollapse-jstack.pl counts running threads only; each of these three once a dump.
  for (const char* name : {"Monitor Deflation Thread", "Notification Thread", "Sweeper thread"}) {
    int n = 0;
    for (const std::uint32_t thread : p.samples()->thread) n += p.strings()[p.threads().name[thread]] == name;
    INFO(name);
    CHECK(n == 4);
  }
}

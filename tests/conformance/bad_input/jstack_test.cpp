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

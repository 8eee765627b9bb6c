// py-spy's dumps, which the reader of stack dumps reads.
#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;
using Paths = std::map<std::string, double>;

namespace {

const std::string kHead = "Process 7: python app.py\nPython v3.11.7 (/usr/bin/python3)\n\n";

Paths paths_of(const std::string& text) {
  const auto read = read_with("stack-dump", text);
  REQUIRE(read.error == "");
  return self_by_path(*read.profiles[0], "samples");
}

}  // namespace

TEST_CASE("py-spy: bad input is refused or counted") {
  const std::string thread = kHead + "Thread 7 (idle): \"main\"\n";
  std::string deep = thread;
  for (int i = 0; i < 10001; ++i) deep += "    f (a.py:1)\n";
  const std::string json = R"([{"pid": 1, "thread_id": 2, "owns_gil": true, "frames": )";
  check_bad_inputs(
      "stack-dump",
      {
          {"no thread", kHead, "error malformed: no thread"},
          {"a thread without frames", thread, "error malformed: no thread"},
          {"frames before a thread", kHead + "    f (a.py:1)\n", "error malformed: no thread"},
          {"too deep", deep, "error limit: stack_depth"},
          {"other text", thread + "    f (a.py:1)\nbye\n", "report other-line"},
          {"a frame without a place", thread + "    f (a.py:1)\n    g\n", "report other-line"},
          {"locals", thread + "    f (a.py:1)\n        Locals:\n", "report locals"},
          {"JSON: no frames", json + "[]}]", "error malformed: no thread"},
          {"JSON: cut off", json + "[{\"name\": \"f\"", "error truncated: the JSON text ends"},
          {"JSON: threads that are none", json + "[{}]}, 5]", "error malformed: expected an object"},
      });
}

TEST_CASE("py-spy: threads, states, modules and native frames are kept") {
  const std::string text =
      kHead +
      "Thread 9 (active+gil): \"a (b): \"c\"\"\n    0x7f (libc.so.6)\n    <module> (a.py:3)\n"
      "Thread 0x7F00 (idle)\n    run (b.py)\n";
  CHECK(paths_of(text) == Paths{{"<module>:3;0x7f", 1}, {"run", 1}});
  const auto read = read_with("stack-dump", text);
  const Profile& p = *read.profiles[0];
  REQUIRE(p.threads().size() == 2);
  CHECK(p.strings()[p.threads().name[0]] == "a (b): \"c\"");
  CHECK(p.threads().pid[0] == 7);
  CHECK(p.threads().tid[1] == 0x7F00);
  CHECK(p.strings()[p.modules().name[0]] == "libc.so.6");
}

TEST_CASE("py-spy: text and JSON of one process have the same stacks") {
  const auto folder = reader_folder("stack_dump") / "testdata";
  const Paths text = paths_of(read_bytes(folder / "recorded-py-spy.txt"));
  CHECK(text.size() == 2);
  CHECK(text == paths_of(read_bytes(folder / "recorded-py-spy.json")));
}

TEST_CASE("py-spy: JSON with nulls and strange numbers is read") {
  const Paths paths = paths_of(
      R"([{"pid": null, "thread_id": 2, "thread_name": null, "os_thread_id": null, "active": 1, "owns_gil": null,
           "frames": [{"name": null, "filename": "a.py", "module": null, "line": -5},
                      {"name": "g", "filename": null, "module": "lib.so", "line": 99999999999, "locals": []}]}])");
  CHECK(paths == Paths{{"g;(empty)", 1}});
}

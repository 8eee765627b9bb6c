// Which recorder is chosen, and how it is called.
#include "server/cli/record_choice.h"

#include <optional>

#include "server/cli/record_attach.h"
#include "server/cli/record_facts.h"
#include "server/cli/record_failure.h"
#include "server/engine/typed_line.h"
#include "tests/support/catch.h"

using namespace profd;
using RecordWords = std::vector<std::string>;

namespace {

RecordFacts facts_with(ProgramKind kind, RecordWords argv,
                       std::map<std::string, std::string> installed = {}) {
  RecordFacts out;
  out.kind = kind;
  out.argv = std::move(argv);
  out.installed = std::move(installed);
  return out;
}

RecordWords argv_of(const RecordFacts& facts, std::string_view with = "") {
  const auto plan = choose_recorder(facts, with, "/r/x");
  REQUIRE(plan);
  return plan->argv;
}

std::string refusal(const RecordFacts& facts, std::string_view with = "") {
  const auto plan = choose_recorder(facts, with, "/r/x");
  REQUIRE_FALSE(plan);
  return plan.error().message;
}

}  // namespace

TEST_CASE("runtimes with a profiler of their own are asked for it", "[record]") {
  CHECK(argv_of(facts_with(ProgramKind::go_test, {"go", "test", "-bench", ".", "./p"})) ==
        RecordWords{"go", "test", "-cpuprofile=/r/x/cpu.pprof", "-o=/r/x/go.test", "-bench", ".", "./p"});
  CHECK(argv_of(facts_with(ProgramKind::node, {"node", "a.js", "--cpu-prof"})) ==
        RecordWords{"node", "--cpu-prof", "--cpu-prof-dir=/r/x", "--require=/r/x/end.cjs", "a.js",
                    "--cpu-prof"});
  const RecordWords java = argv_of(facts_with(ProgramKind::java, {"java", "Main"}));
  CHECK(java == RecordWords{"java",
                            "-XX:StartFlightRecording=filename=/r/x/,dumponexit=true,settings=profile",
                            "-Xlog:jfr+startup=error", "Main"});
}

TEST_CASE("async-profiler is taken for Java where it is installed", "[record]") {
  RecordFacts facts = facts_with(ProgramKind::java, {"java", "Main"});
  facts.installed = {{"asprof", "/opt/ap/bin/asprof"},
                     {std::string(kAsyncProfilerAgent), "/opt/ap/lib/libasyncProfiler.so"}};
  const std::string agent =
      "-agentpath:/opt/ap/lib/libasyncProfiler.so=start,event=cpu,interval=1ms,jfr,loglevel=error,file=/r/x/"
      "cpu-%p.jfr";
  CHECK(argv_of(facts) == RecordWords{"java", agent, "Main"});
  facts.kind = ProgramKind::java_build;
  facts.argv = {"mvn", "test"};
  CHECK(argv_of(facts) == RecordWords{"env", "JAVA_TOOL_OPTIONS=" + agent, "mvn", "test"});
  CHECK_FALSE(choose_recorder(facts, "", "/a,b"));
  facts.installed.clear();
  CHECK(refusal(facts, "async-profiler") ==
        "asprof is not installed (see github.com/async-profiler/async-profiler)");
}

TEST_CASE("builds of Java pass the options on, beside those that are set", "[record]") {
  RecordFacts facts = facts_with(ProgramKind::java_build, {"mvn", "test"});
  facts.java_options = "-Xmx1g";
  CHECK(argv_of(facts) ==
        RecordWords{"env",
                    "JAVA_TOOL_OPTIONS=-Xmx1g "
                    "-XX:StartFlightRecording=filename=/r/x/,dumponexit=true,settings=profile "
                    "-Xlog:jfr+startup=error",
                    "mvn", "test"});
  const auto spaced = choose_recorder(facts, "", "/a b");
  REQUIRE(spaced);
  CHECK(spaced->argv[1].find(" \"-XX:StartFlightRecording=filename=/a b/,") != std::string::npos);
  const auto comma = choose_recorder(facts, "", "/a,b");
  REQUIRE_FALSE(comma);
  CHECK(comma.error().message.find("comma") != std::string::npos);
}

TEST_CASE("cProfile goes between Python's own options and the program", "[record]") {
  const auto of = [](RecordWords argv) { return argv_of(facts_with(ProgramKind::python, std::move(argv))); };
  CHECK(of({"python3", "-u", "-X", "dev", "a.py", "-m"}) ==
        RecordWords{"python3", "-u", "-X", "dev", "/r/x/profile.py", "/r/x/cpu.pstats", "a.py", "-m"});
  CHECK(of({"python3", "-m", "pytest", "-x"}) ==
        RecordWords{"python3", "/r/x/profile.py", "/r/x/cpu.pstats", "-m", "pytest", "-x"});
  CHECK(of({"python3", "-mpytest"}) ==
        RecordWords{"python3", "/r/x/profile.py", "/r/x/cpu.pstats", "-m", "pytest"});
  CHECK(of({"python3", "-c", "work()"}) ==
        RecordWords{"python3", "/r/x/profile.py", "/r/x/cpu.pstats", "-c", "work()"});
  for (const RecordWords& none :
       {RecordWords{"python3"}, {"python3", "-i"}, {"python3", "-"}, {"python3", "-m"}})
    CHECK(refusal(facts_with(ProgramKind::python, none)).find("cProfile records a script") == 0);
}

TEST_CASE("of Python's profilers the first that is installed is taken", "[record]") {
  const std::map<std::string, std::string> both{{"py-spy", "/b/py-spy"}, {"pyinstrument", "/b/pyinstrument"}};
  RecordFacts facts = facts_with(ProgramKind::python, {"python3", "a b.py"}, both);
  const auto beside = choose_recorder(facts, "", "/r/x");
  REQUIRE(beside);
  // The program is started as it is, so that its exit code comes back, and the sampler is attached to it.
  CHECK(beside->argv == facts.argv);
  CHECK(beside->beside == RecordWords{"/b/py-spy", "record", "--format", "speedscope", "-o",
                                      "/r/x/cpu.speedscope.json", "--pid", "{pid}"});
  CHECK(plan_line(*beside) ==
        "python3 'a b.py' & /b/py-spy record --format speedscope -o /r/x/cpu.speedscope.json --pid $!");
  facts.let_read = {"/b/profd", "record", "--let-read", "--"};
  CHECK(argv_of(facts) == RecordWords{"/b/profd", "record", "--let-read", "--", "python3", "a b.py"});
  facts = facts_with(ProgramKind::python, {"python3", "a.py"}, both);
  CHECK(argv_of(facts, "pyinstrument") ==
        RecordWords{"/b/pyinstrument", "-r", "json", "-o", "/r/x/cpu.pyinstrument.json", "a.py"});
  CHECK(argv_of(facts, "cProfile")[1] == "/r/x/profile.py");
  CHECK(refusal(facts_with(ProgramKind::python, {"python3", "a.py"}), "py-spy") ==
        "py-spy is not installed (pip install py-spy)");
}

TEST_CASE("austin is taken for Python where py-spy is not, and rbspy for Ruby: both are attached",
          "[record]") {
  const RecordFacts python = facts_with(ProgramKind::python, {"python3", "a.py"},
                                        {{"austin", "/b/austin"}, {"pyinstrument", "/b/pyinstrument"}});
  const auto plan = choose_recorder(python, "", "/r/x");
  REQUIRE(plan);
  CHECK(plan->argv == python.argv);
  CHECK(plan->beside == RecordWords{"/b/austin", "-s", "-i", "1ms", "-o", "/r/x/cpu.austin", "-p", "{pid}"});
  const RecordFacts ruby = facts_with(ProgramKind::ruby, {"ruby", "a.rb"}, {{"rbspy", "/b/rbspy"}});
  const auto read = choose_recorder(ruby, "", "/r/x");
  REQUIRE(read);
  CHECK(read->argv == ruby.argv);
  CHECK(read->beside == RecordWords{"/b/rbspy", "record", "--silent", "--raw-file", "/r/x/cpu.raw.gz",
                                    "--format", "summary", "--file", "/r/x/rbspy.txt", "--pid", "{pid}"});
  CHECK(refusal(facts_with(ProgramKind::ruby, {"ruby", "a.rb"})) ==
        "nothing here may record ruby, a program of Ruby: rbspy is not installed (cargo install rbspy)");
}

TEST_CASE("a program of .NET is started by dotnet-trace, and not what builds it first", "[record]") {
  RecordFacts facts =
      facts_with(ProgramKind::dotnet, {"dotnet", "app.dll", "1"}, {{"dotnet-trace", "/b/dotnet-trace"}});
  CHECK(argv_of(facts) == RecordWords{"/b/dotnet-trace", "collect", "--format", "NetTrace", "-o",
                                      "/r/x/cpu.nettrace", "--show-child-io", "--", "dotnet", "app.dll",
                                      "1"});
  facts.argv = {"dotnet", "run"};
  CHECK(refusal(facts).find("profd record -- dotnet PROGRAM.dll") != std::string::npos);
}

TEST_CASE("cargo starts what it built by the recorder, and builds as it would unless a person agreed",
          "[record]") {
  RecordFacts facts = facts_with(ProgramKind::cargo, {"cargo", "+nightly", "test", "--release", "x"},
                                 {{"perf", "/b/perf"}, {"valgrind", "/b/valgrind"}});
  const std::string runner =
      "target.\"cfg(all())\".runner=[\"sh\",\"-c\",\"exec /b/perf record -N -o \\\"$0$$.data\\\" -F 499 "
      "--call-graph dwarf -- \\\"$@\\\"\",\"/r/x/perf-\"]";
  CHECK(argv_of(facts) == RecordWords{"cargo", "+nightly", "--config", runner, "test", "--release", "x"});
  facts.line_tables = true;
  CHECK(argv_of(facts)[5] == "profile.release.debug=\"line-tables-only\"");
  facts.perf_refusal = "perf may not record";
  CHECK(argv_of(facts)[3].find("exec /b/valgrind --tool=callgrind \\\"$0$$.out\\\"") != std::string::npos);
}

TEST_CASE("machine code is sampled by perf, else counted by callgrind, which says its price", "[record]") {
  RecordFacts facts =
      facts_with(ProgramKind::native, {"./a", "1"}, {{"perf", "/b/perf"}, {"valgrind", "/b/valgrind"}});
  CHECK(argv_of(facts) == RecordWords{"/b/perf", "record", "-N", "-o", "/r/x/perf.data", "-F", "999",
                                      "--call-graph", "fp", "--", "./a", "1"});
  facts.perf_refusal = "perf may not record";
  const auto slow = choose_recorder(facts, "", "/r/x");
  REQUIRE(slow);
  CHECK(slow->argv == RecordWords{"/b/valgrind", "--tool=callgrind",
                                  "--callgrind-out-file=/r/x/callgrind.out", "./a", "1"});
  CHECK(slow->why.find("perf may not record; ") == 0);
  CHECK(slow->why.find("20 to 50 times slower") != std::string::npos);
  facts.installed.erase("valgrind");
  CHECK(refusal(facts) ==
        "nothing here may record ./a, a program of machine code: perf may not record; "
        "valgrind is not installed (apt install valgrind)");
  CHECK(refusal(facts, "perf") == "perf may not record");
}

TEST_CASE("what cannot be recorded is refused with what can", "[record]") {
  CHECK(refusal(facts_with(ProgramKind::node_runner, {"npm", "test"})).find("profd record -- node SCRIPT") !=
        std::string::npos);
  CHECK(refusal(facts_with(ProgramKind::python, {"python3", "a.py"}), "jfr") ==
        "jfr does not record a program of Python, which python3 is");
  CHECK(refusal(facts_with(ProgramKind::python, {"python3", "a.py"}), "gprof") ==
        "there is no recorder gprof");
  // perf sees every program.
  CHECK(argv_of(facts_with(ProgramKind::python, {"python3", "a.py"}, {{"perf", "/b/perf"}}), "perf")[0] ==
        "/b/perf");
}

TEST_CASE("a program's kind is read off its name, its first bytes and its first line", "[record]") {
  CHECK(kind_of({"go", "test"}, true, "") == ProgramKind::go_test);
  CHECK(kind_of({"go", "build"}, true, "") == ProgramKind::native);
  CHECK(kind_of({"cargo", "+nightly", "bench"}, true, "") == ProgramKind::cargo);
  CHECK(kind_of({"cargo", "build"}, true, "") == ProgramKind::native);
  CHECK(kind_of({"/usr/bin/ruby3.1"}, true, "") == ProgramKind::ruby);
  CHECK(kind_of({"rspec"}, false, "/usr/bin/env ruby") == ProgramKind::ruby);
  CHECK(kind_of({"dotnet", "app.dll"}, true, "") == ProgramKind::dotnet);
  CHECK(kind_of({"/v/bin/python3.12"}, true, "") == ProgramKind::python);
  CHECK(kind_of({"python-config"}, false, "/bin/sh") == ProgramKind::script);
  CHECK(kind_of({"pytest"}, false, "/v/bin/python3") == ProgramKind::python);
  CHECK(kind_of({"tsc"}, false, "/usr/bin/env node") == ProgramKind::node);
  CHECK(kind_of({"npm"}, false, "/usr/bin/env node") == ProgramKind::node_runner);
  CHECK(kind_of({"./gradlew"}, false, "/bin/sh") == ProgramKind::java_build);
  CHECK(kind_of({"./a.out"}, true, "") == ProgramKind::native);
  CHECK(kind_of({"./run"}, false, "") == ProgramKind::script);
  CHECK(interpreter_of("/usr/bin/env -S python3 -u") == RecordWords{"python3", "-u"});
  CHECK(interpreter_of(" ").empty());
}

TEST_CASE("perf's refusal names the setting that is in the way", "[record]") {
  CHECK(perf_refusal_text("3", "Error:\nNo permission to enable cycles event.") ==
        "perf may not record (kernel.perf_event_paranoid is 3): sudo sysctl kernel.perf_event_paranoid=1");
  CHECK(perf_refusal_text("1", "Operation not permitted").find("--cap-add PERFMON") != std::string::npos);
  CHECK(perf_refusal_text("", "no perf here\nmore") == "perf cannot record: no perf here");
  CHECK(perf_refusal_text("2", "") ==
        "perf cannot record (kernel.perf_event_paranoid is 2): it does not say why");
}

TEST_CASE("words are quoted so that a shell reads them again", "[record]") {
  CHECK(typed_line({"a", "b c", "it's", "", "x=$Y"}) == "a 'b c' 'it'\\''s' '' 'x=$Y'");
}

TEST_CASE("a recording without a sample says why, by tool and time", "[record]") {
  CHECK(no_samples_text({"perf", 0.003, false}).find("ended after 3.00 ms") != std::string::npos);
  CHECK(no_samples_text({"perf", 3, false}).find("--with callgrind") != std::string::npos);
  CHECK(no_profile_text({"go-test", 3, false}).find("one package") != std::string::npos);
  CHECK(no_profile_text({"callgrind", 3, true}).find("killed") != std::string::npos);
}

TEST_CASE("what runs already is recorded by what can be attached to it", "[record]") {
  AttachFacts facts;
  facts.pid = "4711";
  facts.argv = {"./app"};
  facts.installed = {{"perf", "/b/perf"}, {"py-spy", "/b/py-spy"}, {"jcmd", "/b/jcmd"}};
  const auto plan = [&](ProgramKind kind, std::string_view with = "", std::optional<unsigned> seconds = {}) {
    facts.kind = kind;
    return choose_attached(facts, with, "/r/x", seconds);
  };
  CHECK(plan(ProgramKind::native)->argv == RecordWords{"/b/perf", "record", "-N", "-o", "/r/x/perf.data",
                                                       "-F", "999", "--call-graph", "fp", "-p", "4711"});
  const RecordWords timed = plan(ProgramKind::native, "", 10)->argv;
  CHECK(RecordWords(timed.end() - 3, timed.end()) == RecordWords{"--", "sleep", "10"});
  CHECK(plan(ProgramKind::python, "", 10)->argv == RecordWords{"/b/py-spy", "record", "--format",
                                                               "speedscope", "-o", "/r/x/cpu.speedscope.json",
                                                               "--pid", "4711", "--duration", "10"});
  facts.installed = {{"perf", "/b/perf"},
                     {"austin", "/b/austin"},
                     {"rbspy", "/b/rbspy"},
                     {"jcmd", "/b/jcmd"},
                     {"dotnet-trace", "/b/dotnet-trace"}};
  CHECK(plan(ProgramKind::python, "", 10)->argv ==
        RecordWords{"/b/austin", "-s", "-i", "1ms", "-o", "/r/x/cpu.austin", "-p", "4711", "-x", "10"});
  CHECK(plan(ProgramKind::ruby, "", 10)->argv ==
        RecordWords{"/b/rbspy", "record", "--silent", "--raw-file", "/r/x/cpu.raw.gz", "--format", "summary",
                    "--file", "/r/x/rbspy.txt", "--pid", "4711", "--duration", "10"});
  CHECK(plan(ProgramKind::ruby, "py-spy").error().message ==
        "py-spy does not attach to a program of Ruby, which process 4711 is");
  CHECK(plan(ProgramKind::dotnet, "", 90)->argv.back() == "00:00:01:30");
  const auto java = plan(ProgramKind::java);
  CHECK(java->argv[2] == "JFR.start");
  CHECK(java->beside == RecordWords{"/b/jcmd", "4711", "JFR.stop", java->argv[3]});
  CHECK(plan(ProgramKind::node).error().message.find("takes no profiler while it runs") != std::string::npos);
  CHECK(plan(ProgramKind::node, "perf"));
  CHECK(plan(ProgramKind::native, "py-spy").error().message ==
        "py-spy does not attach to a program of machine code, which process 4711 is");
  facts.perf_refusal = "perf may not record";
  CHECK(plan(ProgramKind::native).error().message == "perf may not record");
  facts.installed.clear();
  CHECK(plan(ProgramKind::python).error().message == "py-spy is not installed (pip install py-spy)");
}

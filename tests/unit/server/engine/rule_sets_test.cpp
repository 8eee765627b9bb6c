#include "server/engine/rule_sets.h"

#include <array>
#include <set>

#include "server/engine/project_file.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

// Whether a frame of this text is in a set that comes with profd.
bool is_in(std::string_view set, std::string_view frame) {
  const FrameSetsPtr sets = frame_sets({}, nullptr);
  const auto profile = profile_from_text(std::string(frame) + " 1\n");
  const auto masks = sets->masks(*profile, {}).value();
  return (masks.front() >> *sets->find(set) & 1) != 0;
}

Settings read(std::string_view text, std::vector<std::string>* problems = nullptr) {
  auto project = parse_project_file(text, "/w/.profd.toml");
  REQUIRE(project);
  if (problems != nullptr)
    *problems = project->problems;
  else
    CHECK(project->problems.empty());
  return std::move(project->settings);
}

}  // namespace

TEST_CASE("the sets that come with profd can all be used, and each runtime has its own") {
  std::set<Runtime> runtimes;
  for (const FrameSet& set : built_in_sets())
    for (const FramePatterns& patterns : set.patterns) runtimes.insert(patterns.runtime);
  CHECK(runtimes.size() == 7);
  std::string said;
  const FrameSetsPtr sets = frame_sets({}, nullptr, [&](const std::string& text) { said = text; });
  CHECK(said.empty());
  for (const char* kind :
       {"gc", "jit", "idle", "locking", "allocation", "serialisation", "io", "kernel", "mine", "library"}) {
    const auto set = sets->find(kind);
    INFO(kind);
    REQUIRE(set);
    CHECK(sets->sets()[*set].kind);
    CHECK(sets->sets()[*set].hue);
  }
  CHECK_FALSE(built_in_tips().empty());
  // As they are written, not by name: a frame of the kernel that locks has the colour of locking.
  CHECK(*sets->find("locking") < *sets->find("kernel"));
  CHECK(*sets->find("gc") < *sets->find("allocation"));
  CHECK(*sets->find("mine") < *sets->find("library"));
}

TEST_CASE("names of every runtime are known for the kind of work that they do") {
  const std::vector<std::pair<const char*, const char*>> in = {
      {"gc", "runtime.gcBgMarkWorker.func2"},
      {"gc", "runtime.(*mspan).sweep"},
      {"gc", "runtime.bgsweep"},
      {"gc", "G1ParScanThreadState::trim_queue_to_threshold"},
      {"gc", "ZMark::follow_work"},
      {"gc", "v8::internal::Scavenger::ScavengePage"},
      {"gc", "gc_collect_main"},
      {"gc", "x[kind=gc]"},
      {"jit", "v8::internal::compiler::PipelineImpl::Run"},
      {"jit", "C2Compiler::compile_method"},
      {"allocation", "runtime.mallocgc"},
      {"allocation", "_int_malloc"},
      {"allocation", "operator new(unsigned long)"},
      {"allocation", "je_malloc_default"},
      {"allocation", "__rust_alloc"},
      {"allocation", "PyObject_Malloc"},
      {"allocation", "f[module=libjemalloc.so.2]"},
      {"locking", "runtime.lock2"},
      {"locking", "sync.(*Mutex).lockSlow"},
      {"locking", "pthread_mutex_lock"},
      {"locking", "std::sys::sync::mutex::futex::Mutex::lock_contended"},
      {"locking", "take_gil"},
      {"locking", "java.util.concurrent.locks.ReentrantLock.lock"},
      {"io", "internal/poll.(*FD).Read"},
      {"io", "java.io.FileInputStream.readBytes"},
      {"io", "readSync[node:fs:9]"},
      {"io", "vfs_read[kind=kernel]"},
      {"io", "std::fs::read"},
      {"kernel", "anything[kind=kernel]"},
      {"serialisation", "encoding/json.(*decodeState).object"},
      {"serialisation", "com.fasterxml.jackson.core.X.y"},
      {"serialisation", "decode[/usr/lib/python3.11/json/decoder.py:3]"},
      {"serialisation", "serde_json::de::from_str"},
      {"idle", "java.lang.Thread.sleep"},
      {"idle", "(idle)"},
      {"idle", "epoll_wait"},
      {"idle", "runtime.gopark"},
      {"library", "f[/w/node_modules/x/index.js:2]"},
      {"library", "fmt.Fprintf"},
  };
  for (const auto& [set, frame] : in) {
    INFO(set << " " << frame);
    CHECK(is_in(set, frame));
  }
}

TEST_CASE("names that only look alike are not known") {
  const std::vector<std::pair<const char*, const char*>> out = {
      {"gc", "runtime.gcallers"},
      {"gc", "main.gcStats"},
      {"allocation", "myapp::alloc_table"},
      {"allocation", "free[app.py:3]"},
      {"locking", "Clock::now"},
      {"io", "read"},
      {"idle", "poll[app.js:1]"},
      {"standard", "net.minecraft.server.World.tick"},
      {"standard", "main.main"},
      {"standard", "com.acme.App.run"},
      {"library", "main.main"},
      {"standard", "f[/usr/lib/python3.11/site-packages/x.py:2]"},
      {"serialisation", "parse"},
      {"hashing", "main.rehash"},
  };
  for (const auto& [set, frame] : out) {
    INFO(set << " " << frame);
    CHECK_FALSE(is_in(set, frame));
  }
}

TEST_CASE("a project has sets of its own, and adds to those of profd") {
  const Settings settings = read(
      "[sets.database]\ntitle = \"database\"\nfunctions = ['^sql::', '^pg_']\nhue = 30\n"
      "[sets.gc]\nfunctions = '^my_collector'\n"
      "[sets.quiet]\nkind = false\nmodules = ['libq']\nincludes = [\"database\"]\n");
  REQUIRE(settings.sets.size() == 3);
  const FrameSetsPtr sets = frame_sets(settings.sets, nullptr);
  REQUIRE(sets->find("database"));
  // Before those of profd: what a person says goes before what is guessed of names.
  CHECK(*sets->find("database") < *sets->find("gc"));
  CHECK(sets->sets()[*sets->find("gc")].title == "garbage collection");
  CHECK_FALSE(sets->sets()[*sets->find("quiet")].kind);
  const auto profile = profile_from_text("my_collector;sql::run 1\n");
  const auto masks = sets->masks(*profile, {}).value();
  CHECK((masks[0] >> *sets->find("gc") & 1) == 1);
  CHECK((masks[1] >> *sets->find("database") & 1) == 1);
  CHECK((masks[1] >> *sets->find("quiet") & 1) == 1);
  CHECK(sets->id() != frame_sets({}, nullptr)->id());
}

TEST_CASE("sets and tips that cannot be are told of with their line, and what is right holds") {
  std::vector<std::string> problems;
  const Settings settings = read(
      "[sets.a]\nfunctions = ['(', 'x']\ncolour = 3\n[sets.\"b c\"]\nfunctions = ['x']\n"
      "[[tips]]\ntitle = \"no id\"\n[[tips]]\nid = \"t\"\n[[tips]]\nid = \"u\"\nset = \"a\"\nat_least = "
      "0.2\n",
      &problems);
  CHECK(settings.sets.size() == 1);
  CHECK(settings.sets.front().patterns.front().functions == std::vector<std::string>{"x"});
  REQUIRE(settings.tips.size() == 1);
  CHECK(settings.tips.front().at_least == 0.2);
  REQUIRE(problems.size() == 5);
  CHECK(problems[0].find(":2: sets a: the regular expression is not valid") != std::string::npos);
  CHECK(problems[1].find("a: colour is not known") != std::string::npos);
  CHECK(problems[2].find("b c: a name has letters") != std::string::npos);
  CHECK(problems[3].find("a tip has an `id`") != std::string::npos);
  CHECK(problems[4].find("t: needs the `set`") != std::string::npos);
}

TEST_CASE("sets that cannot be used together leave those of profd") {
  FrameSet lost;
  lost.name = "lost";
  lost.own = true;
  lost.includes = {"nothing"};
  std::string said;
  const FrameSetsPtr sets = frame_sets({lost}, nullptr, [&](const std::string& text) { said = text; });
  CHECK(said == "the set lost includes nothing, which is no set");
  CHECK(sets->find("gc"));
  CHECK_FALSE(sets->find("lost"));
}

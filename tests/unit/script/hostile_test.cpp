// Scripts that try not to end, to take all memory, to reach what is not theirs, or to speak after their end.
#include <cerrno>
#include <fstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/support/text_profile.h"
#include "tests/unit/script/run_script.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Hostile {
  const char* what;
  const char* text;
  const char* ends_with;  // a part of how it ends; "" by its time or its memory, as the machine goes
};
constexpr const char* kOverTime = "the script took more than 0.3 s and was ended";

// 32 of them.
constexpr Hostile kHostile[] = {
    {"a loop", "while true do end", kOverTime},
    {"a loop that catches errors", "while true do pcall(error) end", kOverTime},
    {"a pattern that backtracks", "local s = ('a'):rep(100) s:find(('a*'):rep(60) .. 'b')", kOverTime},
    {"a pattern that backtracks over pairs", "local s = ('a'):rep(200) s:find(('.-'):rep(40) .. 'b')",
     kOverTime},
    {"repeating nothing for ever", "local s = (''):rep(1000000000000000000)", kOverTime},
    {"moving a table for ever", "table.move({}, 1, 1000000000000, 2)", kOverTime},
    {"a handler of errors that loops", "xpcall(error, function() while true do end end)", kOverTime},
    {"a handler of errors that fails",
     "local function h() error('again') end while true do xpcall(error, h) end", kOverTime},
    {"a collector's method that loops", "setmetatable({}, {__gc = function() while true do end end})",
     "__gc"},
    {"a collector's method that is set later",
     "local m = {} setmetatable({}, m) m.__gc = function() while true do end end while true do local t = {} "
     "end",
     kOverTime},
    {"a metatable that is taken again",
     "local m = {} local t = setmetatable({}, m) m.__gc = print setmetatable(t, m)", "__gc"},
    {"an error that would have to be asked for its text",
     "error(setmetatable({}, {__tostring = function() while true do end end}))", "an error that is a table"},
    {"an error whose name loops", "error(setmetatable({}, {__name = ('x'):rep(1000)}))",
     "an error that is a table"},
    {"an error that is long", "error(('x'):rep(10000000))", "…"},
    {"calls without end", "local function f() return 1 + f() end f()", ""},
    {"tail calls without end", "local function f() return f() end f()", kOverTime},
    {"comparing without end",
     "local t = setmetatable({}, {__lt = function(a, b) return a < b end}) print(t < t)", "overflow"},
    {"a hog", "local t = {} while true do t[#t + 1] = ('x'):rep(1000000) .. #t end", ""},
    {"a hog of tables", "local t = {} for i = 1, math.huge do t[i] = {i} end", ""},
    {"a text that doubles", "local s = 'x' while true do s = s .. s end", ""},
    {"a text of all memory", "local s = ('x'):rep(1 << 40)", "large"},
    {"a hog of columns", "local t = {} for i = 1, math.huge do t[i] = profile:self() + i end", ""},
    {"a hog that catches errors",
     "local t = {} while true do pcall(function() t[#t + 1] = ('x'):rep(10000000) .. #t end) end", kOverTime},
    {"printing without end", "while true do print(('x'):rep(1000)) end", kOverTime},
    {"coroutines without end",
     "local t = {} while true do local c = coroutine.create(function() coroutine.yield() end) "
     "coroutine.resume(c) t[#t + 1] = c end",
     ""},
    {"a coroutine in a coroutine", "local function f() return coroutine.wrap(f)() end f()", "overflow"},
    {"a comparison that lies to sort",
     "local t = {} for i = 1, 1000 do t[i] = i end while true do pcall(table.sort, t, function() return true "
     "end) end",
     kOverTime},
    {"a method that indexes itself",
     "local t = {} setmetatable(t, {__index = function(_, k) return t[k] end}) print(t.x)", "overflow"},
    {"code that is no text", "load('\\27Lua')()", "attempt to call a nil value"},
    {"visiting that visits",
     "local function f(n) profile:visit(f, {min_share = 0}) end profile:visit(f, {min_share = 0})",
     "overflow"},
    {"the library of files", "io.open('/etc/passwd')", "attempt to index a nil value (global 'io')"},
    {"programs", "os.execute('true')", "attempt to index a nil value (global 'os')"},
};
static_assert(std::size(kHostile) == 32);

ProfilePtr small() {
  return profile_from_text("main;parse;read 30\nmain;draw 20\n");
}

}  // namespace

TEST_CASE("hostile scripts end within their time, and leave no process") {
  for (const Hostile& hostile : kHostile) {
    INFO(hostile.what);
    constexpr std::chrono::milliseconds kLimit{300}, kSlack{50};
    std::chrono::nanoseconds best = std::chrono::hours(1);
    // The machine may be busy with others.
    for (int i = 0; i < 5 && best > kLimit + kSlack; ++i) {
      const ScriptOutcome outcome = run_of(hostile.text, {small()}, {}, kLimit);
      CHECK_FALSE(outcome.error.empty());
      INFO(outcome.error);
      CHECK(outcome.error.find(hostile.ends_with) != std::string::npos);
      CHECK(outcome.profile == nullptr);
      CHECK(outcome.text.size() <= worker::kMaxScriptText);
      best = std::min(best, outcome.took);
    }
    CHECK(best <= kLimit + kSlack);
    CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
    CHECK(errno == ECHILD);
  }
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  CHECK(used.ru_maxrss < 700 * 1024);
}

TEST_CASE("a script has nothing of its machine") {
  for (const char* const name :
       {"io", "os", "debug", "package", "require", "dofile", "loadfile", "collectgarbage"}) {
    INFO(name);
    const ScriptOutcome outcome = run_of(fmt::format("print(type({}))", name), {small()});
    CHECK(outcome.text == "nil\n");
  }
  CHECK(run_of("print(type(string.dump))", {small()}).text == "nil\n");
  CHECK(run_of("print(getmetatable(profile), getmetatable(profile.root))", {small()}).text ==
        "profd's own\tprofd's own\n");
}

TEST_CASE("two runs of a script say the same") {
  const char* const text =
      "local t = {} for i = 1, 50 do t['key' .. i] = i end for k in pairs(t) do print(k) end "
      "print(math.random(1000000))";
  const ScriptOutcome one = run_of(text, {small()}), other = run_of(text, {small()});
  CHECK(one.error.empty());
  CHECK(one.text == other.text);
  CHECK(one.text.substr(0, 12) == "key1\nkey10\nk");
}

TEST_CASE("what a script prints is bounded, and what is left out is counted") {
  const ScriptOutcome outcome = run_of("for i = 1, 3000 do print(('x'):rep(1000)) end", {small()});
  CHECK(outcome.error.empty());
  CHECK(outcome.text.size() == worker::kMaxScriptText);
  CHECK(outcome.text_left == 3000 * 1001 - worker::kMaxScriptText);
}

TEST_CASE("an error of a script has its line and its sentence") {
  for (const auto& [text, line, error] :
       {std::tuple("print(1)\nerror('no rows')", 2u, "no rows"),
        std::tuple("local x = nil\n\nprint(x.y)", 3u, "attempt to index a nil value (local 'x')"),
        std::tuple("print(1)\nlocal = 2", 2u, "<name> expected near '='"),
        std::tuple("\nprofile:total('nothing')", 2u, "the profile has no metric `nothing`"),
        std::tuple("\n\nprint(profile.root.colour)", 3u, "a node has no `colour`")}) {
    INFO(text);
    const ScriptOutcome outcome = run_of(text, {small()});
    CHECK(outcome.line == line);
    CHECK(outcome.error == error);
  }
}

TEST_CASE("a program that is not there, or is no worker of ours, is an error of the run") {
  const std::vector<ScriptInput> inputs{{"p", small()}};
  const auto none = run_script({"test", "", {}}, inputs, {"/nothing/of/that/name", std::chrono::seconds(5)});
  REQUIRE_FALSE(none);
  CHECK(none.error().message ==
        "profd-script cannot be started: /nothing/of/that/name: No such file or directory");
  const auto other = run_script({"test", "", {}}, inputs, {"/bin/true", std::chrono::seconds(5)});
  REQUIRE(other);
  CHECK(other->error == "the script's process ended without a word");
}

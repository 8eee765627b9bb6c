#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

// A page of version 3 or newer with the frames given.
std::string page(const std::string& frames, const std::string& end = "</script></html>\n") {
  return "<!DOCTYPE html>\n<html>\n<script>\n\tfunction f(key, level, left, width, inln, c1, int) {\nconst "
         "cpool = "
         "[\n'all',\n' a'\n];\nunpack(cpool);\n\n" +
         frames + end;
}

std::string old_page(const std::string& frames) {
  return "<!DOCTYPE html>\n<html>\n<script>\n\tfunction f(level, left, width, type, title) {\n" + frames +
         "</script></html>\n";
}

std::string tree(const std::string& items) {
  return "<!DOCTYPE html>\n<html>\n<title>Tree view</title>\n<ul class='tree'>\n" + items + "</ul></html>\n";
}

ReadOutcome read_testdata(const std::string& name) {
  return read_with("async-profiler-html",
                   read_bytes(reader_folder("async-profiler-html") / "testdata" / name));
}

}  // namespace

TEST_CASE("async-profiler-html: bad input is refused or counted") {
  check_bad_inputs(
      "async-profiler-html",
      {
          {"another page", "<html><body>hello</body></html>", "error malformed: no frames"},
          {"no frames", page(""), "error malformed: no frames"},
          {"cut off", page("n(3,10)\n", ""), "error truncated: before its last frame"},
          {"a call without its end", page("n(3,10\n"), "error malformed: ill-formed"},
          {"words for numbers", page("n(x)\n"), "error malformed: ill-formed"},
          {"a number beyond 64 bits", page("n(3,99999999999999999999)\n"), "error malformed: ill-formed"},
          {"a name that is not there", page("n(3,10)\nu(99,1)\n"), "error malformed: no name"},
          {"a negative name", page("n(-8,10)\n"), "error malformed: no name"},
          {"a frame on none", page("n(3,10)\nf(8,5,0,1)\n"), "error malformed: stands on none"},
          {"a frame wider than its caller", page("n(3,10)\nu(8,11)\n"), "error malformed: wider"},
          {"a negative width", page("n(3,-10)\n"), "error malformed: negative"},
          {"a place beyond 64 bits", page("n(3,9223372036854775807)\nf(8,1,9223372036854775807,1)\n"),
           "error malformed: negative"},
          {"a difference that is no number", page("n(3,10)\nd=x\n"), "error malformed: difference"},
          {"children that overlap", old_page("f(0,0,10,3,'all')\nf(1,0,6,1,'a')\nf(1,3,6,1,'b')\n"),
           "report children-exceed"},
          {"a heat map", "<!DOCTYPE html>\n<html>async-profiler heatmap", "error unsupported: heat map"},
          {"a tree without items", tree(""), "error malformed: no tree"},
          {"an item without numbers", tree("<li><div>x</div><span class=\"t1\"> a</span>\n"),
           "error malformed: ill-formed"},
          {"an item that hangs on none",
           tree("<ul>\n<ul>\n<li><div>[0] 1% 1 self: 0% 0</div><span class=\"t1\"> a</span>\n"),
           "error malformed: hangs on none"},
          {"a tree cut off",
           "<html><title>Tree view</title>\n<ul class='tree'>\n<li><div>[0] 1% 1 self: 0% "
           "0</div><span class=\"t1\"> a</span>\n",
           "error truncated: inside its tree"},
          {"a tree that was pruned", tree("<li><div>[0] 1% 5 self: 0% 2</div><span class=\"t1\"> a</span>\n"),
           "report pruned"},
      });
}

TEST_CASE("async-profiler-html: a page gives back the folded stacks it was made from") {
  const auto folded =
      read_with("folded", read_bytes(reader_folder("folded") / "testdata/recorded-async-profiler.folded"));
  REQUIRE(folded.error == "");
  const auto drawn = read_testdata("recorded-jfrconv.html");
  REQUIRE(drawn.error == "");
  CHECK(self_by_path(*drawn.profiles[0], "samples") == self_by_path(*folded.profiles[0], "samples"));
}

TEST_CASE("async-profiler-html: a differential page has what each path had before and has after") {
  const auto drawn = read_testdata("recorded-diff.html");
  REQUIRE(drawn.error == "");
  CHECK(self_by_path(*drawn.profiles[0], "before") ==
        std::map<std::string, double>{{"a", 2}, {"a;b", 5}, {"a;c", 10}});
  CHECK(self_by_path(*drawn.profiles[0], "after") ==
        std::map<std::string, double>{{"a", 2}, {"a;b", 9}, {"a;c", 4}, {"e;f", 7}});
}

TEST_CASE("async-profiler-html: types of frames, threads and lines are kept") {
  const auto drawn = read_testdata("minimal.html");
  REQUIRE(drawn.error == "");
  const Profile& p = *drawn.profiles[0];
  CHECK(self_by_path(p, "time") == std::map<std::string, double>{{"[main tid=12]", 10},
                                                                 {"[main tid=12];a'b\\c", 10},
                                                                 {"[main tid=12];a'b\\c;a'd", 20},
                                                                 {"[main tid=12];a'b\\c;\xc3\xbc"
                                                                  "ber.x",
                                                                  20},
                                                                 {"\xc3\xbc"
                                                                  "ber.xy:17",
                                                                  20},
                                                                 {"\xc3\xbc"
                                                                  "ber.xy:17;\xc3\xbc"
                                                                  "ber.xy:17",
                                                                  20}});
  REQUIRE(p.threads().size() == 1);
  CHECK(p.threads().tid[0] == 12);
  CHECK(p.strings()[p.threads().name[0]] == "main");
  std::map<FrameKind, int> kinds;
  int n_inlined = 0;
  for (std::uint32_t f = 0; f < p.frames().size(); ++f) {
    ++kinds[p.frames().kind[f]];
    n_inlined += p.frames().inlined[f];
  }
  CHECK(kinds[FrameKind::interpreted] == 2);
  CHECK(kinds[FrameKind::jit] == 4);
  CHECK(kinds[FrameKind::kernel] == 1);
  CHECK(n_inlined == 2);
}

TEST_CASE("async-profiler-html: a reversed tree is turned round") {
  // asprof -f tree --reverse: what was sampled stands outermost, and no item tells its own part.
  const auto read = read_with(
      "async-profiler-html",
      "<!DOCTYPE html>\n<html>\n<title>Tree view</title>\n<span>Backtrace view</span>\n<ul class=\"tree\">\n"
      "<li><div>75.00% [3,000]</div> <span class=\"t2\">leaf</span>\n<ul>\n"
      "<li><div>50.00% [2,000]</div> <span class=\"t1\">caller</span>\n<ul>\n"
      "<li><div class=\"o\">50.00% [2,000]</div> <span class=\"t6\">main</span>\n</ul>\n"
      "<li><div class=\"o\">25.00% [1,000]</div> <span class=\"t6\">main</span>\n</ul>\n"
      "<li><div class=\"o\">25.00% [1,000]</div> <span class=\"t6\">main</span>\n</ul>\n</html>\n");
  REQUIRE(read.error == "");
  CHECK(self_by_path(*read.profiles[0], "samples") ==
        std::map<std::string, double>{{"main;caller;leaf", 2000}, {"main;leaf", 1000}, {"main", 1000}});
}

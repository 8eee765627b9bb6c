// A hover is parts; its texts for editors are written of them, and whatever names hold stays text.
#include "server/feature/hover_text.h"

#include "server/feature/escape.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

Hover full() {
  Hover hover;
  hover.name = "main.work";
  hover.place = "row.go:17";
  hover.inlined = true;
  hover.n_others = 2;
  hover.notes = {"Only the name of this file agrees with /build/x_y/row.go, the path in the profile."};
  hover.rows = {{"cpu", "21 ns", "34 ns (at least)", "34.0 %"}, {"alloc_space", "0 B", "1 KiB", "4.0 %"}};
  hover.remarks = {"More than the whole: it is counted once for each call."};
  HoverList callers;
  callers.entries = {{"main.parse", "60 %", "/w/a b/main.go", 7}, {"runtime.main", "40 %", "", 0}};
  callers.n_more = 3;
  HoverList callees;
  callees.callers = false;
  callees.of = "main.work";
  callees.estimated = true;
  callees.entries = {{"json.Unmarshal", "100 %", "/w/json.go", 0}};
  hover.lists = {callers, callees};
  hover.foot = "cpu.pprof · 2026-11-20 19:34:52 UTC";
  return hover;
}

}  // namespace

TEST_CASE("a hover as Markdown") {
  CHECK(hover_markdown(full()) ==
        "**`main.work`** row.go:17 (inlined) and 2 more here\n\n"
        "Only the name of this file agrees with /build/x\\_y/row\\.go, the path in the profile.\n\n"
        "| metric | self | total | share |\n|:--|--:|--:|--:|\n"
        "| cpu | 21 ns | 34 ns (at least) | 34.0 % |\n"
        "| alloc\\_space | 0 B | 1 KiB | 4.0 % |\n\n"
        "More than the whole: it is counted once for each call.\n\n"
        "callers: [`main.parse`](file:///w/a%20b/main.go#L7) 60 % · `runtime.main` 40 % · 3 more\n\n"
        "callees of `main.work` (estimate): [`json.Unmarshal`](file:///w/json.go) 100 %\n\n"
        "*cpu.pprof · 2026-11-20 19:34:52 UTC*");
}

TEST_CASE("a hover as Markdown for those that know no tables") {
  const std::string text = hover_markdown(full(), false);
  CHECK(text.find("| metric") == std::string::npos);
  CHECK(text.find("- cpu: total 34 ns (at least) (34.0 %), self 21 ns\n"
                  "- alloc\\_space: total 1 KiB (4.0 %), self 0 B\n\n") != std::string::npos);
}

TEST_CASE("a hover as plain text") {
  CHECK(hover_plain_text(full()) ==
        "main.work row.go:17 (inlined) and 2 more here\n\n"
        "Only the name of this file agrees with /build/x_y/row.go, the path in the profile.\n\n"
        "cpu: total 34 ns (at least) (34.0 %), self 21 ns\nalloc_space: total 1 KiB (4.0 %), self 0 B\n\n"
        "More than the whole: it is counted once for each call.\n\n"
        "callers:\n  main.parse 60 %\n  runtime.main 40 %\n  3 more\n\n"
        "callees of main.work (estimate):\n  json.Unmarshal 100 %\n\n"
        "cpu.pprof · 2026-11-20 19:34:52 UTC");
}

TEST_CASE("a hover of no function is its notes") {
  Hover hover;
  hover.notes = {"Nothing is guessed."};
  hover.foot = "cpu.pprof";
  CHECK(hover_markdown(hover) == "Nothing is guessed.\n\n*cpu.pprof*");
  CHECK(hover_plain_text(hover) == "Nothing is guessed.\n\ncpu.pprof");
}

TEST_CASE("whatever a name or a path holds, nothing of it is markup, a link or a control character") {
  const std::string bad = "[x](command:rm) <b> `a` http://e.vil www.e.vil \x1b[31m\n| # 1. **q**";
  Hover hover;
  hover.name = hover.place = hover.foot = bad;
  hover.notes = {bad, "1. no list", "- nor this", "+ or this", "# nor a heading"};
  hover.rows = {{bad, "0", "0", "0"}};
  HoverList list;
  list.of = bad;
  list.entries = {{bad, "1 %", "", 0}};
  hover.lists = {list};
  const std::string text = hover_markdown(hover);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find("\n|  #") == std::string::npos);
  for (const char* list_item : {"\n1. no", "\n- nor", "\n+ or", "\n# nor"})
    CHECK(text.find(list_item) == std::string::npos);
  // Outside of code spans a bracket, an angle or an address stands behind a backslash.
  CHECK(text.find("\n\\[x\\]\\(command") != std::string::npos);
  CHECK(text.find(" \\<b\\> ") != std::string::npos);
  CHECK(text.find(" http\\://e") != std::string::npos);
  CHECK(text.find(" www\\.e\\.vil") != std::string::npos);
  const std::string plain = hover_plain_text(hover);
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(plain.find("\\x1b[31m") != std::string::npos);
}

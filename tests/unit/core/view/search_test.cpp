#include "core/view/search.h"

#include "core/model/profile_builder.h"
#include "core/view/pattern.h"
#include "core/view/search_names.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = "main;Read;read;copy 3\nmain;read 4\nmain;draw 5";

Value matched(std::string_view pattern, std::string_view spec = "top-down") {
  return search(*select_text(kProgram, spec), pattern, {})->matched;
}

}  // namespace

TEST_CASE("the matched share counts each stack once") {
  CHECK(matched("^read$") == Value{7L});
  CHECK(matched("main|read|copy") == Value{12L});
  CHECK(matched("nothing") == Value{0L});
  CHECK(search(*select_text(kProgram), "^read$", {})->n_keys == 2);
}

TEST_CASE("a search is case-sensitive once it has an upper-case letter") {
  CHECK(matched("READ") == Value{0L});
  CHECK(matched("Read") == Value{3L});
  CHECK(matched("\\Sead") == Value{7L});
}

TEST_CASE("hidden frames and dropped stacks do not match") {
  CHECK(matched("^read$", "top-down | hide function read") == Value{3L});
  CHECK(matched("^read$", "top-down | drop function copy") == Value{4L});
}

TEST_CASE("a bad or oversized expression is refused") {
  const auto selection = select_text(kProgram);
  CHECK(search(*selection, "(", {}).error().code == ErrorCode::invalid);
  CHECK(search(*selection, std::string(2000, 'a'), {}).error().code == ErrorCode::limit);
  CHECK(search(*selection, "((((a{100}){100}){100}){100})", {}).error().code != ErrorCode::internal);
}

TEST_CASE("sets of frames are summed side by side, each stack once a set") {
  const auto selection = select_text("a;b;a 3\nb;a 4\nc 5\na;c 1");
  const auto frames_called = [&](std::vector<std::uint8_t>& set_of, std::string_view name, std::uint8_t set) {
    for (std::uint32_t f = 0; f < set_of.size(); ++f)
      if (selection->profile->function_name(selection->profile->frames().function[f]) == name)
        set_of[f] = set;
  };
  std::vector<std::uint8_t> set_of(selection->profile->frames().size(), 0);
  frames_called(set_of, "a", 1);
  frames_called(set_of, "c", 2);
  CHECK(matched_totals(*selection, set_of, 2, {}).value() == std::vector<Value>{Value{8L}, Value{6L}});
  std::vector<std::uint8_t> both(set_of.size(), 0);
  frames_called(both, "a", 1);
  frames_called(both, "b", 1);
  CHECK(matched_total(*selection, both, {}).value() == Value{8L});
  const auto hiding = select_text("a;b;a 3\nb;a 4\nc 5\na;c 1", "top-down | hide function a");
  CHECK(matched_totals(*hiding, set_of, 2, {}).value() == std::vector<Value>{Value{0L}, Value{6L}});
}

TEST_CASE("what an index of contexts finds is what a sweep over all finds") {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i), rare = i % 9 == 0 ? "rare;" : "",
                      deep = i % 18 == 0 ? ";x;rare" : "";
    text += "main;f" + n + ";" + rare + "g" + n + deep + " " + std::to_string(i + 1) + "\n";
  }
  const auto swept = select_text(text), indexed = select_text(text);
  REQUIRE(warm_up(*indexed, {}));
  for (const char* pattern : {"^rare$", "^x$", "^g1$|^rare$|^f18$", "nowhere", "^main$", "g"}) {
    INFO(pattern);
    CHECK(search(*swept, pattern, {})->matched == search(*indexed, pattern, {})->matched);
  }
  CHECK(as_double(search(*indexed, "^rare$", {})->matched) > 0);
}

TEST_CASE("names read through as one text match as each on its own does") {
  const auto selection = select_text(
      "Lock;unlock;LOCK free 1\nos.(*File).Read;bufio.(*Reader).Read 2\nmalloc;mallo;amalloc 1\n"
      "\u212Aernel;kernel;Kernel 1\nfunc1;func11;func10.func1 2\nl;oc;loc;lo 1\ncodec;index;dec|in 3\n"
      "\u00e9cole;\u00c9COLE;aaaaaaaab;aab;ab 1");
  for (const char* text : {"lock",
                           "Lock",
                           "(?i)LOCK",
                           "l",
                           "e",
                           "func1$",
                           "^func1",
                           "codec|index",
                           "\\(\\*.*Reader\\)",
                           "kernel",
                           "Kernel",
                           "KERNEL|zzz",
                           "aab",
                           "a+b",
                           "loc",
                           "oc$",
                           "école",
                           "École",
                           "(?i)\u00c9cole",
                           ".",
                           "^$",
                           "",
                           "lock|aab|x",
                           "[a-c]od",
                           "dec\\|in",
                           "abc|abd|abe|abf|abg|abh|abi|abj|lock",
                           "(lock|free).*(free|lock)",
                           "(?:kernel)?"}) {
    INFO(text);
    bool upper = false;
    for (const char c : std::string_view(text)) upper = upper || (c >= 'A' && c <= 'Z');
    const Pattern pattern = *Pattern::compile(text, true, !upper);
    const SearchResult found = *search(*selection, text, {});
    std::string made;
    for (Key key = 0; key < found.matches.size(); ++key) {
      const std::string_view name = search_name(*selection->boxes, key, made);
      INFO(name);
      CHECK((found.matches[key] != 0) == pattern.matches(name));
    }
  }
}

TEST_CASE("a needle is found in every name that has it, at its ends too") {
  const auto selection = select_text("abcabcabc;bc;xabcabcabd;abd;abcabcab;bd 1");
  const SearchNames names = make_search_names(*selection->boxes);
  const auto n_keys = static_cast<Key>(selection->boxes->keys->n_keys());
  for (const std::string needle :
       {"abc", "a", "bd", "abd", "abcabcab", "abcabcabd", "xabcabcabd", "zabcabcabcabc"}) {
    INFO(needle);
    std::string made;
    for (Key first = 0; first <= n_keys; ++first) {
      std::vector<std::uint8_t> found(n_keys + 1, 0);
      names.find(needle, first, n_keys, found.data());
      for (Key key = first; key < n_keys; ++key)
        CHECK((found[key - first] != 0) ==
              (search_name(*selection->boxes, key, made).find(needle) != std::string_view::npos));
    }
  }
}

// More contexts than one task takes at once, and subtrees that reach over where the tasks meet.
TEST_CASE("a search of millions of contexts finds with an index what it finds without") {
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  std::vector<FrameId> frames;
  for (int f = 0; f < 200; ++f) {
    FrameSpec frame;
    frame.function = builder.function("f" + std::to_string(f));
    frames.push_back(builder.frame(frame));
  }
  // Subtrees of 40 contexts below long chains, so that no function has more than a small part of all.
  std::size_t random = 1;
  for (int top = 0; top < 6; ++top) {
    ContextId above = builder.context(kRootContext, frames[static_cast<std::size_t>(top)]);
    for (int deep = 0; deep < 10'000; ++deep) {
      above = builder.context(above, frames[static_cast<std::size_t>(6 + deep % 2)]);
      ContextId at = above;
      for (int i = 0; i < 40; ++i) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        at = builder.context(at, frames[8 + (random >> 40) % 192]);
        if (i % 8 == 0) builder.add_self(at, MetricId{0u}, std::int64_t{1});
      }
    }
  }
  const ProfilePtr profile = *std::move(builder).finish();
  REQUIRE(profile->tree().size() > (std::size_t{4} << 19));
  const auto selected = [&] { return *select(profile, *parse_view_spec("top-down"), {}); };
  const SelectionPtr swept = selected(), indexed = selected();
  REQUIRE(warm_up(*indexed, {}));
  for (const char* pattern : {"^f2$", "^f(100|1|5)$", "^f6$", "^f1[0-4]$", "f199|f0$", "^f3"}) {
    INFO(pattern);
    const Value expected = search(*swept, pattern, {})->matched;
    CHECK(as_double(expected) > 0);
    CHECK(search(*indexed, pattern, {})->matched == expected);
  }
  CHECK(search(*indexed, "^f[0-5]$", {})->matched == Value{std::int64_t{6 * 10'000 * 5}});
}

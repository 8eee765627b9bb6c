// Plain words take a way of their own past the regular expressions: both must find the same.
#include "core/view/pattern.h"

#include <random>
#include <string>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a plain word matches what the same word as an expression matches, with and without case") {
  const std::vector<std::string> pieces{"a",
                                        "A",
                                        "k",
                                        "K",
                                        "s",
                                        "S",
                                        "ab",
                                        "\xE2\x84\xAA" /* Kelvin sign */,
                                        "\xC5\xBF" /* long s */,
                                        "_",
                                        "::",
                                        " ",
                                        "\xC3\xA4",
                                        "\xFF",
                                        "z"};
  std::mt19937 random(7);
  const auto make = [&](std::size_t n) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += pieces[random() % pieces.size()];
    return text;
  };
  const std::vector<std::string> words{"a",  "k",   "s",   "K",  "Ask",  "sk",
                                       "ab", "aB_", "k s", "::", "A::a", "zz"};
  for (const std::string& word : words)
    for (const bool ignore_case : {false, true}) {
      const auto plain = Pattern::compile(word, true, ignore_case);
      const auto expression = Pattern::compile("(?:" + word + ")", true, ignore_case);
      REQUIRE(plain);
      REQUIRE(expression);
      for (int i = 0; i < 400; ++i) {
        const std::string text = make(random() % 9);
        INFO(word << " in " << text << (ignore_case ? " without case" : ""));
        CHECK(plain->matches(text) == expression->matches(text));
      }
    }
}

TEST_CASE("a word with characters that expressions give a meaning is an expression") {
  const auto pattern = Pattern::compile("a.c", true, true);
  REQUIRE(pattern);
  CHECK(pattern->matches("xABCx"));
  CHECK_FALSE(pattern->matches("ac"));
  CHECK_FALSE(Pattern::compile("a(", true, false));
}

TEST_CASE(
    "in a long text a match is found wherever it is, ends of the text mean the text's, and it can be "
    "stopped") {
  const std::size_t size = 5 * Pattern::kLongText + 17;
  const auto matches = [](const char* expression, const std::string& text, const StopToken& stop = {}) {
    const auto pattern = Pattern::compile(expression, true, false);
    REQUIRE(pattern);
    return pattern->matches(text, stop);
  };
  for (std::size_t at = 0; at + 3 <= size; at += 9973) {
    std::string text(size, 'x');
    text.replace(at, 3, "abc");
    INFO("at " << at);
    CHECK(matches("a.c", text));
    CHECK(matches("^a.c", text) == (at == 0));
    CHECK_FALSE(matches("a.c$", text));
    CHECK_FALSE(matches("\\ba.c\\b", text));
    text.replace(size - 3, 3, "abc");
    CHECK(matches("a[b]c$", text));
  }
  // Whoever asked has gone.
  StopSource gone;
  gone.request_stop();
  CHECK_FALSE(matches("a.c", "abc" + std::string(size, 'x'), StopToken(gone)));
  CHECK(matches("a.c", "abc" + std::string(size, 'x')));
}

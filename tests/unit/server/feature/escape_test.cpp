#include "server/feature/escape.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("control and reordering characters never reach a terminal", "[escape]") {
  CHECK(sanitize_text("plain name") == "plain name");
  CHECK(sanitize_text("a\x1b[31mred") == "a\\x1b[31mred");
  CHECK(sanitize_text(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(sanitize_text("two\nlines\tand\r") == "two\\x0alines\\x09and\\x0d");
  CHECK(sanitize_text("\xC2\x9B"
                      "31m") == "\\x9b31m");
  CHECK(sanitize_text("x\xE2\x80\xAEy") == "x\\u202ey");
  CHECK(sanitize_text("x\xE2\x81\xA6y") == "x\\u2066y");
  CHECK(sanitize_text("x\xE2\x80\x8By") == "x\\u200by");
  CHECK(sanitize_text("\xF3\xA0\x81\x81") == "\\u0e0041");
  CHECK(sanitize_text("bad\xFFutf8") == "bad\xEF\xBF\xBDutf8");
  CHECK(sanitize_text("日本 λ é") == "日本 λ é");
}

TEST_CASE("markup in a name stays text", "[escape]") {
  CHECK(escape_markup("<script>alert(\"x\" & 'y')</script>") ==
        "&lt;script&gt;alert(&quot;x&quot; &amp; &#39;y&#39;)&lt;/script&gt;");
  CHECK(escape_markup("a\x01\xEF\xBF\xBE"
                      "b") == "a\\x01\\ufffeb");
}

TEST_CASE("Markdown in a name stays text", "[escape]") {
  CHECK(escape_markdown("[x](command:evil)") == "\\[x\\]\\(command\\:evil\\)");
  CHECK(escape_markdown("a|b*c_d`e") == "a\\|b\\*c\\_d\\`e");
  CHECK(escape_markdown("two\nlines") == "two\\\\x0alines");
  CHECK(escape_markdown("https://evil.example/") == "https\\://evil\\.example/");
  CHECK(markdown_code("a`b") == "``a`b``");
  CHECK(markdown_code("`") == "`` ` ``");
  CHECK(markdown_code("plain") == "`plain`");
}

TEST_CASE("widths count terminal columns", "[escape]") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("e\xCC\x81") == 1);
  CHECK(cut_to_width("abcdef", 6) == "abcdef");
  CHECK(cut_to_width("abcdef", 4) == "abc…");
  CHECK(cut_to_width("日本語", 5) == "日本…");
  CHECK(cut_to_width("日本語", 4) == "日…");
  CHECK(cut_to_width("abc", 0).empty());
}

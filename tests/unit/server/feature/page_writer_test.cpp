#include "server/feature/page_writer.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

std::string sentence_of(std::string_view text) {
  PageWriter page;
  page.sentence(text);
  return page.finish("").markdown;
}

}  // namespace

TEST_CASE("a sentence of a page reads as it is and is no markup") {
  CHECK(sentence_of("0.6 % of my_function: a.c (2 of 3)") == "0.6 % of my_function: a.c (2 of 3)\n");
  CHECK(sentence_of("a <b>x</b> [l](m) *e* _u_ `c`") ==
        "a \\<b\\>x\\</b\\> \\[l\\](m) \\*e\\* \\_u\\_ \\`c\\`\n");
  CHECK(sentence_of("1. no list") == "1\\. no list\n");
  CHECK(sentence_of("- no list").starts_with("\\-"));
  CHECK(sentence_of("see http://evil.example").find("p://") == std::string::npos);
  CHECK(sentence_of("two\nlines") == "two\\\\x0alines\n");
}

TEST_CASE("a page's table has even columns, and knows where its places stand") {
  PageWriter page;
  page.table({" self", "place"}, {{page_value("~ +5.00 ms (+3 %)"), page_place("/w/a.c", "", "", 7)},
                                  {page_value("[1](x)"), page_place("", "", "libc.so.6", 0)}});
  const ReportPage made = page.finish("line");
  CHECK(made.markdown ==
        "|              self | place       |\n"
        "| ----------------: | ----------- |\n"
        "| ~ +5.00 ms (+3 %) | `/w/a.c:7`  |\n"
        "|        \\[1\\]\\(x\\) | `libc.so.6` |\n");
  REQUIRE(made.links.size() == 1);
  CHECK(made.links[0].line == 2);
  CHECK(made.links[0].to_line == 7);
  const std::string row = "| ~ +5.00 ms (+3 %) | `/w/a.c:7`  |";
  CHECK(row.substr(made.links[0].begin, made.links[0].end - made.links[0].begin) == "/w/a.c:7");
}

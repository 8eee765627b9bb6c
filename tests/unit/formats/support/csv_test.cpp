#include "formats/support/csv.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

std::vector<std::vector<std::string>> rows_of(std::string_view text, bool trim = false) {
  std::vector<std::vector<std::string>> out;
  CsvReader reader(text, ',', trim);
  std::vector<std::string_view> fields;
  while (reader.next(fields)) out.emplace_back(fields.begin(), fields.end());
  return out;
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("csv: quotes hold separators, line ends and doubled quotes") {
  CHECK(rows_of("a,\"b,c\",\"d \"\"e\"\"\"\r\n\"f\ng\",,h") ==
        Rows{{"a", "b,c", "d \"e\""}, {"f\ng", "", "h"}});
  CHECK(rows_of("\"\",x\n") == Rows{{"", "x"}});
}

TEST_CASE("csv: empty rows and a missing last line end") {
  CHECK(rows_of("") == Rows{});
  CHECK(rows_of("a\n\nb") == Rows{{"a"}, {""}, {"b"}});
  CHECK(rows_of("a,\n") == Rows{{"a", ""}});
}

TEST_CASE("csv: blanks count as content unless asked for, and before the first field they are told") {
  CHECK(rows_of("a, b") == Rows{{"a", " b"}});
  CHECK(rows_of("a, b, \"c, d\"", true) == Rows{{"a", "b", "c, d"}});
  CsvReader reader("  \"x\",1\n   y,2\n");
  std::vector<std::string_view> fields;
  REQUIRE(reader.next(fields));
  CHECK(reader.indent() == 2);
  CHECK(fields[0] == "x");
  REQUIRE(reader.next(fields));
  CHECK(reader.indent() == 3);
  CHECK(fields[0] == "   y");
}

TEST_CASE("csv: a quote without an end is cut at the end of its line") {
  CsvReader reader("\"a,b\nc,d\n");
  std::vector<std::string_view> fields;
  REQUIRE(reader.next(fields));
  CHECK(reader.is_broken());
  CHECK(fields == std::vector<std::string_view>{"a,b"});
  REQUIRE(reader.next(fields));
  CHECK_FALSE(reader.is_broken());
  CHECK(fields == std::vector<std::string_view>{"c", "d"});
}

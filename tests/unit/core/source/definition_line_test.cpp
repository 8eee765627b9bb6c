#include "core/source/definition_line.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a function is defined above its code, where its name follows a word that defines functions") {
  const std::string_view text =
      "def fib(n):\n"
      "    if n < 2:\n"
      "        return n\n"
      "    return fib(n - 1) + fib(n - 2)\n"
      "class Box\n"
      "  def self.total\n"
      "    1\n"
      "async def fibs(n):\n"
      "    return [fib(i) for i in range(n)]\n"
      "def fib(n):\n"
      "    return 1\n";
  CHECK(definition_above(text, "fib", 4) == 1);
  CHECK(definition_above(text, "module.fib", 2) == 1);
  CHECK(definition_above(text, "fib", 9) == 1);
  CHECK(definition_above(text, "fib", 11) == 10);
  CHECK(definition_above(text, "Box.total", 7) == 6);
  CHECK(definition_above(text, "fibs", 9) == 8);
  CHECK(definition_above(text, "fibs", 7) == 0);
  CHECK(definition_above(text, "range", 9) == 0);
  CHECK(definition_above(text, "<module>", 9) == 0);
  CHECK(definition_above(text, "fib", 0) == 0);
  CHECK(definition_above("", "fib", 3) == 0);
}

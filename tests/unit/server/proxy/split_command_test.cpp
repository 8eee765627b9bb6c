#include "server/proxy/split_command.h"

#include "tests/support/catch.h"

using namespace profd;
using CommandWords = std::vector<std::string>;

TEST_CASE("a command is split at blanks, and quotes keep them") {
  CHECK(*split_command("clangd --background-index") == CommandWords{"clangd", "--background-index"});
  CHECK(*split_command("  a\t b\n") == CommandWords{"a", "b"});
  CHECK(*split_command(R"('/opt/my tools/clangd' "--x=a \"b\" \\c")") ==
        CommandWords{"/opt/my tools/clangd", R"(--x=a "b" \c)"});
  CHECK(*split_command(R"(a\ b --p='x'"y"z '')") == CommandWords{"a b", "--p=xyz", ""});
}

TEST_CASE("nothing in a command means what it would to a shell") {
  CHECK(*split_command("a $HOME *.c ~ `b` ; c | d > e && f") ==
        CommandWords{"a", "$HOME", "*.c", "~", "`b`", ";", "c", "|", "d", ">", "e", "&&", "f"});
  CHECK(*split_command(R"(a '\n' "\n")") == CommandWords{"a", R"(\n)", R"(\n)"});
}

TEST_CASE("a command that is not whole is refused") {
  for (const char* text : {"", "  ", "''", "a 'b", "a \"b", "a \"b\\", "a b\\"})
    CHECK(split_command(text).error().code == ErrorCode::invalid);
}

#include "core/source/path_index.h"

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Paths = std::vector<std::string>;

PathIndex index_of(const Paths& paths) {
  PathIndex index;
  for (const std::string& path : paths) index.add(path);
  return index;
}

}  // namespace

TEST_CASE("the longest common suffix of components wins") {
  const PathIndex index = index_of({"/home/me/x/src/a.cc", "/home/me/x/lib/a.cc", "/home/me/x/src/ba.cc"});
  const PathMatch match = index.find("/build/x/src/a.cc", {});
  CHECK(match.candidates == Paths{"/home/me/x/src/a.cc"});
  CHECK(match.components == 3);
  CHECK(index.find("/build/nothing.cc", {}).candidates.empty());
  CHECK(index.find("", {}).candidates.empty());
}

TEST_CASE("a tie is reported, not guessed") {
  const PathIndex index = index_of({"/w/one/src/a.cc", "/w/two/src/a.cc", "/w/b.cc"});
  CHECK(index.find("/build/src/a.cc", {}).candidates == Paths{"/w/one/src/a.cc", "/w/two/src/a.cc"});
  CHECK(index.find("/build/other/a.cc", {}).candidates.empty());
  CHECK(index.find("a.cc", {}).candidates.size() == 2);
  const PathMatch alone = index.find("/build/other/b.cc", {});
  CHECK(alone.candidates == Paths{"/w/b.cc"});
  CHECK(alone.components == 1);
}

TEST_CASE("configured prefixes come first and end at a component") {
  const PathIndex index = index_of({"/w/new/a.cc", "/w/old/src/a.cc"});
  CHECK(index.find("/build/src/a.cc", {{"/build/src", "/w/new"}}).candidates == Paths{"/w/new/a.cc"});
  CHECK(index.find("/build/src/a.cc", {{"/bui", "/w/new"}}).candidates == Paths{"/w/old/src/a.cc"});
  CHECK(index.find("/build/src/a.cc", {{"/build/src/", "/gone"}}).candidates == Paths{"/w/old/src/a.cc"});
}

TEST_CASE("a module path matches without its version") {
  const PathIndex index = index_of({"/home/me/m/a.go", "/home/me/n/a.go"});
  CHECK(index.find("github.com/u/m@v1.2.3/a.go", {}).candidates == Paths{"/home/me/m/a.go"});
  CHECK(index.find("github.com/u/n/v2@v2.0.1/a.go", {}).candidates == Paths{"/home/me/n/a.go"});
}

TEST_CASE("a class of Java's machine is looked for in its other languages when there is no such Java file") {
  const PathIndex index = index_of({"/w/src/main/java/com/acme/Foo.java", "/w/src/main/kotlin/acme/Foo.kt",
                                    "/w/src/main/kotlin/com/acme/Bar.kt", "/w/src/com/acme/Baz.scala"});
  CHECK(index.find("com/acme/Foo.java", {}).candidates == Paths{"/w/src/main/java/com/acme/Foo.java"});
  const PathMatch kotlin = index.find("com/acme/Bar.java", {});
  CHECK(kotlin.candidates == Paths{"/w/src/main/kotlin/com/acme/Bar.kt"});
  CHECK(kotlin.whole);
  CHECK(index.find("com/acme/Baz.java", {}).candidates == Paths{"/w/src/com/acme/Baz.scala"});
  CHECK(index.find("com/acme/Bar.java", {{"com/acme", "/w/src/main/kotlin/com/acme"}}).rule ==
        MappingRule::prefix);
  CHECK(index.find("com/acme/Bar.kt", {}).candidates.size() == 1);
  CHECK(index.find("com/acme/Foo.scala", {}).candidates.empty());
  CHECK(index.find("com/acme/None.java", {}).candidates.empty());
}

TEST_CASE("separators of Windows are separators, and case is kept apart") {
  const PathIndex index = index_of({"C:\\work\\src\\a.cc", "/w/SRC/a.cc"});
  CHECK(index.find("D:\\build\\src\\a.cc", {}).candidates == Paths{"C:\\work\\src\\a.cc"});
  CHECK(index.find("/build/src/a.cc", {}).candidates == Paths{"C:\\work\\src\\a.cc"});
}

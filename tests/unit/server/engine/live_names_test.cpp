#include "server/engine/live_names.h"

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("sampled functions stand in the packages and classes that their names tell") {
  struct Case {
    const char *name, *module, *file;
    unsigned line;
    const char *package, *class_name, *method;
  };
  const Case cases[] = {
      {"net/http.(*conn).serve", "", "/usr/lib/go/src/net/http/server.go", 1990, "net/http", "conn", "serve"},
      {"github.com/acme/shop.Cart.Total", "", "cart.go", 12, "github.com/acme/shop", "Cart", "Total"},
      {"main.work", "", "/w/app/main.go", 3, "main", "main", "work"},
      {"main.work.func1", "", "/w/app/main.go", 9, "main", "main", "work.func1"},
      {"java.util.HashMap.get", "", "HashMap.java", 0, "java/util", "HashMap", "get"},
      {"std::vector<int, std::allocator<int> >::push_back(int const&)", "prog", "", 0, "std",
       "vector<int, std::allocator<int> >", "push_back(int const&)"},
      {"malloc", "/usr/lib/libc.so.6", "", 0, "libc.so.6", "", "malloc"},
      {"render", "", "file:///w/app/src/view.js", 7, "src", "view", "render"},
      {"(anonymous)", "", "file:///w/app/src/view.js", 7, "src", "view", "(anonymous):7"},
      {"route", "", "/w/node_modules/express/lib/router.js", 1, "express/lib", "router", "route"},
      {"readFileSync", "", "node:fs", 1, "node", "fs", "readFileSync"},
      {"loads", "", "/usr/lib/python3.11/json/__init__.py", 1, "python/json", "__init__", "loads"},
      {"compile", "", "/usr/lib/python3.11/re.py", 0, "python", "re", "compile"},
      {"Known.parse", "", "Known.java", 0, "", "Known", "parse"},
      {"(program)", "", "", 0, "", "", "(program)"},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    const LiveNameParts parts = live_name_parts(one.name, one.module, one.file, one.line);
    CHECK(parts.package == one.package);
    CHECK(parts.class_name == one.class_name);
    CHECK(parts.method == one.method);
  }
}

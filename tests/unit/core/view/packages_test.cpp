#include "core/view/packages.h"

#include "core/view/filters.h"
#include "tests/support/catch.h"
#include "tests/support/format_tree.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

TEST_CASE("the package in a name is what its language calls one") {
  const auto of = [](std::string_view name, std::string_view file = "") {
    return package_in_name(name, file);
  };
  CHECK(of("net/http.(*conn).serve") == "net/http");
  CHECK(of("github.com/u/m/v2.Open") == "github.com/u/m/v2");
  CHECK(of("runtime.gcDrain") == "runtime");
  CHECK(of("main.worker.func1") == "main");
  CHECK(of("main.worker.run") == "main");
  CHECK(of("main.(*worker).run") == "main");
  CHECK(of("java.util.HashMap.get") == "java.util");
  CHECK(of("java/util/HashMap.get") == "java/util");
  CHECK(of("std::vector<a.b>::push_back") == "std");
  CHECK(of("lists::Bag<int>::reduce") == "lists");
  CHECK(of("JOIN::exec").empty());
  CHECK(of("cfree@GLIBC_2.2.5").empty());
  CHECK(of("cfree@GLIBC_2").empty());
  CHECK(of("work.constprop.0").empty());
  CHECK(of("work.part.0.isra.1").empty());
  CHECK(of("Worker.run", "app.py").empty());
  CHECK(of("worker.run", "app.py").empty());
  CHECK(of("outer.<locals>.inner").empty());
  CHECK(of("Array.map").empty());
  CHECK(of("memcpy").empty());
  CHECK(of("libm.so.6+0x10").empty());
}

TEST_CASE("frames without a package in their names are of a module, else of a folder") {
  CHECK(package_of("memcpy", "/lib/libc.so.6", "string.c") == "libc.so.6");
  CHECK(package_of("f", "", "src/x/a.c") == "src/x");
  CHECK(package_of("f", "", "").empty());
}

TEST_CASE("filters by package take what boxes are coloured by") {
  constexpr std::string_view kGo =
      "main.main;net/http.(*conn).serve;runtime.mallocgc 3\nmain.main 4\nidle 1\n";
  CHECK(select_text(kGo, "top-down | keep package net/http")->sums->total == Value{3L});
  CHECK(select_text(kGo, "top-down | drop package /^(main|runtime)$/")->sums->total == Value{1L});
  CHECK(format_tree(*select_text(kGo, "top-down | collapse package /http|runtime/"), {}).find("serve") ==
        std::string::npos);
}

#include "formats/support/java_frame.h"

#include <map>

#include "tests/support/catch.h"

using namespace profd;

TEST_CASE("a class names its file by the rules of its language") {
  CHECK(java_source_path("com.acme.Foo") == "com/acme/Foo.java");
  CHECK(java_source_path("com/acme/Foo") == "com/acme/Foo.java");
  CHECK(java_source_path("Foo") == "Foo.java");
  CHECK(java_source_path("com.acme.Foo$Bar$1") == "com/acme/Foo.java");
  CHECK(java_source_path("com.acme.Foo$$Lambda$14/0x00007f.1234") == "com/acme/Foo.java");
  CHECK(java_source_path("com.acme.$Proxy") == "com/acme/$Proxy.java");
  CHECK(java_source_path("com.acme.FooKt") == "com/acme/Foo.kt");
  CHECK(java_source_path("com.acme.FooKt$main$1") == "com/acme/Foo.kt");
  CHECK(java_source_path("com.acme.All__FooKt") == "com/acme/Foo.kt");
  CHECK(java_source_path("com.acme.Kt") == "com/acme/Kt.java");
  CHECK(java_source_path("com.acme.Foo$Bar", "Main.java") == "com/acme/Main.java");
  CHECK(java_source_path("com.acme.Foo", "src/Main.java") == "src/Main.java");
  for (const char* no_class : {"", ".", "com.", ".Foo", "com..Foo", "[B", "byte[]", "lib c", "libc.so.6",
                               "a<b>", "/../x", "..", "../../etc/passwd"})
    CHECK(java_source_path(no_class) == "");
}

TEST_CASE("a frame of a Java trace has its package and the file that it names") {
  for (const auto& [text, path] :
       std::map<std::string, std::string>{{"com.acme.Foo$Bar.run(Main.kt:3)", "com/acme/Main.kt"},
                                          {"Foo.run(Foo.java:3)", "Foo.java"},
                                          {"com.acme.Foo.run(Native Method)", ""},
                                          {"odd name.run(Foo.java:3)", "Foo.java"}}) {
    INFO(text);
    JavaFrame frame;
    REQUIRE(parse_java_frame(text, frame));
    ProfileBuilder builder;
    const MetricId metric = builder.add_metric("n", "count");
    builder.add_self(builder.context(kRootContext, add_java_frame(builder, frame)), metric, std::int64_t{1});
    const ProfilePtr profile = *std::move(builder).finish();
    CHECK(profile->strings()[profile->functions().file[profile->frames().function[0].v]] == path);
  }
}

TEST_CASE("frames of Java traces give function, module, file and line") {
  struct Case {
    const char *text, *name, *module, *file;
    std::uint32_t line;
  };
  for (const Case& c : {
           Case{"a.B.c(B.java:12)", "a.B.c", "", "B.java", 12},
           Case{"a.B.c(B.java)", "a.B.c", "", "B.java", 0},
           Case{"a.B.c(B.java:Unknown line)", "a.B.c", "", "B.java", 0},
           Case{"a.B.c(Native Method)", "a.B.c", "", "", 0},
           Case{"a.B.c(Unknown Source)", "a.B.c", "", "", 0},
           Case{"java.lang.Object.wait(java.base@17.0.15/Object.java:338)", "java.lang.Object.wait",
                "java.base", "Object.java", 338},
           Case{"java.lang.Object.wait0(java.base@21/Native Method)", "java.lang.Object.wait0", "java.base",
                "", 0},
           Case{"Demo$$Lambda$1/0x0000000800c00a08.run(Unknown Source)",
                "Demo$$Lambda$1/0x0000000800c00a08.run", "", "", 0},
           Case{"Demo$$Lambda/0x00007f.run(Demo.java:3)", "Demo$$Lambda/0x00007f.run", "", "Demo.java", 3},
           Case{"a.B.c(B.java:99999999999)", "a.B.c", "", "B.java", 0},
       }) {
    INFO(c.text);
    JavaFrame frame;
    REQUIRE(parse_java_frame(c.text, frame));
    CHECK(frame.name == c.name);
    CHECK(frame.module == c.module);
    CHECK(frame.file == c.file);
    CHECK(frame.line == c.line);
  }
  JavaFrame frame;
  for (const char* text : {"", "a.b", "(A.java:1)", "a.b(A.java:1", ")"}) {
    INFO(text);
    CHECK_FALSE(parse_java_frame(text, frame));
  }
}

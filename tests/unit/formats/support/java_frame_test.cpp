#include "formats/support/java_frame.h"

#include "tests/support/catch.h"

using namespace profd;

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

#include "core/source/annotations.h"

#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kProgram = R"(
  # metrics: cpu/nanoseconds alloc/bytes
  main[a.cc:1];f[a.cc:5];f[a.cc:5];g[b.cc:7] 3 30
  main[a.cc:2];f[a.cc:5] 4 0
  main[a.cc:1];h[./a.cc:5] 1 10
)";

std::vector<StringId> spellings(const Profile& profile, std::vector<std::string_view> texts) {
  std::vector<StringId> out;
  for (std::uint32_t id = 0; id < profile.strings().size(); ++id) {
    for (std::string_view text : texts) {
      if (profile.strings()[StringId{id}] == text) out.emplace_back(id);
    }
  }
  return out;
}

SelectionPtr selected(const ProfilePtr& profile, std::string_view spec = "top-down") {
  return *select(profile, *parse_view_spec(spec), {});
}

void check_same(const LineValues& a, const LineValues& b) {
  CHECK(a.line == b.line);
  CHECK(a.self == b.self);
  CHECK(a.total == b.total);
}

}  // namespace

TEST_CASE("a line counts a stack once and every metric has its own column") {
  const auto profile = profile_from_text(kProgram);
  const auto lines = annotate_lines(*selected(profile), spellings(*profile, {"a.cc"}), {});
  REQUIRE(lines);
  CHECK(lines->line == std::vector<std::uint32_t>{1, 2, 5});
  CHECK(lines->total[0] == std::vector<Value>{Value{4L}, 4L, 7L});
  CHECK(lines->self[0] == std::vector<Value>{Value{0L}, 0L, 4L});
  CHECK(lines->total[1] == std::vector<Value>{Value{40L}, 0L, 30L});
}

TEST_CASE("the index of all lines gives what a sweep for one file gives") {
  const auto profile = profile_from_text(kProgram);
  SerialExecutor serial;
  const auto index = make_line_index(*selected(profile), {}, serial);
  REQUIRE(index);
  for (const auto& files : {spellings(*profile, {"a.cc"}), spellings(*profile, {"b.cc"}),
                            spellings(*profile, {"a.cc", "./a.cc"}), std::vector<StringId>{}}) {
    const auto from_index = annotate_lines(*selected(profile), *index, files, {});
    REQUIRE(from_index);
    check_same(*from_index, *annotate_lines(*selected(profile), files, {}));
  }
}

TEST_CASE("two spellings of one file are one file") {
  const auto profile = profile_from_text("f[a.cc:5];f[./a.cc:5] 3\nf[./a.cc:5] 4");
  const auto lines = annotate_lines(*selected(profile), spellings(*profile, {"a.cc", "./a.cc"}), {});
  CHECK(lines->total[0] == std::vector<Value>{Value{7L}});
}

#include "server/feature/ranges_answer.h"

#include "core/model/profile_builder.h"
#include "server/engine/workspace_files.h"
#include "tests/support/catch.h"
#include "tests/support/code_profile.h"
#include "tests/support/temp_folder.h"
#include "tests/support/viewed.h"

using namespace profd;
using namespace profd::test;

namespace {

constexpr std::string_view kText =
    "main[/b/a.cc:3];f[/b/a.cc:11] 10\n"
    "main[/b/a.cc:3];f[/b/a.cc:12] 60\n"
    "main[/b/a.cc:3];f[/b/a.cc:12];g[/b/g.cc:1] 20\n"
    "main[/b/a.cc:3];f[/b/a.cc:0] 30\n"
    "main[/b/a.cc:3];h[/x/v.h:5] 5\n";

RangesRequest about(const Viewed& viewed, std::string function) {
  RangesRequest request;
  request.open = viewed.open;
  request.spec = spec_from("flat");
  request.function = std::move(function);
  return request;
}

}  // namespace

TEST_CASE("rows of a function have its shares and add up") {
  Viewed viewed(kText);
  const auto answer = ranges_answer(viewed.views, about(viewed, "f"), {}, {});
  REQUIRE(answer);
  CHECK(answer->name == "f");
  CHECK(answer->files[static_cast<std::size_t>(answer->file)] == "/b/a.cc");
  CHECK(whole(answer->self.value) == 100);
  CHECK(answer->self.share_text == "80.0 %");
  CHECK(whole(answer->total.value) == 120);
  CHECK(answer->by == RangeUnit::line);
  const RangeColumns& rows = answer->rows;
  CHECK(rows.place == std::vector<std::string>{"a.cc:11", "a.cc:12", "no line"});
  CHECK(rows.from == std::vector<std::string>{"11", "12", ""});
  CHECK(rows.to == std::vector<std::string>{"12", "13", ""});
  CHECK(rows.self == std::vector<Value>{10L, 60L, 30L});
  CHECK(rows.total == std::vector<Value>{10L, 80L, 30L});
  CHECK(rows.share == std::vector<std::string>{"10.0 %", "60.0 %", "30.0 %"});
  CHECK(rows.view_share == std::vector<std::string>{"8.0 %", "48.0 %", "24.0 %"});
  CHECK(rows.running == std::vector<Value>{10L, 70L, 100L});
  CHECK(rows.running_share == std::vector<std::string>{"10.0 %", "70.0 %", "100 %"});
  CHECK(rows.heat[1] == 1);
  CHECK(rows.file == std::vector<std::int32_t>{0, 0, -1});
  CHECK_FALSE(answer->remainder);
  CHECK(answer->head.note.empty());
}

TEST_CASE("a page of rows goes on with the sum of those before, and counts those after") {
  Viewed viewed(kText);
  RangesRequest request = about(viewed, "f");
  request.offset = 1;
  request.limit = 1;
  const auto page = ranges_answer(viewed.views, request, {}, {});
  REQUIRE(page);
  CHECK(page->n_rows == 3);
  CHECK(page->rows.running == std::vector<Value>{70L});
  REQUIRE(page->remainder);
  CHECK(page->remainder->count == 1);
  CHECK(page->remainder->text == "1 more: 30 · 30.0 %");
  request.offset = 0;
  request.by_self = true;
  const auto largest = ranges_answer(viewed.views, request, {}, {});
  CHECK(largest->rows.place == std::vector<std::string>{"a.cc:12"});
  request.offset = 9;
  CHECK(ranges_answer(viewed.views, request, {}, {})->rows.place.empty());
}

TEST_CASE("a function is meant by name, by a key of any view, or is the hottest") {
  Viewed viewed(kText);
  RangesRequest request = about(viewed, "");
  CHECK(ranges_answer(viewed.views, request, {}, {})->name == "f");
  request.spec = spec_from("flat by line");
  const auto by_line = *viewed.views.selection(*viewed.open, request.spec, {});
  const auto keys = find_keys(*by_line->profile, *by_line->boxes->keys, "h v.h:5");
  REQUIRE(keys.size() == 1);
  request.key = keys.front();
  const auto answer = ranges_answer(viewed.views, request, {}, {});
  REQUIRE(answer);
  CHECK(answer->name == "h");
  CHECK(answer->head.spec == "flat by function | metric samples");
  request.key = 12345;
  CHECK(ranges_answer(viewed.views, request, {}, {}).error().code == ErrorCode::not_found);
  request.spec = spec_from("flat by file");
  request.key = 0;
  CHECK(ranges_answer(viewed.views, request, {}, {}).error().message ==
        "a row by file is no function; ask for one by its name");
  request = about(viewed, "nobody");
  CHECK(ranges_answer(viewed.views, request, {}, {}).error().code == ErrorCode::not_found);
}

TEST_CASE("what a function's parts cannot show is said") {
  Viewed viewed("main;f 3\n");
  RangesRequest request = about(viewed, "f");
  const auto none = ranges_answer(viewed.views, request, {}, {});
  CHECK(none->rows.place == std::vector<std::string>{"no line"});
  CHECK(none->head.note == "The profile knows no line of this function.");
  request.by = RangeUnit::bytecode;
  CHECK(ranges_answer(viewed.views, request, {}, {})->head.note ==
        "The profile knows no index of bytecode of this function.");
  request.spec = spec_from("flat | collapse function /^f$/");
  request.function = "/^f$/";
  CHECK(ranges_answer(viewed.views, request, {}, {}).error().message ==
        "a group of frames has no lines of its own; ask for a function of it");
}

TEST_CASE("instructions lead to their code, and files of one name have their paths") {
  CodeProfile code;
  code.stack({code.frame("f", {.address = 0x1000, .line = 4})}, 3);
  Viewed viewed(code.finish());
  RangesRequest request = about(viewed, "f");
  request.by = RangeUnit::address;
  const auto answer = ranges_answer(viewed.views, request, {}, {});
  CHECK(answer->rows.place == std::vector<std::string>{"app+0x1000"});
  CHECK(answer->rows.code == std::vector<std::string>{"app+0x1000"});
  CHECK(answer->rows.from == std::vector<std::string>{"0x1000"});
  CHECK(answer->rows.to == std::vector<std::string>{""});
  CHECK(answer->rows.line == std::vector<std::uint32_t>{4});

  ProfileBuilder builder;
  builder.add_metric("Ir", "count");
  for (const char* const file : {"/x/v.h", "/y/v.h", "/y/w.h"}) {
    FrameSpec spec;
    spec.function = builder.function("f", "a.cc");
    spec.file = builder.string(file);
    spec.line = 5;
    const FrameId frame = builder.frame(spec);
    const std::int64_t one = 1;
    builder.add_sample(std::span<const FrameId>(&frame, 1), std::span<const std::int64_t>(&one, 1));
  }
  Viewed two(*std::move(builder).finish());
  CHECK(ranges_answer(two.views, about(two, "f"), {}, {})->rows.place ==
        std::vector<std::string>{"/x/v.h:5", "/y/v.h:5", "w.h:5"});
}

TEST_CASE("rows quote their lines of files of the workspace") {
  TempFolder folder;
  folder.file("a.cc", "int main() {}\n\n\n\n\n\n\n\n\nint f() {\n  step();\n  return sum;\n}\n");
  WorkspaceSnapshot workspace;
  workspace.key = folder.path.string();
  workspace.files = index_workspace({folder.path.string()}, 1, StopToken{}, 1 << 20);
  Viewed viewed(kText);
  RangesRequest request = about(viewed, "f");
  request.workspace = workspace;
  const SourceOfLine source = [](const std::string& path, std::uint32_t line) -> std::optional<std::string> {
    return line == 12 ? std::optional("  return sum; // " + path.substr(path.size() - 4)) : std::nullopt;
  };
  const auto answer = ranges_answer(viewed.views, request, source, {});
  REQUIRE(answer);
  CHECK(answer->paths[0] == (folder.path / "a.cc").string());
  CHECK(answer->rows.source == std::vector<std::string>{"", "  return sum; // a.cc", ""});
}

TEST_CASE("further metrics stand beside the rows") {
  Viewed viewed("# metrics: cycles/count misses/count\nf[a.cc:1] 100 7\nf[a.cc:2] 50 1\n");
  RangesRequest request = about(viewed, "f");
  request.metrics = {"misses"};
  const auto answer = ranges_answer(viewed.views, request, {}, {});
  REQUIRE(answer);
  REQUIRE(answer->columns.size() == 1);
  CHECK(answer->columns[0].self == std::vector<std::optional<Value>>{Value(7L), Value(1L)});
  request.metrics = {"nothing"};
  CHECK(ranges_answer(viewed.views, request, {}, {}).error().code == ErrorCode::not_found);
}

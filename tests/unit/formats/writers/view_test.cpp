// CSV and JSON of views: every row, every metric, the laws of views; and filters before other formats.
#include <fmt/format.h>

#include "formats/writer.h"
#include "formats/writers/view_rows.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/read_with.h"
#include "tests/support/text_profile.h"
#include "tests/unit/formats/writers/written.h"

using namespace profd;
using namespace profd::test;

namespace {

Written write_view(std::string_view format, const ProfilePtr& profile, std::string_view spec = {}) {
  Written out;
  WriteOptions options;
  if (!spec.empty()) options.spec = parse_view_spec(spec).value();
  const std::vector<ProfilePtr> profiles{profile};
  out.result = write_profiles(*find_writer(format), profiles, options, out.sink(), out.losses);
  INFO((out.result ? std::string() : out.result.error().message));
  CHECK(out.result.has_value());
  return out;
}

const char* const kTwo = R"(# metrics: cpu/nanoseconds alloc/bytes
main[m.cc:3 start=1 module=app];work[w.cc:9 start=5 module=app] 30 0 {thread=a}
main[m.cc:4 start=1 module=app];"new, quick"[module=libc.so] 0 64 {thread=b}
main[m.cc:4 start=1 module=app] 12 8 {thread=a}
)";

}  // namespace

TEST_CASE("csv: a flat view has a row for every function with a value in any metric") {
  CHECK(write_view("csv", profile_from_text(kTwo)).bytes ==
        "name,file,line,module,self cpu (nanoseconds),total cpu (nanoseconds),self alloc (bytes),total alloc "
        "(bytes)\r\n"
        "work,w.cc,5,app,30,30,0,0\r\n"
        "main,m.cc,1,app,12,42,8,72\r\n"
        "\"\"\"new, quick\"\"\",,,libc.so,0,0,64,64\r\n");
}

TEST_CASE("csv: a tree has its boxes in all metrics, parents first, with the places of a flame graph") {
  CHECK(write_view("csv", profile_from_text(kTwo), "top-down by module | metric alloc").bytes ==
        "id,parent,depth,name,file,line,module,kind,inlined,x (bytes),width (bytes),self alloc (bytes),total "
        "alloc (bytes),self cpu (nanoseconds),total cpu (nanoseconds)\r\n"
        "0,,0,(root),,,,native,0,0,72,0,72,0,42\r\n"
        "1,0,1,app,,,app,native,0,0,72,8,72,12,42\r\n"
        "2,1,2,app,,,app,native,0,0,0,0,0,30,30\r\n"
        "3,1,2,libc.so,,,libc.so,native,0,0,64,64,64,0,0\r\n");
}

TEST_CASE("json: filters and shape of the view apply, what they leave out is said") {
  const Written written = write_view("json", profile_from_text(kTwo), "callers of work | thread a");
  CHECK(
      written.bytes ==
      "{\"view\":\"callers of work by function | thread a | metric cpu\",\"metric\":\"cpu\",\"metrics\":["
      "{\"name\":\"cpu\",\"unit\":\"nanoseconds\",\"total\":42,\"profileTotal\":42},"
      "{\"name\":\"alloc\",\"unit\":\"bytes\",\"total\":8,\"profileTotal\":72}],\"rows\":[\n"
      "{\"id\":0,\"parent\":null,\"depth\":0,\"name\":\"(root)\",\"file\":\"\",\"line\":0,\"module\":\"\","
      "\"kind\":\"native\",\"inlined\":false,\"x\":0,\"width\":30,\"self\":[0,0],\"total\":[30,0]},\n"
      "{\"id\":1,\"parent\":0,\"depth\":1,\"name\":\"main\",\"file\":\"m.cc\",\"line\":1,\"module\":\"app\","
      "\"kind\":\"native\",\"inlined\":false,\"x\":0,\"width\":30,\"self\":[30,0],\"total\":[30,0]}]}\n");
  const ProfilePtr half = profile_from_text("main 1 {thread=a}\nidle 2 {time=3}\n");
  const Written some = write_view("json", half, "flat | thread a");
  CHECK(some.bytes.find("\"excluded\":2") != std::string::npos);
  CHECK(lost(some, "excluded"));
  CHECK(lost(write_view("csv", half), "times"));
}

TEST_CASE("law: the rows of a view are its boxes, whatever the shape") {
  for (const Shape shape : {Shape::top_down, Shape::bottom_up, Shape::callers, Shape::callees, Shape::flat}) {
    check_law([&](const Case& c) -> std::string {
      WriteOptions options;
      options.spec = c.spec;
      options.spec->shape = shape;
      options.spec->focus.clear();
      const auto profile = build(c);
      auto view = writers::view_of(profile, options, "flat");
      if (!view) return view.error().message;
      options.spec->focus = c.spec.focus;
      if (shape == Shape::callers || shape == Shape::callees) {
        view->focus = focus_keys(view->first(), c.spec);
        if (view->focus.empty()) return "";
      }
      oracle::Tree rows;
      std::vector<oracle::Path> paths;
      std::vector<std::int64_t> inside;  // by row, how much of its width its children have taken
      std::vector<std::int64_t> left;
      std::string wrong;
      LossReport losses;
      const auto done =
          writers::for_each_row(*view, {}, losses, [&](const writers::ViewRow& row) -> Result<void> {
            oracle::Path path;
            if (row.id != paths.size()) wrong = "ids are not in order";
            if (row.parent != kNone) path = paths[row.parent];
            if (row.key != kNone) path.push_back(oracle_name(view->first(), row.key));
            paths.push_back(path);
            oracle::Sums sums{units(c, row.total[0]), units(c, row.self[0]), 0};
            if (shape != Shape::flat) {
              sums.width = units(c, row.width);
              inside.push_back(0);
              left.push_back(units(c, row.x));
              if (row.parent != kNone) {
                if (left[row.id] != left[row.parent] + inside[row.parent])
                  wrong = "x is not that of a flame graph";
                inside[row.parent] += sums.width;
              }
            }
            rows[path] = sums;
            return {};
          });
      if (!done) return done.error().message;
      if (!wrong.empty()) return wrong;
      oracle::Tree expected;
      if (shape == Shape::flat) {
        for (const auto& [name, sums] : oracle::flat_of(c.stacks, *options.spec))
          expected[{name}] = {sums.total, sums.self, 0};
      } else {
        expected = oracle::tree_of(c.stacks, *options.spec);
        if (rows[{}].width == 0) rows.erase(oracle::Path{});
      }
      if (rows == expected) return "";
      return fmt::format("{} rows, expected {}, by {}", rows.size(), expected.size(), to_text(shape));
    });
  }
}

TEST_CASE("filters apply before a profile is written in any format of stacks") {
  const ProfilePtr profile = profile_from_text(
      "main;lib_a[module=lib.so];work 30 {thread=a time=1}\n"
      "main;lib_a[module=lib.so];lib_b[module=lib.so] 12 {thread=a time=2}\n"
      "main;idle 100 {thread=b time=3}\n");
  CHECK(write_view("folded", profile, "top-down | drop function idle | hide module lib.so").bytes ==
        "main 12\nmain;work 30\n");
  CHECK(write_view("folded", profile, "top-down | thread a | collapse module lib.so").bytes ==
        "main;lib.so 12\nmain;lib.so;work 30\n");
  SerialExecutor executor;
  for (const std::string format : {"profd", "pprof", "otlp", "speedscope", "firefox", "chrome-trace"}) {
    if (format == "chrome-trace") continue;  // counts are no times
    INFO(format);
    const Written written = write_view(format, profile, "top-down | thread a");
    const auto opened =
        open_profiles(memory_source(written.bytes, "hidden"), OpenOptions{}, executor, StopToken{});
    INFO((opened ? std::string() : describe(opened.error())));
    REQUIRE(opened);
    CHECK(total_of(*opened->profiles.front(), opened->profiles.front()->metrics().front().name) == 42);
  }
}

TEST_CASE("filters keep threads, times, labels and places of what is left, and other metrics") {
  const ProfilePtr profile = profile_from_text(
      "# metrics: cpu/nanoseconds alloc/bytes\n"
      "main[m.cc:3];outer[m.cc:9 module=lib.so address=0x40 kind=jit];inner[h.h:7 inlined] 5 100 "
      "{thread=t1 time=70 label:env=prod}\n"
      "main[m.cc:4] 1 7 {thread=t2 time=30}\n");
  const Written written = write_view("profd", profile, "top-down | thread t1 | metric alloc");
  SerialExecutor executor;
  const auto opened =
      open_profiles(memory_source(written.bytes, "hidden"), OpenOptions{}, executor, StopToken{});
  REQUIRE(opened);
  const Profile& left = *opened->profiles.front();
  CHECK(left.metrics()[left.default_metric().v].name == "alloc");
  CHECK(total_of(left, "alloc") == 100);
  CHECK(total_of(left, "cpu") == 5);
  CHECK(self_by_path(left, "cpu") == std::map<std::string, double>{{"main:3;outer:9;inner:7", 5}});
  REQUIRE(left.samples() != nullptr);
  CHECK(left.samples()->size() == 1);
  CHECK(left.samples()->time[0] == 70);
  CHECK(left.threads().size() == 1);
  CHECK(left.labels().n_sets() == 2);
  CHECK(std::count(left.frames().address.begin(), left.frames().address.end(), 0x40) == 1);
  CHECK(std::count(left.frames().inlined.begin(), left.frames().inlined.end(), 1) == 1);
  // What `inner` was inlined into is gone.
  const Written hidden = write_view("profd", profile, "top-down | hide function outer");
  const auto without =
      open_profiles(memory_source(hidden.bytes, "hidden"), OpenOptions{}, executor, StopToken{});
  REQUIRE(without);
  const Profile& rest = *without->profiles.front();
  for (std::uint32_t c = 1; c < rest.tree().size(); ++c)
    CHECK(rest.frames().inlined[rest.tree().frame[c]] == 0);
}

TEST_CASE("formats of stacks refuse views without stacks, and filters that cannot apply") {
  const ProfilePtr profile = profile_from_text("main;work 3\n");
  const std::vector<ProfilePtr> profiles{profile};
  const ByteSink sink = [](std::span<const std::byte>) -> Result<void> { return {}; };
  const auto refused = [&](std::string_view format, std::string_view spec) {
    WriteOptions options;
    options.spec = parse_view_spec(spec).value();
    LossReport losses;
    const auto result = write_profiles(*find_writer(format), profiles, options, sink, losses);
    REQUIRE_FALSE(result.has_value());
    return result.error();
  };
  CHECK(refused("pprof", "flat").code == ErrorCode::unsupported);
  CHECK(refused("folded", "bottom-up").message.find("bottom-up") != std::string::npos);
  CHECK(refused("folded", "top-down | thread a").code == ErrorCode::invalid);
  CHECK(refused("csv", "callers of nobody").code == ErrorCode::not_found);
  CHECK(refused("json", "flat | metric unheard").code == ErrorCode::not_found);
}

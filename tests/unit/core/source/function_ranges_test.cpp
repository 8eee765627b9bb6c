#include "core/source/function_ranges.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/bytecode_index.h"
#include "core/model/profile_builder.h"
#include "core/view/table.h"
#include "tests/support/catch.h"
#include "tests/support/code_profile.h"
#include "tests/support/format_tree.h"

using namespace profd;
using namespace profd::test;

namespace {

Key key_called(const Selection& selection, std::string_view name) {
  const std::vector<Key> keys = find_keys(*selection.profile, *selection.boxes->keys, name);
  REQUIRE(keys.size() == 1);
  return keys.front();
}

FunctionRanges ranges_of(const Selection& selection, std::string_view name,
                         RangeUnit unit = RangeUnit::automatic) {
  SerialExecutor serial;
  return *function_ranges(selection, frames_of_key(selection, key_called(selection, name)), 1, unit, {},
                          serial);
}

// "a.cc:12 self/total", a line a row; by number where the file does not matter.
std::string text_of(const Selection& selection, const FunctionRanges& ranges) {
  std::string out;
  const std::size_t metric = selection.metric().v;
  for (std::size_t row = 0; row < ranges.rows.size(); ++row) {
    const FunctionRange& range = ranges.rows[row];
    std::string place = "none";
    if (range.known && range.file.v != 0)
      place = fmt::format("{}:{}", selection.profile->strings()[range.file], range.line);
    if (range.known && ranges.unit.front() != RangeUnit::line)
      place = fmt::format("{:x}..{:x}{}", range.from, range.to, range.open_ended ? "+" : "");
    out += fmt::format("{} {}/{}\n", place, format_value(ranges.sums.self[metric][row]),
                       format_value(ranges.sums.total[metric][row]));
  }
  return out;
}

ProfilePtr with_bytecodes(std::string_view how,
                          const std::vector<std::pair<std::uint64_t, FrameKind>>& frames,
                          const std::vector<std::string>& labels) {
  ProfileBuilder builder;
  builder.add_metric("samples", "count");
  builder.info().properties.emplace_back(kBytecodeProperty, how);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    FrameSpec spec;
    spec.function = builder.function("f");
    spec.address = frames[i].first;
    spec.kind = frames[i].second;
    SampleContext where;
    if (!labels[i].empty()) {
      const Label label{builder.string(kBytecodeLabel), false, builder.string(labels[i])};
      where.labels = builder.label_set(std::span(&label, 1));
    }
    const Value one = std::int64_t{1};
    builder.add_sample(builder.context(kRootContext, builder.frame(spec)), std::span(&one, 1), where);
  }
  return *std::move(builder).finish();
}

}  // namespace

TEST_CASE("a function's lines are rows, those of its own file first, what has no line last") {
  const auto selection = select_text(
      "main[a.cc:3];f[a.cc:12] 4\n"
      "main[a.cc:3];f[a.cc:11];g[b.cc:1] 2\n"
      "main[a.cc:3];f[a.cc:11] 1\n"
      "main[a.cc:3];f[a.cc:0] 5\n",
      "flat");
  CHECK(text_of(*selection, ranges_of(*selection, "f")) == "a.cc:11 1/3\na.cc:12 4/4\nnone 5/5\n");
  CHECK(text_of(*selection, ranges_of(*selection, "main")) == "a.cc:3 0/12\n");
}

TEST_CASE("lines of other files are rows of their own, of one number or not") {
  ProfileBuilder builder;
  builder.add_metric("Ir", "count");
  const FunctionId smooth = builder.function("smooth", "z.cpp");
  const auto add = [&](std::string_view file, std::uint32_t line, std::int64_t value) {
    FrameSpec spec;
    spec.function = smooth;
    spec.file = builder.string(file);
    spec.line = line;
    const FrameId frame = builder.frame(spec);
    builder.add_sample(std::span<const FrameId>(&frame, 1), std::span<const std::int64_t>(&value, 1));
  };
  add("stl_vector.h", 12, 7);
  add("z.cpp", 12, 5);
  add("z.cpp", 9, 3);
  const auto profile = *std::move(builder).finish();
  const auto selection = *select(profile, {}, {});
  CHECK(text_of(*selection, ranges_of(*selection, "smooth")) ==
        "z.cpp:9 3/3\nz.cpp:12 5/5\nstl_vector.h:12 7/7\n");
}

TEST_CASE("instructions are told apart by address, and a call is where it returns to, less one") {
  CodeProfile code;
  const FrameId call = code.frame("f", {.address = 0x1008, .line = 4, .is_return = true});
  const FrameId add = code.frame("f", {.address = 0x1000, .line = 4});
  const FrameId same = code.frame("f", {.address = 0x1000, .line = 5});
  code.stack({call, code.frame("g", {.address = 0x2000})}, 6);
  code.stack({add}, 2);
  code.stack({same}, 1);
  code.stack({code.frame("f", {})}, 9);
  const auto selection = *select(code.finish(), {}, {});
  const FunctionRanges ranges = ranges_of(*selection, "f", RangeUnit::address);
  CHECK(text_of(*selection, ranges) == "1000..0 3/3\n1007..0 0/6\nnone 9/9\n");
  CHECK(ranges.rows[0].line == 0);  // it stands on two
  CHECK(ranges.rows[1].line == 4);
  CHECK(ranges.known.front().addresses);
  CHECK_FALSE(ranges.known.front().bytecodes);
  CHECK(ranges_of(*selection, "g").unit.front() == RangeUnit::address);
}

TEST_CASE("index 0 of a bytecode is an index, and native code has none") {
  const auto profile = with_bytecodes(kBytecodePlusOne,
                                      {{1, FrameKind::interpreted},
                                       {1, FrameKind::jit},
                                       {24, FrameKind::jit},
                                       {24, FrameKind::native},
                                       {0, FrameKind::jit}},
                                      {"", "", "", "", ""});
  const auto selection = *select(profile, {}, {});
  const FunctionRanges ranges = ranges_of(*selection, "f");
  CHECK(ranges.unit.front() == RangeUnit::bytecode);
  CHECK(text_of(*selection, ranges) == "0..0 2/2\n17..0 1/1\nnone 2/2\n");
  CHECK(text_of(*selection, ranges_of(*selection, "f", RangeUnit::address)) == "18..0 1/1\nnone 4/4\n");
}

TEST_CASE("ranges of bytecodes end where their samples say, and nowhere where these contradict each other") {
  const auto profile = with_bytecodes(kBytecodeFromOne,
                                      {{1, FrameKind::jit},
                                       {26, FrameKind::jit},
                                       {26, FrameKind::jit},
                                       {60, FrameKind::jit},
                                       {70, FrameKind::jit}},
                                      {"1->26", "26->29", "26->30", "60->", "71->80"});
  const auto selection = *select(profile, {}, {});
  CHECK(text_of(*selection, ranges_of(*selection, "f")) == "1..1a 1/1\n1a..0 2/2\n3c..0+ 1/1\n46..0 1/1\n");
}

TEST_CASE("what is hidden is on the caller's line, and a group of frames has none") {
  const std::string_view text =
      "main[a.cc:3];f[a.cc:12];lock[l.cc:1] 4\nmain[a.cc:3];f[a.cc:13];vec[v.h:1] 2\n";
  const auto hidden = select_text(text, "flat | hide function lock");
  CHECK(text_of(*hidden, ranges_of(*hidden, "f")) == "a.cc:12 4/4\na.cc:13 0/2\n");
  const auto grouped = select_text(text, "flat | collapse function f");
  const Key group = static_cast<Key>(grouped->boxes->keys->first_group());
  SerialExecutor serial;
  const auto none = function_ranges(*grouped, frames_of_key(*grouped, group), 1, RangeUnit::line, {}, serial);
  REQUIRE(none);
  CHECK(none->rows.empty());
}

#include "formats/support/each_line.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.h"

using namespace profd;

namespace {

using Progress = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

struct Seen {
  std::vector<std::string> lines;
  std::vector<std::size_t> offsets;
  Progress progress;
  Result<void> result;
};

// `act(line, lines)` stands for what a reader does with a line.
template <class Act>
Seen go_through(std::string_view text, LineLoop loop, StopToken stop, Act&& act) {
  SerialExecutor executor;
  ImportReport report;
  ReadContext context{.limits = {}, .executor = executor, .stop = std::move(stop), .report = report};
  Seen seen;
  context.progress = [&](std::uint64_t done, std::uint64_t total) {
    seen.progress.emplace_back(done, total);
  };
  LineReader lines(text);
  seen.result = each_line(lines, context, loop, [&](std::string_view line) -> Result<void> {
    seen.lines.emplace_back(line);
    seen.offsets.push_back(lines.offset());
    return act(line, lines);
  });
  return seen;
}

Seen go_through(std::string_view text, LineLoop loop = {}) {
  return go_through(text, loop, StopToken(), [](std::string_view, LineReader&) { return Result<void>(); });
}

using Lines = std::vector<std::string>;
using Offsets = std::vector<std::size_t>;

}  // namespace

TEST_CASE("each_line: lines without their ends, LF or CRLF, and where they begin") {
  const Seen seen = go_through("a\nbc\r\n\r\nd\re\nlast");
  REQUIRE(seen.result);
  CHECK(seen.lines == Lines{"a", "bc", "", "d\re", "last"});
  CHECK(seen.offsets == Offsets{0, 2, 6, 8, 12});
  CHECK(go_through("").lines.empty());
  CHECK(go_through("\n").lines == Lines{""});
}

TEST_CASE("each_line: a last line without an end is left out of a text that was cut off, and of no other") {
  CHECK(go_through("whole\nhal").lines == Lines{"whole", "hal"});
  CHECK(go_through("whole\nhal", {.cut_off = true}).lines == Lines{"whole"});
  CHECK(go_through("whole\nwhole\n", {.cut_off = true}).lines == Lines{"whole", "whole"});
}

TEST_CASE("each_line: progress is told at the end of the line that fills a step, with the whole's size") {
  // Steps of 8 bytes end inside lines.
  const Seen seen = go_through("12345\n12345\n12345\n12345\nend\n", {.step = 8});
  REQUIRE(seen.result);
  CHECK(seen.progress == Progress{{12, 28}, {24, 28}});
  CHECK(go_through("1234567\n1234567\n", {.step = 8}).progress == Progress{{8, 16}, {16, 16}});
  CHECK(go_through("short\n", {.step = 8}).progress.empty());
}

TEST_CASE("each_line: a line longer than a step comes whole, and is told of once") {
  const std::string line(100, 'x');
  const Seen seen = go_through(line + "\ny\n" + line, {.step = 8});
  CHECK(seen.lines == Lines{line, "y", line});
  CHECK(seen.progress == Progress{{101, 203}, {203, 203}});
}

TEST_CASE("each_line: a step is some megabytes where a reader names none") {
  std::string text;
  while (text.size() < 20u << 20) text.append(1023, 'x').push_back('\n');
  const Seen seen = go_through(text);
  CHECK(seen.progress == Progress{{8u << 20, text.size()}, {16u << 20, text.size()}});
}

TEST_CASE("each_line: a stop is noticed at the next step, and ends with `cancelled`") {
  StopSource source;
  const Seen seen = go_through("1\n2\n3\n4\n5\n6\n", {.step = 4}, StopToken(source),
                               [&](std::string_view line, LineReader&) -> Result<void> {
                                 if (line == "3") source.request_stop();
                                 return {};
                               });
  REQUIRE_FALSE(seen.result);
  CHECK(seen.result.error().code == ErrorCode::cancelled);
  CHECK(seen.lines == Lines{"1", "2", "3", "4"});
  CHECK(seen.progress == Progress{{4, 12}});
}

TEST_CASE("each_line: the error of a line is the reader's own, and the last") {
  const Seen seen = go_through("1\nbad\n3\n", {.step = 1}, StopToken(),
                               [](std::string_view line, LineReader& lines) -> Result<void> {
                                 if (line == "bad") return fail(ErrorCode::malformed, "bad", lines.offset());
                                 return {};
                               });
  REQUIRE_FALSE(seen.result);
  CHECK(seen.result.error().code == ErrorCode::malformed);
  CHECK(seen.result.error().offset == 2u);
  CHECK(seen.lines == Lines{"1", "bad"});
}

TEST_CASE("each_line: a reader may skip lines, or all that follow") {
  const auto skipping = [](std::string_view line, LineReader& lines) -> Result<void> {
    if (line == "skip") lines.skip_line_at(lines.position());
    if (line == "end") lines.skip_rest();
    return {};
  };
  const Seen seen = go_through("1\nskip\n2\n3\nend\n4\n", {.step = 4}, StopToken(), skipping);
  REQUIRE(seen.result);
  CHECK(seen.lines == Lines{"1", "skip", "3", "end"});
  CHECK(seen.progress.back() == std::pair<std::uint64_t, std::uint64_t>{17, 17});
}

// What is next to a line is counted through that line alone, and each stack once.
#include "server/feature/line_neighbours.h"

#include "server/runtime/executor.h"
#include "tests/support/catch.h"
#include "tests/support/text_profile.h"

using namespace profd;
using namespace profd::test;

namespace {

struct Looked {
  SerialExecutor executor;
  Views views{std::size_t{1} << 30, executor};
  OpenProfile open;

  explicit Looked(std::string_view text) {
    open.view_id = 1;
    open.profile = profile_from_text(text);
  }
  LineNeighbours at(std::uint32_t line, std::int64_t total, std::size_t n = 3) {
    std::vector<std::size_t> frames;
    for (std::size_t f = 0; f < open.profile->frames().size(); ++f)
      if (open.profile->frames().line[f] == line) frames.push_back(f);
    const auto selection = views.selection(open, {}, {});
    REQUIRE(selection);
    auto found = line_neighbours(views, open, {}, **selection, frames, Value(total), n, {});
    REQUIRE(found);
    return *found;
  }
  std::string text(const std::vector<Neighbour>& list) {
    const auto selection = views.selection(open, {}, {});
    std::string out;
    for (const Neighbour& one : list)
      out += key_name(*open.profile, *(*selection)->boxes->keys, one.key) + " " +
             std::to_string(std::get<std::int64_t>(one.total)) + " ";
    return out;
  }
};

constexpr const char* kLinesText =
    "main[m.c:1];work[w.c:10];read[r.c:5] 4\n"
    "main[m.c:1];work[w.c:10];read[r.c:6] 3\n"
    "main[m.c:2];work[w.c:10] 2\n"
    "other[m.c:9];work[w.c:11];draw[d.c:7] 8\n";

}  // namespace

TEST_CASE("callers and callees of a line are those through it, its neighbours' lines joined by function") {
  Looked looked(kLinesText);
  const LineNeighbours ten = looked.at(10, 9);
  CHECK(std::get<std::int64_t>(ten.total) == 9);
  CHECK(looked.text(ten.callers) == "main 9 ");
  CHECK(looked.text(ten.callees) == "read 7 ");
  CHECK(ten.n_callees == 1);
  CHECK(ten.n_joined == 1);
  const LineNeighbours eleven = looked.at(11, 8);
  CHECK(looked.text(eleven.callers) == "other 8 ");
  CHECK(looked.text(eleven.callees) == "draw 8 ");
}

TEST_CASE("the table that is made ahead of time says the same of a line as the tree") {
  Looked looked(kLinesText);
  const LineNeighbours before = looked.at(10, 9);
  ViewSpec by_line;
  by_line.granularity = Granularity::line;
  REQUIRE(looked.views.neighbour_table(looked.open, by_line, {}));
  const LineNeighbours after = looked.at(10, 9);
  CHECK(looked.text(before.callers) == looked.text(after.callers));
  CHECK(looked.text(before.callees) == looked.text(after.callees));
}

TEST_CASE("a line that calls itself counts a stack once: the callers of the first, the callees of the last") {
  Looked looked("main[m.c:1];f[f.c:3];f[f.c:3];leaf[l.c:2] 5\nmain[m.c:1];f[f.c:3] 2\n");
  const LineNeighbours three = looked.at(3, 7);
  CHECK(std::get<std::int64_t>(three.total) == 7);
  CHECK(looked.text(three.callers) == "main 7 ");
  CHECK(looked.text(three.callees) == "leaf 5 ");
}

TEST_CASE("pieces of code that share a line are joined, and their number is told") {
  Looked looked("main[m.c:1];f[a.h:3] 5\nmain[m.c:1];g[a.h:3];leaf[l.c:2] 4\n");
  const LineNeighbours shared_line = looked.at(3, 9, 1);
  CHECK(shared_line.n_joined == 2);
  CHECK(std::get<std::int64_t>(shared_line.total) == 9);
  CHECK(looked.text(shared_line.callers) == "main 9 ");
  CHECK(looked.text(shared_line.callees) == "leaf 4 ");
}

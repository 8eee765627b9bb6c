// Executions of instructions against every run walked instruction by instruction.
#include <map>
#include <random>
#include <vector>

#include "core/code/executions.h"
#include "tests/support/catch.h"
#include "tests/unit/core/code/code_text.h"

using namespace profd;
using profd::test::CodeText;

namespace {

// Instructions of 1 to 7 bytes, here and there with a gap before them.
CodeText random_rows(std::mt19937& random, std::size_t n, bool gaps) {
  CodeText code("");
  std::uint64_t at = CodeText::kBase;
  for (std::size_t i = 0; i < n; ++i) {
    if (gaps && random() % 20 == 0) at += 1 + random() % 3;
    code.add(InstructionKind::plain, kNoTarget);
    code.address.back() = at;
    code.length.back() = static_cast<std::uint8_t>(1 + random() % 7);
    at += code.length.back();
  }
  return code;
}

// Most begin and end where instructions do; some in their middle, or outside of the code.
std::vector<CodeRun> random_runs(std::mt19937& random, const CodeText& code, std::size_t n) {
  const auto place = [&](std::size_t row) {
    if (random() % 15 == 0) return CodeText::kBase - 8 + random() % 400;
    return code.address[row] + (random() % 15 == 0 ? 1 : 0);
  };
  std::vector<CodeRun> runs;
  while (runs.size() < n) {
    const std::size_t first = random() % code.address.size();
    const std::size_t last = first + random() % (code.address.size() - first);
    const CodeRun run{place(first), place(last), 1 + random() % 1000};
    if (run.last >= run.first) runs.push_back(run);
  }
  return runs;
}

struct Walked {
  std::vector<std::uint64_t> executed, ended;
  std::uint64_t n_runs = 0, n_left_out = 0;
};

Walked walked(const CodeText& code, const std::vector<CodeRun>& runs) {
  std::map<std::uint64_t, std::size_t> row_of;
  for (std::size_t row = 0; row < code.address.size(); ++row) row_of[code.address[row]] = row;
  Walked out{std::vector<std::uint64_t>(code.address.size(), 0),
             std::vector<std::uint64_t>(code.address.size(), 0)};
  for (const CodeRun& run : runs) {
    std::vector<std::size_t> passed;
    std::uint64_t at = run.first;
    bool arrived = false;
    while (at <= run.last && row_of.contains(at)) {
      passed.push_back(row_of[at]);
      arrived = at == run.last;
      at += code.length[passed.back()];
    }
    if (!arrived) {
      out.n_left_out += run.count;
      continue;
    }
    out.n_runs += run.count;
    out.ended[passed.back()] += run.count;
    for (const std::size_t row : passed) out.executed[row] += run.count;
  }
  return out;
}

}  // namespace

TEST_CASE("executions are those of walking every run, however runs overlap") {
  std::mt19937 random(29);
  std::uint64_t n_counted = 0, n_left = 0;
  for (int round = 0; round < 500; ++round) {
    const CodeText code = random_rows(random, 1 + random() % 60, round % 2 == 0);
    const std::vector<CodeRun> runs = random_runs(random, code, random() % 40);
    const CodeExecutions found = executions(code.rows(), runs);
    const Walked expected = walked(code, runs);
    REQUIRE(found.executed == expected.executed);
    REQUIRE(found.ended == expected.ended);
    REQUIRE(found.n_runs == expected.n_runs);
    REQUIRE(found.n_left_out == expected.n_left_out);
    n_counted += found.n_runs;
    n_left += found.n_left_out;
  }
  CHECK(n_counted > 0);
  CHECK(n_left > 0);
}

// Branch stacks of recordings that are made up: this is what the kernel writes for perf record -b on a
// processor that has them.
#include "core/model/branches.h"

#include <tuple>

#include "tests/support/catch.h"
#include "tests/support/perf_data_file.h"
#include "tests/support/read_with.h"

using namespace profd;
using namespace profd::test;

namespace {

using File = PerfDataFile;
constexpr std::uint64_t kUserOnly = 1, kAny = 1 << 3, kAnyCall = 1 << 4, kInTransaction = 1 << 8,
                        kHwIndex = 1 << 17, kCounters = 1 << 19;
constexpr std::uint64_t kBranches = File::kPlain | 1 << 11;

struct Entry {
  std::uint64_t from = 0, to = 0, flags = 0;
};
constexpr std::uint64_t kMispredicted = 1, kPredicted = 2;
constexpr std::uint64_t cycles(std::uint64_t n) {
  return n << 4;
}

File recording(std::uint64_t branch_type = kUserOnly | kAny) {
  File file(kBranches, 0, branch_type);
  file.comm(7, "demo");
  file.mmap(2, 7, 0x400000, 0x20000, "/bin/demo");
  file.mmap(2, 7, 0x700000, 0x1000, "/lib/x.so");
  return file;
}

// Newest first.
void add(File& file, const std::vector<Entry>& entries, std::uint64_t time = 10, std::uint16_t mode = 2,
         const std::string& before = "", const std::string& after = "") {
  std::string body = File::of(0x400010) + File::of(7, 4) + File::of(7, 4) + File::of(time) + File::of(5) +
                     File::of(0) + File::of(entries.size()) + before;
  for (const Entry& e : entries) body += File::of(e.from) + File::of(e.to) + File::of(e.flags);
  file.record(9, mode, body + after);
}

using TakenRow = std::tuple<std::string, std::uint64_t, std::string, std::uint64_t, std::uint64_t>;
using RunRow = std::tuple<std::string, std::uint64_t, std::uint64_t, std::uint64_t>;

struct Read {
  ReadOutcome outcome;
  const BranchStacks* branches = nullptr;

  explicit Read(const File& file) : outcome(read_with("perf-data", file.bytes)) {
    INFO(outcome.error);
    REQUIRE(outcome.profiles.size() == 1);
    branches = outcome.profiles.front()->branches();
  }
  std::string name(ModuleId module) const {
    const Profile& p = *outcome.profiles.front();
    return module.valid() ? std::string(p.strings()[p.modules().name[module.v]]) : "";
  }
  std::vector<TakenRow> taken() const {
    std::vector<TakenRow> out;
    const TakenTable& t = branches->taken;
    for (std::size_t i = 0; i < t.size(); ++i)
      out.emplace_back(name(t.from_module[i]), t.from[i], name(t.to_module[i]), t.to[i], t.taken[i]);
    return out;
  }
  std::vector<RunRow> runs() const {
    std::vector<RunRow> out;
    const RunTable& r = branches->runs;
    for (std::size_t i = 0; i < r.size(); ++i)
      out.emplace_back(name(r.module[i]), r.first[i], r.last[i], r.count[i]);
    return out;
  }
  std::uint64_t reported(std::string_view kind) const {
    for (const ReportRow& row : outcome.report.rows())
      if (row.kind == kind) return row.count;
    return 0;
  }
};

}  // namespace

TEST_CASE("perf.data: branch stacks become branches and the runs between them, by place in the file") {
  File file = recording();
  const std::vector<Entry> loop{{0x400120, 0x400100, kPredicted | cycles(4)},
                                {0x400120, 0x400100, kMispredicted | cycles(20)},
                                {0x4000f0, 0x400100, kPredicted}};
  add(file, loop);
  add(file, loop, 20);
  const Read read(file);
  CHECK(read.taken() == std::vector<TakenRow>{{"/bin/demo", 0xf0, "/bin/demo", 0x100, 2},
                                              {"/bin/demo", 0x120, "/bin/demo", 0x100, 4}});
  const BranchCounts back = read.branches->taken.counts(1);
  CHECK(back.judged == 4);
  CHECK(back.mispredicted == 2);
  CHECK(back.timed == 4);
  CHECK(back.cycles == 48);
  CHECK(read.branches->taken.timed[0] == 0);
  CHECK(read.runs() == std::vector<RunRow>{{"/bin/demo", 0x100, 0x120, 4}});
  CHECK(read.branches->n_stacks == 2);
  CHECK(read.branches->n_left_out == 0);
  CHECK(read.outcome.report.rows().empty());
}

TEST_CASE("perf.data: runs between binaries, backwards, or over 64 KiB are left out and counted") {
  File file = recording();
  add(file, {{0x400040, 0x400200, 0},  // back from where the one below led
             {0x400050, 0x400100, 0},  // from x.so in between
             {0x400060, 0x700010, 0},  // more than 64 KiB from where the one below led
             {0x400070, 0x400000, 0}});
  add(file, {{0x41fff0, 0x400100, 0}, {0x400010, 0x400100, 0}}, 20);
  const Read read(file);
  CHECK(read.runs() == std::vector<RunRow>{{"/bin/demo", 0, 0x60, 1}});
  CHECK(read.branches->n_left_out == 3);
  CHECK(read.reported("branch-run") == 3);
  CHECK(read.taken().size() == 6);
}

TEST_CASE("perf.data: what is recorded of some kinds of branches alone has no runs") {
  for (const std::uint64_t type : {kAnyCall, kAny | kInTransaction}) {
    File file = recording(type);
    add(file, {{0x400120, 0x400100, 0}, {0x400120, 0x400100, 0}});
    const Read read(file);
    CHECK(read.taken() == std::vector<TakenRow>{{"/bin/demo", 0x120, "/bin/demo", 0x100, 2}});
    CHECK(read.runs().empty());
    CHECK(read.reported("branch-kinds") == 1);
  }
}

TEST_CASE("perf.data: the index and the counters that some processors add are passed over") {
  File file = recording(kAny | kHwIndex | kCounters);
  const std::vector<Entry> entries{{0x400120, 0x400100, 0}, {0x4000f0, 0x400100, 0}};
  add(file, entries, 10, 2, File::of(31), File::of(77) + File::of(78));
  const Read read(file);
  CHECK(read.taken().size() == 2);
  CHECK(read.runs() == std::vector<RunRow>{{"/bin/demo", 0x100, 0x120, 1}});
}

TEST_CASE("perf.data: entries that say nothing, and what was never carried out, make no run") {
  constexpr std::uint64_t kWrongPath = std::uint64_t{1} << 24;
  File file = recording();
  add(file, {{0x400120, 0x400100, 0}, {0, 0, 0}, {0x4000f0, 0x4000e0, 0}});
  add(file, {{0x400160, 0x400140, 0}, {0x400150, 0x400148, kWrongPath}, {0x400130, 0x400140, 0}}, 20);
  const Read read(file);
  CHECK(read.taken() == std::vector<TakenRow>{{"/bin/demo", 0xf0, "/bin/demo", 0xe0, 1},
                                              {"/bin/demo", 0x120, "/bin/demo", 0x100, 1},
                                              {"/bin/demo", 0x130, "/bin/demo", 0x140, 1},
                                              {"/bin/demo", 0x160, "/bin/demo", 0x140, 1}});
  CHECK(read.runs() == std::vector<RunRow>{{"/bin/demo", 0x140, 0x160, 1}});
}

TEST_CASE("perf.data: branches have the memory of their moment; what lies nowhere is left out") {
  File file = recording();
  add(file, {{0x400120, 0x400100, 0}});
  add(file, {{0x900000, 0x400100, 0}, {0x400120, 0x900000, 0}}, 15);
  file.mmap(2, 7, 0x400000, 0x1000, "/bin/other", 20);
  add(file, {{0x400120, 0x400100, 0}}, 30);
  file.mmap(1, 0xffffffff, 0xffffffff81000000, 0x100000, "[kernel.kallsyms]_text", 31);
  add(file, {{0xffffffff81000020, 0xffffffff81000010, 0}}, 40, 1);
  add(file, {{0x400120, 0x400100, 0}}, 50, 5);  // in a guest
  const Read read(file);
  const std::vector<TakenRow> expected{
      {"/bin/demo", 0x120, "", 0, 1},
      {"/bin/demo", 0x120, "/bin/demo", 0x100, 1},
      {"/bin/other", 0x120, "/bin/other", 0x100, 1},
      {"[kernel.kallsyms]", 0xffffffff81000020, "[kernel.kallsyms]", 0xffffffff81000010, 1}};
  auto found = read.taken();
  std::sort(found.begin(), found.end());
  CHECK(found == expected);
  CHECK(read.reported("branch-unmapped") == 1);
  CHECK(read.reported("branch-guest") == 1);
  CHECK(read.branches->n_stacks == 4);
}

TEST_CASE("perf.data: a stack with more entries than its record holds is no sample") {
  File file = recording();
  for (const std::uint64_t n : {std::uint64_t{2}, std::uint64_t{1} << 60, ~std::uint64_t{0}}) {
    std::string body = File::of(0x400010) + File::of(7, 4) + File::of(7, 4) + File::of(10) + File::of(5) +
                       File::of(0) + File::of(n) + File::of(0x400120) + File::of(0x400100) + File::of(0);
    file.record(9, 2, body);
  }
  add(file, {{0x400120, 0x400100, 0}}, 20);
  const Read read(file);
  CHECK(read.reported("malformed-record") == 3);
  CHECK(read.branches->n_stacks == 1);
}

TEST_CASE("perf.data: callers that branches tell (--call-graph lbr) are no branches") {
  File file = recording(1 << 11);
  add(file, {{0x400120, 0x400100, 0}});
  CHECK(Read(file).branches == nullptr);
}

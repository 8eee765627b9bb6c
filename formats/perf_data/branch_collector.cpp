#include "formats/perf_data/branch_collector.h"

#include "core/support/hash.h"

namespace profd::perf_data {
namespace {

// Far more than programs have; the memory that a recording takes stays bounded.
constexpr std::size_t kMaxKeys = std::size_t{1} << 21;

// Bits of branch_sample_type.
constexpr std::uint64_t kBranchAny = 1ull << 3, kBranchInTransaction = 1ull << 8,
                        kBranchNoTransaction = 1ull << 9;

// Stacks without gaps: between two entries nothing jumped.
bool is_gapless(std::uint64_t branch_sample_type) {
  return (branch_sample_type & kBranchAny) != 0 &&
         (branch_sample_type & (kBranchInTransaction | kBranchNoTransaction)) == 0;
}

struct BranchFlags {
  BranchCounts counts;
  bool wrong_path = false;  // speculated, never carried out
};

// Bit fields begin at the lowest bit on little-endian machines and at the highest one on others.
BranchFlags flags_of(std::uint64_t bits, std::endian order) {
  const auto field = [&](unsigned first, unsigned width) {
    const unsigned shift = order == std::endian::little ? first : 64 - first - width;
    return bits >> shift & ((std::uint64_t{1} << width) - 1);
  };
  constexpr std::uint64_t kWrongPath = 1;
  BranchFlags out;
  const std::uint64_t mispredicted = field(0, 1), predicted = field(1, 1), cycles = field(4, 16);
  out.counts.taken = 1;
  out.counts.mispredicted = mispredicted;
  out.counts.judged = mispredicted | predicted;
  out.counts.timed = cycles != 0 ? 1 : 0;
  out.counts.cycles = cycles;
  out.wrong_path = field(24, 2) == kWrongPath;
  return out;
}

}  // namespace

template <class RowOf>
std::uint32_t BranchCollector::row_of(Known& known, const Key& key, RowOf row_of_new) {
  const auto next = static_cast<std::uint32_t>(known.keys.size());
  const std::uint64_t spaces = std::uint64_t{key.kernel} << 32 | key.space;
  const std::uint64_t hash = mix64(hash_combine(hash_combine(key.from, key.to), spaces));
  const std::uint32_t at =
      known.set.find_or_add(hash, next, [&](std::uint32_t r) { return known.keys[r] == key; });
  if (at == next) {
    known.keys.push_back(key);
    known.rows.push_back(row_of_new());
  }
  return known.rows[at];
}

void BranchCollector::add(const Sample& sample, const Attr& attr, CpuMode mode, std::endian order,
                          Images& images, Process& process, std::uint64_t offset) {
  if (mode == kModeGuestKernel || mode == kModeGuestUser) return guests_.add(offset);
  if (taken_.keys.size() > kMaxKeys || runs_.keys.size() > kMaxKeys) return not_read_.add(offset);
  sums_.add_stacks(1);
  const bool gapless = is_gapless(attr.branch_sample_type);
  if (!gapless) some_kinds_.add(offset);
  ByteCursor in = sample.branches;
  // Newest first: a run goes from where an entry leads to where the one before it in the list branches.
  std::uint64_t newer_from = 0;
  for (std::uint64_t i = 0; i < sample.n_branches; ++i) {
    const std::uint64_t from = in.u64(), to = in.u64();
    const BranchFlags flags = flags_of(in.u64(), order);
    if (flags.wrong_path) continue;
    const std::uint32_t space = process.space->id, kernel = images.kernel_id();
    if (from != 0 && to != 0) {
      const std::uint32_t row = row_of(taken_, {from, to, space, kernel}, [&] {
        const BranchPlace source = images.place(process, from);
        return source.module.valid() ? sums_.taken_row(source, images.place(process, to)) : kNone;
      });
      if (row != kNone)
        sums_.add_taken(row, flags.counts);
      else
        unmapped_.add(offset);
    }
    if (gapless && newer_from != 0 && to != 0) {
      const std::uint32_t row = row_of(runs_, {to, newer_from, space, kernel}, [&] {
        const BranchPlace first = images.place(process, to), last = images.place(process, newer_from);
        const bool one = first.module.valid() && first.module == last.module &&
                         last.address - first.address == newer_from - to;
        return one ? sums_.run_row(first.module, first.address, last.address) : kNone;
      });
      sums_.add_run(row, 1);
      if (row == kNone) runs_left_.add(offset);
    }
    newer_from = from;
  }
}

std::shared_ptr<const BranchStacks> BranchCollector::finish(ImportReport& report) && {
  const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                       const Counter& counter) {
    report.add(kind, severity, message, counter.first, counter.n);
  };
  row("branch-kinds", Severity::info,
      "branch stacks have some kinds of branches only (perf record -b has all): how often instructions were "
      "carried out is not known from them",
      some_kinds_);
  row("branch-run", Severity::info,
      "runs of instructions between two branches were left out: they go backwards, from one binary to "
      "another, on for more than 64 KiB, or lie where no memory map is",
      runs_left_);
  row("branch-unmapped", Severity::info, "branches from addresses that no memory map covers were left out",
      unmapped_);
  row("branch-guest", Severity::info, "branch stacks of guests were not read", guests_);
  row("branch-limit", Severity::loss,
      "branch stacks were not read: those before them have more than 2097152 different branches", not_read_);
  return std::move(sums_).finish();
}

}  // namespace profd::perf_data

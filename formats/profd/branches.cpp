// The Branches message.
#include "core/model/branches.h"

#include <limits>
#include <memory>
#include <tuple>

#include "core/support/hash.h"
#include "formats/profd/decode_tables.h"
#include "formats/profd/schema.h"
#include "formats/profd/table_columns.h"

namespace profd::profd_format {
namespace {

template <class Of>
bool fits(std::size_t n, Of of) {
  Wide sum = 0;
  for (std::size_t row = 0; row < n; ++row) sum += of(row);
  return sum <= static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
}

Result<void> wrong(const char* table, std::size_t row, const char* how) {
  return fail(ErrorCode::malformed, fmt::format("branches: {} {} {}", table, row, how));
}

Result<void> check_taken(const TakenTable& t, std::size_t n_modules, bool ordered) {
  const auto key = [&](std::size_t row) {
    return std::tuple(t.from_module[row].v, t.from[row], t.to_module[row].v, t.to[row]);
  };
  for (std::size_t row = 0; row < t.size(); ++row) {
    const ModuleId to = t.to_module[row];
    if (t.from_module[row].v >= n_modules || (to.valid() ? to.v >= n_modules : t.to[row] != 0))
      return wrong("branch", row, "refers to something that is not there");
    const BranchCounts counts = t.counts(row);
    if (counts.judged > counts.taken || counts.mispredicted > counts.judged || counts.timed > counts.taken)
      return wrong("branch", row, "has parts that are more than the whole");
    if (ordered && row > 0 && key(row - 1) >= key(row)) return wrong("branch", row, "is not in order");
  }
  if (!fits(t.size(), [&](std::size_t row) { return t.taken[row]; }) ||
      !fits(t.size(), [&](std::size_t row) { return t.cycles[row]; }))
    return fail(ErrorCode::malformed, "branches: the sum of a column does not fit 63 bits");
  return {};
}

Result<void> check_runs(const RunTable& t, std::size_t n_modules, bool ordered) {
  const auto key = [&](std::size_t row) { return std::tuple(t.module[row].v, t.first[row], t.last[row]); };
  for (std::size_t row = 0; row < t.size(); ++row) {
    if (t.module[row].v >= n_modules) return wrong("run", row, "refers to something that is not there");
    if (t.last[row] < t.first[row] || t.last[row] - t.first[row] > RunTable::kMaxBytes)
      return wrong("run", row, "goes backwards or on for too long");
    if (ordered && row > 0 && key(row - 1) >= key(row)) return wrong("run", row, "is not in order");
  }
  if (!fits(t.size(), [&](std::size_t row) { return t.count[row]; }))
    return fail(ErrorCode::malformed, "branches: the sum of a column does not fit 63 bits");
  return {};
}

}  // namespace

Result<std::shared_ptr<const BranchStacks>> decode_branches(const Field& message,
                                                            const ColumnBytes::Sink& sink) {
  PROFD_TRY(auto columns, walk_columns<13>(message, {kI, kW, kI, kW, kW, kW, kW, kW, kW, kI, kW, kW, kW}));
  auto made = std::make_shared<BranchStacks>();
  TakenTable& t = made->taken;
  RunTable& r = made->runs;
  PROFD_TRY(t.from_module, columns[branches::from_module].take<ModuleId>(sink, "branches.from_module"));
  PROFD_TRY(t.from, columns[branches::from].take<std::uint64_t>(sink, "branches.from"));
  PROFD_TRY(t.to_module, columns[branches::to_module].take<ModuleId>(sink, "branches.to_module"));
  PROFD_TRY(t.to, columns[branches::to].take<std::uint64_t>(sink, "branches.to"));
  PROFD_TRY(t.taken, columns[branches::taken].take<std::uint64_t>(sink, "branches.taken"));
  PROFD_TRY(t.judged, columns[branches::judged].take<std::uint64_t>(sink, "branches.judged"));
  PROFD_TRY(t.mispredicted,
            columns[branches::mispredicted].take<std::uint64_t>(sink, "branches.mispredicted"));
  PROFD_TRY(t.timed, columns[branches::timed].take<std::uint64_t>(sink, "branches.timed"));
  PROFD_TRY(t.cycles, columns[branches::cycles].take<std::uint64_t>(sink, "branches.cycles"));
  PROFD_TRY(r.module, columns[branches::run_module].take<ModuleId>(sink, "branches.run_module"));
  PROFD_TRY(r.first, columns[branches::run_first].take<std::uint64_t>(sink, "branches.run_first"));
  PROFD_TRY(r.last, columns[branches::run_last].take<std::uint64_t>(sink, "branches.run_last"));
  PROFD_TRY(r.count, columns[branches::run_count].take<std::uint64_t>(sink, "branches.run_count"));
  PROFD_CHECK(walk(message, [&](const Field& field) -> Result<void> {
    if (field.number != branches::n_stacks && field.number != branches::n_left_out) return {};
    (field.number == branches::n_stacks ? made->n_stacks : made->n_left_out) = field.value;
    return expect(field, WireType::varint);
  }));
  const std::size_t n = t.from_module.size(), n_runs = r.module.size();
  constexpr std::uint64_t kZero = 0;
  PROFD_CHECK(complete(t.to_module, n, ModuleId{}, "branches.to_module"));
  PROFD_CHECK(complete(t.to, n, kZero, "branches.to"));
  PROFD_CHECK(complete(t.judged, n, kZero, "branches.judged"));
  PROFD_CHECK(complete(t.mispredicted, n, kZero, "branches.mispredicted"));
  PROFD_CHECK(complete(t.timed, n, kZero, "branches.timed"));
  PROFD_CHECK(complete(t.cycles, n, kZero, "branches.cycles"));
  if (t.from.size() != n || t.taken.size() != n || r.first.size() != n_runs || r.last.size() != n_runs ||
      r.count.size() != n_runs)
    return fail(ErrorCode::malformed, "the columns of branches have different lengths", message.offset);
  if (made->n_stacks == 0)
    return fail(ErrorCode::malformed, "there are branches of no stack", message.offset);
  return std::shared_ptr<const BranchStacks>(std::move(made));
}

Result<void> check_branches(const ProfileData& d, bool loose) {
  PROFD_CHECK(check_taken(d.branches->taken, d.modules.size(), !loose));
  return check_runs(d.branches->runs, d.modules.size(), !loose);
}

}  // namespace profd::profd_format

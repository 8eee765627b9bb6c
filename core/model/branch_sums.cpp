#include "core/model/branch_sums.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/support/hash.h"

namespace profd {
namespace {

template <class Rows, class Of>
auto column_of(const Rows& rows, Of of) {
  std::vector<std::decay_t<decltype(of(rows[0]))>> out;
  out.reserve(rows.size());
  for (const auto& row : rows) out.push_back(of(row));
  return Column(std::move(out));
}

auto key_of(const BranchPlace& from, const BranchPlace& to) {
  return std::tuple(from.module.v, from.address, to.module.v, to.address);
}

}  // namespace

std::uint32_t BranchSums::taken_row(const BranchPlace& from, const BranchPlace& to) {
  const auto next = static_cast<std::uint32_t>(taken_.size());
  std::uint64_t hash = hash_combine(from.address, std::uint64_t{from.module.v} << 32 | to.module.v);
  hash = mix64(hash_combine(hash, to.address));
  const std::uint32_t row = known_taken_.find_or_add(
      hash, next, [&](std::uint32_t r) { return key_of(taken_[r].from, taken_[r].to) == key_of(from, to); });
  if (row == next) taken_.push_back({from, to, {}});
  return row;
}

void BranchSums::add_taken(std::uint32_t row, const BranchCounts& counts) {
  BranchCounts& to = taken_[row].counts;
  to.taken += counts.taken;
  to.judged += counts.judged;
  to.mispredicted += counts.mispredicted;
  to.timed += counts.timed;
  to.cycles += counts.cycles;
}

std::uint32_t BranchSums::run_row(ModuleId module, std::uint64_t first, std::uint64_t last) {
  if (last < first || last - first > RunTable::kMaxBytes) return kNone;
  const auto next = static_cast<std::uint32_t>(runs_.size());
  const std::uint64_t hash = mix64(hash_combine(first, (last - first) << 32 | module.v));
  const std::uint32_t row = known_runs_.find_or_add(hash, next, [&](std::uint32_t r) {
    return runs_[r].module == module && runs_[r].first == first && runs_[r].last == last;
  });
  if (row == next) runs_.push_back({module, first, last, 0});
  return row;
}

void BranchSums::add_run(std::uint32_t row, std::uint64_t count) {
  if (row == kNone)
    n_left_out_ += count;
  else
    runs_[row].count += count;
}

std::shared_ptr<const BranchStacks> BranchSums::finish() && {
  if (n_stacks_ == 0) return nullptr;
  std::sort(taken_.begin(), taken_.end(),
            [](const Taken& a, const Taken& b) { return key_of(a.from, a.to) < key_of(b.from, b.to); });
  std::sort(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
    return std::tuple(a.module.v, a.first, a.last) < std::tuple(b.module.v, b.first, b.last);
  });
  auto out = std::make_shared<BranchStacks>();
  out->taken = {column_of(taken_, [](const Taken& t) { return t.from.module; }),
                column_of(taken_, [](const Taken& t) { return t.from.address; }),
                column_of(taken_, [](const Taken& t) { return t.to.module; }),
                column_of(taken_, [](const Taken& t) { return t.to.address; }),
                column_of(taken_, [](const Taken& t) { return t.counts.taken; }),
                column_of(taken_, [](const Taken& t) { return t.counts.judged; }),
                column_of(taken_, [](const Taken& t) { return t.counts.mispredicted; }),
                column_of(taken_, [](const Taken& t) { return t.counts.timed; }),
                column_of(taken_, [](const Taken& t) { return t.counts.cycles; })};
  out->runs = {column_of(runs_, [](const Run& r) { return r.module; }),
               column_of(runs_, [](const Run& r) { return r.first; }),
               column_of(runs_, [](const Run& r) { return r.last; }),
               column_of(runs_, [](const Run& r) { return r.count; })};
  out->n_stacks = n_stacks_;
  out->n_left_out = n_left_out_;
  return out;
}

}  // namespace profd

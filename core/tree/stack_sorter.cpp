#include "core/tree/stack_sorter.h"

#include <algorithm>
#include <numeric>

namespace profd {

std::size_t FlatStacks::prefix(std::size_t i, FrameId* out, std::size_t max) const {
  const std::size_t n = std::min<std::size_t>(max, ends_[i] - begin(i));
  std::copy_n(frames_.begin() + static_cast<std::ptrdiff_t>(begin(i)), n, out);
  return n;
}

void FlatStacks::append(std::size_t i, std::vector<FrameId>& out) const {
  out.insert(out.end(), frames_.begin() + static_cast<std::ptrdiff_t>(begin(i)),
             frames_.begin() + static_cast<std::ptrdiff_t>(ends_[i]));
}

Result<SortedStacks> sort_stacks(const StackSource& source, Executor&, StopToken stop) {
  const std::size_t n = source.size();
  std::vector<FrameId> frames;
  std::vector<std::uint64_t> begin(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    source.append(i, frames);
    begin[i + 1] = frames.size();
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
  }
  SortedStacks out;
  out.order.resize(n);
  std::iota(out.order.begin(), out.order.end(), 0u);
  const auto stack = [&](std::uint32_t i) {
    return std::span<const FrameId>(frames).subspan(begin[i], begin[i + 1] - begin[i]);
  };
  std::stable_sort(out.order.begin(), out.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto x = stack(a), y = stack(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  });
  std::vector<std::uint32_t> parent{kNone}, frame{kNone}, path{0};
  out.leaf.reserve(n);
  std::span<const FrameId> previous;
  for (std::uint32_t i : out.order) {
    const auto current = stack(i);
    const std::size_t limit = std::min(previous.size(), current.size());
    std::size_t same = 0;
    while (same < limit && previous[same] == current[same]) ++same;
    path.resize(same + 1);
    for (std::size_t f = same; f < current.size(); ++f) {
      parent.push_back(path.back());
      frame.push_back(current[f].v);
      path.push_back(static_cast<std::uint32_t>(parent.size() - 1));
    }
    out.leaf.push_back(path.back());
    previous = current;
  }
  std::vector<std::uint32_t> end(parent.size());
  std::iota(end.begin(), end.end(), 1u);
  for (std::size_t i = parent.size(); i-- > 1;) end[parent[i]] = std::max(end[parent[i]], end[i]);
  out.tree = {Column<std::uint32_t>(std::move(parent)), Column<std::uint32_t>(std::move(frame)),
              Column<std::uint32_t>(std::move(end))};
  return out;
}

SampleTable read_samples(const StackSource& source, const SortedStacks& sorted, std::size_t n_metrics,
                         Executor& executor) {
  const std::size_t n = sorted.order.size();
  std::vector<std::vector<std::int64_t>> values(n_metrics, std::vector<std::int64_t>(n));
  std::vector<std::uint32_t> labels(n);
  const std::size_t pieces = std::max<std::size_t>(1, executor.width());
  executor.run(pieces, [&](std::size_t piece) {
    std::vector<std::int64_t> row(n_metrics);
    for (std::size_t i = n * piece / pieces; i < n * (piece + 1) / pieces; ++i) {
      labels[i] = source.values(sorted.order[i], row.data()).v;
      for (std::size_t m = 0; m < n_metrics; ++m) values[m][i] = row[m];
    }
  });
  SampleTable table;
  table.context = Column<std::uint32_t>(std::vector<std::uint32_t>(sorted.leaf));
  table.label_set = Column<std::uint32_t>(std::move(labels));
  for (auto& column : values) table.values.emplace_back(Column<std::int64_t>(std::move(column)));
  return table;
}

}  // namespace profd

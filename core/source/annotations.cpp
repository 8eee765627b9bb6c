#include "core/source/annotations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/source/running_sum.h"
#include "core/source/slot_sums.h"

namespace profd {
namespace {

struct LineKey {
  std::uint32_t file = 0, line = 0;
  auto operator<=>(const LineKey&) const = default;
};

std::size_t bytes_of(const std::vector<std::vector<Value>>& columns) {
  std::size_t bytes = 0;
  for (const auto& column : columns) bytes += sizeof(column) + column.size() * sizeof(Value);
  return bytes;
}

}  // namespace

Result<LineValues> annotate_lines(const Selection& selection, const std::vector<StringId>& files,
                                  StopToken stop) {
  const Profile& profile = *selection.profile;
  const FrameTable& frames = profile.frames();
  const auto is_wanted = [&](std::size_t frame) {
    return frames.line[frame] != 0 &&
           std::find(files.begin(), files.end(), file_of_frame(profile, frame)) != files.end();
  };
  LineValues out;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (is_wanted(f)) out.line.push_back(frames.line[f]);
  }
  std::sort(out.line.begin(), out.line.end());
  out.line.erase(std::unique(out.line.begin(), out.line.end()), out.line.end());
  std::vector<std::uint32_t> slot_of_frame(frames.size(), kNone);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!is_wanted(f)) continue;
    const auto at = std::lower_bound(out.line.begin(), out.line.end(), frames.line[f]);
    slot_of_frame[f] = static_cast<std::uint32_t>(at - out.line.begin());
  }
  SerialExecutor serial;
  PROFD_TRY(SlotSums sums, sum_slots(selection, std::move(slot_of_frame), out.line.size(), stop, serial));
  out.self = std::move(sums.self);
  out.total = std::move(sums.total);
  out.estimated = std::move(sums.estimated);
  return out;
}

StringId file_of_frame(const Profile& profile, std::size_t frame) {
  const StringId file = profile.frames().file[frame];
  return file.v != 0 ? file : profile.functions().file[profile.frames().function[frame].v];
}

std::size_t LineValues::memory() const {
  return line.size() * sizeof(std::uint32_t) + bytes_of(self) + bytes_of(total) + is_function.size();
}
std::size_t LineIndex::memory() const {
  return file.size() * 2 * sizeof(std::uint32_t) + bytes_of(self) + bytes_of(total);
}

Result<LineIndex> make_line_index(const Selection& selection, StopToken stop, Executor& executor) {
  const Profile& profile = *selection.profile;
  const FrameTable& frames = profile.frames();
  std::vector<std::uint32_t> located;  // frames with a file and a line
  const auto key_of = [&](std::uint32_t f) { return LineKey{file_of_frame(profile, f).v, frames.line[f]}; };
  for (std::uint32_t f = 0; f < frames.size(); ++f) {
    if (key_of(f).file != 0 && key_of(f).line != 0) located.push_back(f);
  }
  std::sort(located.begin(), located.end(),
            [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
  LineIndex index;
  std::vector<std::uint32_t> slot_of_frame(frames.size(), kNone);
  for (std::uint32_t f : located) {
    const LineKey key = key_of(f);
    if (index.file.empty() || index.file.back().v != key.file || index.line.back() != key.line) {
      index.file.emplace_back(key.file);
      index.line.push_back(key.line);
    }
    slot_of_frame[f] = static_cast<std::uint32_t>(index.file.size() - 1);
  }
  PROFD_TRY(SlotSums sums, sum_slots(selection, std::move(slot_of_frame), index.file.size(), stop, executor));
  index.self = std::move(sums.self);
  index.total = std::move(sums.total);
  index.estimated = std::move(sums.estimated);
  return index;
}

Result<LineValues> annotate_lines(const Selection& selection, const LineIndex& index,
                                  const std::vector<StringId>& files, StopToken stop) {
  std::vector<StringId> distinct(files);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::uint32_t> rows;
  for (StringId file : distinct) {
    const auto [begin, end] = std::equal_range(index.file.begin(), index.file.end(), file);
    for (auto at = begin; at != end; ++at)
      rows.push_back(static_cast<std::uint32_t>(at - index.file.begin()));
  }
  std::sort(rows.begin(), rows.end(),
            [&](std::uint32_t a, std::uint32_t b) { return index.line[a] < index.line[b]; });
  const auto shared = std::adjacent_find(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    return index.line[a] == index.line[b];
  });
  if (shared != rows.end()) return annotate_lines(selection, distinct, std::move(stop));
  LineValues out;
  for (std::uint32_t row : rows) out.line.push_back(index.line[row]);
  const auto pick = [&](const std::vector<std::vector<Value>>& from, std::vector<std::vector<Value>>& to) {
    for (const auto& column : from) {
      auto& picked = to.emplace_back();
      for (std::uint32_t row : rows) picked.push_back(column[row]);
    }
  };
  pick(index.self, out.self);
  pick(index.total, out.total);
  out.estimated = index.estimated;
  return out;
}

Result<FrameSelfs> selfs_by_frame(const Selection& selection, StopToken stop) {
  const ContextTree& tree = selection.profile->tree();
  const SelfTable& self = selection.rows->self;
  return std::visit(
      [&]<class T>(const Column<T>& values) -> Result<FrameSelfs> {
        std::vector<Running<T>> sums(selection.profile->frames().size());
        for (std::size_t row = 0; row < values.size(); ++row) {
          if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
          std::uint32_t context = self.contexts[row];
          while (context != 0 && !selection.boxes->hidden.empty() &&
                 selection.boxes->hidden[tree.frame[context]] != 0)
            context = tree.parent[context];
          if (context == 0) continue;
          if constexpr (std::is_same_v<T, double>) {
            if (!std::isfinite(values[row])) continue;
          }
          sums[tree.frame[context]] += values[row];
        }
        FrameSelfs out;
        out.self.reserve(sums.size());
        for (const Running<T> sum : sums) out.self.emplace_back(narrowed(sum));
        return out;
      },
      self.values[selection.metric().v]);
}

}  // namespace profd

#include "core/layout/timeline_tracks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/support/sums.h"
#include "core/view/durations.h"
#include "core/view/passing.h"
#include "core/view/sample_parts.h"

namespace profd {
namespace {

constexpr std::uint32_t kSumBlock = 64;
// Differences of times, and twice these, can be counted.
constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4;

double number_at(const ValueColumn& column, std::size_t row) {
  return std::visit([&](const auto& values) { return static_cast<double>(finite(values[row])); }, column);
}

// Whether every sample that has something in `metric` has a duration in `lasts`.
bool lies_within(const SampleTable& samples, MetricId metric, MetricId lasts) {
  for (std::size_t row = 0; row < samples.size(); ++row)
    if (number_at(samples.values[metric.v], row) != 0 && !(number_at(samples.values[lasts.v], row) > 0))
      return false;
  return true;
}

std::int64_t declared_period(const ProfileInfo& info) {
  const std::int64_t scale = nanoseconds_in(info.period_unit);
  std::int64_t period = 0;
  if (!info.period || *info.period <= 0 || scale == 0 ||
      __builtin_mul_overflow(*info.period, scale, &period) || period > kFarthest)
    return 0;
  return period;
}

}  // namespace

std::int64_t column_edge(std::int64_t from, std::int64_t to, std::size_t column, std::size_t n) {
  const std::int64_t length = to - from, parts = static_cast<std::int64_t>(n),
                     i = static_cast<std::int64_t>(column);
  return from + length / parts * i + length % parts * i / parts;
}

Result<TimelineTracks> TimelineTracks::of(const SelectionPtr& selection, StopToken stop) {
  const Profile& profile = *selection->profile;
  const SampleTable* const samples = profile.samples();
  const Timeline* const timeline = profile.timeline();
  const bool sampled = samples != nullptr && !samples->time.empty();
  if (timeline == nullptr || (!sampled && timeline->spans.size() == 0))
    return fail(ErrorCode::invalid, "the profile does not say when its samples were taken");
  TimelineTracks out;
  out.selection_ = selection;
  const MetricId metric = selection->metric();
  const std::string& unit = profile.metrics()[metric.v].unit;
  out.time_scale_ = nanoseconds_in(unit);
  out.period_ = declared_period(profile.info());
  const auto n_threads = static_cast<std::uint32_t>(profile.threads().size());
  std::vector<TimelineTrack> tracks(n_threads + 2);
  for (std::uint32_t id = 0; id < tracks.size(); ++id) tracks[id].id = id;
  tracks[n_threads].kind = TrackKind::no_thread;
  tracks[n_threads + 1].kind = TrackKind::tasks;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(),
               last = std::numeric_limits<std::int64_t>::min();
  // What begins at the last moment of all is in the window as well.
  const auto begins = [&](std::int64_t time) {
    first = std::min(first, time);
    last = std::max(last, time < kFarthest ? time + 1 : time);
  };
  if (sampled) {
    PROFD_TRY(const std::vector<std::int64_t> scales, duration_metrics(profile, stop));
    out.traced_ = std::any_of(scales.begin(), scales.end(), [](std::int64_t scale) { return scale != 0; });
    if (scales[metric.v] != 0) {
      out.durations_ = true;
      out.lasts_ = metric;
    }
    for (std::uint32_t m = 0; m < scales.size() && !out.lasts_; ++m)
      if (scales[m] != 0 && lies_within(*samples, metric, MetricId{m})) out.lasts_ = MetricId{m};
    std::vector<std::string> told;  // by the selection already
    const auto& filters = selection->rows->filters;
    PROFD_TRY(const SampleParts parts, SampleParts::of(profile, filters, told, stop));
    PROFD_TRY(const std::vector<std::uint8_t> stacks, stacks_that_pass(*selection, stop));
    const bool all = filters.empty();
    std::vector<double> values;
    if (!all) {
      values.resize(samples->size());
      out.passes_.resize(samples->size());
    }
    const auto n = static_cast<std::uint32_t>(samples->size());
    double sum = 0;
    std::uint32_t count = 0;
    for (std::uint32_t position = 0; position < n; ++position) {
      if (position % kSumBlock == 0) {
        if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
        out.sums_.push_back(sum);
        out.counts_.push_back(count);
      }
      const std::uint32_t row = timeline->samples.row_at(position);
      double value = 0;
      if (all) {
        value = number_at(samples->values[metric.v], row);
      } else if (parts.passes(row) && (stacks.empty() || stacks[samples->context[row]] != 0)) {
        value = as_double(parts.value(row, metric));
        out.passes_[position] = 1;
      }
      if (!std::isfinite(value)) value = 0;
      if (!all) values[position] = value;
      const std::int64_t time = samples->time[row];
      if (time == kNoTime) {
        out.without_time_ += value;
        continue;
      }
      const std::uint32_t thread = value_or(samples->thread, row, kNone);
      TimelineTrack& track = tracks[std::min(thread, n_threads)];
      if (track.first == track.last) track.first = track.last = position;
      track.last = position + 1;
      track.total += value;
      begins(time);
      sum += value;
      count += value != 0 ? 1 : 0;
    }
    if (!all) out.values_ = Column<double>(std::move(values));
  }
  const SpanTable& spans = timeline->spans;
  for (std::uint32_t span = 0; span < spans.size(); ++span) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t thread = value_or(spans.thread, span, kNone);
    // Calls of a source that tells of no threads are those of its samples.
    const bool of_samples =
        tracks[n_threads].first != tracks[n_threads].last && value_or(spans.task, span, kNone) == kNone;
    TimelineTrack& track = tracks[thread != kNone ? thread : of_samples ? n_threads : n_threads + 1];
    if (track.first_span == track.last_span) track.first_span = track.last_span = span;
    track.last_span = span + 1;
    begins(spans.begin[span]);
    if (spans.end[span] != kNoTime) last = std::max(last, spans.end[span]);
  }
  std::erase_if(tracks, [](const TimelineTrack& track) {
    return track.first == track.last && track.first_span == track.last_span;
  });
  if (tracks.empty()) return fail(ErrorCode::invalid, "the profile does not say when its samples were taken");
  if (first < -kFarthest || last > kFarthest)
    return fail(ErrorCode::invalid, "the times of the profile lie too far apart to be drawn");
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const TimelineTrack& a, const TimelineTrack& b) { return a.total > b.total; });
  out.tracks_ = std::move(tracks);
  // The last sample of a thread lasts as well.
  std::int64_t end = last;
  for (const TimelineTrack& track : out.tracks_) {
    if (track.first == track.last) continue;
    const std::int64_t time = out.time(track.last - 1);
    std::int64_t lasts = out.period_;
    if (out.lasts_) {
      const double length =
          number_at(samples->values[out.lasts_->v], timeline->samples.row_at(track.last - 1)) *
          static_cast<double>(nanoseconds_in(profile.metrics()[out.lasts_->v].unit));
      lasts = length > 0 && length < static_cast<double>(kFarthest) ? static_cast<std::int64_t>(length) : 0;
    }
    end = std::max(end, time + std::min(lasts, kFarthest));
  }
  out.begin_ = first;
  out.end_ = std::max(end, first + 1);
  return out;
}

const TimelineTrack* TimelineTracks::find(std::uint32_t id) const {
  const auto found = std::find_if(tracks_.begin(), tracks_.end(),
                                  [&](const TimelineTrack& track) { return track.id == id; });
  return found == tracks_.end() ? nullptr : &*found;
}

std::int64_t TimelineTracks::time(std::uint32_t position) const {
  const Profile& profile = *selection_->profile;
  return profile.samples()->time[profile.timeline()->samples.row_at(position)];
}

double TimelineTracks::value(std::uint32_t position) const {
  if (!values_.empty()) return values_[position];
  const Profile& profile = *selection_->profile;
  return number_at(profile.samples()->values[selection_->metric().v],
                   profile.timeline()->samples.row_at(position));
}

double TimelineTracks::sum(std::uint32_t first, std::uint32_t last) const {
  const auto before = [&](std::uint32_t position) {
    if (sums_.empty()) return 0.0;
    const std::uint32_t block = std::min(position / kSumBlock, static_cast<std::uint32_t>(sums_.size() - 1));
    double sum = sums_[block];
    for (std::uint32_t i = block * kSumBlock; i < position; ++i)
      if (time(i) != kNoTime) sum += value(i);
    return sum;
  };
  return first < last ? before(last) - before(first) : 0;
}

std::uint64_t TimelineTracks::count(std::uint32_t first, std::uint32_t last) const {
  const auto before = [&](std::uint32_t position) -> std::uint64_t {
    if (counts_.empty()) return 0;
    const std::uint32_t block =
        std::min(position / kSumBlock, static_cast<std::uint32_t>(counts_.size() - 1));
    std::uint64_t count = counts_[block];
    for (std::uint32_t i = block * kSumBlock; i < position; ++i)
      if (time(i) != kNoTime && value(i) != 0) ++count;
    return count;
  };
  return first < last ? before(last) - before(first) : 0;
}

std::uint32_t TimelineTracks::position_at(const TimelineTrack& track, std::int64_t wanted) const {
  std::uint32_t begin = track.first, end = track.last;
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (time(middle) < wanted)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

double TimelineTracks::before(std::uint32_t position, std::int64_t moment) const {
  const double value = this->value(position);
  const double length = value * static_cast<double>(time_scale_);
  const auto since = static_cast<double>(moment - time(position));
  return length <= 0 || since >= length ? value : value * (since / length);
}

std::vector<double> TimelineTracks::load(const TimelineTrack& track, std::int64_t from, std::int64_t to,
                                         std::size_t n) const {
  std::vector<double> out(n, 0);
  // What there is of the track before a moment.
  const auto until = [&](std::int64_t moment) {
    const std::uint32_t position = position_at(track, moment);
    if (position == track.first) return 0.0;
    // Durations do not overlap: the last that has begun may go on, those before are over.
    return durations_ ? sum(track.first, position - 1) + before(position - 1, moment)
                      : sum(track.first, position);
  };
  double last = until(from);
  for (std::size_t column = 0; column < n; ++column) {
    const std::int64_t edge = column_edge(from, to, column + 1, n);
    const double next = until(edge);
    out[column] = std::max(0.0, next - last);
    last = next;
  }
  return out;
}

std::size_t TimelineTracks::memory() const {
  return sizeof(TimelineTracks) + tracks_.size() * sizeof(TimelineTrack) + values_.bytes() + passes_.size() +
         sums_.size() * sizeof(double) + counts_.size() * sizeof(std::uint32_t);
}

}  // namespace profd

#include "server/feature/counters_answer.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "core/view/markers.h"
#include "core/view/pattern.h"
#include "server/feature/text.h"
#include "server/feature/thread_names.h"
#include "server/feature/time_window.h"

namespace profd {
namespace {

// Of a unit that is told; a plain number has as many digits as it needs.
std::string counter_text(double value, const std::string& unit) {
  const double whole = std::nearbyint(value);
  if (whole == value && std::fabs(value) < 9e15)
    return format_value(Value{static_cast<std::int64_t>(whole)}, unit.empty() ? "count" : unit);
  return unit.empty() ? fmt::format("{}{}", value < 0 ? "-" : "", format_ratio(std::fabs(value)))
                      : format_value(Value{value}, unit);
}

bool mentions(std::string_view text, std::string_view search) {
  const auto lower = [](char ch) { return ch >= 'A' && ch <= 'Z' ? static_cast<char>(ch | 0x20) : ch; };
  return std::search(text.begin(), text.end(), search.begin(), search.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

}  // namespace

Needs needs_of(const CountersRequest& request) {
  return {{Part::selection, request.spec}};
}

Result<CountersAnswer> counters_answer(Views& views, const CountersRequest& request, const StopToken& stop) {
  ViewSpec spec = request.spec;
  spec.shape = Shape::top_down;
  spec.focus.clear();
  const OpenProfile& open = *request.open;
  const Profile& profile = *open.profile;
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  PROFD_TRY(const RecordedTime time, recorded_time(profile, stop));
  CountersAnswer out;
  out.head = head_of(open, spec, view);
  out.begin = time.begin;
  out.end = time.end;
  PROFD_TRY(const TimeWindow window, time_window(out.begin, out.end, request.from, request.to));
  out.from = window.from;
  out.to = window.to;
  if (profile.timeline() == nullptr) return out;
  const CounterTable& counters = profile.timeline()->counters;
  const StringTable& strings = profile.strings();
  const ThreadNames threads(profile);
  std::vector<CountersAnswer::Counter> found;
  for (std::uint32_t id = 0; id < counters.size(); ++id) {
    CountersAnswer::Counter counter;
    counter.id = id;
    counter.name = strings[counters.name[id]];
    counter.unit = strings[value_or(counters.unit, id, StringId{0u})];
    counter.owner = strings[value_or(counters.process, id, StringId{0u})];
    const std::uint32_t thread = value_or(counters.thread, id, kNone);
    if (counter.owner.empty() && thread != kNone) counter.owner = threads.name(thread);
    counter.sums = value_or(counters.changes, id, std::uint8_t{0}) != 0;
    if (request.search.empty() || mentions(counter.name, request.search) ||
        mentions(counter.unit, request.search) || mentions(counter.owner, request.search))
      found.push_back(std::move(counter));
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(a.owner, a.name) < std::tie(b.owner, b.name);
  });
  out.count = static_cast<std::uint32_t>(found.size());
  if (found.size() > request.limit) {
    out.left_text =
        fmt::format("{} more, from {} on", count_of(found.size() - request.limit, "counter", "counters"),
                    found[request.limit].name);
    found.resize(request.limit);
  }
  StopToken token = stop;
  for (CountersAnswer::Counter& counter : found) {
    PROFD_TRY(counter.points,
              counter_points(counters, counter.id, out.from, out.to, std::max(1u, request.columns), token));
    const CounterPoints& points = counter.points;
    std::optional<double> low = points.before, high = points.before, last = points.before;
    for (std::size_t i = 0; i < points.size(); ++i) {
      low = std::min(low.value_or(points.low[i]), points.low[i]);
      high = std::max(high.value_or(points.high[i]), points.high[i]);
      last = points.last[i];
    }
    counter.low = low.value_or(0);
    counter.high = high.value_or(0);
    const auto text = [&](const std::optional<double>& value) {
      return value ? counter_text(*value, counter.unit) : std::string(kUnknown);
    };
    counter.low_text = text(low);
    counter.high_text = text(high);
    counter.last_text = text(last);
    counter.unit = unit_name(counter.unit);
  }
  out.counters = std::move(found);
  return out;
}

}  // namespace profd

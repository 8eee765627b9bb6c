#include "formats/firefox/markers.h"

#include <unordered_map>
#include <vector>

#include "core/support/checked.h"

namespace profd::firefox {
namespace {

std::int64_t shifted(std::int64_t time, std::int64_t offset) {
  if (time != kNoTime) add_saturating(time, offset);
  return time;
}

// {stack, …}: why it happened; a Gecko file has a whole thread here, whose stacks are not read.
void read_cause(JsonCursor& in, MarkerData& out, MarkerLosses& losses) {
  std::string_view key;
  bool found = false;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "stack" && in.kind() == JsonKind::number) {
      out.stack = read_index(in);
      found = true;
    } else {
      in.skip();
    }
  }
  if (!found) ++losses.n_stacks;
}

}  // namespace

MarkerData read_marker_data(JsonCursor& in, JsonFields& fields, ProfileBuilder& builder,
                            MarkerLosses& losses) {
  MarkerData out;
  if (in.kind() != JsonKind::object) {
    in.skip();
    return out;
  }
  out.fields = fields.read(in, builder, [&](std::string_view key, JsonCursor& at) {
    const JsonKind kind = at.kind();
    if ((key == "cause" || key == "stack") && kind == JsonKind::object) {
      read_cause(at, out, losses);
      return true;
    }
    // Fields all the same: newer files say the times of the marker elsewhere.
    JsonCursor look = at;
    std::uint64_t ignored = 0;
    if (kind == JsonKind::number && (key == "startTime" || key == "endTime")) {
      (key == "startTime" ? out.start : out.end) = read_scaled(look, 6, ignored);
    } else if (kind == JsonKind::string && key == "interval") {
      const std::string word = read_word(look);
      if (word == "start") out.phase = MarkerPhase::start;
      if (word == "end") out.phase = MarkerPhase::end;
    }
    return false;
  });
  return out;
}

void Markers::add(StringId name, StringId category, std::int64_t start, std::int64_t end, std::uint32_t phase,
                  const MarkerData& data) {
  Row row{name, category, start, end, data.fields.v, data.stack, MarkerPhase::instant};
  if (phase != kNone) {
    // A phase that nobody knows is that of a note.
    if (phase <= static_cast<std::uint32_t>(MarkerPhase::end)) row.phase = static_cast<MarkerPhase>(phase);
  } else if (data.start != kNoTime && data.end != kNoTime) {
    row.phase = MarkerPhase::interval;
    row.start = data.start;
    row.end = data.end;
  } else {
    row.phase = data.phase.value_or(MarkerPhase::instant);
    if (row.phase == MarkerPhase::end) row.end = start;
  }
  rows_.push_back(row);
}

void Markers::add_to(ProfileBuilder& builder, ThreadId thread, const Indices& contexts, std::int64_t offset,
                     MarkerLosses& losses) const {
  TimelineBuilder& out = builder.timeline();
  const auto put = [&](const Row& row, std::int64_t begin, std::int64_t until, std::uint32_t fields) {
    out.add_marker({.begin = shifted(begin, offset),
                    .end = shifted(until, offset),
                    .name = row.name,
                    .category = row.category,
                    .thread = thread,
                    .context = row.stack < contexts.size() ? ContextId{contexts[row.stack]} : ContextId{},
                    .fields = LabelSetId{fields}});
  };
  // An end closes the last start of its name.
  std::unordered_map<StringId, std::vector<std::uint32_t>> open;
  std::vector<bool> closed(rows_.size(), false);
  for (std::uint32_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const bool ends = row.phase == MarkerPhase::end;
    if ((ends ? row.end : row.start) == kNoTime) {
      ++losses.n_without_time;
    } else if (row.phase == MarkerPhase::start) {
      open[row.name].push_back(i);
    } else if (ends) {
      std::vector<std::uint32_t>& starts = open[row.name];
      if (starts.empty()) {
        ++losses.n_unmatched_ends;
        continue;
      }
      const Row& begin = rows_[starts.back()];
      closed[starts.back()] = true;
      put(begin, begin.start, row.end, begin.fields != 0 ? begin.fields : row.fields);
      starts.pop_back();
    } else {
      put(row, row.start, row.phase == MarkerPhase::interval ? row.end : row.start, row.fields);
    }
  }
  for (std::uint32_t i = 0; i < rows_.size(); ++i)
    if (const Row& row = rows_[i]; row.phase == MarkerPhase::start && row.start != kNoTime && !closed[i])
      put(row, row.start, kNoTime, row.fields);
}

}  // namespace profd::firefox

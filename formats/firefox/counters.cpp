#include "formats/firefox/counters.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/support/checked.h"

namespace profd::firefox {
namespace {

double read_double(JsonCursor& in) {
  if (in.kind() == JsonKind::number) return in.number().value;
  in.skip();
  return 0;
}

// Rows under a schema: Gecko's way.
void read_rows(JsonCursor& in, std::uint32_t time, std::uint32_t count, Roundings& roundings, Counter& out) {
  for (in.begin_array(); in.next_element();) {
    if (in.kind() != JsonKind::array) {
      in.skip();
      continue;
    }
    std::int64_t at = kNoTime;
    double value = 0;
    std::uint32_t i = 0;
    for (in.begin_array(); in.next_element(); ++i) {
      if (i == time)
        at = read_scaled(in, 6, roundings.n_times);
      else if (i == count)
        value = read_double(in);
      else
        in.skip();
    }
    out.time.push_back(at);
    out.count.push_back(value);
  }
}

// At an object of columns, or of a schema and rows.
void read_samples(JsonCursor& in, Roundings& roundings, Counter& out) {
  std::uint32_t time = kNone, count = kNone;
  std::optional<std::uint64_t> rows;
  const std::uint32_t depth = in.depth() + 1;
  bool relative = false;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    const JsonKind kind = in.kind();
    if ((key == "time" || key == "timeDeltas") && kind == JsonKind::array) {
      relative = key == "timeDeltas";
      read_scaled(in, 6, out.time, roundings.n_times);
    } else if (key == "count" && kind == JsonKind::array) {
      out.count.clear();
      for (in.begin_array(); in.next_element();) out.count.push_back(read_double(in));
    } else if (key == "schema" && kind == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) {
        const bool is_time = key == "time", is_count = key == "count";
        const std::uint32_t place = read_index(in);
        if (is_time) time = place;
        if (is_count) count = place;
      }
    } else if (key == "data" && kind == JsonKind::array) {
      rows = in.offset();
      in.skip();
    } else {
      in.skip();
    }
  }
  if (relative) {
    std::int64_t now = 0;
    for (std::int64_t& at : out.time) {
      add_saturating(now, at);
      at = now;
    }
  }
  if (!rows || time == kNone || count == kNone || !in.ok()) return;
  JsonCursor table = in;
  table.seek(*rows, depth);
  read_rows(table, time, count, roundings, out);
  if (table.ok()) return;
  const Error error = table.status().error();
  in.fail_at(error.offset.value_or(*rows), error.code, error.message);
}

// One group, or a list of them: {id, samples}.
void read_groups(JsonCursor& in, Roundings& roundings, Counter& out) {
  if (in.kind() == JsonKind::array) {
    // All have one meaning; more than one was never written.
    for (in.begin_array(); in.next_element();) {
      if (in.kind() == JsonKind::object)
        read_groups(in, roundings, out);
      else
        in.skip();
    }
    return;
  }
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "samples" && in.kind() == JsonKind::object)
      read_samples(in, roundings, out);
    else
      in.skip();
  }
}

}  // namespace

void read_counters(JsonCursor& in, std::int64_t offset, Roundings& roundings, std::vector<Counter>& out) {
  std::string_view key;
  for (in.begin_array(); in.next_element();) {
    if (in.kind() != JsonKind::object) {
      in.skip();
      continue;
    }
    Counter& counter = out.emplace_back();
    counter.offset = offset;
    for (in.begin_object(); in.next_key(key);) {
      const JsonKind kind = in.kind();
      const bool grouped = key == "sampleGroups" || key == "sample_groups";
      if (key == "name")
        counter.name = read_word(in);
      else if (key == "pid")
        counter.pid = read_word(in);
      else if (key == "samples" && kind == JsonKind::object)
        read_samples(in, roundings, counter);
      else if (grouped && (kind == JsonKind::array || kind == JsonKind::object) && in.depth() < 100)
        read_groups(in, roundings, counter);
      else
        in.skip();
    }
  }
}

void add_counter(const Counter& counter, std::string_view process, std::unordered_set<CounterId>& known,
                 ProfileBuilder& builder) {
  TimelineBuilder& out = builder.timeline();
  CounterSpec spec{.name = builder.string(counter.name), .process = builder.string(process), .changes = true};
  if (known.count(out.counter(spec)) != 0)
    spec.name = builder.string(fmt::format("{} [{}]", counter.name, known.size()));
  const CounterId id = out.counter(spec);
  known.insert(id);
  for (std::size_t i = 0; i < std::min(counter.time.size(), counter.count.size()); ++i) {
    std::int64_t time = counter.time[i];
    if (time != kNoTime) add_saturating(time, counter.offset);
    out.add_point(id, time, counter.count[i]);
  }
}

}  // namespace profd::firefox

// Track events: slices become wall time and spans on the thread (or other track) they belong to, instants
// markers, values of counter tracks counters. A track of no thread is a task.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "formats/perfetto/trace.h"

namespace profd::perfetto {

class Slices {
 public:
  Slices(ReadContext& context, const ThreadNames& names) : context_(context), names_(names) {}

  void add_track(Cursor track_descriptor);
  // `time`: nanoseconds of the trace's clock.
  void add_event(Cursor track_event, const Sequence& sequence, std::int64_t time, std::uint64_t offset);
  bool empty() const { return n_slices_ == 0; }
  // The first event of all; trace nanoseconds.
  std::int64_t first_time() const;
  // Adds samples whose times count from `origin`.
  Result<void> build(ProfileBuilder& builder, std::int64_t origin);
  // Adds instants and counters to a profile whose times count from `origin`.
  void add_notes(ProfileBuilder& builder, std::int64_t origin) const;

 private:
  struct Track {
    std::string_view name;
    std::uint64_t parent = 0;
    bool has_parent = false;
    std::int64_t pid = -1, tid = -1;
    std::string_view process_name, thread_name;
    std::string_view unit;  // of a counter
    std::int64_t multiplier = 1;
    bool changes = false, process = false;
  };
  struct Name {
    std::string_view name, category;
    SourcePlace place;
    auto operator<=>(const Name& other) const {
      return std::tie(name, category, place.file, place.line) <=>
             std::tie(other.name, other.category, other.place.file, other.place.line);
    }
  };
  enum class Kind : std::uint8_t { begin, end, complete };
  struct Event {
    std::int64_t time = 0, end = 0;  // end: of complete events
    std::uint32_t track = 0, name = 0;
    std::uint32_t order = 0;
    Kind kind = Kind::begin;
  };

  // Something that happened at a moment: its name, or the value of a counter.
  struct Note {
    std::int64_t time = 0;
    std::uint32_t track = 0, name = 0;
  };
  struct Point {
    std::int64_t time = 0;
    std::uint64_t track = 0;
    double value = 0;
  };
  static void read_counter(Cursor counter_descriptor, Track& track);
  // The task of a track that is no thread's, and those of the tracks above it. None for a thread's.
  TaskId task_of(std::uint32_t row, TimelineBuilder& timeline, ProfileBuilder& builder);
  static constexpr std::size_t kMaxTracks = 64;  // above one another

  std::uint32_t track_row(std::uint64_t uuid);
  std::uint32_t thread_row(std::int64_t pid, std::int64_t tid);
  struct Names {
    std::map<Name, std::uint32_t> rows;
    std::vector<Name> list;
    std::uint32_t row(const Name& name);
  };
  ThreadSpec describe(std::uint64_t row, std::string& text) const;

  ReadContext& context_;
  const ThreadNames& names_;
  std::unordered_map<std::uint64_t, Track> tracks_;  // by uuid
  std::unordered_map<std::uint64_t, std::uint32_t> track_rows_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> thread_rows_;
  struct Row {
    bool legacy = false;  // a thread without a track
    std::uint64_t uuid = 0;
    std::int64_t pid = -1, tid = -1;
  };
  std::vector<Row> rows_;
  Names slice_names_, note_names_;
  std::vector<Event> events_;
  std::vector<Note> notes_;
  std::vector<Point> points_;
  std::unordered_map<std::uint64_t, TaskId> tasks_;  // by uuid
  std::uint64_t n_slices_ = 0;
};

}  // namespace profd::perfetto

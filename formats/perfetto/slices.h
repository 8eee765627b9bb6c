// Track events: slices become spans of wall time on the thread (or other track) they belong to.
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

 private:
  struct Track {
    std::string_view name;
    std::uint64_t parent = 0;
    bool has_parent = false;
    std::int64_t pid = -1, tid = -1;
    std::string_view process_name, thread_name;
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

  std::uint32_t track_row(std::uint64_t uuid);
  std::uint32_t thread_row(std::int64_t pid, std::int64_t tid);
  std::uint32_t name_row(const Name& name);
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
  std::map<Name, std::uint32_t> name_rows_;
  std::vector<Name> slice_names_;
  std::vector<Event> events_;
  std::uint64_t n_slices_ = 0;
};

}  // namespace profd::perfetto

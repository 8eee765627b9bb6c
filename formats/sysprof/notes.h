// What a capture holds beside samples: marks and log messages become markers, counters counters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/reader.h"
#include "formats/support/byte_cursor.h"

namespace profd::sysprof {

enum class NoteKind : std::uint8_t { mark, log, counter_define, counter_set };

class Notes {
 public:
  // A frame behind its head; views point into the file. False when it ends early.
  bool take(NoteKind kind, std::int64_t time, std::int32_t pid, ByteCursor& in);
  // Times are relative to `origin`, that of the profile's samples.
  void add_to(ProfileBuilder& builder, std::int64_t origin, ReadContext& context) const;

 private:
  struct Mark {
    std::int64_t time = 0, duration = 0;
    std::int32_t pid = 0;
    std::string_view category = {}, name = {}, message = {};
  };
  struct Counter {
    std::string name;
    bool real = false;
  };
  struct Point {
    std::int64_t time;
    std::uint32_t counter;
    std::uint64_t bits;
  };
  bool take_mark(std::int64_t time, std::int32_t pid, ByteCursor& in);
  bool take_log(std::int64_t time, std::int32_t pid, ByteCursor& in);
  bool define(ByteCursor& in);
  bool set(std::int64_t time, ByteCursor& in);

  std::vector<Mark> marks_;
  std::unordered_map<std::uint32_t, Counter> counters_;  // by id
  std::vector<Point> points_;
};

}  // namespace profd::sysprof

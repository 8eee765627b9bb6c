// The metadata of a chunk: what its events and pooled values consist of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/support/result.h"
#include "formats/jfr/chunk.h"

namespace profd::jfr {

// What a number means, from the annotations jdk.jfr.Timespan and jdk.jfr.Timestamp.
enum class FieldUnit : std::uint8_t { none, ticks, nanoseconds, milliseconds, microseconds, seconds };

struct Field {
  std::string name;
  std::uint64_t type = 0;  // class id
  bool pooled = false;     // a key of the type's constant pool
  bool array = false;
  FieldUnit unit = FieldUnit::none;
};

struct Class {
  std::uint64_t id = 0;
  std::string name;  // "jdk.ExecutionSample"; JDK 9 and 10 say com.oracle.jdk. and are brought to jdk.
  bool is_event = false;
  std::vector<Field> fields;

  const Field* field(std::string_view name) const;
};

class Metadata {
 public:
  static Result<Metadata> parse(const Chunk& chunk, std::uint32_t max_depth);

  const std::vector<Class>& classes() const { return classes_; }
  // Index into classes(), kNone when there is no such class.
  std::uint32_t index_of(std::uint64_t id) const;
  std::uint32_t index_of(std::string_view name) const;
  bool has_prefix(std::string_view prefix) const;

 private:
  std::vector<Class> classes_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_id_;
};

}  // namespace profd::jfr

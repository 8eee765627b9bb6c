// Interned call stacks: what a packet sequence has defined so far, and the frames that come of it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/protobuf_wire.h"
#include "formats/perfetto/trace.fields.h"

namespace profd::perfetto {

using protobuf::Cursor;

inline std::string_view text_of(Cursor bytes) {
  return {reinterpret_cast<const char*>(bytes.p), bytes.left()};
}

// Empty where nothing is interned under `id`.
inline std::string_view name_at(const std::unordered_map<std::uint64_t, std::string_view>& table,
                                std::uint64_t id) {
  const auto found = table.find(id);
  return found == table.end() ? std::string_view{} : found->second;
}

struct SourcePlace {
  std::string_view file;
  std::uint32_t line = 0;
};

// The interning tables of one sequence. Entries refer to each other by id and may come in any order, so
// they are kept as they lie in the file until a stack is asked for.
struct Interned {
  std::unordered_map<std::uint64_t, std::string_view> event_names, categories, functions, build_ids, paths,
      source_paths;
  std::unordered_map<std::uint64_t, SourcePlace> places;
  std::unordered_map<std::uint64_t, Cursor> mappings, frames, callstacks;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks;  // callstack id -> StackTable row

  void add(Cursor interned_data);
  // Android 10: heap profiles bring their own tables.
  void add_string(Cursor interned_string);
  void add_entry(std::unordered_map<std::uint64_t, Cursor>& table, Cursor entry);
  void clear();
};

// Stacks of all sequences, not yet in any profile.
class StackTable {
 public:
  struct Frame {
    std::string_view name;
    SourcePlace place;
    std::uint32_t mapping = kNone;
    std::uint64_t rel_pc = 0;
    FrameKind kind = FrameKind::native;
  };
  struct Mapping {
    std::string path;
    std::string_view build_id;  // bytes
    std::uint64_t start = 0, end = 0, offset = 0, load_bias = 0;
  };
  struct Line {
    std::string_view function;
    SourcePlace place;
  };

  // A row; kNone when the sequence has no such stack. `lost` counts frames and mappings that are missing.
  std::uint32_t stack(Interned& interned, std::uint64_t callstack_id, std::uint64_t& lost);
  std::span<const std::uint32_t> frames_of(std::uint32_t stack) const {  // rows of frame(), root first
    return std::span(stack_frames_)
        .subspan(stack_begin_[stack], stack_begin_[stack + 1] - stack_begin_[stack]);
  }
  const Frame& frame(std::uint32_t row) const { return frames_[row]; }
  const Mapping& mapping(std::uint32_t row) const { return mappings_[row]; }
  std::size_t n_frames() const { return frames_.size(); }

  void add_symbols(Cursor module_symbols);
  // Innermost first; empty when the address was not symbolized.
  std::span<const Line> lines_of(const Frame& frame) const;

 private:
  std::uint32_t make_mapping(const Interned& interned, Cursor mapping);
  std::uint32_t make_frame(const Interned& interned, Cursor frame, std::uint64_t& lost);

  std::vector<Frame> frames_;
  std::vector<Mapping> mappings_;
  std::vector<std::uint32_t> stack_frames_;
  std::vector<std::size_t> stack_begin_{0};
  std::unordered_map<const std::uint8_t*, std::uint32_t> mapping_rows_,
      frame_rows_;  // by where the entry lies

  struct Symbols {
    std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> lines;  // address -> first, n
  };
  std::map<std::string, Symbols, std::less<>> symbols_;  // path, NUL, build id
  std::vector<Line> lines_;
};

// Frames of one profile for rows of a StackTable.
class FrameMaker {
 public:
  FrameMaker(const StackTable& table, ProfileBuilder& builder) : table_(table), builder_(builder) {}

  // Of a row of the table.
  ContextId context(std::uint32_t stack);

 private:
  struct Made {
    std::uint32_t first = 0, n = 0;
  };
  Made make(const StackTable::Frame& frame);

  const StackTable& table_;
  ProfileBuilder& builder_;
  std::vector<Made> made_;  // by frame row
  std::vector<FrameId> ids_;
  std::vector<ContextId> contexts_;  // by stack
};

}  // namespace profd::perfetto

// V8's sampled CPU profiles inside a trace: Profile and ProfileChunk events, older ones a CpuProfile event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/chrome_trace/event.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::chrome_trace {

class CpuSamples {
 public:
  static bool is_part(std::string_view event_name);

  // The arguments of such an event, at their object. `thread` is that of the event.
  Result<void> take(const Event& event, std::uint32_t thread, JsonCursor args, ReadCounts& counts);
  bool empty() const { return chunks_.empty(); }
  // Time of the first sample or start that is known.
  std::optional<std::int64_t> first_time() const;
  // All samples of all recordings; nothing when there are none. Sample times are relative to `origin`.
  Result<void> add_to(const Threads& threads, std::int64_t origin, ReadContext& context,
                      std::vector<ProfileBuilder>& profiles);

 private:
  struct Node {
    std::int64_t id = 0, parent = 0;
    bool has_parent = false;
    bool idle = false;  // stands for a thread that had nothing to do
    FunctionId function;
    FrameKind kind = FrameKind::native;
    std::uint64_t place = 0;
  };
  // One recording: what shares pid and id.
  struct Recording {
    std::uint32_t thread = kNone;
    std::optional<std::int64_t> start, end;
    std::vector<Node> nodes;
    std::vector<std::pair<std::int64_t, std::int64_t>> links;  // (parent, child) where nodes list children
    std::unordered_map<std::int64_t, std::uint32_t> row_of;
    std::vector<ContextId> contexts;  // by node
    bool is_outermost(const Node& node) const;
  };
  struct Chunk {
    std::int64_t time = 0;
    std::uint32_t recording = 0;
    std::size_t first_sample = 0, n_samples = 0, n_deltas = 0, n_lines = 0, n_columns = 0;
    std::size_t first_delta = 0, first_line = 0, first_column = 0;
    std::uint64_t place = 0;
  };
  struct Sample;

  void read_data(JsonCursor& in, std::uint32_t recording, Chunk& chunk, ReadCounts& counts);
  void read_nodes(JsonCursor& in, Recording& recording);
  Result<void> link(Recording& recording);
  Result<void> add_recording(std::uint32_t recording, ThreadId thread, std::int64_t origin,
                             ReadContext& context, std::span<const Chunk> chunks);
  ContextId leaf_of(const Recording& recording, std::uint32_t node, std::uint32_t line, std::uint32_t column);

  ProfileBuilder builder_;
  std::map<std::string, std::uint32_t, std::less<>> recording_of_;
  std::vector<Recording> recordings_;
  std::vector<Chunk> chunks_;
  std::vector<std::int64_t> samples_, deltas_;
  std::vector<std::uint32_t> lines_, columns_;  // 1-based, 0 unknown
  std::uint64_t n_negative_ = 0, n_missing_nodes_ = 0, n_without_time_ = 0;
};

}  // namespace profd::chrome_trace

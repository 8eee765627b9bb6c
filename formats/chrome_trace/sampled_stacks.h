// Stacks by id (stackFrames, samples, an event's sf or stack): what Hermes, catapult and Perfetto write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/model/profile_builder.h"
#include "formats/chrome_trace/event.h"
#include "formats/reader.h"
#include "formats/support/json_cursor.h"

namespace profd::chrome_trace {

class SampledStacks {
 public:
  // At the object "stackFrames".
  Result<void> read_frames(JsonCursor& in, std::string_view text, std::uint64_t base);
  // At the array "samples".
  Result<void> read_samples(JsonCursor& in, std::string_view text, std::uint64_t base, Threads& threads,
                            ReadCounts& counts);
  // An event that says where it happened. `thread` is its own, `in` any cursor over the text.
  Result<void> take(const Event& event, std::uint32_t thread, const JsonCursor& in);

  bool empty() const { return samples_.empty(); }
  std::optional<std::int64_t> first_time() const;
  Result<void> add_to(const Threads& threads, std::int64_t origin, ReadContext& context,
                      std::vector<ProfileBuilder>& profiles);

 private:
  struct Frame {
    std::string_view id, parent;
    FrameId frame;
    std::uint64_t place = 0;
  };
  struct Sample {
    std::int64_t time = 0;
    std::uint32_t thread = 0;
    std::string_view stack;  // id; empty: `context` is meant
    std::int64_t weight = 1;
    ContextId context = kRootContext;
    FrameId leaf;        // of an event, below its stack
    bool timed = false;  // lasts until the thread's next one
  };
  Result<void> link();
  FrameId frame_of(std::string_view name, std::string_view module, std::uint32_t line, std::uint32_t column,
                   std::string_view file);

  ProfileBuilder builder_;
  std::vector<Frame> frames_;
  std::vector<ContextId> contexts_;
  std::unordered_map<std::string_view, std::uint32_t> row_of_;
  std::vector<Sample> samples_;
  bool any_timed_ = false;
  std::uint64_t n_bad_weights_ = 0, n_missing_ = 0;
};

}  // namespace profd::chrome_trace

// What Austin's text and MOJO have in common: the mode, its metrics, and samples of a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/reader.h"

namespace profd::austin {

enum class Mode : std::uint8_t { unknown, wall, cpu, memory, full };

Mode parse_mode(std::string_view text);

// Values of one sample. Memory is a difference and may be negative.
struct Values {
  std::int64_t time_us = 0, memory = 0;
  bool idle = false;
};

// Adds samples in the units of the model. Metrics by mode: wall and unknown `wall`, cpu `cpu`, memory
// `memory` (bytes taken less bytes given back); full all of `wall`, `cpu` (what was not idle), `allocated`
// and `freed`.
class Samples {
 public:
  Samples(ProfileBuilder& builder, Mode mode) : builder_(builder), mode_(mode) {}
  // When the whole file has been looked at for what its mode is.
  void declare();
  Mode mode() const { return mode_; }
  void add(ContextId context, const Values& values, const SampleContext& where);
  std::uint64_t n_clamped() const { return n_clamped_; }

 private:
  std::int64_t nanoseconds(std::int64_t us);

  ProfileBuilder& builder_;
  Mode mode_;
  std::uint64_t n_clamped_ = 0;
};

// `# key: value` of the text, METADATA of MOJO.
void apply_metadata(std::string_view key, std::string_view value, ProfileInfo& info, Mode& mode);

struct FrameSource {
  std::string_view file, function;
  std::uint32_t line = 0, column = 0;
};
FrameId make_frame(const FrameSource& source, ProfileBuilder& builder);
FrameId gc_frame(ProfileBuilder& builder);

Result<void> read_text(const ByteSource& source, ReadContext& context, ProfileBuilder& builder);
Result<void> read_mojo(const ByteSource& source, ReadContext& context, ProfileBuilder& builder);

}  // namespace profd::austin

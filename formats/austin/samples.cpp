#include "formats/austin/samples.h"

#include <array>
#include <limits>

#include "formats/support/text_number.h"

namespace profd::austin {

Mode parse_mode(std::string_view text) {
  if (text == "wall") return Mode::wall;
  if (text == "cpu") return Mode::cpu;
  if (text == "memory") return Mode::memory;
  if (text == "full") return Mode::full;
  return Mode::unknown;
}

void Samples::declare() {
  switch (mode_) {
    case Mode::cpu:
      builder_.add_metric("cpu", "nanoseconds");
      break;
    case Mode::memory:
      builder_.add_metric("memory", "bytes");
      break;
    case Mode::full:
      builder_.set_default_metric(builder_.add_metric("wall", "nanoseconds"));
      builder_.add_metric("cpu", "nanoseconds");
      builder_.add_metric("allocated", "bytes");
      builder_.add_metric("freed", "bytes");
      break;
    case Mode::wall:
    case Mode::unknown:
      builder_.add_metric("wall", "nanoseconds");
      break;
  }
}

std::int64_t Samples::nanoseconds(std::int64_t us) {
  std::int64_t ns;
  if (!__builtin_mul_overflow(us, std::int64_t{1000}, &ns)) return ns;
  ++n_clamped_;
  return us < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

void Samples::add(ContextId context, const Values& values, const SampleContext& where) {
  std::array<std::int64_t, 4> out{};
  std::size_t n = 1;
  if (mode_ == Mode::memory) {
    out[0] = values.memory;
  } else if (mode_ == Mode::full) {
    n = 4;
    out[0] = nanoseconds(values.time_us);
    out[1] = values.idle ? 0 : out[0];
    if (values.memory > 0) out[2] = values.memory;
    if (values.memory < 0)
      out[3] = values.memory == std::numeric_limits<std::int64_t>::min()
                   ? std::numeric_limits<std::int64_t>::max()
                   : -values.memory;
  } else {
    out[0] = nanoseconds(values.time_us);
  }
  builder_.add_sample(context, std::span<const std::int64_t>(out).first(n), where);
}

void apply_metadata(std::string_view key, std::string_view value, ProfileInfo& info, Mode& mode) {
  std::int64_t number;
  if (key == "mode") {
    const Mode found = parse_mode(value);
    if (found != Mode::unknown) mode = found;
  } else if (key == "austin") {
    info.producer = "Austin " + std::string(value);
  } else if (key == "interval" && parse_int(value, number) && number > 0 && number < (1ll << 50)) {
    info.period = number * 1000;
    info.period_type = "time";
    info.period_unit = "nanoseconds";
  } else if (key == "duration" && parse_int(value, number) && number >= 0 && number < (1ll << 50)) {
    info.duration_ns = number * 1000;
  } else {
    info.properties.emplace_back(key, value);
  }
}

FrameId make_frame(const FrameSource& source, ProfileBuilder& builder) {
  FunctionSpec function;
  function.name = builder.string(source.function.empty() ? "(unnamed)" : source.function);
  FrameSpec frame;
  frame.kind = FrameKind::interpreted;
  if (source.file == "kernel") {
    frame.kind = FrameKind::kernel;
  } else if (!source.file.empty()) {
    const bool python = source.file.ends_with(".py") || source.file.front() == '<';
    function.file = builder.string(source.file);
    // austinp's native frames name a library or a source of another language.
    if (!python && (source.file.ends_with(".c") || source.file.ends_with(".cpp") ||
                    source.file.ends_with(".cc") || source.file.ends_with(".h") ||
                    source.file.ends_with(".so") || source.file.find(".so.") != std::string_view::npos))
      frame.kind = FrameKind::native;
  }
  frame.function = builder.function(function);
  frame.line = source.line;
  frame.column = source.column;
  return builder.frame(frame);
}

FrameId gc_frame(ProfileBuilder& builder) {
  return builder.frame({.function = builder.function("(garbage collection)"), .kind = FrameKind::gc});
}

}  // namespace profd::austin

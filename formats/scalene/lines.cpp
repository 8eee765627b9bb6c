#include "formats/scalene/lines.h"

#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace profd::scalene {
namespace {

constexpr double kBytesPerMegabyte = 1048576;

enum Column : std::uint8_t { kCpu, kPython, kNative, kSystem, kMalloc, kCopy, kNColumns };

struct LineValues {
  std::array<double, kNColumns> values{};
  std::int64_t mallocs = 0;
  std::int64_t line = 0, first_line_of_function = 0;
};

struct MetricName {
  std::string_view name, unit;
};
constexpr std::array<MetricName, kNColumns> kMetrics{{{"cpu", "percent"},
                                                      {"python", "percent"},
                                                      {"native", "percent"},
                                                      {"system", "percent"},
                                                      {"malloc", "bytes"},
                                                      {"copy", "bytes/second"}}};

class LineReading {
 public:
  LineReading(JsonCursor& in, ReadContext& context, ProfileBuilder& builder)
      : in_(in), context_(context), builder_(builder) {}

  Result<void> run() {
    for (std::size_t i = 0; i < kNColumns; ++i)
      metrics_[i] = builder_.add_metric(kMetrics[i].name, kMetrics[i].unit, true);
    mallocs_ = builder_.add_metric("mallocs", "count");
    builder_.set_default_metric(metrics_[kCpu]);
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      PROFD_CHECK(context_.stop.status());
      const std::string path(key);
      read_file(path);
    }
    PROFD_CHECK(in_.status());
    if (n_left_out_ > 0)
      context_.report.add(
          "peaks", Severity::loss,
          "Peak and average memory, use of cores and of the GPU are no sums and were not read.", std::nullopt,
          n_left_out_);
    return {};
  }

 private:
  void read_file(const std::string& path) {
    // Lines name the function they are in by its first line; names are in `functions`.
    std::uint64_t lines = 0, functions = 0;
    const std::uint32_t depth = in_.depth() + 1;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "lines" && in_.kind() == JsonKind::array) lines = in_.offset();
      if (key == "functions" && in_.kind() == JsonKind::array) functions = in_.offset();
      in_.skip();
    }
    if (!in_.ok()) return;
    std::map<std::int64_t, std::string> names;
    JsonCursor other = in_;
    if (functions != 0) {
      other.seek(functions, depth);
      read_functions(other, names);
    }
    if (other.ok() && lines != 0) {
      other.seek(lines, depth);
      for (other.begin_array(); other.next_element();) {
        const LineValues values = read_line(other);
        if (other.ok()) add(path, names, values);
      }
    }
    if (!other.ok()) {
      const Error error = other.status().error();
      in_.fail_at(error.offset.value_or(0), error.code, error.message);
    }
  }

  static void read_functions(JsonCursor& in, std::map<std::int64_t, std::string>& names) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      std::string name;
      std::int64_t line = 0;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "line" && in.kind() == JsonKind::string)
          name = in.string();
        else if (key == "lineno" && in.kind() == JsonKind::number)
          line = in.integer();
        else
          in.skip();
      }
      if (in.ok()) names[line] = name;
    }
  }

  static double amount(JsonCursor& in) {
    const std::uint64_t at = in.offset();
    const double value = in.number().value;
    if (in.ok() && !(std::abs(value) < 1e15))
      in.fail_at(at, ErrorCode::malformed, "the value is out of range");
    return value;
  }

  LineValues read_line(JsonCursor& in) {
    LineValues out;
    std::string_view key;
    bool left_out = false;
    for (in.begin_object(); in.next_key(key);) {
      if (in.kind() != JsonKind::number) {
        in.skip();
      } else if (key == "lineno") {
        out.line = in.integer();
      } else if (key == "start_function_line") {
        out.first_line_of_function = in.integer();
      } else if (key == "n_cpu_percent_python") {
        out.values[kPython] = amount(in);
      } else if (key == "n_cpu_percent_c") {
        out.values[kNative] = amount(in);
      } else if (key == "n_sys_percent") {
        out.values[kSystem] = amount(in);
      } else if (key == "n_malloc_mb") {
        out.values[kMalloc] = amount(in) * kBytesPerMegabyte;
      } else if (key == "n_copy_mb_s") {
        out.values[kCopy] = amount(in) * kBytesPerMegabyte;
      } else if (key == "n_mallocs") {
        out.mallocs = in.integer();
      } else if (key == "n_peak_mb" || key == "n_gpu_percent" || key == "n_core_utilization") {
        left_out |= amount(in) != 0;
      } else {
        in.skip();
      }
    }
    n_left_out_ += left_out;
    out.values[kCpu] = out.values[kPython] + out.values[kNative] + out.values[kSystem];
    return out;
  }

  void add(const std::string& path, const std::map<std::int64_t, std::string>& names,
           const LineValues& line) {
    bool any = line.mallocs != 0;
    for (const double value : line.values) any |= value != 0;
    if (!any) return;
    FunctionSpec function;
    function.file = builder_.string(path);
    const auto found =
        line.first_line_of_function > 0 ? names.find(line.first_line_of_function) : names.end();
    if (found != names.end()) {
      function.name = builder_.string(found->second);
      if (line.first_line_of_function < kNone)
        function.start_line = static_cast<std::uint32_t>(line.first_line_of_function);
    } else {
      // Older files do not say which function a line is in: it stands for its file.
      const std::size_t slash = path.find_last_of("/\\");
      function.name =
          builder_.string(fmt::format("[{}]", path.substr(slash == std::string::npos ? 0 : slash + 1)));
      function.unresolved = true;
    }
    FrameSpec frame;
    frame.function = builder_.function(function);
    frame.kind = FrameKind::interpreted;
    if (line.line > 0 && line.line < kNone) frame.line = static_cast<std::uint32_t>(line.line);
    const ContextId context = builder_.context(kRootContext, builder_.frame(frame));
    for (std::size_t i = 0; i < kNColumns; ++i) {
      if (line.values[i] != 0) builder_.add_self(context, metrics_[i], line.values[i]);
    }
    if (line.mallocs != 0) builder_.add_self(context, mallocs_, line.mallocs);
  }

  JsonCursor& in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::array<MetricId, kNColumns> metrics_;
  MetricId mallocs_;
  std::uint64_t n_left_out_ = 0;
};

}  // namespace

Result<void> read_lines(JsonCursor& in, ReadContext& context, ProfileBuilder& builder) {
  return LineReading(in, context, builder).run();
}

}  // namespace profd::scalene

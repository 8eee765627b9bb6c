#include "server/feature/recording_text.h"

#include <filesystem>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/typed_line.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kCommandColumns = 60;
constexpr double kLongest_s = 1e9;  // what a file says may be no time at all

std::string took_text(double seconds) {
  if (!(seconds >= 0 && seconds < kLongest_s)) return std::string(kUnknown);
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

// How long such a command takes hangs on what had to be compiled.
bool builds_first(const RecordingMeta& meta) {
  if (meta.argv.empty() || !meta.attached.empty()) return false;
  const std::string_view program = base_name(meta.argv.front());
  return program == "cargo" || program == "go";
}

std::string short_command(const RecordingMeta& meta) {
  return cut_to_width(sanitize_text(typed_line(meta.argv)), kCommandColumns);
}

}  // namespace

std::string run_before_text(const RecordingMeta& before, const RecordingMeta& now) {
  if (before.interrupted || now.interrupted || builds_first(now)) return "";
  const std::string change = relative_change(before.duration_s, now.duration_s);
  return fmt::format("The run before took {}, this one {}{}", took_text(before.duration_s),
                     took_text(now.duration_s), change.empty() ? "" : " (" + change + ")");
}

std::string recording_text(const RecordingMeta& meta, const RecordingMeta* before) {
  const std::string command = short_command(meta);
  if (!meta.failure.empty()) return fmt::format("{}: {}", command, meta.failure);
  if (meta.profile.empty()) return fmt::format("{}: {} wrote no profile", command, meta.tool);
  std::string out = fmt::format("{} {} {}", command, meta.interrupted ? "was interrupted after" : "took",
                                took_text(meta.duration_s));
  const bool counted = meta.samples && *meta.samples > 0;
  out += counted ? fmt::format(": {} by {}.", count_of(*meta.samples, "record", "records"), meta.tool)
                 : fmt::format(", measured by {}.", meta.tool);
  if (meta.lost && *meta.lost > 0)
    out += fmt::format(" {} lost.", count_of(*meta.lost, "record was", "records were"));
  if (meta.exit_code != 0 && !meta.interrupted) out += fmt::format(" It ended with {}.", meta.exit_code);
  if (before != nullptr)
    if (const std::string beside = run_before_text(*before, meta); !beside.empty()) out += " " + beside + ".";
  return out;
}

std::string recorded_command(const std::string& uri) {
  const auto path = path_of_uri(uri);
  if (!path) return "";
  const std::filesystem::path folder = std::filesystem::path(*path).parent_path();
  const auto recording = read_recording(folder.parent_path().string(), folder.filename().string());
  return recording ? short_command(recording->meta) : "";
}

}  // namespace profd

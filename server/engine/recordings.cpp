#include "server/engine/recordings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "server/engine/atomic_file.h"

namespace profd {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kStamp = 17;  // "20261120T192814Z-"
constexpr std::size_t kMostMeta = (std::size_t{1} << 20) + 1;
constexpr const char* kPin = "pinned";

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

Result<void> make_plain_folder(const fs::path& path) {
  std::error_code error;
  if (::mkdir(path.c_str(), 0777) == 0 || fs::symlink_status(path, error).type() == fs::file_type::directory)
    return {};
  return fail(ErrorCode::io, fmt::format("{} cannot be made, or is no folder", path.string()));
}

Result<void> write_text(const std::string& path, std::string_view text) {
  PROFD_TRY(AtomicFile file, AtomicFile::create(path, 0666));
  PROFD_CHECK(file.write(std::as_bytes(std::span(text.data(), text.size()))));
  return file.commit();
}

// Folders of recordings by name, the oldest first.
std::vector<std::string> folder_names(const std::string& place) {
  std::vector<std::string> out;
  std::error_code error;
  fs::directory_iterator at(place, error);
  for (; !error && at != fs::directory_iterator() && out.size() < kMostRecordings; at.increment(error)) {
    std::error_code unknown;
    const std::string name = at->path().filename().string();
    if (is_recording_name(name) && at->symlink_status(unknown).type() == fs::file_type::directory)
      out.push_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uint64_t bytes_in(const std::string& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  std::size_t seen = 0;
  fs::recursive_directory_iterator at(folder, error);
  for (; !error && at != fs::recursive_directory_iterator() && seen < kMostRecordings;
       at.increment(error), ++seen) {
    std::error_code unknown;
    if (at->symlink_status(unknown).type() != fs::file_type::regular) continue;
    // What several recordings keep is on the disk once.
    const auto size = at->file_size(unknown), names = at->hard_link_count(unknown);
    if (!unknown) bytes += size / std::max<std::uintmax_t>(names, 1);
  }
  return bytes;
}

bool has_pin(const std::string& folder) {
  std::error_code error;
  return fs::exists(fs::symlink_status(folder + "/" + kPin, error));
}

// Words and the folder, so that no two commands have one text.
std::string confirmed_text(const RecordingMeta& meta) {
  std::string out = meta.cwd;
  if (!meta.attached.empty()) out += std::string("\0\0", 2) + meta.attached;
  for (const std::string& word : meta.argv) {
    out += '\0';
    out += word;
  }
  return out;
}

// Where it is kept that a command was typed; "" nowhere.
std::string confirmed_file(const std::string& text) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (state != nullptr && state[0] == '/')
    folder = state;
  else if (home != nullptr && home[0] == '/')
    folder = std::string(home) + "/.local/state";
  else
    return "";
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{}/profd/recorded/{:016x}{:016x}", folder, hash.high64, hash.low64);
}

}  // namespace

std::string recording_name(std::int64_t seconds_since_1970, std::string_view program) {
  std::string out =
      fmt::format("{:%Y%m%dT%H%M%SZ}-", fmt::gmtime(static_cast<std::time_t>(seconds_since_1970)));
  const std::string_view name = program.substr(program.rfind('/') + 1);
  for (const char c : name.substr(0, 40))
    if (is_name_letter(c)) out += c;
  return out.size() == kStamp ? out + "program" : out;
}

bool is_recording_name(std::string_view name) {
  if (name.size() <= kStamp || name.size() > 100) return false;
  for (std::size_t i = 0; i < kStamp; ++i) {
    const bool digit = name[i] >= '0' && name[i] <= '9';
    const bool fits = i == 8 ? name[i] == 'T' : i == 15 ? name[i] == 'Z' : i == 16 ? name[i] == '-' : digit;
    if (!fits) return false;
  }
  return std::all_of(name.begin(), name.end(), is_name_letter);
}

Result<std::string> recordings_place(const std::string& project) {
  std::error_code error;
  const fs::path place = fs::path(project) / ".profd" / "recordings";
  for (const fs::path& part : {place.parent_path(), place}) {
    const fs::file_type type = fs::symlink_status(part, error).type();
    if (type != fs::file_type::not_found && type != fs::file_type::directory)
      return fail(ErrorCode::invalid,
                  fmt::format("{} is a link or a file: recordings go into a folder of this project alone",
                              part.string()));
  }
  return place.string();
}

Result<std::string> make_recording(const std::string& place, const std::string& name) {
  PROFD_CHECK(make_plain_folder(fs::path(place).parent_path()));
  PROFD_CHECK(make_plain_folder(place));
  std::error_code error;
  if (!fs::exists(fs::symlink_status(place + "/.gitignore", error)))
    PROFD_CHECK(write_text(place + "/.gitignore", "*\n"));
  for (int number = 1; number < 1000; ++number) {
    std::string path = place + "/" + name + (number == 1 ? "" : fmt::format("-{}", number));
    // What is recorded may tell of secrets, as arguments and names do.
    if (::mkdir(path.c_str(), 0700) == 0) return path;
    if (errno != EEXIST) break;
  }
  return fail(ErrorCode::io, fmt::format("no folder for a recording can be made in {}", place));
}

std::vector<std::string> recording_names(const std::string& place, std::size_t most) {
  std::vector<std::string> names = folder_names(place);
  std::reverse(names.begin(), names.end());
  if (names.size() > most) names.resize(most);
  return names;
}

std::optional<KeptRecording> read_recording(const std::string& place, const std::string& name) {
  KeptRecording out;
  out.name = name;
  out.path = place + "/" + name;
  std::error_code error;
  const std::string file = out.path + "/meta.json";
  if (!is_recording_name(name) || fs::symlink_status(file, error).type() != fs::file_type::regular)
    return std::nullopt;
  std::string text(kMostMeta, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  auto meta = read_meta(text);
  if (!meta) return std::nullopt;
  out.meta = std::move(*meta);
  // A link in the folder is none of its files.
  if (fs::symlink_status(out.path + "/" + out.meta.profile, error).type() != fs::file_type::regular)
    out.meta.profile.clear();
  out.bytes = bytes_in(out.path);
  out.pinned = has_pin(out.path);
  return out;
}

std::vector<KeptRecording> list_recordings(const std::string& place, std::size_t most) {
  std::vector<KeptRecording> out;
  for (const std::string& name : recording_names(place, most))
    if (auto recording = read_recording(place, name)) out.push_back(std::move(*recording));
  return out;
}

const KeptRecording* run_before(const std::vector<KeptRecording>& recordings, std::string_view name,
                                const RecordingMeta& meta) {
  const auto same = [&](const KeptRecording& other) {
    const RecordingMeta& last = other.meta;
    return other.name < name && last.argv == meta.argv && last.cwd == meta.cwd && last.tool == meta.tool &&
           last.attached.empty() == meta.attached.empty() && !last.profile.empty() && last.failure.empty();
  };
  const auto found = std::find_if(recordings.begin(), recordings.end(), same);
  return found == recordings.end() ? nullptr : &*found;
}

std::size_t remove_oldest(const std::string& place, const RecordingLimits& limits) {
  const std::vector<std::string> names = folder_names(place);
  std::vector<std::uint64_t> sizes;
  std::uint64_t bytes = 0;
  for (const std::string& name : names) bytes += sizes.emplace_back(bytes_in(place + "/" + name));
  std::size_t removed = 0;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    if (names.size() - removed <= limits.count && bytes <= limits.bytes) break;
    const std::string folder = place + "/" + names[i];
    if (has_pin(folder)) continue;
    std::error_code error;
    fs::remove_all(folder, error);
    if (error) continue;
    bytes -= sizes[i];
    ++removed;
  }
  return removed;
}

Result<void> pin_recording(const std::string& place, const std::string& name, bool pinned) {
  const std::vector<std::string> names = folder_names(place);
  if (std::find(names.begin(), names.end(), name) == names.end())
    return fail(ErrorCode::not_found,
                fmt::format("there is no recording {}; profd record --list has them", name));
  const std::string file = place + "/" + name + "/" + kPin;
  if (pinned) return write_text(file, "");
  std::error_code error;
  fs::remove(file, error);
  if (error) return fail(ErrorCode::io, fmt::format("{}: {}", file, error.message()));
  return {};
}

Result<void> confirm_command(const RecordingMeta& meta) {
  const std::string text = confirmed_text(meta);
  const std::string file = confirmed_file(text);
  if (file.empty()) return fail(ErrorCode::io, "there is no folder for the state of this user");
  std::error_code error;
  fs::create_directories(fs::path(file).parent_path(), error);
  PROFD_TRY(AtomicFile out, AtomicFile::create(file, 0600));
  PROFD_CHECK(out.write(std::as_bytes(std::span(text.data(), text.size()))));
  return out.commit();
}

bool is_confirmed(const RecordingMeta& meta) {
  const std::string text = confirmed_text(meta);
  const std::string file = confirmed_file(text);
  if (file.empty()) return false;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream known;
  known << in.rdbuf();
  return in.good() && known.str() == text;
}

}  // namespace profd

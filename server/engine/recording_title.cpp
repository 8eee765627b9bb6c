#include "server/engine/recording_title.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/engine/recordings.h"

namespace profd {
namespace {

constexpr std::size_t kMostTitle = 60;  // bytes
constexpr std::string_view kBetween = " · ";

bool is_among(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Runs a program that is named by a word after its own options.
bool runs_another(std::string_view name) {
  const std::string_view letters = name.substr(0, name.find_first_of("0123456789."));
  return is_among(letters, {"python", "node", "nodejs", "ruby", "java", "perl", "bash", "sh", "dotnet"});
}

bool takes_a_word(std::string_view option) {
  return is_among(option, {"-W", "-X", "-r", "-I", "-C", "-cp", "-classpath", "--class-path", "-p",
                           "--module-path", "--require", "--import"});
}

// Names come from anybody's meta.json.
std::string plain(std::string_view text) {
  std::string out(text.substr(0, kMostTitle));
  if (text.size() > kMostTitle) {
    // Not in the middle of a character.
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty()) out.pop_back();
    out += "…";
  }
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return out;
}

// The word after the program's own options, or its own name.
std::string_view named_program(const std::vector<std::string>& argv) {
  for (std::size_t i = 1; i < argv.size(); ++i) {
    const std::string_view word = argv[i];
    const bool names = is_among(word, {"-m", "-jar", "--module"});
    if (names && i + 1 < argv.size()) return base_name(argv[i + 1]);
    if (word.starts_with("-m") && word.size() > 2 && word[2] != '-') return word.substr(2);
    if (is_among(word, {"-c", "-e", "-"})) break;
    if (takes_a_word(word))
      ++i;
    else if (!word.starts_with("-") && word != "exec" && word != "run")
      return base_name(word);
  }
  return base_name(argv.front());
}

// What such a program does has a name, and mostly an object that comes last: no option, and no option's word
// where that is likely.
std::string task_of(std::string_view name, const std::vector<std::string>& argv) {
  std::string out(name);
  if (argv.size() < 2 || argv[1].starts_with("-")) return out;
  out += " " + argv[1];
  const std::string& last = argv.back();
  const bool is_word = name != "cargo" && argv[argv.size() - 2].starts_with("-");
  if (argv.size() > 2 && !last.starts_with("-") && last != "." && !is_word) out += " " + last;
  return out;
}

std::string local_time(std::string_view recording) {
  std::tm utc{};
  if (::strptime(std::string(recording.substr(0, 15)).c_str(), "%Y%m%dT%H%M%S", &utc) == nullptr) return "";
  const std::time_t seconds = ::timegm(&utc);
  std::tm local{};
  if (::localtime_r(&seconds, &local) == nullptr) return "";
  static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:%H:%M:%S}", local.tm_mday, kMonths[static_cast<std::size_t>(local.tm_mon)],
                     local);
}

std::optional<KeptRecording> recording_of(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(path).parent_path(), place = folder.parent_path();
  if (place.filename() != "recordings") return std::nullopt;
  return read_recording(place.string(), folder.filename().string());
}

}  // namespace

std::string short_program(const std::vector<std::string>& argv) {
  if (argv.empty()) return "";
  const std::string_view name = base_name(argv.front());
  if (argv.front().find("://") != std::string::npos) {
    const std::string_view host = std::string_view(argv.front()).substr(argv.front().find("://") + 3);
    return plain(host.substr(0, host.find('/')));
  }
  if (is_among(name, {"go", "cargo", "npm", "npx", "mvn", "gradle"})) return plain(task_of(name, argv));
  return plain(runs_another(name) ? named_program(argv) : name);
}

std::string profile_title(const std::string& path) {
  const std::string file(base_name(path));
  const auto recording = recording_of(path);
  if (!recording) return file;
  std::string out = short_program(recording->meta.argv);
  const std::string time = local_time(recording->name);
  if (out.empty() || time.empty()) return file;
  out += std::string(kBetween) + time;
  return recording->meta.profile == file ? out : out + std::string(kBetween) + file;
}

bool is_whole_run(const std::string& path) {
  const auto recording = recording_of(path);
  if (!recording || recording->meta.argv.empty()) return false;
  const RecordingMeta& meta = recording->meta;
  const std::string_view program = base_name(meta.argv.front());
  const bool measures_a_time = (program == "go" || program == "cargo") &&
                               std::any_of(meta.argv.begin(), meta.argv.end(), [](const std::string& word) {
                                 return word == "bench" || word.starts_with("-bench");
                               });
  return meta.attached.empty() && !meta.interrupted && !measures_a_time && meta.profile == base_name(path);
}

std::string sides_title(std::string_view before, std::string_view after) {
  const std::size_t program = before.find(kBetween);
  std::string_view rest = after;
  if (program != before.npos && program + kBetween.size() <= after.size() &&
      after.starts_with(before.substr(0, program + kBetween.size()))) {
    rest = after.substr(program + kBetween.size());
    const std::string_view then = before.substr(program + kBetween.size());
    // "26 Nov 14:03:06": the day.
    const std::size_t day = then.rfind(' ');
    if (day != then.npos && day + 1 < rest.size() && rest.starts_with(then.substr(0, day + 1)))
      rest = rest.substr(day + 1);
  }
  return fmt::format("{} → {}", before, rest);
}

}  // namespace profd

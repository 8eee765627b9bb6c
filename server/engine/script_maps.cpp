#include "server/engine/script_maps.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/source/mapped_scripts.h"
#include "formats/support/file_url.h"
#include "formats/support/script_map_reader.h"
#include "server/platform/open_below.h"
#include "server/platform/read_whole.h"
#include "server/runtime/base64.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

// "http://host/a/b.js?v=1" -> "a/b.js", "file:///a/b.js" -> "/a/b.js"; paths as they are.
std::string path_of_script(std::string_view named) {
  if (named.starts_with("file:")) return path_from_file_url(named);
  if (const std::size_t scheme = named.find("://"); scheme != std::string_view::npos) {
    const std::size_t slash = named.find('/', scheme + 3);
    named = slash == std::string_view::npos ? std::string_view() : named.substr(slash + 1);
    named = named.substr(0, named.find_first_of("?#"));
  }
  return std::string(named);
}

std::string normal(const std::string& path) {
  return fs::path(path).lexically_normal().string();
}

struct Candidates {
  std::vector<std::string> paths;
  std::size_t n_named = 0;  // the first of them: as the profile says, and by the mappings
};

// Where a script may be, the likeliest first; the last ones are below the roots by the end of its path.
Candidates candidates_of(const std::string& path, const ScriptRoots& roots) {
  constexpr std::size_t kMostParts = 8, kMost = 256;
  Candidates out;
  const auto add = [&](std::string candidate) {
    candidate = normal(candidate);
    std::vector<std::string>& paths = out.paths;
    if (paths.size() < kMost && std::find(paths.begin(), paths.end(), candidate) == paths.end())
      paths.push_back(std::move(candidate));
  };
  if (path.empty() || path.find('\0') != std::string::npos) return out;
  if (path.front() == '/') add(path);
  for (const PathMapping& mapping : roots.mappings) {
    std::string_view from = mapping.from;
    while (from.ends_with('/')) from.remove_suffix(1);
    if (path.starts_with(from) && path.size() > from.size() && path[from.size()] == '/')
      add(mapping.to + path.substr(from.size()));
  }
  out.n_named = out.paths.size();
  std::vector<std::size_t> begins;  // of the last parts of the path
  for (std::size_t at = path.size(); at > 0 && begins.size() < kMostParts; --at)
    if (path[at - 1] == '/') begins.push_back(at);
  if (begins.size() < kMostParts && path.front() != '/') begins.push_back(0);
  for (auto begin = begins.rbegin(); begin != begins.rend(); ++begin)
    for (const std::string& root : roots.folders) add(root + "/" + path.substr(*begin));
  return out;
}

std::string percent_decoded(std::string_view text) {
  return path_from_file_url("file:///" + std::string(text)).substr(1);
}

class ScriptFinding {
 public:
  ScriptFinding(const ProfilePtr& profile, const ScriptRoots& roots, const StopToken& stop)
      : profile_(profile), roots_(roots), stop_(stop) {}

  Result<ScriptsMapped> run() && {
    ScriptsMapped out;
    out.profile = profile_;
    if (roots_.folders.empty()) return out;
    std::vector<ProfiledScript> scripts = scripts_of(*profile_);
    if (scripts.size() > kMaxScripts) scripts.resize(kMaxScripts);
    for (const ProfiledScript& script : scripts) {
      ScriptAnswer answer;
      answer.script = profile_->strings()[script.file];
      answer.share = script.share;
      PROFD_CHECK(find(script, answer));
      out.scripts.push_back(std::move(answer));
    }
    if (by_file_.empty()) return out;
    PROFD_TRY(MappedScripts mapped, map_scripts(*profile_, by_file_, stop_));
    out.profile = std::move(mapped.profile);
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      const auto counts = mapped.counts.find(scripts[i].file.v);
      if (counts == mapped.counts.end()) continue;
      out.scripts[i].n_mapped = counts->second.n_mapped;
      out.scripts[i].n_without_source = counts->second.n_without_source;
      out.scripts[i].n_unclear_lines = counts->second.n_unclear_lines;
    }
    return out;
  }

 private:
  Result<std::string> read(const std::string& path) {
    PROFD_TRY(const UniqueFd fd, open_below(roots_.folders, path));
    const std::size_t left = kMaxScriptBytesInAll - n_bytes_;
    const std::size_t most = std::min(kMaxScriptBytes, left);
    PROFD_TRY(std::string text,
              read_whole(fd.get(), path, most,
                         fmt::format("is larger than the {} MiB that are read of it", most >> 20), stop_));
    n_bytes_ += text.size();
    return text;
  }

  // Errors are those that end all of it; what is wrong with the script is in the answer.
  Result<void> find(const ProfiledScript& profiled, ScriptAnswer& answer) {
    PROFD_CHECK(stop_.status());
    const std::string path = path_of_script(answer.script);
    const Candidates candidates = candidates_of(path, roots_);
    std::string other;
    for (std::size_t i = 0; i < candidates.paths.size(); ++i) {
      const std::string& candidate = candidates.paths[i];
      const bool named = i < candidates.n_named;
      auto text = read(candidate);
      if (!text && text.error().code == ErrorCode::cancelled) return tl::unexpected<Error>(text.error());
      if (!text && text.error().code == ErrorCode::limit && named) {
        answer.state = ScriptState::unusable;
        answer.file = candidate;
        answer.reason = text.error().message;
        return {};
      }
      if (!text) continue;
      texts_.push_back(std::move(*text));
      ScriptText script(texts_.back());
      const std::string_view url = source_map_url(script.text());
      const ScriptEvidence evidence = script_evidence(*profile_, profiled, script);
      if (!url.empty() && !evidence.other_text() && (named || evidence.confirms())) {
        answer.file = candidate;
        return read_map(profiled.file, url, std::move(script), answer);
      }
      texts_.pop_back();
      if (!named) continue;
      if (url.empty()) {
        answer.state = ScriptState::no_map;
        answer.file = candidate;
        answer.reason = "it names no source map";
        return {};
      }
      other = candidate;
    }
    if (!other.empty()) {
      answer.state = ScriptState::other_text;
      answer.file = other;
      answer.reason =
          "its functions do not begin where the profile says: it was built again after the recording";
      answer.remedy = "Record again, or keep the build that was recorded.";
    } else {
      answer.reason = "no file of the workspace is it";
      answer.remedy = "Open its folder as a workspace, or say in `map` of .profd.toml where it is.";
    }
    return {};
  }

  Result<void> read_map(StringId file, std::string_view url, ScriptText script, ScriptAnswer& answer) {
    answer.state = ScriptState::unusable;
    MapPlace place = map_place(url, answer.file);
    answer.map = place.path;
    answer.reason = place.reason;
    if (!place.reason.empty()) {
      answer.remedy = "Put the map beside the script, and let its last line name it.";
      return {};
    }
    if (!place.path.empty()) {
      auto text = read(place.path);
      if (!text) {
        if (text.error().code == ErrorCode::cancelled) return tl::unexpected<Error>(text.error());
        const bool outside = text.error().code == ErrorCode::not_found;
        answer.reason = outside ? fmt::format("its source map {} is not a file of the workspace", place.path)
                                : text.error().message;
        if (outside) answer.remedy = "Build with source maps, or open the folder that the map is in as well.";
        return {};
      }
      place.text = std::move(*text);
    }
    auto map = read_script_map(place.text);
    const std::string of = place.path.empty() ? "its source map" : "its source map " + place.path;
    if (!map) {
      answer.reason = fmt::format("{} cannot be read: {}", of, map.error().message);
      return {};
    }
    if (!is_map_of(*map, script)) {
      answer.reason = of + " is of another text: its places are not those of the script";
      answer.remedy = "Build the script and its map again, then record.";
      return {};
    }
    const std::string folder = fs::path(place.path.empty() ? answer.file : place.path).parent_path().string();
    for (std::string& source : map->sources) source = source_path(source, folder);
    scripts_.push_back({std::move(*map), std::move(script)});
    by_file_.emplace(file.v, &scripts_.back());
    answer.state = ScriptState::mapped;
    return {};
  }

  const ProfilePtr& profile_;
  const ScriptRoots& roots_;
  StopToken stop_;
  std::size_t n_bytes_ = 0;
  std::deque<std::string> texts_;  // of scripts, which stay where they are
  std::deque<Script> scripts_;
  std::unordered_map<std::uint32_t, const Script*> by_file_;
};

}  // namespace

ScriptRoots ScriptRoots::of_file(const std::string& file) const {
  ScriptRoots roots = *this;
  std::error_code error;
  const fs::path folder = fs::absolute(file, error).parent_path();
  if (beside_profile && !error && !file.starts_with("/dev/")) roots.folders.push_back(folder.string());
  return roots;
}

bool ScriptRoots::add(const ScriptRoots& others) {
  bool added = false;
  for (const std::string& folder : others.folders) {
    if (std::find(folders.begin(), folders.end(), folder) != folders.end()) continue;
    folders.push_back(folder);
    added = true;
  }
  for (const PathMapping& mapping : others.mappings) {
    const auto same = [&](const PathMapping& own) {
      return own.from == mapping.from && own.to == mapping.to;
    };
    if (std::any_of(mappings.begin(), mappings.end(), same)) continue;
    mappings.push_back(mapping);
    added = true;
  }
  beside_profile = beside_profile || others.beside_profile;
  return added;
}

MapPlace map_place(std::string_view url, const std::string& script_path) {
  MapPlace out;
  if (url.starts_with("data:")) {
    const std::size_t comma = url.find(',');
    const std::string_view kind = url.substr(0, comma);
    std::optional<std::string> text;
    if (comma != std::string_view::npos && kind.ends_with(";base64"))
      text = from_base64(url.substr(comma + 1));
    else if (comma != std::string_view::npos)
      text = percent_decoded(url.substr(comma + 1));
    if (text)
      out.text = std::move(*text);
    else
      out.reason = "the source map within it is no base64";
    return out;
  }
  std::string path;
  if (url.starts_with("file:")) {
    path = path_from_file_url(url);
  } else if (url.find("://") != std::string_view::npos || url.starts_with("//")) {
    out.reason = fmt::format("its source map {} was not fetched: nothing is, from a network", url);
    return out;
  } else {
    const std::string_view bare = url.substr(0, url.find_first_of("?#"));
    path = (fs::path(script_path).parent_path() / percent_decoded(bare)).string();
  }
  if (path.empty() || path.front() != '/' || path.find('\0') != std::string::npos)
    out.reason = "the name of its source map is no path";
  else
    out.path = normal(path);
  return out;
}

std::string source_path(std::string_view source, const std::string& folder) {
  if (source.starts_with("file:")) return path_from_file_url(source);
  if (source.empty() || source.find('\0') != std::string_view::npos) return std::string(source);
  if (const std::size_t scheme = source.find("://"); scheme != std::string_view::npos) {
    const std::size_t host = source.find('/', scheme + 3);
    if (host == std::string_view::npos) return std::string(source);
    return std::string(source.substr(0, host)) +
           fs::path("/" + std::string(source.substr(host + 1))).lexically_normal().string();
  }
  return normal((fs::path(folder) / std::string(source)).string());
}

Result<ScriptsMapped> map_scripts_of(const ProfilePtr& profile, const ScriptRoots& roots,
                                     const StopToken& stop) {
  return ScriptFinding(profile, roots, stop).run();
}

void report_scripts(const std::vector<ScriptAnswer>& scripts, ImportReport& report) {
  for (const ScriptAnswer& script : scripts) {
    const auto add = [&](std::string_view kind, std::string_view message, std::uint64_t n) {
      if (n > 0) report.add(kind, Severity::info, message, std::nullopt, n);
    };
    add("source-map", "Functions and lines of scripts are those of their sources, as source maps say.",
        script.n_mapped);
    add("source-map-no-source", "Code of scripts that their source maps have no source of stays as it is.",
        script.n_without_source);
    add("source-map-line",
        "The function is known and the line is not: it is of several source lines, and the profile has no "
        "columns.",
        script.n_unclear_lines);
    if (script.state == ScriptState::unusable)
      report.add("source-map-unusable", Severity::loss,
                 fmt::format("Names and lines of a script are not those of its sources: {}: {}.",
                             script.script, script.reason));
    if (script.state == ScriptState::other_text)
      report.add("source-map-other-script", Severity::loss,
                 fmt::format("Names and lines of a script are not those of its sources: {}: {}.",
                             script.script, script.reason));
  }
}

}  // namespace profd

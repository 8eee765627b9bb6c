#include "server/engine/analyses.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "server/engine/atomic_file.h"
#include "server/engine/bundled_analyses.h"
#include "server/engine/project_trust.h"

namespace profd {
namespace fs = std::filesystem;
namespace {

constexpr const char* kAnalysisEnding = ".lua";
constexpr int kLevelsAbove = 64;

struct Bundled {
  std::string_view name, text;
};
constexpr Bundled kBundled[] = {
    {"allocation_churn", kAllocationChurn},
    {"false_sharing", kFalseSharing},
    {"gc_share", kGcShare},
    {"lock_holders", kLockHolders},
    {"lock_hot_spots", kLockHotSpots},
    {"recursion_collapse", kRecursionCollapse},
    {"request_breakdown", kRequestBreakdown},
    {"scaling_loss", kScalingLoss},
    {"startup_only", kStartupOnly},
    {"thread_imbalance", kThreadImbalance},
    {"top_regressions", kTopRegressions},
};

std::string folder_of_user(const char* variable, const char* below_home) {
  const char* const set = std::getenv(variable);
  if (set != nullptr && *set == '/') return set;
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + below_home : std::string();
}

Error of_script(Error error, const std::string& name) {
  error.message = fmt::format("{}: {}", name, describe(error));
  return error;
}

Result<Analysis> with_head(Analysis analysis) {
  auto head = parse_analysis_head(analysis.text);
  if (!head) {
    Error error = of_script(head.error(), analysis.path.empty() ? analysis.name : analysis.path);
    error.where.clear();
    return tl::unexpected<Error>(std::move(error));
  }
  analysis.head = std::move(*head);
  if (analysis.head.title.empty()) analysis.head.title = analysis.name;
  return analysis;
}

void add_folder(const std::string& folder, AnalysisOrigin origin, std::map<std::string, Analysis>& known,
                std::vector<std::string>& problems) {
  std::error_code failed;
  std::vector<std::string> names;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    if (at->path().extension() == kAnalysisEnding) names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  if (names.size() > kMaxAnalyses) {
    problems.push_back(fmt::format("{}: {} scripts beyond the first {} are not taken", folder,
                                   names.size() - kMaxAnalyses, kMaxAnalyses));
    names.resize(kMaxAnalyses);
  }
  for (const std::string& name : names) {
    const std::string path = (fs::path(folder) / (name + kAnalysisEnding)).string();
    if (!is_analysis_name(name)) {
      problems.push_back(
          fmt::format("{} is not used: the name of a script has letters, digits, _ and -", path));
      continue;
    }
    auto read = read_analysis(origin, name, path);
    if (read)
      known[name] = std::move(*read);
    else
      problems.push_back(read.error().message);
  }
}

// The folder of scripts of a workspace; "" none that is taken.
std::string folder_of_root(const std::string& root, std::vector<std::string>& problems) {
  fs::path at(root);
  for (int level = 0; level < kLevelsAbove; ++level) {
    const fs::path folder = at / ".profd" / "analyses";
    std::error_code failed;
    if (fs::is_directory(folder, failed)) {
      for (const fs::path& part : {at, at / ".profd", folder})
        if (const auto why = why_open_to_others(part.string())) {
          problems.push_back(fmt::format("{} is not used: {} {}", folder.string(), part.string(), *why));
          return "";
        }
      if (!really_inside(at.string(), folder.string())) {
        problems.push_back(fmt::format("{} is not used: it leads out of its folder", folder.string()));
        return "";
      }
      return folder.string();
    }
    if (why_open_to_others(at.string()) || !at.has_relative_path()) break;
    at = at.parent_path();
  }
  return "";
}

// A place for what was said yes to, by the path of the script.
std::string trusted_file(const Analysis& analysis, const AnalysisPlaces& places) {
  const XXH128_hash_t hash = XXH3_128bits(analysis.path.data(), analysis.path.size());
  return fmt::format("{}/{:016x}{:016x}{}", places.trusted_folder, hash.high64, hash.low64, kAnalysisEnding);
}

// Texts of two paths that share a place do not stand for each other.
std::string trusted_text(const Analysis& analysis) {
  return analysis.path + "\n" + analysis.text;
}

Result<void> make_folder(const std::string& folder, mode_t mode) {
  std::error_code failed;
  fs::create_directories(fs::path(folder).parent_path(), failed);
  if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", folder, failed.message()));
  if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST)
    return fail(ErrorCode::io, fmt::format("{}: {}", folder, std::generic_category().message(errno)));
  return {};
}

}  // namespace

AnalysisPlaces analysis_places(std::vector<std::string> roots) {
  AnalysisPlaces out;
  out.roots = std::move(roots);
  const std::string config = folder_of_user("XDG_CONFIG_HOME", "/.config");
  const std::string state = folder_of_user("XDG_STATE_HOME", "/.local/state");
  if (!config.empty()) out.user_folder = config + "/profd/analyses";
  if (!state.empty()) out.trusted_folder = state + "/profd/trusted-analyses";
  return out;
}

bool is_analysis_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<Analysis> read_analysis(AnalysisOrigin origin, const std::string& name, const std::string& path) {
  Analysis out{name, origin, path, {}, {}};
  if (origin == AnalysisOrigin::bundled) {
    const auto* const found = std::find_if(std::begin(kBundled), std::end(kBundled),
                                           [&](const Bundled& one) { return one.name == name; });
    if (found == std::end(kBundled))
      return fail(ErrorCode::not_found, fmt::format("profd brings no analysis {}", name));
    out.text = found->text;
  } else {
    PROFD_TRY(out.text, read_project_text(path, kMaxAnalysisText));
  }
  return with_head(std::move(out));
}

FoundAnalyses find_analyses(const AnalysisPlaces& places) {
  FoundAnalyses out;
  std::map<std::string, Analysis> known;
  for (const Bundled& one : kBundled)
    if (auto read = read_analysis(AnalysisOrigin::bundled, std::string(one.name), ""); read)
      known[read->name] = std::move(*read);
  if (!places.user_folder.empty()) add_folder(places.user_folder, AnalysisOrigin::user, known, out.problems);
  // Of several roots the first counts, so that it comes last.
  for (auto root = places.roots.rbegin(); root != places.roots.rend(); ++root)
    if (const std::string folder = folder_of_root(*root, out.problems); !folder.empty())
      add_folder(folder, AnalysisOrigin::workspace, known, out.problems);
  for (auto& [name, analysis] : known) out.analyses.push_back(std::move(analysis));
  return out;
}

Result<Analysis> find_analysis(const AnalysisPlaces& places, std::string_view name) {
  FoundAnalyses found = find_analyses(places);
  std::vector<std::string_view> names;
  for (Analysis& analysis : found.analyses) {
    if (analysis.name == name) return std::move(analysis);
    names.push_back(analysis.name);
  }
  // One that is there and cannot be read is what was meant.
  const std::string file = fmt::format("/{}{}", name, kAnalysisEnding);
  for (const std::string& problem : found.problems)
    if (problem.find(file) != std::string::npos) return fail(ErrorCode::invalid, problem);
  return fail(ErrorCode::not_found,
              fmt::format("there is no analysis `{}`; there are: {}", name, fmt::join(names, ", ")));
}

bool is_trusted(const Analysis& analysis, const AnalysisPlaces& places) {
  if (analysis.origin != AnalysisOrigin::workspace) return true;
  if (places.trusted_folder.empty()) return false;
  const auto known = read_project_text(trusted_file(analysis, places), kMaxAnalysisText + 8192);
  return known && *known == trusted_text(analysis);
}

Result<void> trust(const Analysis& analysis, const AnalysisPlaces& places) {
  if (analysis.origin != AnalysisOrigin::workspace) return {};
  if (places.trusted_folder.empty())
    return fail(ErrorCode::io, "there is no folder to keep in what runs: HOME is not set");
  PROFD_CHECK(make_folder(places.trusted_folder, 0700));
  PROFD_TRY(AtomicFile file, AtomicFile::create(trusted_file(analysis, places), 0600));
  const std::string text = trusted_text(analysis);
  PROFD_CHECK(file.write(std::as_bytes(std::span(text))));
  return file.commit();
}

std::string trust_question(const Analysis& analysis) {
  return fmt::format(
      "{} is a script of this workspace that you have not run in this form. It can read the profiles it "
      "is given, and no file, network or process. Run it?",
      analysis.path);
}

std::string text_hash(std::string_view text) {
  static const std::uint64_t kSeed = [] {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
  }();
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), kSeed);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::string> save_analysis(const AnalysisPlaces& places, const std::string& name,
                                  const std::string& text, bool overwrite) {
  if (!is_analysis_name(name))
    return fail(ErrorCode::invalid, "the name of a script has letters, digits, _ and -, at most 100");
  if (text.size() > kMaxAnalysisText)
    return fail(ErrorCode::limit, fmt::format("a script has at most {} KiB", kMaxAnalysisText >> 10));
  if (places.roots.empty()) return fail(ErrorCode::invalid, "there is no workspace to save a script in");
  const fs::path root(places.roots.front());
  const fs::path folder = root / ".profd" / "analyses";
  PROFD_CHECK(make_folder((root / ".profd").string(), 0777));
  PROFD_CHECK(make_folder(folder.string(), 0777));
  if (!really_inside(root.string(), folder.string()))
    return fail(ErrorCode::invalid, fmt::format("{} leads out of the workspace", folder.string()));
  Analysis made{name, AnalysisOrigin::workspace, (folder / (name + kAnalysisEnding)).string(), text, {}};
  PROFD_TRY(AtomicFile file, AtomicFile::create_named(made.path, overwrite));
  PROFD_CHECK(file.write(std::as_bytes(std::span(text))));
  PROFD_CHECK(file.commit());
  PROFD_CHECK(trust(made, places));
  return made.path;
}

}  // namespace profd

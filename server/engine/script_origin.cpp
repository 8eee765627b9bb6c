#include "server/engine/script_origin.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

std::string uri_of_script(const ScriptSpec& spec) {
  std::string uri = fmt::format("{}://?run={}", kScriptScheme, percent_encoded(spec.name));
  const auto add = [&](std::string_view key, const std::string& value) {
    uri += fmt::format("&{}={}", key, percent_encoded(value));
  };
  if (spec.text) add("given", text_hash(*spec.text));
  if (!spec.path.empty()) add("file", spec.path);
  for (const ComposedPart& part : spec.parts) add("of", uri_of(part));
  for (const auto& [name, value] : spec.arguments) add("arg", name + "=" + value);
  return uri;
}

std::string name_of_script(const ScriptSpec& spec) {
  std::string name = spec.name + " of ";
  for (std::size_t i = 0; i < spec.parts.size(); ++i)
    name += (i == 0 ? "" : ", ") + profd::name_of(spec.parts[i]);
  return name;
}

}  // namespace

Error script_error(const std::string& name, const ScriptOutcome& outcome) {
  Error error{ErrorCode::invalid, fmt::format("{}: {}", name, outcome.error), std::nullopt, {}};
  if (outcome.line > 0) error.message = fmt::format("{}, line {}: {}", name, outcome.line, outcome.error);
  return error;
}

ScriptOrigin::ScriptOrigin(ScriptSpec spec, ScriptMeans means, AnalysisPlaces places)
    : spec_(std::move(spec)),
      means_(std::move(means)),
      places_(std::move(places)),
      uri_(uri_of_script(spec_)),
      name_(name_of_script(spec_)) {
  key_ = fmt::format("script {}\n{}\n{}", spec_.name, spec_.path, spec_.text.value_or(""));
  for (const auto& [name, value] : spec_.arguments) key_ += fmt::format("\narg {}={}", name, value);
  for (const ComposedPart& part : spec_.parts)
    key_ += fmt::format("\nof {}\n{}", part.member, part.origin->key());
}

OriginPolicy ScriptOrigin::policy() const {
  OriginPolicy out;
  out.tells_failure = !spec_.is_run;
  return out;
}

std::shared_ptr<const ScriptOutcome> ScriptOrigin::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

Result<Analysis> ScriptOrigin::script() const {
  if (spec_.text) {
    Analysis given{spec_.name, AnalysisOrigin::user, {}, *spec_.text, {}};
    PROFD_TRY(given.head, parse_analysis_head(given.text));
    return given;
  }
  PROFD_TRY(Analysis read, read_analysis(spec_.origin, spec_.name, spec_.path));
  if (!is_trusted(read, places_))
    return fail(ErrorCode::invalid,
                fmt::format("{} has changed, or was never run: it runs when you have said yes to it, which "
                            "running it again asks about",
                            spec_.path));
  return read;
}

Result<Load> ScriptOrigin::load(const LoadContext& context) const {
  Load out;
  out.profiles = std::make_shared<LoadedProfiles>();
  LoadedProfiles& made = *out.profiles;
  // Before anything is read: what changes meanwhile is looked at again.
  std::optional<FileStamp> stamp;
  if (!spec_.path.empty())
    if (const auto now = stamp_of(spec_.path)) stamp = *now;
  PROFD_TRY(const Analysis analysis, script());
  if (const std::size_t n = spec_.parts.size();
      n < analysis.head.min_profiles || n > analysis.head.max_profiles)
    return fail(ErrorCode::invalid, fmt::format("{} is of {}, and {} {} given", spec_.name,
                                                profiles_text(analysis.head), n, n == 1 ? "is" : "are"));
  worker::ScriptRun run{spec_.name, analysis.text, {}};
  PROFD_TRY(run.arguments, bind_arguments(analysis.head, spec_.arguments));
  std::vector<ScriptInput> inputs;
  for (const ComposedPart& part : spec_.parts) {
    PROFD_TRY(LoadedPart loaded, load_part(part, {}, context));
    if (loaded.loaded != part.loaded) made.memory += loaded.loaded->memory;
    made.freshness += loaded.loaded->freshness + "\n";
    for (const WatchedPath& watched : loaded.loaded->watched) made.watched.push_back(watched);
    for (const ReportRow& row : loaded.loaded->report.rows())
      made.report.add(row.kind, row.severity, fmt::format("{}: {}", profd::name_of(part), row.message),
                      std::nullopt, row.count);
    inputs.push_back({profd::name_of(part), std::move(loaded.profile)});
  }
  if (stamp) {
    made.watched.push_back({spec_.path, *stamp});
    made.freshness += fmt::format("{} {}", stamp->mtime_ns, stamp->size);
  }
  PROFD_TRY(ScriptOutcome outcome, run_script(run, inputs, means_, context.stop));
  const auto kept = std::make_shared<const ScriptOutcome>(std::move(outcome));
  {
    const std::lock_guard lock(mutex_);
    outcome_ = kept;
  }
  if (!kept->error.empty()) return tl::unexpected<Error>(script_error(spec_.name, *kept));
  if (kept->profile == nullptr)
    return fail(ErrorCode::not_found, fmt::format("{} changed nothing of the profile", spec_.name));
  made.decision.format = kScriptScheme;
  made.decision.certain = true;
  made.profiles.push_back(kept->profile);
  made.memory += memory_of(made.profiles);
  return out;
}

std::optional<std::string> ScriptOrigin::freshness() const {
  // What was given is nowhere to be read again.
  if (spec_.text) return std::nullopt;
  std::string fresh;
  for (const ComposedPart& part : spec_.parts) {
    const auto own = part.origin->freshness();
    if (!own) return std::nullopt;
    fresh += *own + "\n";
  }
  if (spec_.path.empty()) return fresh;
  const auto stamp = stamp_of(spec_.path);
  if (!stamp) return std::nullopt;
  return fresh + fmt::format("{} {}", stamp->mtime_ns, stamp->size);
}

Result<OriginPtr> script_origin(std::string_view uri, const OpenOptions& options, const Origins& origins) {
  ScriptSpec spec;
  PROFD_TRY(const std::vector<UriParameter> parameters, parameters_of_uri(uri));
  for (const auto& [key, value] : parameters) {
    if (key == "run") {
      spec.name = value;
    } else if (key == "file") {
      spec.path = value;
    } else if (key == "of") {
      if (spec.parts.size() == kMostOfAnalysis)
        return fail(ErrorCode::limit, fmt::format("a script is of at most {} profiles", kMostOfAnalysis));
      PROFD_TRY(ComposedPart part, part_of_uri(value, options, origins));
      spec.parts.push_back(std::move(part));
    } else if (key == "arg") {
      const std::size_t is = value.find('=');
      if (is == std::string::npos) return fail(ErrorCode::invalid, "`arg` in the URI takes NAME=VALUE");
      spec.arguments.emplace_back(value.substr(0, is), value.substr(is + 1));
    } else if (key == "given") {
      return fail(
          ErrorCode::invalid,
          "that script was run as it was written and is kept nowhere; once it is saved its results can be "
          "opened again");
    } else {
      return fail(ErrorCode::invalid, fmt::format("`{}` in the URI is not known", key));
    }
  }
  if (spec.parts.empty() || !is_analysis_name(spec.name))
    return fail(ErrorCode::invalid, "a script URI names a script (run) and its profiles (of)");
  AnalysisPlaces places = analysis_places({});
  if (!spec.path.empty() &&
      (spec.path.front() != '/' || std::filesystem::path(spec.path).lexically_normal().string() != spec.path))
    return fail(ErrorCode::invalid, "the script of a URI (file) is named by its whole path");
  // Whoever made the URI does not say whose a file is: below the folder of settings it is the user's own.
  if (!spec.path.empty())
    spec.origin = !places.user_folder.empty() && lies_below(spec.path, places.user_folder)
                      ? AnalysisOrigin::user
                      : AnalysisOrigin::workspace;
  return std::make_shared<const ScriptOrigin>(
      std::move(spec), ScriptMeans{script_runner_path(), ScriptMeans{}.patience}, std::move(places));
}

}  // namespace profd

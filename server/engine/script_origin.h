// What a script makes of profiles, as an origin: `script://?run=NAME&of=URI&of=URI`, with `file=PATH` where
// profd does not bring the script and `arg=NAME=VALUE` for each argument that is given. Loading it loads the
// parts and runs the script; when a part or the script changes it has changed. A script that its user has to
// say yes to first fails to load until then.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/analyses.h"
#include "server/engine/composed_origin.h"
#include "server/engine/origin.h"
#include "server/engine/origins.h"
#include "server/engine/script_run.h"

namespace profd {

inline constexpr std::string_view kScriptScheme = "script";

struct ScriptSpec {
  std::string name;
  AnalysisOrigin origin = AnalysisOrigin::bundled;
  std::string path;                 // of the script; "" of one that profd brings or that was given
  std::optional<std::string> text;  // of one that was given, which is kept nowhere else
  std::vector<ComposedPart> parts;
  GivenArguments arguments;
  bool is_run = false;  // who asked is told what came of it, so that no profile is no failure
};

class ScriptOrigin final : public Origin {
 public:
  ScriptOrigin(ScriptSpec spec, ScriptMeans means, AnalysisPlaces places);

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return name_; }
  const std::string& place() const override { return name_; }
  // `not_found` where the script made no profile: outcome() has what it made in its place.
  Result<Load> load(const LoadContext& context) const override;
  std::optional<std::string> freshness() const override;
  OriginPolicy policy() const override;

  // Of the newest run; null: none ended yet. Any thread.
  [[nodiscard]] std::shared_ptr<const ScriptOutcome> outcome() const;

 private:
  [[nodiscard]] Result<Analysis> script() const;

  ScriptSpec spec_;
  ScriptMeans means_;
  AnalysisPlaces places_;
  std::string key_, uri_, name_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const ScriptOutcome> outcome_;
};

// Of one of the URIs above. `invalid` for a script that was given: it is kept nowhere.
Result<OriginPtr> script_origin(std::string_view uri, const OpenOptions& options, const Origins& origins);

// Why a script did not run to its end, as a sentence that begins with its name and line.
Error script_error(const std::string& name, const ScriptOutcome& outcome);

}  // namespace profd

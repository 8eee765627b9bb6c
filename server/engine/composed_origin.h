// Origins that are put together of others: a diff, an aggregate, a join. Loading one loads its parts; when a
// part changes it has changed.
//
//   diff://?after=URI&before=URI      each as often as a side has runs
//   aggregate://?of=URI&of=URI
//   join://?of=URI&of=URI
//   & filter=CLAUSES                  of a diff, behind one of its parts: what of that is compared
//   & scale=raw|duration|totals|bulk  of a diff; else raw, unless durations differ and are no whole runs
//   & metric=BEFORE:AFTER             of a diff: a metric before is compared with another after
//   & rename=OLD=NEW                  of a diff: a rule of core/view/rename_rules.h; each as often as there
//   are rules & match=exact|suggested|name      of a diff; else exact
//   & derive=NAME=FORMULA             as often as there are formulas: those that add up become metrics of the
//   parts that have what they name
// A part's URI is percent-encoded; "#NAME" at its end (number from 1, or name) is one profile of several in
// it.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/scaling.h"
#include "core/model/composition.h"
#include "core/model/matching.h"
#include "core/view/derived_metric.h"
#include "server/engine/origin.h"
#include "server/engine/origins.h"

namespace profd {

struct ComposedPart {
  OriginPtr origin;
  std::string member;   // "" the first
  bool before = false;  // of a diff
  // What somebody has loaded of it already; taken while it is as fresh as the origin.
  std::shared_ptr<const LoadedProfiles> loaded;
  // Of a diff: filters as parse_filters() has them, none that a workspace decides on; "" all of it. What they
  // leave lasts as long as its windows of time.
  std::string filter = {};
};

struct ComposeSpec {
  Composed kind = Composed::aggregate;
  std::vector<ComposedPart> parts;
  std::optional<Scaling> scale;                // of a diff; nothing: raw, unless the durations differ
  std::map<std::string, std::string> metrics;  // before -> after
  MatchRules match;                            // of a diff
  std::vector<DerivedMetric> derive;           // those that do not add up are left out
  std::string name;                            // for people; "" by the parts
};

inline constexpr std::size_t kMaxParts = 10'000;

// Fails with `invalid` without parts, or without one on either side of a diff; `limit` beyond kMaxParts; and
// as RenameRules::compile() and parse_filters() do.
Result<OriginPtr> composed_origin(ComposeSpec spec);
// Of one of the URIs above; parts are made by `origins`.
Result<OriginPtr> composed_origin(std::string_view uri, const OpenOptions& options, const Origins& origins);

// The profile of a part, and all that was loaded with it.
struct LoadedPart {
  std::shared_ptr<const LoadedProfiles> loaded;
  ProfilePtr profile;
  [[nodiscard]] std::int64_t written_ns() const;
};
// Loads the part, unless what it brings is fresh, with its names and the metrics of `derive` that add up. On
// a worker. Errors name the part.
Result<LoadedPart> load_part(const ComposedPart& part, const std::vector<DerivedMetric>& derive,
                             const LoadContext& context);
// The URI of a part, with the profile that is meant, and back.
std::string uri_of(const ComposedPart& part);
Result<ComposedPart> part_of_uri(const std::string& text, const OpenOptions& options, const Origins& origins);
// For people.
std::string name_of(const ComposedPart& part);

// "raw", "duration" (per second), "totals", "bulk"; nothing for another text.
std::optional<Scaling> parse_scale(std::string_view text);

inline constexpr std::array<std::string_view, 3> kMatchWords = {"exact", "suggested", "name"};
// One of those; nothing for another text.
std::optional<MatchMode> parse_match(std::string_view text);

}  // namespace profd

// Origins that are put together of others: a diff, an aggregate, a join. Loading one loads its parts; when a
// part changes it has changed.
//
//   diff://?after=URI&before=URI      each as often as a side has runs
//   aggregate://?of=URI&of=URI
//   join://?of=URI&of=URI
//   & scale=raw|duration|totals|bulk  of a diff; else raw, unless the durations differ
//   & metric=BEFORE:AFTER             of a diff: a metric before is compared with another after
// A part's URI is percent-encoded; "#NAME" at its end (number from 1, or name) is one profile of several in
// it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/compare/scaling.h"
#include "core/model/composition.h"
#include "server/engine/origin.h"
#include "server/engine/origins.h"

namespace profd {

struct ComposedPart {
  OriginPtr origin;
  std::string member;   // "" the first
  bool before = false;  // of a diff
  // What somebody has loaded of it already; taken while it is as fresh as the origin.
  std::shared_ptr<const LoadedProfiles> loaded;
};

struct ComposeSpec {
  Composed kind = Composed::aggregate;
  std::vector<ComposedPart> parts;
  std::optional<Scaling> scale;                // of a diff; nothing: raw, unless the durations differ
  std::map<std::string, std::string> metrics;  // before -> after
  std::string name;                            // for people; "" by the parts
};

inline constexpr std::size_t kMaxParts = 10'000;

// Fails with `invalid` without parts, or without one on either side of a diff; `limit` beyond kMaxParts.
Result<OriginPtr> composed_origin(ComposeSpec spec);
// Of one of the URIs above; parts are made by `origins`.
Result<OriginPtr> composed_origin(std::string_view uri, const OpenOptions& options, const Origins& origins);

// "raw", "duration" (per second), "totals", "bulk"; nothing for another text.
std::optional<Scaling> parse_scale(std::string_view text);

}  // namespace profd

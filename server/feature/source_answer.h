// A source file as clients get it: what its lines and functions cost; and where a path or function of a
// profile is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/feature/annotate.h"
#include "server/feature/table_answer.h"

namespace profd {

// How sure it is that the file and its lines are those of the profile.
struct EvidenceAnswer {
  Doubt doubt = Doubt::none;
  LineTrust lines = LineTrust::measured;
  bool uncertain = false;  // lines may stand elsewhere by now
  std::string text;        // plain, without control characters
};

struct SourceAnswer {
  FileAnnotations file;            // the lines above the threshold
  std::vector<std::string> paths;  // the profile's spellings of the file
  std::optional<EvidenceAnswer> evidence;
  std::string metric, unit;
  Amount file_total;                // what passes through any frame of the file, each stack once
  std::vector<MetricRows> columns;  // of the lines, by metric asked for
  std::optional<Exclusion> excluded;
  std::string estimated;  // why numbers are estimates; "" none is
  std::vector<FunctionCost> functions;
  std::optional<ChangeColumns> changes, function_changes;  // of a diff: of the lines, of the functions
};
Needs needs_of_source(const AnnotateRequest& request);
// `metrics`: of the columns; the first is the request's.
Result<SourceAnswer> source_answer(Views& views, const AnnotateRequest& request,
                                   const std::vector<MetricId>& metrics, const StopToken& stop);

struct ResolveRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  std::optional<std::string> path, function;  // one at least; as the profile says
  std::optional<std::uint32_t> line;          // 1-based
};
struct ResolvedPlace {
  std::string path;        // in the workspace
  std::uint32_t line = 0;  // 1-based; 0 unknown
  MappingRule rule = MappingRule::exact;
  bool weak = false;
  std::string wanted;  // as the profile says
};
struct ResolveAnswer {
  std::vector<ResolvedPlace> places;  // at most 100
  std::string text;                   // the answer as a sentence
  std::string symbol;  // what the function is called where it is written; "" none was asked about
};
ResolveAnswer resolve_source(const ResolveRequest& request);

}  // namespace profd

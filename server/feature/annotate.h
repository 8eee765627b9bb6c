// What the lines and functions of a source file cost: line hints, lenses, heat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/document.h"
#include "server/engine/views.h"
#include "server/feature/changes.h"
#include "server/feature/line_functions.h"
#include "server/feature/line_places.h"
#include "server/feature/share.h"

namespace profd {

class SidePlaces;

struct AnnotateRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;
  std::string path;                          // of the document
  std::shared_ptr<const Document> document;  // null: not open, lines are as the profile says
  MetricId metric{0u};
  std::vector<Filter> filters;
  double threshold = 0.005;
};

struct AnnotatedLine {
  std::uint32_t line = 0;         // 0-based, in the document as it is now
  std::uint32_t source_line = 0;  // 1-based, as the profile says; 0: of a diff, which has it before alone
  std::uint32_t before_line = 0;  // of a diff: as the profile before says
  std::uint32_t row = 0;          // in LineValues
  std::string text;               // the hint
  double heat =
      0;  // 0..1, square root of the share, 1 for the hottest line of the file; of a diff the strength
  bool is_function = false;          // the costs are those of the whole function that begins here
  bool changed = false;              // the line changed since the profile
  bool stale = false;                // changed, or it is not certain that the numbers belong to it
  std::optional<CostChange> change;  // of a diff
};

struct FileAnnotations {
  std::vector<StringId> files;  // the profile's spellings of the file; empty: it has nothing on it
  MappingRule rule = MappingRule::suffix;
  std::shared_ptr<const SourceFile> source;  // how sure it is that they are; null when there is none
  std::shared_ptr<const LineValues> values;
  std::shared_ptr<const SidePlaces> sides;  // of a diff; else null
  // What passed the filters; of a diff that of the metric after, whose rows have all metrics. Null when the
  // profile has nothing on the file.
  SelectionPtr selection;
  Whole whole;
  std::vector<AnnotatedLine> lines;    // above the threshold, by rising line
  std::vector<std::uint32_t> hottest;  // lines of the document, hottest first, at most ten
  std::size_t n_below = 0;             // lines below the threshold
};
Result<FileAnnotations> annotate_file(Views& views, const AnnotateRequest& request, const StopToken& stop);

// Where the profile has what an annotation says, for functions_on_line().
std::vector<SideLine> measured_lines(const FileAnnotations& file, const AnnotatedLine& line);

struct FunctionCost {
  std::uint32_t line = 0;  // 0-based, in the document as it is now
  bool stale = false;
  std::string name;
  Key key = 0;  // at function granularity
  Value self, total;
  bool total_estimated = false;
  std::optional<CostChange> change;       // of a diff
  Value unplaced_before, unplaced_after;  // of its selfs: on lines that are not known to be in the text now
  std::string text;  // the lens: "total 45.0 % · self 3.2 % · 4 callers · worst: ParseRow 60.0 %"
};
// The functions defined in the file that are above the threshold, hottest first, without their texts.
Result<std::vector<FunctionCost>> functions_of_file(Views& views, const AnnotateRequest& request,
                                                    const StopToken& stop);
// The same with texts, by line; at most 200, the hottest.
Result<std::vector<FunctionCost>> annotate_functions(Views& views, const AnnotateRequest& request,
                                                     const StopToken& stop);

// The view the numbers are of.
ViewSpec annotation_spec(const AnnotateRequest& request, Granularity granularity = Granularity::function);
// Of annotate_file() and annotate_functions().
Needs needs_of_lines(const AnnotateRequest& request);
Needs needs_of_functions(const AnnotateRequest& request);

}  // namespace profd

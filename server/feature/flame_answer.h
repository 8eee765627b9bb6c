// A flame graph as clients get it: the boxes of a layout as columns, with names, texts and flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/statistic.h"
#include "core/layout/flame.h"
#include "server/feature/box_colors.h"
#include "server/feature/box_sets.h"
#include "server/feature/box_target.h"
#include "server/feature/changes.h"
#include "server/feature/metric_values.h"

namespace profd {

// Of an aggregate, how uneven the totals of its inputs are: the largest beside the mean, the standard
// deviation beside the mean, what all others wait for the largest.

struct FlameRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;            // marks the boxes whose source is there
  ViewSpec spec;                          // any shape but flat
  LayoutRequest layout;                   // its shape, focus and zoom are filled in from here
  BoxTarget zoom;                         // the box that fills the width
  bool number_nodes = false;              // fills that column
  std::string color_metric;               // stored or by formula; "" none
  std::vector<std::string> metrics;       // further ones of every box, stored or by formula
  std::optional<Statistic> color_spread;  // of an aggregate; goes before color_metric
  std::string search;                     // RE2; "" none
  std::vector<NamedSet> highlights;       // fills that column
  bool work = false;                      // fills that column
  FrameSetsPtr sets;                      // of both; may be null without
  bool details = false;                   // texts and places that only tooltips show
};

// Columns, all equally long; row i is box i. In the order of FlameLayout, remainder boxes apart.
struct BoxColumns {
  std::vector<std::uint32_t> depth;
  std::vector<Value> x, width;
  std::vector<std::uint32_t> name;  // in `names` and `labels`
  std::vector<Value> self, total;
  std::vector<std::string> text;
  std::vector<std::uint32_t> flags;            // box_flag
  std::vector<std::optional<FrameKind>> kind;  // nothing: the root
  std::vector<std::int64_t> key;               // -1: the root
  std::vector<std::int32_t> parent;            // -1: the root has none
  std::optional<std::vector<std::int64_t>> node;
  std::optional<std::vector<std::optional<Value>>> color;  // nothing: no value
  std::optional<std::vector<std::string>> color_text;
  std::optional<std::vector<std::uint32_t>> highlights;             // a bit a set of the request
  std::optional<std::vector<std::int32_t>> work;                    // in `works`; -1: none
  std::optional<std::vector<std::string>> self_text, parent_share;  // details
};

// Of the names, one row a name.
struct NameColumns {
  std::vector<std::int32_t> group;                        // in `groups`; -1 unknown
  std::optional<std::vector<std::int32_t>> module, file;  // details; in `modules`, `files`; -1 unknown
  std::optional<std::vector<std::uint32_t>> line;         // details; 1-based, 0 unknown
};

struct RemainderColumns {
  std::vector<std::uint32_t> depth;
  std::vector<Value> x, width;
  std::vector<std::uint64_t> count;
  std::vector<std::int32_t> parent;
  std::vector<std::string> text;
};

struct SearchShare {
  Amount amount;  // of the whole view
  Amount shown;   // of the zoomed box, through boxes that are here
  std::uint64_t n_names = 0;
};

struct FlameAnswer {
  ViewHead head;
  // Of a zoom by names, as deep as the view has them.
  std::optional<std::vector<std::int64_t>> zoom_path;
  Amount zoom_total;
  std::uint32_t rows = 0;
  std::vector<std::string> names, labels;
  std::vector<std::vector<std::uint32_t>> cuts;  // of `labels`: name_cuts()
  NameColumns named;
  std::vector<std::string> groups, modules, files;
  BoxColumns boxes;
  RemainderColumns remainder;
  std::string truncated;  // a sentence when the bound on boxes cut something off
  std::optional<SearchShare> search;
  std::optional<ColorScale> scale;  // with a metric of colours
  std::vector<WorkKind> works;      // with kinds of work
  std::vector<MetricRows> columns;  // the further metrics, as long as `boxes`
  // Of diffs: the view as a whole, and both sides of every box, as long as `boxes`.
  std::optional<SideTotals> sides;
  std::optional<BoxChanges> changes;
};
Needs needs_of(const FlameRequest& request);
Result<FlameAnswer> flame_answer(Views& views, FlameRequest request, const StopToken& stop);

// What matches beyond the boxes of a layout. An answer of its own: it costs what the profile is large, and no
// box is to wait for it.
struct HiddenMatches {
  ViewHead head;
  Amount zoomed, shown, hidden;  // of the zoomed box: both; through boxes that are here; through others alone
  // As long as BoxColumns: of what is below and has no box, the stacks with a match.
  std::vector<Value> matched_below;
  // As long as RemainderColumns: the joined boxes that match or lead to a match, and the stacks with a match
  // in them.
  std::vector<std::uint64_t> matched;
  std::vector<Value> matched_value;
  std::vector<std::string> matched_text;  // "" where none matches
};
// `request` is that of the layout; fails with `invalid` without a search.
Result<HiddenMatches> hidden_matches(Views& views, FlameRequest request, const StopToken& stop);

// The layout alone, for pictures: `request.layout` with shape, focus and zoom filled in. `view` is of
// `request.spec`.
Result<FlameLayout> flame_layout(Views& views, FlameRequest& request, const PreparedView& view,
                                 const StopToken& stop);

}  // namespace profd

// A flame graph as clients get it: the boxes of a layout as columns, with names, texts and flags.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layout/flame.h"
#include "server/feature/view_answer.h"

namespace profd {

struct FlameRequest {
  OpenProfilePtr open;
  WorkspaceSnapshot workspace;       // marks the boxes whose source is there
  ViewSpec spec;                     // any shape but flat
  LayoutRequest layout;              // its shape, focus and zoom are filled in from here
  std::vector<std::int64_t> zoom;    // keys from below the root
  std::optional<std::int64_t> node;  // instead of `zoom`: of the column of an earlier answer
  bool number_nodes = false;         // fills that column
  std::string color_metric;          // "" none
  std::string search;                // RE2; "" none
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
};

struct RemainderColumns {
  std::vector<std::uint32_t> depth;
  std::vector<Value> x, width;
  std::vector<std::uint64_t> count;
  std::vector<std::int32_t> parent;
  std::vector<std::string> text;
};

struct SearchShare {
  Amount amount;
  std::uint64_t n_names = 0;
};

struct FlameAnswer {
  ViewHead head;
  Amount zoom_total;
  std::uint32_t rows = 0;
  std::vector<std::string> names, labels;
  BoxColumns boxes;
  RemainderColumns remainder;
  std::string truncated;  // a sentence when the bound on boxes cut something off
  std::optional<SearchShare> search;
};
Result<FlameAnswer> flame_answer(Views& views, FlameRequest request, const StopToken& stop);

// The layout alone, for pictures: `request.layout` with shape, focus and zoom filled in. `view` is of
// `request.spec`.
Result<FlameLayout> flame_layout(Views& views, FlameRequest& request, const PreparedView& view,
                                 const StopToken& stop);

}  // namespace profd

// Every row of a view, with all metrics: what CSV and JSON of a view are written from.
#pragma once

#include <functional>
#include <vector>

#include "core/view/selection.h"
#include "formats/writer.h"

namespace profd::writers {

// A view of a profile: one selection a metric, that of the spec's metric first.
struct View {
  ProfilePtr profile;
  ViewSpec spec;
  std::vector<Key> focus;
  std::vector<SelectionPtr> selections;
  std::uint64_t n_uncalled =
      0;  // metrics that no cost of a call is stated of, and so have no place in this tree
  const Selection& first() const { return *selections.front(); }
  const MetricInfo& metric(std::size_t i) const { return profile->metrics()[selections[i]->metric().v]; }
};
// Of options.spec, else of `otherwise`.
Result<View> view_of(const ProfilePtr& profile, const WriteOptions& options, std::string_view otherwise);
// What is in the profile and in no view, and what the filters leave out because they cannot decide on it.
void report_losses_of_view(std::span<const ProfilePtr> profiles, const View& view, LossReport& losses);

struct ViewRow {
  // Of trees: number of the row (the root is 0), that of its parent (kNone for the root) and how far it is
  // from the root. Of flat views: parent kNone, depth 0.
  std::uint32_t id = 0, parent = kNone, depth = 0;
  Key key = kNone;  // kNone: the root
  FrameKind kind = FrameKind::native;
  bool inlined = false;
  // Of trees, in the first metric: the box in a flame graph as wide as the root.
  Value x, width;
  std::vector<Value> self, total;  // by place in View::selections
  std::vector<Estimate> estimate;  // of these
};

// Flat views by self, largest first; trees parents first, children in order of name. What has no value in any
// metric is left out. In every metric the laws of views hold: the selves of a tree sum to its total. A graph
// of calls can have more paths than there is room for: of such a tree boxes below 0.01 % are not opened,
// which is a loss. Fails with `limit` above ten million rows.
Result<void> for_each_row(const View& view, StopToken stop, LossReport& losses,
                          const std::function<Result<void>(const ViewRow&)>& each);
// "", "self", "total" or "self and total".
std::string_view text_of(Estimate estimate);

std::string_view text_of(FrameKind kind);

}  // namespace profd::writers

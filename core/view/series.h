// Series: what each input of a composed profile has of something that its views show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/composition.h"
#include "core/support/result.h"
#include "core/support/stop.h"
#include "core/view/path_contexts.h"
#include "core/view/selection.h"
#include "core/view/spec.h"

namespace profd {

// Values as the inputs have them: not scaled, no means. Those of keys of a selection or of boxes of a view,
// in their order.
struct KeySeries {
  std::size_t n_inputs = 0;
  std::vector<double> self, total;  // of key or box i in input j: [i * n_inputs + j]

  [[nodiscard]] std::span<const double> self_of(std::size_t i) const {
    return {self.data() + i * n_inputs, n_inputs};
  }
  [[nodiscard]] std::span<const double> total_of(std::size_t i) const {
    return {total.data() + i * n_inputs, n_inputs};
  }
};

// `of`: of Composition::of. The rows are those that the selection lets through. A total counts a stack once
// however often the key occurs in it. Costs a look at every frame of every row; 16 bytes a key and input.
// Fails with `invalid` where threads, labels or times are filtered: whose values those are is not kept by
// input.
Result<KeySeries> series_of_keys(const Selection& selection, std::uint32_t of, std::span<const Key> keys,
                                 StopToken stop);

// The same of boxes of a tree, those from number `first` on: as trees of the inputs alone have them at that
// path of keys. Boxes that stand for no single path have 0. Costs a look at every frame of every row, and 16
// bytes a box and input. Fails likewise; with `invalid` also for the flat shape, a missing focus, and where
// boxes have no contexts (Selection::divided).
Result<KeySeries> series_of_boxes(const Selection& selection, std::uint32_t of, Shape shape,
                                  const std::vector<Key>& focus, const BoxPaths& boxes, std::size_t first,
                                  StopToken stop);

// The paths of boxes, top-down, that have values of their own: contexts with one path are one.
struct PathSeries {
  std::size_t n_inputs = 0;
  std::vector<std::uint32_t> context;  // by path: the first of its contexts
  std::vector<double> self;            // of path i in input j: [i * n_inputs + j]

  [[nodiscard]] std::span<const double> self_of(std::size_t i) const {
    return {self.data() + i * n_inputs, n_inputs};
  }
};
// Fails likewise; with `limit` where there are so many paths and inputs that the table is beyond `most`
// numbers.
Result<PathSeries> series_of_paths(const Selection& selection, std::uint32_t of, std::size_t most,
                                   StopToken stop);

}  // namespace profd

#include "server/engine/live_city.h"

#include <iterator>
#include <utility>

namespace profd {
namespace {

// Marks with `layout` the rows that differ(row), and those that are new.
template <class Differ>
void mark_rows(std::vector<std::uint32_t>& stamps, std::size_t n_before, std::size_t n, std::uint32_t layout,
               Differ differ) {
  stamps.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    if (i >= n_before || differ(i)) stamps[i] = layout;
}

std::vector<std::uint32_t> rows_since(const std::vector<std::uint32_t>& stamps, std::uint32_t layout) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t i = 0; i < stamps.size(); ++i)
    if (stamps[i] > layout || layout == 0) rows.push_back(i);
  return rows;
}

}  // namespace

std::vector<CityMethod> LiveCity::rows() const {
  std::vector<CityMethod> rows;
  rows.reserve(methods_.size());
  for (const LiveNamed& method : methods_)
    rows.push_back({method.package, method.class_name, method.name, method.signature});
  return rows;
}

void LiveCity::stamp(const City& before) {
  const std::uint32_t now = layout();
  mark_rows(districts_, before.districts.rect.size(), city_.districts.rect.size(), now,
            [&](std::size_t i) { return before.districts.rect[i] != city_.districts.rect[i]; });
  mark_rows(blocks_, before.blocks.rect.size(), city_.blocks.rect.size(), now,
            [&](std::size_t i) { return before.blocks.rect[i] != city_.blocks.rect[i]; });
  mark_rows(plots_, before.plots.x.size(), city_.plots.x.size(), now, [&](std::size_t i) {
    return before.plots.x[i] != city_.plots.x[i] || before.plots.y[i] != city_.plots.y[i];
  });
}

void LiveCity::extend(std::vector<LiveNamed> more, std::string_view separator, std::uint32_t layout) {
  layout_ = layout;
  if (more.empty()) return;
  const bool first = methods_.empty();
  methods_.insert(methods_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  const City before = city_;
  if (first)
    city_ = arrange_city(rows(), separator);
  else
    extend_city(city_, rows());
  stamp(before);
}

void LiveCity::arrange(std::uint32_t layout) {
  layout_ = layout;
  if (methods_.empty()) return;
  city_ = arrange_city(rows(), std::string(city_.separator));
  // Rows may stand for others now.
  stamp({});
}

void LiveCity::join(std::size_t row, live::MethodId method, live::MethodId before, std::uint32_t layout) {
  layout_ = layout;
  methods_[row].method = method;
  methods_[row].before = before;
  plots_[row] = layout;
}

LiveCityPart LiveCity::since(std::uint32_t layout) const {
  if (layout > this->layout()) layout = 0;
  return {rows_since(districts_, layout), rows_since(blocks_, layout), rows_since(plots_, layout)};
}

}  // namespace profd

// Columns: selections side by side in one key space, so that a box or row has a number in each of them: the
// metrics of one profile, the sides of a comparison. A box is there wherever one of them has something, also
// where the column that draws the picture has nothing: what is gone has a place, and what is new.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/view/comparison.h"
#include "core/view/selection.h"

namespace profd {

struct Columns {
  std::vector<SelectionPtr> of;
  std::shared_ptr<const JointKeys> joint;  // null: all have the same boxes, whose keys are meant
  std::vector<std::uint32_t> input;        // by column, which input of `joint` it is; empty without

  [[nodiscard]] std::size_t size() const { return of.size(); }
  [[nodiscard]] std::size_t n_keys() const { return joint ? joint->n_keys() : of[0]->boxes->keys->n_keys(); }
  [[nodiscard]] const std::vector<std::uint32_t>& name_rank() const {
    return joint ? joint->name_rank : of[0]->boxes->keys->name_rank;
  }
  // A key of these as one of a column's own, and back; kNone where the column lacks it.
  [[nodiscard]] Key own_key(std::size_t column, Key key) const {
    if (key >= n_keys()) return kNone;
    return joint ? joint->key_in[input[column]][key] : key;
  }
  [[nodiscard]] Key key_of(std::size_t column, Key own) const {
    return joint ? joint->joint_of[input[column]][own] : own;
  }
  // What is there where a column has nothing.
  [[nodiscard]] Value zero(std::size_t column) const {
    return std::visit([](auto value) -> Value { return decltype(value){}; }, of[column]->sums->total);
  }
};

// Fails with `invalid` when there are none, or when they are not in the same boxes.
Result<Columns> columns_of(std::vector<SelectionPtr> selections);
// By index_of(Side). They hold the comparison.
Columns columns_of(const ComparisonPtr& comparison);

// The flat tables of all columns as one: a row wherever some column has one, in order of key.
struct ColumnRows {
  std::vector<Key> key;
  // By column, by row; 0 where the column has no such row.
  std::vector<std::vector<Value>> self, total;
  std::vector<std::vector<std::uint8_t>> present;
};
Result<ColumnRows> flat_columns(const Columns& columns, const StopToken& stop);

}  // namespace profd

// Adds up parts by key, over and over in the same memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/live/bucket.h"

namespace profd::live {

class PartSum {
 public:
  struct Row {
    std::uint32_t key = 0;
    std::uint64_t ns = 0, calls = 0;
  };

  void add(std::uint32_t key, std::uint64_t ns, std::uint64_t calls) {
    if (key >= places_.size()) places_.resize(key + std::size_t{key} / 2 + 64);
    Place& place = places_[key];
    if (place.round != round_) {
      place = {round_, static_cast<std::uint32_t>(rows_.size())};
      rows_.push_back({key, 0, 0});
    }
    Row& row = rows_[place.row];
    row.ns += ns;
    row.calls += calls;
  }
  void add(std::span<const Part> parts) {
    for (const Part& part : parts) add(part.key, part.ns, part.calls);
  }
  [[nodiscard]] bool has(std::uint32_t key) const {
    return key < places_.size() && places_[key].round == round_;
  }
  // In the order in which their keys came first.
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  void clear() {
    rows_.clear();
    if (++round_ == 0) {
      places_.assign(places_.size(), {});
      round_ = 1;
    }
  }
  [[nodiscard]] std::size_t bytes() const {
    return places_.capacity() * sizeof(Place) + rows_.capacity() * sizeof(Row);
  }

 private:
  struct Place {
    std::uint32_t round = 0, row = 0;
  };
  std::vector<Place> places_;  // by key
  std::vector<Row> rows_;
  std::uint32_t round_ = 1;
};

}  // namespace profd::live

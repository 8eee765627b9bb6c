// The city of a live session: where its methods lie, and what of that is new since a layout that a client
// has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/live/city_layout.h"
#include "core/live/contexts.h"

namespace profd {

// A method as the city has it.
struct LiveNamed {
  live::MethodId method = 0;  // 0: only the version before has it
  live::MethodId before = 0;  // in a city of two versions, of the one before; 0: it has none
  std::string package, class_name, name, signature;
};

// Rows of the city's columns, ascending.
struct LiveCityPart {
  std::vector<std::uint32_t> districts, blocks, plots;
};

class LiveCity {
 public:
  // Methods that became known since. `separator`: of the parts of packages. Layouts are numbered by who makes
  // them, a later one with a larger number.
  void extend(std::vector<LiveNamed> more, std::string_view separator, std::uint32_t layout);
  // Everything anew, the largest first.
  void arrange(std::uint32_t layout);
  // The row is that of a method of this, or of the version before, too; it stays where it is.
  void join(std::size_t row, live::MethodId method, live::MethodId before, std::uint32_t layout);

  // It has no rows before the first methods.
  [[nodiscard]] const City& city() const { return city_; }
  [[nodiscard]] const std::vector<LiveNamed>& methods() const { return methods_; }  // by row of the plots
  [[nodiscard]] std::uint32_t layout() const { return layout_; }
  // What is new or lies elsewhere than in that layout; 0: all.
  [[nodiscard]] LiveCityPart since(std::uint32_t layout) const;

 private:
  [[nodiscard]] std::vector<CityMethod> rows() const;
  void stamp(const City& before);

  City city_;
  std::vector<LiveNamed> methods_;
  std::uint32_t layout_ = 0;
  std::vector<std::uint32_t> districts_, blocks_, plots_;  // the layout in which each became what it is
};

}  // namespace profd

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
  live::MethodId method = 0;
  std::string package, class_name, name, signature;
};

// Rows of the city's columns, ascending.
struct LiveCityPart {
  std::vector<std::uint32_t> districts, blocks, plots;
};

class LiveCity {
 public:
  // What stands between the elements of packages; before there are any methods.
  void separate_by(std::string_view separator) { separator_ = separator; }
  [[nodiscard]] const std::string& separator() const { return separator_; }
  // Methods that became known since; the layout's number is then that of all methods and arrangements.
  void extend(std::vector<LiveNamed> more);
  // Everything anew, the largest first.
  void arrange();

  // It has no rows before the first methods.
  [[nodiscard]] const City& city() const { return city_; }
  [[nodiscard]] const std::vector<LiveNamed>& methods() const { return methods_; }  // by row of the plots
  [[nodiscard]] std::uint32_t layout() const {
    return static_cast<std::uint32_t>(methods_.size()) + n_arranged_;
  }
  [[nodiscard]] std::uint32_t n_arranged() const { return n_arranged_; }
  // What is new or lies elsewhere than in that layout; 0: all.
  [[nodiscard]] LiveCityPart since(std::uint32_t layout) const;

 private:
  [[nodiscard]] std::vector<CityMethod> rows() const;
  void stamp(const City& before);

  std::string separator_ = ".";
  City city_;
  std::vector<LiveNamed> methods_;
  std::uint32_t n_arranged_ = 0;
  std::vector<std::uint32_t> districts_, blocks_, plots_;  // the layout in which each became what it is
};

}  // namespace profd

// Short names: what fits a box or a hint. Whole names stay for tooltips and tables.
//   C++    Foo<int>::bar(char const*) const      Foo<…>::bar
//   Go     net/http.(*conn).serve                http.(*conn).serve
//   Java   org.apache.spark.Executor.run         o.a.s.Executor.run      Demo.lambda$main$3 -> Demo.λ3
//   Rust   core::ops::FnOnce::call_once::h0123456789abcdef               core::ops::FnOnce::call_once
// Texts are not sanitised here: escape.h does that, last, for the place a name is shown in.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/base_name.h"

namespace profd {

std::string short_name(std::string_view name);

// One frame among those on screen. `place` tells apart frames of one name: a file or module, "" unknown.
struct NameAndPlace {
  std::string_view name;
  std::string_view place;
};
// Short names such that two different entries never get the same text: where short names meet, the whole
// names stand; where whole names meet, the file's name follows ("main (a.c)"), then its path, then a number.
// Equal entries get equal texts.
std::vector<std::string> distinct_short_names(std::span<const NameAndPlace> frames);
// The same with whole names, for tables.
std::vector<std::string> distinct_names(std::span<const NameAndPlace> frames);

}  // namespace profd

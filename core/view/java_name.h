// A name as the JVM's profilers write it, in its parts.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace profd {

struct JavaName {
  std::vector<std::string_view> parts;  // packages, class, method
  std::size_t n_packages = 0;
};

// Two packages or more, then a class with a capital, then a method; separators are all '.' or '/' up to it.
// Nothing where the name is none of these.
std::optional<JavaName> parse_java(std::string_view name);

}  // namespace profd

// Where functions of C and C++ stand in a city, and how they are called there: by their names, as demanglers
// write them, since nothing else is told of code.
#pragma once

#include <string>
#include <string_view>

namespace profd::live {

// Separates the parts of a package of code.
inline constexpr std::string_view kCodeSeparator = "::";

struct CodeName {
  std::string package;  // "demo::game"; of functions of no class their file is its last part
  std::string
      class_name;  // the class, or the namespace of a function of none; arguments of templates are left out
  std::string method;  // without parameters
};

// `symbol`: as people read it, not empty. `file`: of its definition, `module`: the program or library that it
// is of; where no class is in the name, the base name of the first that is known is part of the package.
CodeName code_name_of(std::string_view symbol, std::string_view file, std::string_view module);

}  // namespace profd::live

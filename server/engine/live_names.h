// What a sampled function is called in the city: its package, its class, and itself.
#pragma once

#include <string>
#include <string_view>

namespace profd {

// Between the elements of such packages: names of files and hosts have dots.
inline constexpr std::string_view kSampledSeparator = "/";

struct LiveNameParts {
  std::string package;     // "net/http", "std", "express/lib/router"; may be empty
  std::string class_name;  // "HashMap", "conn"; for code without classes the name of its file, or empty
  std::string method;      // never empty
};

// `module` and `file` are as the profile has them, "" unknown; `line` that of the definition, 0 unknown.
LiveNameParts live_name_parts(std::string_view name, std::string_view module, std::string_view file,
                              unsigned line);

}  // namespace profd

#include "core/view/java_name.h"

#include "core/view/name_scan.h"

namespace profd {

std::optional<JavaName> parse_java(std::string_view name) {
  JavaName java;
  name = name.substr(0, name.find('('));
  std::size_t n_parts = 0, begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.' && name[i] != '/') {
      if (!is_a(kInJavaName, name[i])) return std::nullopt;
      continue;
    }
    if (i == begin) return std::nullopt;
    ++n_parts;
    begin = i + 1;
  }
  if (n_parts < 3) return std::nullopt;
  java.parts.reserve(n_parts);
  begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.' && name[i] != '/') continue;
    java.parts.push_back(name.substr(begin, i - begin));
    begin = i + 1;
  }
  std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos && slash > 0 && name.substr(slash + 1, 2) == "0x") {
    slash = name.rfind('/', slash - 1);  // the address of a hidden class follows the last one
  }
  if (slash == std::string_view::npos) {
    while (java.n_packages < java.parts.size() && is_lower(java.parts[java.n_packages][0])) ++java.n_packages;
    if (java.n_packages < 2) return std::nullopt;  // Go's http.Client.Do, Python's app.Main.run
  } else {
    // java/util/HashMap.get, and not Go's net/http.HandlerFunc.ServeHTTP: the class follows the last slash.
    std::size_t at = 0;
    for (const std::string_view part : java.parts) {
      if (static_cast<std::size_t>(part.data() - name.data()) > slash) break;
      if (name[part.data() - name.data() + part.size()] != '/') return std::nullopt;
      ++at;
    }
    java.n_packages = at;
  }
  const std::size_t after = java.parts.size() - java.n_packages;
  if (after < 2 || after > 3 || !is_upper(java.parts[java.n_packages][0])) return std::nullopt;
  return java;
}

}  // namespace profd

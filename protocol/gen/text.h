// Text helpers of the emitters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace profd::gen {

struct OutputFile {
  std::string path;  // relative to the root of the tree
  std::string content;
};

std::string snake_case(std::string_view name);   // "minWidth" -> "min_width", "utf8" -> "utf8"
std::string upper_case(std::string_view name);   // "minWidth" -> "MIN_WIDTH"
std::string json_string(std::string_view text);  // a JSON (and C, Lua, Python, TypeScript) string literal
// `text` broken at spaces into lines of at most `width` characters, each with `prefix` before it and '\n'
// after it.
std::string wrapped(std::string_view text, std::string_view prefix, std::size_t width);
std::string joined(const std::vector<std::string>& parts, std::string_view separator);
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace profd::gen

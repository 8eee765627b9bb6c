#include "protocol/gen/text.h"

#include <cctype>

#include <nlohmann/json.hpp>

namespace profd::gen {

namespace {
bool upper(char c) {
  return std::isupper(static_cast<unsigned char>(c)) != 0;
}
char lowered(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}
}  // namespace

std::string snake_case(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool word = i > 0 && upper(name[i]) && !upper(name[i - 1]);
    if (word) out += '_';
    out += lowered(name[i]);
  }
  return out;
}

std::string upper_case(std::string_view name) {
  std::string out = snake_case(name);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text)).dump();
}

std::string wrapped(std::string_view text, std::string_view prefix, std::size_t width) {
  std::string out;
  std::string line;
  auto flush = [&] {
    if (!line.empty()) out += std::string(prefix) + line + "\n";
    line.clear();
  };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = text.find(' ', i);
    if (end == std::string_view::npos) end = text.size();
    const auto word = text.substr(i, end - i);
    if (!line.empty() && prefix.size() + line.size() + 1 + word.size() > width) flush();
    if (!line.empty()) line += ' ';
    line += word;
    i = end + 1;
  }
  flush();
  return out;
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const auto& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace profd::gen

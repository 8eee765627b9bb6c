#include "server/feature/source_lines.h"

#include <algorithm>

#include "server/feature/source_text_answer.h"

namespace profd {

std::optional<std::string> SourceLines::line(const std::string& path, std::uint32_t number) {
  constexpr std::size_t kMaxSourcesRead = 64;
  auto found = lines_.find(path);
  if (found == lines_.end()) {
    if (lines_.size() >= kMaxSourcesRead) return std::nullopt;
    found = lines_.emplace(path, read(path)).first;
  }
  if (number == 0 || number > found->second.size()) return std::nullopt;
  return found->second[number - 1];
}

std::vector<std::string> SourceLines::read(const std::string& path) const {
  std::vector<std::string> lines;
  const auto found = source_text(folders_, path, stop_);
  if (!found) return lines;
  const std::string& text = found->text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace profd

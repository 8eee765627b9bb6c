#include "server/engine/document.h"

#include <algorithm>

namespace profd {
namespace {

// Bytes of the UTF-8 sequence that starts at text[i]; 1 for what is not UTF-8.
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const std::size_t n = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
  for (std::size_t k = 1; k < n; ++k)
    if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return 1;
  return n;
}

std::uint32_t units(std::size_t n_bytes, PositionEncoding encoding) {
  switch (encoding) {
    case PositionEncoding::utf8:
      return static_cast<std::uint32_t>(n_bytes);
    case PositionEncoding::utf16:
      return n_bytes == 4 ? 2 : 1;
    case PositionEncoding::utf32:
      return 1;
  }
  return 1;
}

}  // namespace

std::uint32_t encoded_length(std::string_view text, PositionEncoding encoding) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = sequence_length(text, i);
    length += units(n, encoding);
    i += n;
  }
  return length;
}

std::size_t byte_offset(std::string_view line, std::uint32_t character, PositionEncoding encoding) {
  std::uint32_t seen = 0;
  std::size_t i = 0;
  while (i < line.size() && seen < character) {
    const std::size_t n = sequence_length(line, i);
    seen += units(n, encoding);
    i += n;
  }
  return i;
}

Document::Document(std::string text, std::int32_t version, std::optional<std::int64_t> written_ns)
    : text_(std::move(text)), version_(version) {
  index_lines();
  since_open_ = {LineMap(hashes(0, n_lines())), written_ns};
  since_save_ = since_open_;
}

void Document::index_lines() {
  starts_.assign(1, 0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n' || (text_[i] == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n')))
      starts_.push_back(i + 1);
}

std::string_view Document::line(std::size_t number) const {
  if (number >= starts_.size()) return {};
  const std::size_t end = number + 1 < starts_.size() ? starts_[number + 1] : text_.size();
  std::string_view result(text_.data() + starts_[number], end - starts_[number]);
  while (!result.empty() && (result.back() == '\n' || result.back() == '\r')) result.remove_suffix(1);
  return result;
}

std::size_t Document::offset_of(TextPosition position, PositionEncoding encoding) const {
  if (position.line >= starts_.size()) return text_.size();
  return starts_[position.line] + byte_offset(line(position.line), position.character, encoding);
}

std::size_t Document::line_at(std::size_t offset) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  return static_cast<std::size_t>(after - starts_.begin()) - 1;
}

std::vector<std::uint64_t> Document::hashes(std::size_t first, std::size_t n) const {
  std::vector<std::uint64_t> result;
  result.reserve(n);
  for (std::size_t i = first; i < first + n; ++i) result.push_back(LineMap::hash_line(line(i)));
  return result;
}

Result<void> Document::change(const std::optional<std::pair<TextPosition, TextPosition>>& range,
                              std::string_view text, PositionEncoding encoding, std::int32_t version) {
  const std::size_t begin = range ? offset_of(range->first, encoding) : 0;
  const std::size_t end = range ? std::max(begin, offset_of(range->second, encoding)) : text_.size();
  if (text_.size() - (end - begin) + text.size() > kMaxBytes)
    return fail(ErrorCode::limit, "a document may have 64 MiB");
  const std::size_t first = line_at(begin);
  const std::size_t n_old = line_at(end) - first + 1;
  const std::size_t n_before = n_lines();
  text_.replace(begin, end - begin, text);
  index_lines();
  // Every line that the change touched, old and new, the ones it only cut through included.
  const std::size_t n_new = n_lines() + n_old - n_before;
  const std::vector<std::uint64_t> fresh = hashes(first, n_new);
  since_open_.map.replace(first, n_old, fresh);
  since_save_.map.replace(first, n_old, fresh);
  for (auto& [handle, since] : by_profile_) since.map.replace(first, n_old, fresh);
  version_ = version;
  return {};
}

void Document::saved(std::optional<std::int64_t> written_ns) {
  since_save_ = {LineMap(hashes(0, n_lines())), written_ns};
}

void Document::profile_loaded(const std::string& handle) {
  by_profile_[handle] = since_save_;
}

const Document::Since& Document::since(const std::string& handle) const {
  const auto found = by_profile_.find(handle);
  return found == by_profile_.end() ? since_open_ : found->second;
}

const LineMap& Document::line_map(const std::string& handle) const {
  return since(handle).map;
}

std::optional<std::int64_t> Document::written_ns(const std::string& handle) const {
  return since(handle).written_ns;
}

}  // namespace profd

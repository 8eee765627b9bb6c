// Document: a source file as one client has it open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/engine/line_map.h"

namespace profd {

// What Position.character counts.
enum class PositionEncoding : std::uint8_t { utf8, utf16, utf32 };

struct TextPosition {
  std::uint32_t line = 0;       // 0-based
  std::uint32_t character = 0;  // in the negotiated encoding
};

// Length of a text in units of an encoding. Bytes that are not UTF-8 count one each.
std::uint32_t encoded_length(std::string_view text, PositionEncoding encoding);
// Byte offset of `character` in a line; past the end gives the end.
std::size_t byte_offset(std::string_view line, std::uint32_t character, PositionEncoding encoding);

class Document {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  // `written_ns`: when the file was last written before its text was read; absent: not known.
  Document(std::string text, std::int32_t version, std::optional<std::int64_t> written_ns = std::nullopt);

  // Replaces [start, end); both absent: the whole text. Positions past the end are clamped, as LSP says.
  Result<void> change(const std::optional<std::pair<TextPosition, TextPosition>>& range,
                      std::string_view text, PositionEncoding encoding, std::int32_t version);
  void saved(std::optional<std::int64_t> written_ns = std::nullopt);
  // A profile was read (again): what is saved now is taken for what it measured.
  void profile_loaded(const std::string& handle);

  [[nodiscard]] std::int32_t version() const { return version_; }
  [[nodiscard]] std::size_t n_lines() const { return starts_.size(); }
  // Without the line break.
  [[nodiscard]] std::string_view line(std::size_t number) const;
  // Where the lines were in the text that the profile measured.
  [[nodiscard]] const LineMap& line_map(const std::string& handle) const;
  // When that text was written, as far as the file system says.
  [[nodiscard]] std::optional<std::int64_t> written_ns(const std::string& handle) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  [[nodiscard]] std::size_t offset_of(TextPosition position, PositionEncoding encoding) const;
  [[nodiscard]] std::size_t line_at(std::size_t offset) const;
  [[nodiscard]] std::vector<std::uint64_t> hashes(std::size_t first, std::size_t n) const;
  void index_lines();

  std::string text_;
  std::vector<std::size_t> starts_;  // byte offset of every line
  std::int32_t version_;
  struct Since {
    LineMap map;
    std::optional<std::int64_t> written_ns;  // of the text that the map begins with
  };
  [[nodiscard]] const Since& since(const std::string& handle) const;
  Since since_open_, since_save_;
  std::map<std::string, Since> by_profile_;  // of profiles read while the document was open
};

}  // namespace profd

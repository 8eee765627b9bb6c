// PieceText: a text in pieces of some 32 KiB, so that an edit costs what it touches and a walk over the
// pieces, whatever the text's size and the length of its lines. Copies share the pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// Lines end with \n, \r\n or \r; one more begins after the last break.
class PieceText {
 public:
  static constexpr std::size_t kPiece = std::size_t{32} << 10;

  PieceText() = default;
  explicit PieceText(std::string_view text);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t n_lines() const { return n_breaks_ + 1; }
  // Positions past the end are clamped: of the line, of the text.
  [[nodiscard]] std::size_t offset_of(TextPosition position, PositionEncoding encoding) const;
  [[nodiscard]] std::size_t line_at(std::size_t offset) const;
  // Without the line break; the first `max_bytes` of it.
  [[nodiscard]] std::string line(std::size_t number, std::size_t max_bytes = std::string::npos) const;
  [[nodiscard]] std::uint32_t line_length(std::size_t number, PositionEncoding encoding) const;
  // LineMap::hash_line of `n` lines from `first` on.
  [[nodiscard]] std::vector<std::uint64_t> hashes(std::size_t first, std::size_t n) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::size_t memory() const;

  void replace(std::size_t begin, std::size_t end, std::string_view text);

 private:
  struct Piece {
    std::shared_ptr<const std::string> text;  // never empty
    std::uint32_t n_bytes = 0, n_breaks = 0, utf16 = 0, utf32 = 0;
    [[nodiscard]] std::uint32_t units(PositionEncoding encoding) const;
  };
  // A place in a piece; `piece` may be their number, at the end.
  struct Place {
    std::size_t piece = 0, at = 0;
  };

  static Piece make_piece(std::string_view text);
  static void cut(std::string_view text, std::vector<Piece>& into);
  [[nodiscard]] Place place_of_line(std::size_t number, std::size_t& offset) const;
  template <class Visit>
  void visit_line(Place from, Visit visit) const;

  std::vector<Piece> pieces_;  // cut neither in a character nor between \r and \n
  std::size_t size_ = 0, n_breaks_ = 0;
};

}  // namespace profd

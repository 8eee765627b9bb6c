#include "server/engine/piece_text.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "server/engine/line_map.h"

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

// Eight bytes at `i` are eight characters in every encoding.
bool eight_ascii(std::string_view text, std::size_t i) {
  std::uint64_t word = 0;
  if (i + sizeof(word) > text.size()) return false;
  std::memcpy(&word, text.data() + i, sizeof(word));
  return (word & 0x8080808080808080ull) == 0;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Walks over the ends of lines in a text: each call gives what comes after the next break, npos after the
// last.
class Breaks {
 public:
  explicit Breaks(std::string_view text, std::size_t from = 0) : text_(text), at_(from) {}
  std::size_t next() {
    if (next_n_ < at_ || !looked_) next_n_ = find('\n');
    if (next_r_ < at_ || !looked_) next_r_ = find('\r');
    looked_ = true;
    // A \r before \n is part of its break.
    const std::size_t found = std::min(next_n_, next_r_);
    if (found == std::string_view::npos) return at_ = found;
    return at_ = found + (next_r_ == found && next_n_ == found + 1 ? 2 : 1);
  }

 private:
  std::size_t find(char c) const {
    if (at_ >= text_.size()) return std::string_view::npos;
    const void* found = std::memchr(text_.data() + at_, c, text_.size() - at_);
    return found == nullptr ? std::string_view::npos
                            : static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
  }

  std::string_view text_;
  std::size_t at_, next_n_ = 0, next_r_ = 0;
  bool looked_ = false;
};

// Where the line that holds text[from] ends: its break or the end of the text.
std::size_t end_of_line(std::string_view text, std::size_t from) {
  return std::min(text.find_first_of("\r\n", from), text.size());
}

}  // namespace

std::uint32_t encoded_length(std::string_view text, PositionEncoding encoding) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (eight_ascii(text, i)) {
      length += 8;
      i += 8;
      continue;
    }
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
    if (character - seen >= 8 && eight_ascii(line, i)) {
      seen += 8;
      i += 8;
      continue;
    }
    const std::size_t n = sequence_length(line, i);
    seen += units(n, encoding);
    i += n;
  }
  return i;
}

std::uint32_t PieceText::Piece::units(PositionEncoding encoding) const {
  return encoding == PositionEncoding::utf8 ? n_bytes : encoding == PositionEncoding::utf16 ? utf16 : utf32;
}

PieceText::PieceText(std::string_view text) {
  cut(text, pieces_);
  size_ = text.size();
  for (const Piece& piece : pieces_) n_breaks_ += piece.n_breaks;
}

PieceText::Piece PieceText::make_piece(std::string_view text) {
  Piece piece;
  piece.n_bytes = static_cast<std::uint32_t>(text.size());
  piece.utf16 = encoded_length(text, PositionEncoding::utf16);
  piece.utf32 = encoded_length(text, PositionEncoding::utf32);
  Breaks breaks(text);
  while (breaks.next() != std::string_view::npos) ++piece.n_breaks;
  piece.text = std::make_shared<const std::string>(text);
  return piece;
}

void PieceText::cut(std::string_view text, std::vector<Piece>& into) {
  while (!text.empty()) {
    // Equal parts, so that none is so small that many edits make many of them.
    std::size_t at = text.size() / ((text.size() + kPiece - 1) / kPiece);
    for (int i = 0; i < 3 && at < text.size() && is_continuation(text[at]); ++i) ++at;
    if (at < text.size() && text[at] == '\n' && text[at - 1] == '\r') ++at;
    into.push_back(make_piece(text.substr(0, at)));
    text.remove_prefix(at);
  }
}

// The beginning of a line that is there.
PieceText::Place PieceText::place_of_line(std::size_t number, std::size_t& offset) const {
  offset = 0;
  if (number == 0) return {};
  std::size_t seen = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (seen + piece.n_breaks < number) {
      seen += piece.n_breaks;
      offset += piece.n_bytes;
      continue;
    }
    Breaks breaks(*piece.text);
    std::size_t at = 0;
    while (seen < number) {
      at = breaks.next();
      ++seen;
    }
    offset += at;
    if (at == piece.n_bytes) return {i + 1, 0};
    return {i, at};
  }
  return {pieces_.size(), 0};
}

// Calls `visit` with the parts of a line, first to last, and whether it is all of a piece; until it says
// false.
template <class Visit>
void PieceText::visit_line(Place from, Visit visit) const {
  for (; from.piece < pieces_.size(); from = {from.piece + 1, 0}) {
    const Piece& piece = pieces_[from.piece];
    const std::string_view text = *piece.text;
    const bool whole = from.at == 0 && piece.n_breaks == 0;
    const std::size_t end = whole ? text.size() : end_of_line(text, from.at);
    if (!visit(text.substr(from.at, end - from.at), whole ? &piece : nullptr) || end < text.size()) return;
  }
}

std::size_t PieceText::offset_of(TextPosition position, PositionEncoding encoding) const {
  if (position.line >= n_lines()) return size_;
  std::size_t offset = 0;
  const Place place = place_of_line(position.line, offset);
  std::uint32_t left = position.character;
  visit_line(place, [&](std::string_view part, const Piece* whole) {
    if (whole != nullptr && whole->units(encoding) <= left) {
      left -= whole->units(encoding);
      offset += part.size();
      return left > 0;
    }
    const std::size_t n = byte_offset(part, left, encoding);
    offset += n;
    left -= std::min(left, encoded_length(part.substr(0, n), encoding));
    return left > 0;
  });
  return offset;
}

std::size_t PieceText::line_at(std::size_t offset) const {
  std::size_t line = 0, begin = 0;
  for (const Piece& piece : pieces_) {
    if (begin + piece.n_bytes <= offset) {
      line += piece.n_breaks;
      begin += piece.n_bytes;
      continue;
    }
    Breaks breaks(*piece.text);
    for (std::size_t at = breaks.next(); at != std::string_view::npos && begin + at <= offset;
         at = breaks.next())
      ++line;
    break;
  }
  return line;
}

std::string PieceText::line(std::size_t number, std::size_t max_bytes) const {
  std::string result;
  if (number >= n_lines()) return result;
  std::size_t offset = 0;
  visit_line(place_of_line(number, offset), [&](std::string_view part, const Piece*) {
    result.append(part.substr(0, max_bytes - result.size()));
    return result.size() < max_bytes;
  });
  return result;
}

std::uint32_t PieceText::line_length(std::size_t number, PositionEncoding encoding) const {
  std::uint32_t length = 0;
  if (number >= n_lines()) return length;
  std::size_t offset = 0;
  visit_line(place_of_line(number, offset), [&](std::string_view part, const Piece* whole) {
    length += whole != nullptr ? whole->units(encoding) : encoded_length(part, encoding);
    return true;
  });
  return length;
}

std::vector<std::uint64_t> PieceText::hashes(std::size_t first, std::size_t n) const {
  std::vector<std::uint64_t> result;
  if (first >= n_lines()) return result;
  n = std::min(n, n_lines() - first);
  result.reserve(n);
  std::size_t offset = 0;
  Place place = place_of_line(first, offset);
  std::string begun;  // of a line that goes on in the next piece
  for (; place.piece < pieces_.size() && result.size() < n; place = {place.piece + 1, 0}) {
    const std::string_view text = *pieces_[place.piece].text;
    Breaks breaks(text, place.at);
    std::size_t at = place.at;
    for (std::size_t next = breaks.next(); next != std::string_view::npos && result.size() < n;
         next = breaks.next()) {
      const std::string_view part = text.substr(at, next - at);
      result.push_back(LineMap::hash_line(begun.empty() ? part : std::string_view(begun.append(part))));
      begun.clear();
      at = next;
    }
    if (at < text.size()) begun.append(text.substr(at));
  }
  if (result.size() < n) result.push_back(LineMap::hash_line(begun));  // the last, which has no break
  return result;
}

std::string PieceText::text() const {
  std::string result;
  result.reserve(size_);
  for (const Piece& piece : pieces_) result += *piece.text;
  return result;
}

std::size_t PieceText::memory() const {
  return size_ + pieces_.capacity() * (sizeof(Piece) + sizeof(std::string) + 2 * sizeof(void*));
}

void PieceText::replace(std::size_t begin, std::size_t end, std::string_view text) {
  end = std::min(end, size_);
  begin = std::min(begin, end);
  // The pieces that are touched and one at each side: what is cut anew is cut well at both ends, and small
  // ones are joined.
  std::size_t first = 0, first_at = 0;
  while (first < pieces_.size() && first_at + pieces_[first].n_bytes <= begin)
    first_at += pieces_[first++].n_bytes;
  std::size_t last = first, last_at = first_at;
  while (last < pieces_.size() && last_at + pieces_[last].n_bytes < end) last_at += pieces_[last++].n_bytes;
  if (first > 0) first_at -= pieces_[--first].n_bytes;
  const std::size_t behind = std::min(last + 2, pieces_.size());
  std::string joined;
  std::size_t at = first_at;
  for (std::size_t i = first; i < behind; ++i) {
    const std::string_view piece = *pieces_[i].text;
    if (at < begin) joined += piece.substr(0, begin - at);
    if (at + piece.size() >= begin && at <= begin && !text.empty()) {
      joined += text;
      text = {};
    }
    if (at + piece.size() > end) joined += piece.substr(end > at ? end - at : 0);
    at += piece.size();
  }
  joined += text;  // into an empty text
  std::vector<Piece> fresh;
  cut(joined, fresh);
  for (std::size_t i = first; i < behind; ++i) n_breaks_ -= pieces_[i].n_breaks;
  for (const Piece& piece : fresh) n_breaks_ += piece.n_breaks;
  size_ = size_ - (at - first_at) + joined.size();
  const auto from = pieces_.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = pieces_.begin() + static_cast<std::ptrdiff_t>(behind);
  const std::size_t n_same = std::min(fresh.size(), behind - first);
  std::move(fresh.begin(), fresh.begin() + static_cast<std::ptrdiff_t>(n_same), from);
  if (fresh.size() > n_same)
    pieces_.insert(to, std::make_move_iterator(fresh.begin() + static_cast<std::ptrdiff_t>(n_same)),
                   std::make_move_iterator(fresh.end()));
  else
    pieces_.erase(from + static_cast<std::ptrdiff_t>(n_same), to);
}

}  // namespace profd

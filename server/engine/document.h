// Document: a source file as one client has it open.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/result.h"
#include "server/engine/line_edits.h"
#include "server/engine/line_map.h"
#include "server/engine/piece_text.h"

namespace profd {

// Copies share what does not differ. What is asked of it is worked out then: an edit costs no more than the
// text that it touches.
class Document {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxLines = 2'000'000;
  static constexpr std::size_t kMaxStates = 64;

  // `written_ns`: when the file was last written before its text was read; absent: not known.
  Document(std::string_view text, std::int32_t version,
           std::optional<std::int64_t> written_ns = std::nullopt);
  // Whether it is within the limits.
  [[nodiscard]] Result<void> check_size() const;

  // Replaces [start, end); both absent: the whole text. Positions past the end are clamped, as LSP says.
  Result<void> change(const std::optional<std::pair<TextPosition, TextPosition>>& range,
                      std::string_view text, PositionEncoding encoding, std::int32_t version);
  // What is now is taken for what profiles measured that are read after this: those whose view ids are higher
  // than `newest_view`. `in_use`: the view ids of those that are open, ascending; only they are told apart.
  Result<void> saved(std::uint64_t newest_view, const std::vector<std::uint64_t>& in_use,
                     std::optional<std::int64_t> written_ns = std::nullopt);

  [[nodiscard]] std::int32_t version() const { return version_; }
  [[nodiscard]] std::size_t n_lines() const { return text_.n_lines(); }
  [[nodiscard]] const PieceText& text() const { return text_; }
  // Where the lines were in the text that a profile measured.
  [[nodiscard]] LineMap line_map(std::uint64_t view_id) const;
  // LineMap::hash_line of each line of that text.
  [[nodiscard]] const std::vector<std::uint64_t>& measured_lines(std::uint64_t view_id) const;
  // When that text was written, as far as the file system says.
  [[nodiscard]] std::optional<std::int64_t> written_ns(std::uint64_t view_id) const;
  // Texts that are only here because something was measured with them count, too.
  [[nodiscard]] std::size_t memory() const;

 private:
  // A text that profiles were measured with. Its lines are hashed when first asked for, by any thread.
  struct Measured {
    Measured(PieceText of, std::optional<std::int64_t> when) : text(std::move(of)), written_ns(when) {}
    PieceText text;
    std::optional<std::int64_t> written_ns;
    mutable std::once_flag once;
    mutable std::vector<std::uint64_t> hashes;
    [[nodiscard]] const std::vector<std::uint64_t>& lines() const;
  };
  struct State {
    std::uint64_t after = 0;  // of profiles with a higher view id, up to the next state
    std::shared_ptr<const Measured> measured;
    LineEdits edits;  // from that text to this one
  };
  [[nodiscard]] const State& state_of(std::uint64_t view_id) const;

  PieceText text_;
  std::int32_t version_;
  std::vector<State> states_;  // by `after`; the first is the text as it was opened
};

}  // namespace profd

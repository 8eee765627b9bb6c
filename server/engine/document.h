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
#include "server/platform/file_watcher.h"

namespace profd {

// A profile, as far as it says which text it measured.
struct Recording {
  std::uint64_t view_id = 0;     // OpenProfile::view_id
  std::int64_t recorded_ns = 0;  // 0: not known
};

// Whether a file was written after a recording; false where the time of that is not known.
bool written_after(std::int64_t written_ns, std::int64_t recorded_ns);

// A file as it is on disk.
struct FileOnDisk {
  FileStamp stamp;
  std::optional<std::string> text;  // absent: not read, or it is no text
};

// Copies share what does not differ. What is asked of it is worked out then: an edit costs no more than the
// text that it touches.
class Document {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMaxLines = 2'000'000;
  static constexpr std::size_t kMaxStates = 64;

  // `file`: what is on disk, which profiles measure, whatever of it was changed and not saved; absent: not
  // known, and taken to be the text. `newest_view`: the highest view id when that was looked at.
  Document(std::string_view text, std::int32_t version, const std::optional<FileOnDisk>& file = std::nullopt,
           std::uint64_t newest_view = 0);
  // Whether it is within the limits.
  [[nodiscard]] Result<void> check_size() const;

  // Replaces [start, end); both absent: the whole text. Positions past the end are clamped, as LSP says.
  Result<void> change(const std::optional<std::pair<TextPosition, TextPosition>>& range,
                      std::string_view text, PositionEncoding encoding, std::int32_t version);
  // What is now is taken for what profiles measured that are read after this: those whose view ids are higher
  // than `newest_view`. `in_use`: the view ids of those that are open, ascending; only they are told apart.
  Result<void> saved(std::uint64_t newest_view, const std::vector<std::uint64_t>& in_use,
                     const std::optional<FileStamp>& stamp = std::nullopt);
  // The file was looked at: whoever wrote it, profiles that are read after this measured what is there. Of
  // those that were read since it was last looked at, their times say which of the two texts they measured.
  // A stamp that is not `stamp()` comes with a text.
  Result<void> looked_at(const FileOnDisk& file, std::uint64_t newest_view,
                         const std::vector<std::uint64_t>& in_use);
  // Of the file when it was last looked at.
  [[nodiscard]] const std::optional<FileStamp>& stamp() const { return stamp_; }

  [[nodiscard]] std::int32_t version() const { return version_; }
  [[nodiscard]] std::size_t n_lines() const { return text_.n_lines(); }
  [[nodiscard]] const PieceText& text() const { return text_; }
  // Where the lines were in the text that a profile measured.
  [[nodiscard]] LineMap line_map(Recording recording) const;
  // LineMap::hash_line of each line of that text.
  [[nodiscard]] const std::vector<std::uint64_t>& measured_lines(Recording recording) const;
  [[nodiscard]] const PieceText& measured_text(Recording recording) const;
  // When that text was written, as far as the file system says.
  [[nodiscard]] std::optional<std::int64_t> written_ns(Recording recording) const;
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
    // Of those between the two ids it is where it was written before they were recorded.
    std::uint64_t maybe_after = 0;
    std::shared_ptr<const Measured> measured;
    LineEdits edits;  // from that text to this one
  };
  [[nodiscard]] const State& state_of(Recording recording) const;
  Result<void> add_state(State state, const std::vector<std::uint64_t>& in_use);

  PieceText text_;
  std::int32_t version_;
  std::vector<State> states_;  // by `after`; the first is the file as it was when it was opened
  std::optional<FileStamp> stamp_;
  std::uint64_t newest_seen_ = 0;  // the highest view id when the file was last looked at
};

}  // namespace profd

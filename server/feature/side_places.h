// Where the lines of a diff are in a file as it is now. Each side was measured in a text of its own, and each
// is placed by what is known of that text. Lines before whose text is not known are placed by function: as
// far from its first line as they were, or, where other calls are made there, on the line that makes the same
// ones. What can be placed nowhere stays with the function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "core/view/by_path.h"
#include "server/feature/annotate.h"
#include "server/feature/line_places.h"

namespace profd {

// Whom each line of these files calls, of what the selection has, by line as the profile says; keys
// ascending.
using CallsByLine = std::map<std::uint32_t, std::vector<Key>>;
CallsByLine calls_by_line(const Selection& selection, const std::vector<StringId>& files);

class SidePlaces {
 public:
  // `keys`: those of the view by function. The request's profile is a diff.
  static Result<SidePlaces> make(Views& views, const AnnotateRequest& request, const KeyTable& keys,
                                 const StopToken& stop);

  // The profile's spellings of the file on either side; empty: it has nothing on it.
  [[nodiscard]] const std::vector<StringId>& files() const { return files_; }
  [[nodiscard]] const std::shared_ptr<const SourceFile>& source(LinesOf side) const {
    return side == LinesOf::before ? before_ : after_;
  }
  [[nodiscard]] bool has_frame(LinesOf side, std::size_t frame) const {
    return (side == LinesOf::before ? in_before_ : in_after_)[frame] != 0;
  }
  // By frame, as functions_on_line() takes them.
  [[nodiscard]] const std::vector<std::uint8_t>& frames(LinesOf side) const {
    return side == LinesOf::before ? in_before_ : in_after_;
  }
  // Functions that have code on a line as that side says, or begin there and have no lines.
  [[nodiscard]] const std::vector<Key>& functions_on(LinesOf side, std::uint32_t line) const;
  // Of a line as that side says, from 1; nothing when it is gone or unknown. Stale: not certain. No two
  // measured lines of a side are at one place: one that was placed by function gives way.
  [[nodiscard]] std::optional<LinePlaces::Placed> find(LinesOf side, std::uint32_t line) const;
  // Whether a line before was placed by function, its text not being known.
  [[nodiscard]] bool by_function(std::uint32_t line_before) const;
  // Whether a function has lines before that are placed nowhere: what seems new in it may not be.
  [[nodiscard]] bool is_incomplete(Key function) const { return incomplete_.count(function) != 0; }

 private:
  SidePlaces(std::shared_ptr<const SourceFile> before, std::shared_ptr<const SourceFile> after,
             const AnnotateRequest& request);
  void read_frames(const Profile& profile, const KeyTable& keys);
  void drop_missing_functions(const AnnotateRequest& request);
  void match_calls(const Selection& before, const Selection& after);
  void find_collisions();
  void drop_line(std::uint32_t line_before);

  std::shared_ptr<const SourceFile> before_, after_;
  LinePlaces places_before_, places_after_;
  std::vector<StringId> files_;
  std::vector<std::uint8_t> in_before_, in_after_;
  std::unordered_map<std::uint32_t, std::vector<Key>> on_before_, on_after_;
  // By line before: how much further down the first line of its function is after. Nothing: not known.
  std::unordered_map<std::uint32_t, std::optional<std::int64_t>> moved_;
  bool other_text_ = false;  // the side before was measured in another text, whatever the times of files say
  std::set<Key> incomplete_;
  std::set<std::uint32_t> homeless_;  // lines before that are not in the text, or whose place another has
};

}  // namespace profd

#include "core/view/match_marks.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace profd {
namespace {

constexpr std::size_t kWordsOfTask = std::size_t{1} << 13;

// One bit for each context of a word.
template <class T>
std::uint64_t starts_in(const Selection& s, const std::vector<std::uint8_t>& of_frame,
                        const Column<T>& widths, std::uint32_t first) {
  const ContextTree& tree = s.profile->tree();
  const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(tree.size() - first, 64));
  std::uint64_t bits = 0;
  for (std::uint32_t i = first == 0 ? 1 : 0; i < n; ++i) {
    const std::uint32_t c = first + i;
    if (of_frame[tree.frame[c]] == 0 || widths[c] == 0 || s.owner_of(c) != c) continue;
    bits |= std::uint64_t{1} << i;
  }
  return bits;
}

void set_range(std::vector<std::uint64_t>& bits, std::uint32_t begin, std::uint32_t end) {
  for (std::uint32_t at = begin; at < end;) {
    const std::uint32_t word_end = (at / 64 + 1) * 64;
    const std::uint32_t n = std::min(end, word_end) - at;
    const std::uint64_t ones = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    bits[at / 64] |= ones << (at % 64);
    at += n;
  }
}

}  // namespace

std::uint32_t MatchMarks::next(std::uint32_t from, std::uint32_t end) const {
  if (from >= end) return end;
  std::size_t word = from / 64;
  std::uint64_t bits = starts[word] & (~std::uint64_t{0} << (from % 64));
  const std::size_t last = (end - 1) / 64;
  while (bits == 0) {
    if (word == last) return end;
    bits = starts[++word];
  }
  return std::min(end,
                  static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits)));
}

Result<MatchMarks> mark_matches(const Selection& selection, std::shared_ptr<const SearchResult> found,
                                bool above, const StopToken& stop, Executor& executor) {
  MatchMarks marks;
  marks.found = std::move(found);
  const ContextTree& tree = selection.profile->tree();
  const std::size_t n_words = (tree.size() + 63) / 64;
  marks.starts.resize(n_words);
  // Whether a frame matches is looked up for each context: better one byte than two columns far apart.
  std::vector<std::uint8_t> of_frame(selection.keys->of_frame.size());
  for (std::size_t f = 0; f < of_frame.size(); ++f)
    of_frame[f] = marks.found->matches[selection.keys->of_frame[f]];
  std::visit(
      [&](const auto& widths) {
        executor.run((n_words + kWordsOfTask - 1) / kWordsOfTask, [&](std::size_t task) {
          if (stop.stop_requested()) return;
          const std::size_t end = std::min(n_words, (task + 1) * kWordsOfTask);
          for (std::size_t word = task * kWordsOfTask; word < end; ++word)
            marks.starts[word] =
                starts_in(selection, of_frame, widths, static_cast<std::uint32_t>(word * 64));
        });
      },
      selection.widths);
  PROFD_CHECK(stop.status());
  if (!above) return marks;
  marks.at_or_above.resize(n_words);
  const auto n = static_cast<std::uint32_t>(tree.size());
  for (std::uint32_t c = marks.next(0, n); c < n; c = marks.next(tree.subtree_end[c], n))
    set_range(marks.at_or_above, c, tree.subtree_end[c]);
  return marks;
}

}  // namespace profd

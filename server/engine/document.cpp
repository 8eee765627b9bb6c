#include "server/engine/document.h"

#include <algorithm>

namespace profd {
namespace {

tl::unexpected<Error> too_long() {
  return fail(ErrorCode::limit, "a document may have 64 MiB and 2,000,000 lines");
}

}  // namespace

Result<void> Document::check_size() const {
  if (text_.size() > kMaxBytes || n_lines() > kMaxLines) return too_long();
  return {};
}

Document::Document(std::string_view text, std::int32_t version, std::optional<std::int64_t> written_ns)
    : text_(text), version_(version) {
  states_.push_back({0, std::make_shared<const Measured>(text_, written_ns), LineEdits(n_lines())});
}

Result<void> Document::change(const std::optional<std::pair<TextPosition, TextPosition>>& range,
                              std::string_view text, PositionEncoding encoding, std::int32_t version) {
  const std::size_t begin = range ? text_.offset_of(range->first, encoding) : 0;
  const std::size_t end = range ? std::max(begin, text_.offset_of(range->second, encoding)) : text_.size();
  if (text_.size() - (end - begin) + text.size() > kMaxBytes) return too_long();
  // Every line that the change touches, old and new, the ones it only cuts through included.
  const std::size_t first = text_.line_at(begin);
  const std::size_t n_old = text_.line_at(end) - first + 1;
  const std::size_t n_before = n_lines();
  const PieceText before = text_;
  text_.replace(begin, end, text);
  PROFD_CHECK(check_size());
  const std::size_t n_new = n_lines() + n_old - n_before;
  std::size_t head = 0, tail = 0;
  if (n_old > 1 || n_new > 1) {
    const std::vector<std::uint64_t> old_lines = before.hashes(first, n_old);
    const std::vector<std::uint64_t> new_lines = text_.hashes(first, n_new);
    const std::size_t n_least = std::min(n_old, n_new);
    while (head < n_least && old_lines[head] == new_lines[head]) ++head;
    while (tail < n_least - head && old_lines[n_old - 1 - tail] == new_lines[n_new - 1 - tail]) ++tail;
  }
  for (State& state : states_) state.edits.replace(first, n_old, n_new, head, tail);
  version_ = version;
  return {};
}

Result<void> Document::saved(std::uint64_t newest_view, const std::vector<std::uint64_t>& in_use,
                             std::optional<std::int64_t> written_ns) {
  State now{newest_view, std::make_shared<const Measured>(text_, written_ns), LineEdits(n_lines())};
  if (states_.size() > 1 && states_.back().after == newest_view)
    states_.back() = std::move(now);
  else
    states_.push_back(std::move(now));
  // A state between two neighbours of which no open profile is told by is not needed, but for the first and
  // the last.
  std::vector<State> needed;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool is_last = i + 1 == states_.size();
    const auto user = std::upper_bound(in_use.begin(), in_use.end(), states_[i].after);
    if (i == 0 || is_last || (user != in_use.end() && *user <= states_[i + 1].after))
      needed.push_back(std::move(states_[i]));
  }
  states_ = std::move(needed);
  if (states_.size() > kMaxStates)
    return fail(ErrorCode::limit, "open profiles were measured with more than 64 versions of a document");
  return {};
}

const std::vector<std::uint64_t>& Document::Measured::lines() const {
  std::call_once(once, [this] { hashes = text.hashes(0, text.n_lines()); });
  return hashes;
}

const Document::State& Document::state_of(std::uint64_t view_id) const {
  const auto later = std::find_if(states_.rbegin(), states_.rend(),
                                  [&](const State& state) { return state.after < view_id; });
  return later == states_.rend() ? states_.front() : *later;
}

LineMap Document::line_map(std::uint64_t view_id) const {
  const State& state = state_of(view_id);
  const std::vector<std::uint64_t>& measured = state.measured->lines();
  const std::vector<LineEdits::Run>& runs = state.edits.runs();
  std::vector<std::uint32_t> origin;
  origin.reserve(n_lines());
  for (const LineEdits::Run& run : runs)
    for (std::uint32_t i = 0; i < run.n; ++i) origin.push_back(run.origin == kNone ? kNone : run.origin + i);
  std::vector<std::uint64_t> now;
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.edited; })) {
    now = text_.hashes(0, n_lines());
  } else {
    now.reserve(origin.size());
    for (const std::uint32_t line : origin) now.push_back(measured[line]);
  }
  return LineMap(measured, std::move(now), std::move(origin));
}

const std::vector<std::uint64_t>& Document::measured_lines(std::uint64_t view_id) const {
  return state_of(view_id).measured->lines();
}

std::optional<std::int64_t> Document::written_ns(std::uint64_t view_id) const {
  return state_of(view_id).measured->written_ns;
}

std::size_t Document::memory() const {
  std::size_t bytes = sizeof(Document) + text_.memory();
  for (const State& state : states_)
    bytes += state.edits.memory() + state.measured->text.memory() +
             state.measured->text.n_lines() * sizeof(std::uint64_t);
  return bytes;
}

}  // namespace profd

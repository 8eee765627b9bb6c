#include "server/engine/document.h"

#include <algorithm>
#include <utility>

namespace profd {
namespace {

// Some formats write the time of recording in whole seconds, and scripts are run as soon as they are saved.
constexpr std::int64_t kSlackNs = 2'000'000'000;

tl::unexpected<Error> too_long() {
  return fail(ErrorCode::limit, "a document may have 64 MiB and 2,000,000 lines");
}

std::optional<std::int64_t> written_of(const std::optional<FileStamp>& stamp) {
  return stamp ? std::optional(stamp->mtime_ns) : std::nullopt;
}

}  // namespace

bool written_after(std::int64_t written_ns, std::int64_t recorded_ns) {
  return recorded_ns != 0 && written_ns > recorded_ns + kSlackNs;
}

Result<void> Document::check_size() const {
  if (text_.size() > kMaxBytes || n_lines() > kMaxLines) return too_long();
  return {};
}

Document::Document(std::string_view text, std::int32_t version, const std::optional<FileOnDisk>& file,
                   std::uint64_t newest_view)
    : text_(text), version_(version), newest_seen_(newest_view) {
  if (file) stamp_ = file->stamp;
  const std::optional<std::int64_t> written = written_of(stamp_);
  if (!file || !file->text || *file->text == text) {
    states_.push_back({0, 0, std::make_shared<const Measured>(text_, written), LineEdits(n_lines())});
    return;
  }
  auto measured = std::make_shared<const Measured>(PieceText(*file->text), written);
  LineEdits edits(measured->lines(), text_.hashes(0, n_lines()));
  states_.push_back({0, 0, std::move(measured), std::move(edits)});
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
                             const std::optional<FileStamp>& stamp) {
  stamp_ = stamp;
  return add_state({newest_view, std::exchange(newest_seen_, newest_view),
                    std::make_shared<const Measured>(text_, written_of(stamp)), LineEdits(n_lines())},
                   in_use);
}

Result<void> Document::looked_at(const FileOnDisk& file, std::uint64_t newest_view,
                                 const std::vector<std::uint64_t>& in_use) {
  const std::uint64_t seen_before = std::exchange(newest_seen_, newest_view);
  if (stamp_ == file.stamp) return {};
  stamp_ = file.stamp;
  auto measured =
      std::make_shared<const Measured>(file.text ? PieceText(*file.text) : text_, file.stamp.mtime_ns);
  if (measured->lines() == states_.back().measured->lines()) return {};
  LineEdits edits(measured->lines(), text_.hashes(0, n_lines()));
  return add_state({newest_view, seen_before, std::move(measured), std::move(edits)}, in_use);
}

Result<void> Document::add_state(State state, const std::vector<std::uint64_t>& in_use) {
  states_.push_back(std::move(state));
  // A state of which no open profile is told by is not needed, but for the first and the last.
  std::vector<State> needed;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const bool is_last = i + 1 == states_.size();
    const auto user = std::upper_bound(in_use.begin(), in_use.end(), states_[i].maybe_after);
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

const Document::State& Document::state_of(Recording recording) const {
  const auto is_of = [&](const State& state) {
    if (state.after < recording.view_id) return true;
    return state.maybe_after < recording.view_id && state.measured->written_ns &&
           !written_after(*state.measured->written_ns, recording.recorded_ns);
  };
  const auto found = std::find_if(states_.rbegin(), states_.rend(), is_of);
  return found == states_.rend() ? states_.front() : *found;
}

LineMap Document::line_map(Recording recording) const {
  const State& state = state_of(recording);
  const std::vector<std::uint64_t>& measured = state.measured->lines();
  const std::vector<LineEdits::Run>& runs = state.edits.runs();
  std::vector<std::uint32_t> origin;
  origin.reserve(n_lines());
  for (const LineEdits::Run& run : runs)
    for (std::uint32_t i = 0; i < run.n; ++i) origin.push_back(run.origin == kNone ? kNone : run.origin + i);
  std::vector<std::uint64_t> now;
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.edited; })) {
    now = text_.hashes(0, n_lines());
    // However it came about that it is that text again.
    if (now == measured) return LineMap(measured);
  } else {
    now.reserve(origin.size());
    for (const std::uint32_t line : origin) now.push_back(measured[line]);
  }
  return LineMap(measured, std::move(now), std::move(origin));
}

const std::vector<std::uint64_t>& Document::measured_lines(Recording recording) const {
  return state_of(recording).measured->lines();
}

const PieceText& Document::measured_text(Recording recording) const {
  return state_of(recording).measured->text;
}

std::optional<std::int64_t> Document::written_ns(Recording recording) const {
  return state_of(recording).measured->written_ns;
}

std::size_t Document::memory() const {
  std::size_t bytes = sizeof(Document) + text_.memory();
  for (const State& state : states_)
    bytes += state.edits.memory() + state.measured->text.memory() +
             state.measured->text.n_lines() * sizeof(std::uint64_t);
  return bytes;
}

}  // namespace profd

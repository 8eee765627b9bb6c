#include "server/feature/side_places.h"

#include <algorithm>
#include <map>

#include "core/source/name_evidence.h"

namespace profd {
namespace {

bool is_in(const std::vector<StringId>& files, StringId file) {
  return std::find(files.begin(), files.end(), file) != files.end();
}

// By key: the first line of the function after; 0 where that is not known or there are several.
std::vector<std::uint32_t> first_lines(const Profile& profile, const KeyTable& keys,
                                       const std::vector<std::uint8_t>& of) {
  std::vector<std::uint32_t> first(keys.n_keys(), kNone);
  for (std::size_t f = 0; f < of.size(); ++f) {
    if (of[f] == 0) continue;
    const std::uint32_t line = profile.functions().start_line[profile.frames().function[f].v];
    std::uint32_t& known = first[keys.of_frame[f]];
    known = known == kNone || known == line ? line : 0;
  }
  for (std::uint32_t& line : first)
    if (line == kNone) line = 0;
  return first;
}

void add_once(std::vector<Key>& keys, Key key) {
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

}  // namespace

CallsByLine calls_by_line(const Selection& selection, const std::vector<StringId>& files) {
  const Profile& profile = *selection.profile;
  const ContextTree& tree = profile.tree();
  std::vector<std::uint32_t> line_of(profile.frames().size(), 0);
  for (std::size_t f = 0; f < line_of.size(); ++f)
    if (is_in(files, file_of_frame(profile, f))) line_of[f] = profile.frames().line[f];
  CallsByLine calls;
  std::visit(
      [&](const auto& totals) {
        for (std::uint32_t c = 1; c < tree.size(); ++c) {
          const std::uint32_t parent = tree.parent[c];
          if (parent == 0 || totals[c] == 0 || line_of[tree.frame[parent]] == 0) continue;
          std::vector<Key>& keys = calls[line_of[tree.frame[parent]]];
          const Key key = selection.boxes->keys->of_frame[tree.frame[c]];
          if (const auto at = std::lower_bound(keys.begin(), keys.end(), key); at == keys.end() || *at != key)
            keys.insert(at, key);
        }
      },
      selection.sums->totals);
  return calls;
}

SidePlaces::SidePlaces(std::shared_ptr<const SourceFile> before, std::shared_ptr<const SourceFile> after,
                       const AnnotateRequest& request)
    : before_(std::move(before)),
      after_(std::move(after)),
      places_before_(*before_, request.document.get(), request.open->view_id),
      places_after_(*after_, request.document.get(), request.open->view_id),
      files_(after_->files) {
  for (const StringId file : before_->files)
    if (!is_in(files_, file)) files_.push_back(file);
  in_before_ = frames_of(*request.open->profile, LinesOf::before);
  in_after_ = frames_of(*request.open->profile, LinesOf::after);
}

void SidePlaces::read_frames(const Profile& profile, const KeyTable& keys) {
  const FrameTable& frames = profile.frames();
  const FunctionTable& functions = profile.functions();
  const std::vector<std::uint32_t> after = first_lines(profile, keys, in_after_);
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (!is_in(files_, file_of_frame(profile, f))) continue;
    const Key key = keys.of_frame[f];
    if (key >= keys.first_group()) continue;
    const std::uint32_t begin = functions.start_line[frames.function[f].v];
    const std::uint32_t line = frames.line[f] != 0 ? frames.line[f] : begin;
    if (line == 0) continue;
    if (in_after_[f] != 0) add_once(on_after_[line], key);
    if (in_before_[f] == 0) continue;
    add_once(on_before_[line], key);
    // Code that a macro brought from elsewhere does not move with the function.
    std::optional<std::int64_t> moved;
    if (begin != 0 && after[key] != 0 && is_in(files_, functions.file[frames.function[f].v]))
      moved = std::int64_t{after[key]} - std::int64_t{begin};
    const auto [at, is_new] = moved_.try_emplace(line, moved);
    if (!is_new && at->second != moved) at->second = std::nullopt;
  }
}

// A function of which nothing is known after may be gone from the text, whatever the times of files say: then
// other code stands where it was.
void SidePlaces::drop_missing_functions(const AnnotateRequest& request) {
  if (before_->lines == LineTrust::followed) return;
  const Profile& profile = *request.open->profile;
  const FrameTable& frames = profile.frames();
  std::map<std::uint32_t, std::vector<std::uint32_t>> lines_of;  // by function
  for (std::size_t f = 0; f < frames.size(); ++f) {
    if (in_before_[f] == 0 || !is_in(files_, file_of_frame(profile, f))) continue;
    const std::uint32_t function = frames.function[f].v, begin = profile.functions().start_line[function];
    const std::uint32_t line = frames.line[f] != 0 ? frames.line[f] : begin;
    if (const auto moved = moved_.find(line); moved != moved_.end() && !moved->second)
      lines_of[function].push_back(line);
  }
  if (lines_of.empty()) return;
  const auto text =
      measured_text(request.path, request.document.get(), {request.open->view_id, before_->recorded_ns});
  if (!text) return;
  for (const auto& [function, lines] : lines_of) {
    const auto [first, last] = std::minmax_element(lines.begin(), lines.end());
    const std::uint32_t begin = profile.functions().start_line[function];
    const NamedLine named{profile.function_name(FunctionId{function}), begin != 0 ? begin : *first,
                          begin != 0, std::max(begin, *last)};
    const NameEvidence evidence = look_for_names(*text, {&named, 1});
    if (evidence.past_end || (evidence.n_checked == 1 && evidence.n_near == 0)) {
      other_text_ = true;
      for (const std::uint32_t line : lines) drop_line(line);
      if (begin != 0) homeless_.insert(begin);
    }
  }
}

void SidePlaces::find_collisions() {
  std::vector<std::uint32_t> lines;
  for (const auto& [line, keys] : on_before_) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  std::set<std::uint32_t> used;
  for (const bool shifted : {false, true})
    for (const std::uint32_t line : lines) {
      if (by_function(line) != shifted || homeless_.count(line) != 0) continue;
      const auto place = find(LinesOf::before, line);
      if (place && !used.insert(place->line).second) drop_line(line);
    }
}

void SidePlaces::drop_line(std::uint32_t line_before) {
  homeless_.insert(line_before);
  for (const Key key : functions_on(LinesOf::before, line_before)) incomplete_.insert(key);
}

void SidePlaces::match_calls(const Selection& before, const Selection& after) {
  const CallsByLine of_before = calls_by_line(before, files_), of_after = calls_by_line(after, files_);
  const auto share_one = [](const auto& a, const auto& b) {
    return std::any_of(a.begin(), a.end(),
                       [&](Key key) { return std::find(b.begin(), b.end(), key) != b.end(); });
  };
  std::vector<std::uint32_t> conflicting;
  for (const auto& [line, calls] : of_before) {
    if (!by_function(line)) continue;
    const auto there = of_after.find(static_cast<std::uint32_t>(line + *moved_.at(line)));
    if (there != of_after.end() && !share_one(calls, there->second)) conflicting.push_back(line);
  }
  for (const std::uint32_t line : conflicting) {
    std::vector<std::uint32_t> same;
    for (const auto& [other, calls] : of_after)
      if (calls == of_before.at(line) &&
          share_one(functions_on(LinesOf::before, line), functions_on(LinesOf::after, other)))
        same.push_back(other);
    if (same.size() == 1)
      moved_[line] = std::int64_t{same[0]} - std::int64_t{line};
    else
      drop_line(line);
  }
}

Result<SidePlaces> SidePlaces::make(Views& views, const AnnotateRequest& request, const KeyTable& keys,
                                    const StopToken& stop) {
  const auto source = [&](LinesOf side) {
    return views.source_file(*request.open, request.workspace, request.path, request.document.get(), stop,
                             side);
  };
  PROFD_TRY(auto before, source(LinesOf::before));
  PROFD_TRY(auto after, source(LinesOf::after));
  SidePlaces places(std::move(before), std::move(after), request);
  if (!places.files_.empty()) {
    places.read_frames(*request.open->profile, keys);
    places.drop_missing_functions(request);
    places.other_text_ =
        places.other_text_ || std::any_of(places.moved_.begin(), places.moved_.end(),
                                          [](const auto& line) { return line.second.value_or(0) != 0; });
    if (places.other_text_ || places.before_->files.empty() || places.before_->uncertain()) {
      const SideMetrics sides = *sides_of(*request.open->profile, request.metric);
      AnnotateRequest of_side = request;
      of_side.metric = sides.before;
      PROFD_TRY(const SelectionPtr in_before, views.selection(*request.open, annotation_spec(of_side), stop));
      of_side.metric = sides.after;
      PROFD_TRY(const SelectionPtr in_after, views.selection(*request.open, annotation_spec(of_side), stop));
      places.match_calls(*in_before, *in_after);
    }
    places.find_collisions();
  }
  return places;
}

const std::vector<Key>& SidePlaces::functions_on(LinesOf side, std::uint32_t line) const {
  static const std::vector<Key> none;
  const auto& on = side == LinesOf::before ? on_before_ : on_after_;
  const auto found = on.find(line);
  return found == on.end() ? none : found->second;
}

bool SidePlaces::by_function(std::uint32_t line_before) const {
  const auto found = moved_.find(line_before);
  if (before_->lines == LineTrust::followed || found == moved_.end() || !found->second) return false;
  return before_->files.empty() || before_->uncertain() || other_text_;
}

std::optional<LinePlaces::Placed> SidePlaces::find(LinesOf side, std::uint32_t line) const {
  if (side == LinesOf::after) return places_after_.find(line);
  if (homeless_.count(line) != 0) return std::nullopt;
  if (by_function(line)) {
    const std::int64_t moved = std::int64_t{line} + *moved_.at(line);
    if (moved < 1 || moved > std::int64_t{kNone} - 1) return std::nullopt;
    auto placed = places_after_.find(static_cast<std::uint32_t>(moved));
    if (placed) placed->stale = true;
    return placed;
  }
  if (before_->files.empty() || before_->lines == LineTrust::elsewhere) return std::nullopt;
  auto placed = places_before_.find(line);
  if (placed && other_text_) placed->stale = true;
  return placed;
}

}  // namespace profd

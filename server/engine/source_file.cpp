#include "server/engine/source_file.h"

#include <algorithm>

#include "server/engine/committed_text.h"
#include "server/engine/source_text.h"

namespace profd {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kPlausible = std::int64_t{946'684'800} * kSecond;  // 2000-01-01

// What the functions of the file say about its text.
void read_names(const Profile& profile, const SourceMap& sources, const std::string& path,
                const std::vector<StringId>& spellings, LinesOf side, const std::string& text,
                SourceFile& out) {
  const auto named = named_lines_of(profile, spellings, frames_of(profile, side));
  bool first = true;
  for (const StringId file : spellings) {
    const SourceTarget& target = sources.targets.at(profile.strings()[file]);
    SourceTarget judged = target;
    NameEvidence names;
    if (const auto lines = named.find(file.v); lines != named.end()) {
      names = look_for_names(text, lines->second);
      judged = judge_text(target, names);
    }
    if (judged.paths.empty() || judged.paths.front() != path) {
      out.lookalikes.push_back(file);
      if (out.files.empty()) out.doubt = judged.doubt;
      continue;
    }
    // A doubt about one spelling is a doubt about the sum.
    if (out.files.empty()) out.doubt = Doubt::none;
    if (judged.doubt != Doubt::none) out.doubt = judged.doubt;
    if (out.files.empty()) out.rule = judged.rule;
    out.files.push_back(file);
    const bool moved = names.n_defined >= 2 && names.n_defined_near == 0 && names.n_defined_elsewhere >= 2;
    if (first && (moved || names.past_end)) out.lines = LineTrust::elsewhere;
    first = false;
  }
}

// The text that was measured, where version control has it and the profile's functions stand in it.
void follow(const Profile& profile, const std::string& path, LinesOf side,
            const std::vector<std::uint64_t>& now, const StopToken& stop, SourceFile& out) {
  out.lines = LineTrust::changed;
  auto measured = committed_text(path, out.recorded_ns / kSecond, stop);
  if (!measured) return;
  std::vector<NamedLine> all;
  for (auto& [file, lines] : named_lines_of(profile, out.files, frames_of(profile, side)))
    all.insert(all.end(), lines.begin(), lines.end());
  // What was not committed then is not there: its functions would stand on other lines.
  const NameEvidence names = look_for_names(measured->text, all);
  if (names.contradicts() || names.n_near < names.n_elsewhere) return;
  out.since = LineMap::between(LineMap::hash_lines(measured->text), now);
  out.commit = std::move(measured->commit);
  out.lines = out.since.unchanged() ? LineTrust::measured : LineTrust::followed;
}

}  // namespace

std::optional<std::string> measured_text(const std::string& path, const Document* document,
                                         Recording recording) {
  if (document == nullptr) return read_source(path);
  const PieceText& text = document->measured_text(recording);
  return text.size() <= kMaxSourceBytes ? std::optional(text.text()) : std::nullopt;
}

std::vector<std::uint8_t> frames_of(const Profile& profile, LinesOf side) {
  const Composition* const composition = profile.composition();
  if (composition == nullptr || composition->kind != Composed::diff) return {};
  return composition->has_frame(side == LinesOf::before, profile.frames().size());
}

std::int64_t recorded_at(const OpenProfile& open, LinesOf side) {
  const auto plausible = [](std::int64_t time) { return time > kPlausible; };
  if (const Composition* const composition = open.profile->composition()) {
    std::int64_t first = 0;
    for (const ComposedInput& input : composition->inputs) {
      if (composition->kind == Composed::diff && input.before != (side == LinesOf::before)) continue;
      const std::int64_t time = plausible(input.time_ns.value_or(0)) ? *input.time_ns : input.written_ns;
      if (plausible(time) && (first == 0 || time < first)) first = time;
    }
    return first;
  }
  if (const auto& time = open.profile->info().time_ns; time && plausible(*time)) return *time;
  const auto& watched = open.loaded->watched;
  const std::int64_t written = watched.empty() ? 0 : watched.front().seen.mtime_ns;
  return plausible(written) ? written : 0;
}

std::optional<std::int64_t> written_at(const OpenProfile& open, const std::string& path,
                                       const Document* document, LinesOf side) {
  if (document != nullptr) return document->written_ns({open.view_id, recorded_at(open, side)});
  const auto stamp = stamp_of(path);
  return stamp ? std::optional(stamp->mtime_ns) : std::nullopt;
}

bool changed_since(const OpenProfile& open, std::optional<std::int64_t> written_ns, LinesOf side) {
  return written_ns && written_after(*written_ns, recorded_at(open, side));
}

Result<std::shared_ptr<const SourceFile>> make_source_file(const OpenProfile& open, const SourceMap& sources,
                                                           const std::string& path, const Document* document,
                                                           LinesOf side, const StopToken& stop) {
  auto out = std::make_shared<SourceFile>();
  out->recorded_ns = recorded_at(open, side);
  if (const auto found = sources.lookalikes.find(path); found != sources.lookalikes.end())
    for (const SourceMap::Lookalike& one : found->second) {
      out->lookalikes.push_back(one.file);
      out->doubt = one.doubt;
    }
  const auto found = sources.by_path.find(path);
  if (found == sources.by_path.end()) return std::shared_ptr<const SourceFile>(std::move(out));
  const Profile& profile = *open.profile;
  const auto text = measured_text(path, document, {open.view_id, out->recorded_ns});
  if (text) {
    read_names(profile, sources, path, found->second, side, *text, *out);
  } else {  // nothing speaks against the path
    out->files = found->second;
    const SourceTarget& target = sources.targets.at(profile.strings()[out->files.front()]);
    out->rule = target.rule;
    out->doubt = target.doubt;
  }
  if (out->files.empty()) return std::shared_ptr<const SourceFile>(std::move(out));
  const auto written = written_at(open, path, document, side);
  out->changed_ns = written.value_or(0);
  if (changed_since(open, written, side)) {
    if (document != nullptr)
      follow(profile, path, side, document->measured_lines({open.view_id, out->recorded_ns}), stop, *out);
    else if (text)
      follow(profile, path, side, LineMap::hash_lines(*text), stop, *out);
    else
      out->lines = LineTrust::changed;
    PROFD_CHECK(stop.status());
  }
  return std::shared_ptr<const SourceFile>(std::move(out));
}

}  // namespace profd

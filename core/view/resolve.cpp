#include "core/view/resolve.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/view/names.h"

namespace profd {
namespace {

constexpr std::size_t kCandidates = 8;
constexpr std::string_view kLeftOut = "…";
constexpr std::string_view kUnknownName = "(unknown)";

bool is_word_part(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// "b.c" ends "a/b.c" and "x::b.c", and not "ab.c".
bool ends_in(std::string_view text, std::string_view end) {
  return !end.empty() && text.size() > end.size() && text.ends_with(end) &&
         !(is_word_part(text[text.size() - end.size() - 1]) && is_word_part(end.front()));
}

// Nothing is shown with a word that its name does not have: spares the work for nearly all names.
std::string_view longest_word(std::string_view text) {
  std::string_view longest;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word_part(text[end]) && static_cast<unsigned char>(text[end]) < 0x80)
      ++end;
    if (end - i > longest.size()) longest = text.substr(i, end - i);
    i = std::max(end, i + 1);
  }
  return longest;
}

std::string without_spaces_after_commas(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' || out.empty() || out.back() != ',') out += c;
  return out;
}

// What is written around "…" stands in the name in this order; after the last of it only parameters may
// follow.
bool matches_around_gaps(std::string_view full_name, std::string_view shown) {
  const std::string full = without_spaces_after_commas(full_name),
                    wanted = without_spaces_after_commas(shown);
  std::size_t at = 0;
  bool first = true;
  for (std::size_t i = 0; i <= wanted.size();) {
    const std::size_t gap = std::min(wanted.find(kLeftOut, i), wanted.size());
    const std::string_view piece = std::string_view(wanted).substr(i, gap - i);
    const bool last = gap == wanted.size();
    std::size_t found = last && !piece.empty() ? full.rfind(piece) : full.find(piece, at);
    if (last && found != std::string::npos && !piece.empty()) {
      // "Map<…>::find" and then "(int) const".
      while (found != std::string::npos && found >= at && found + piece.size() < full.size() &&
             full[found + piece.size()] != '(')
        found = found == 0 ? std::string::npos : full.rfind(piece, found - 1);
    }
    if (found == std::string::npos || found < at) return false;
    if (first && found > 0 && is_word_part(full[found - 1]) &&
        is_word_part(piece.empty() ? ' ' : piece.front()))
      return false;
    at = found + piece.size();
    first = false;
    if (last) break;
    i = gap + kLeftOut.size();
  }
  return true;
}

// In the form in which each can be typed.
std::string candidates(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kCandidates); ++i)
    text += (i == 0 ? "" : ", ") + name_in_spec(names[i]);
  if (names.size() > kCandidates) text += ", …";
  return text;
}

// "b.c" is "b.c" and the end of "a/b.c".
bool is_path(std::string_view path, std::string_view wanted) {
  return path == wanted || ends_in(path, wanted);
}

// "main (a.c)" is "main" in a file or module whose path is or ends in "a.c".
bool is_at(const KeyPlace& place, std::string_view wanted) {
  return is_path(place.file, wanted) || is_path(place.module, wanted);
}

std::string with_place(std::string text, std::string_view where) {
  if (!where.empty() && where != text) text.append(" (").append(where).append(")");
  return text;
}

// As tables show frames whose names meet: by file, else by module.
std::string with_its_place(const Profile& profile, const KeyTable& keys, Key key) {
  const KeyPlace place = key_place(profile, keys, key);
  return with_place(key_name(profile, keys, key), place.file.empty() ? place.module : place.file);
}

struct Placed {
  std::string_view name, place;
};
// The parts of "main (a.c)"; nothing where the name has no such end.
std::optional<Placed> placed(std::string_view shown) {
  const std::size_t open = shown.rfind(" (");
  if (open == std::string_view::npos || open == 0 || !shown.ends_with(')') || open + 3 >= shown.size())
    return std::nullopt;
  return Placed{shown.substr(0, open), shown.substr(open + 2, shown.size() - open - 3)};
}

// "main" of "main #2", by which an answer told one of several apart that nothing else does.
std::string_view without_number(std::string_view shown) {
  const std::size_t mark = shown.rfind(" #");
  if (mark == std::string_view::npos || mark == 0 || mark + 2 == shown.size()) return {};
  const std::string_view digits = shown.substr(mark + 2);
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })
             ? shown.substr(0, mark)
             : std::string_view();
}

// A name in quotes, as errors print it, without them.
std::optional<std::string> unquoted(std::string_view shown) {
  if (!shown.starts_with('"')) return std::nullopt;
  auto filters = parse_filters("function " + std::string(shown));
  if (!filters || filters->size() != 1 || filters->front().regex) return std::nullopt;
  return std::move(filters->front().pattern);
}

bool is_called(const Profile& profile, std::uint32_t function, std::string_view name) {
  const FunctionTable& functions = profile.functions();
  const std::string_view own = profile.strings()[functions.name[function]];
  const std::string_view linker_name = profile.strings()[functions.system_name[function]];
  return own == name || (!linker_name.empty() && linker_name == name) ||
         (own.empty() && name == kUnknownName);
}

// The file of a frame's function, as keys by function have it, else its module.
std::string_view place_of(const Profile& profile, std::uint32_t frame) {
  const StringTable& strings = profile.strings();
  const StringId defined_in = profile.functions().file[profile.frames().function[frame].v];
  const std::string_view file = strings[defined_in.v != 0 ? defined_in : profile.frames().file[frame]];
  const ModuleId module = profile.frames().module[frame];
  return !file.empty() || !module.valid() ? file : strings[profile.modules().name[module.v]];
}

// What every way to say it has in common: several are refused with all of them.
Result<std::optional<std::string>> only_one(std::string_view shown, std::vector<std::string> found) {
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) return std::optional<std::string>();
  if (found.size() == 1) return std::optional<std::string>(std::move(found.front()));
  const std::size_t n = found.size();
  return fail(ErrorCode::invalid, fmt::format("\"{}\" is short for {} functions: {}; a whole name picks one",
                                              shown, n, candidates(std::move(found))));
}

}  // namespace

bool is_shown_as(std::string_view full, std::string_view shown) {
  if (full == shown || ends_in(full, shown)) return true;
  const std::string_view word = longest_word(shown);
  if (full.find(word) == std::string_view::npos) return false;
  const std::string label = short_name(full);
  if (label == shown) return true;
  // No words, or words of a name with its arguments, whose parameters alone are left out.
  return !word.empty() && (ends_in(label, shown) || matches_around_gaps(full, shown));
}

std::vector<std::uint8_t> frames_called(const Profile& profile, std::string_view name) {
  const FrameTable& frames = profile.frames();
  std::vector<std::uint8_t> is(frames.size(), 0), of_function(profile.functions().size(), 0);
  bool any = false;
  for (std::uint32_t f = 0; f < of_function.size(); ++f) {
    of_function[f] = is_called(profile, f, name) ? 1 : 0;
    any = any || of_function[f] != 0;
  }
  const std::optional<Placed> at = any ? std::nullopt : placed(name);
  if (!any && !at) return is;
  for (std::uint32_t f = 0; at && f < of_function.size(); ++f)
    of_function[f] = is_called(profile, f, at->name) ? 1 : 0;
  for (std::uint32_t frame = 0; frame < is.size(); ++frame)
    is[frame] =
        of_function[frames.function[frame].v] != 0 && (!at || is_path(place_of(profile, frame), at->place))
            ? 1
            : 0;
  return is;
}

std::vector<FunctionId> functions_called(const Profile& profile, std::string_view name) {
  const std::vector<std::uint8_t> is = frames_called(profile, name);
  std::vector<std::uint8_t> of_function(profile.functions().size(), 0);
  for (std::size_t frame = 0; frame < is.size(); ++frame)
    if (is[frame] != 0) of_function[profile.frames().function[frame].v] = 1;
  std::vector<FunctionId> out;
  for (std::uint32_t f = 0; f < of_function.size(); ++f)
    if (of_function[f] != 0) out.emplace_back(f);
  return out;
}

Result<std::optional<std::string>> function_shown_as(const Profile& profile, std::string_view shown) {
  const auto n_functions = static_cast<std::uint32_t>(profile.functions().size());
  for (std::uint32_t f = 0; f < n_functions; ++f)
    if (is_called(profile, f, shown)) return std::optional<std::string>(shown);
  if (shown.empty()) return std::optional<std::string>();
  std::vector<std::string> found;
  if (const std::optional<Placed> at = placed(shown)) {
    for (const bool short_forms : {false, true}) {
      for (std::uint32_t frame = 0; frame < profile.frames().size(); ++frame) {
        const std::uint32_t f = profile.frames().function[frame].v;
        const std::string_view name = profile.function_name(FunctionId{f}), place = place_of(profile, frame);
        if (is_path(place, at->place) &&
            (short_forms ? is_shown_as(name, at->name) : is_called(profile, f, at->name)))
          found.push_back(with_place(std::string(name.empty() ? kUnknownName : name), place));
      }
      if (!found.empty()) return only_one(shown, std::move(found));
    }
  }
  for (std::uint32_t f = 0; f < n_functions; ++f) {
    const std::string_view name = profile.function_name(FunctionId{f});
    if (is_shown_as(name, shown)) found.emplace_back(name);
  }
  if (!found.empty()) return only_one(shown, std::move(found));
  if (const std::optional<std::string> name = unquoted(shown)) return function_shown_as(profile, *name);
  const std::string_view base = without_number(shown);
  if (base.empty()) return std::optional<std::string>();
  PROFD_TRY(std::optional<std::string> all, function_shown_as(profile, base));
  if (!all) return all;
  KeyTable keys = make_keys(profile, Granularity::function);
  const std::vector<std::uint8_t> is = frames_called(profile, *all);
  std::vector<Key> meant;
  for (std::uint32_t frame = 0; frame < is.size(); ++frame)
    if (is[frame] != 0 && std::find(meant.begin(), meant.end(), keys.of_frame[frame]) == meant.end())
      meant.push_back(keys.of_frame[frame]);
  if (meant.size() == 1) return all;
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" is one of {} functions that nothing else tells apart; {} means all", shown,
                          meant.size(), name_in_spec(*all)));
}

Result<std::vector<Filter>> with_whole_names(const Profile& profile, const std::vector<Filter>& filters) {
  std::vector<Filter> out = filters;
  for (Filter& filter : out) {
    if (filter.by == FilterBy::function && !filter.regex) {
      PROFD_TRY(const std::optional<std::string> name, function_shown_as(profile, filter.pattern));
      if (name) filter.pattern = *name;
    }
    if (filter.by != FilterBy::fragment && filter.by != FilterBy::path) continue;
    for (std::string& each : filter.names) {
      PROFD_TRY(const std::optional<std::string> name, function_shown_as(profile, each));
      if (name) each = *name;
    }
  }
  return out;
}

Result<Key> resolve_key(const Profile& profile, const KeyTable& keys, std::string_view name) {
  std::vector<Key> found = find_keys(profile, keys, name);
  const auto add_shown_as = [&](std::string_view shown, std::string_view where) {
    for (Key key = 0; key < keys.n_keys(); ++key)
      if (is_shown_as(key_name(profile, keys, key), shown) &&
          (where.empty() || is_at(key_place(profile, keys, key), where)))
        found.push_back(key);
  };
  if (const std::optional<Placed> at = placed(name); found.empty() && at) {
    for (const Key key : find_keys(profile, keys, at->name))
      if (is_at(key_place(profile, keys, key), at->place)) found.push_back(key);
    if (found.empty()) add_shown_as(at->name, at->place);
  }
  if (found.empty() && !name.empty()) add_shown_as(name, "");
  if (found.empty()) {
    if (const std::optional<std::string> plain = unquoted(name)) return resolve_key(profile, keys, *plain);
    if (const std::string_view base = without_number(name); !base.empty())
      return resolve_key(profile, keys, base);
    return fail(ErrorCode::not_found, fmt::format("no frame is called \"{}\"; `profd top` lists them", name));
  }
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  for (const Key key : found) names.push_back(with_its_place(profile, keys, key));
  const std::size_t n = names.size();
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" is the name of {} frames: {}", name, n, candidates(std::move(names))));
}

Result<MetricId> resolve_metric(const Profile& profile, std::string_view name) {
  if (const std::optional<MetricId> found = profile.find_metric(name)) return *found;
  constexpr std::size_t kMaxNamed = 20;
  std::vector<std::string_view> names;
  for (const MetricInfo& metric : profile.metrics()) names.push_back(metric.name);
  std::string text = fmt::format("the profile has no metric \"{}\"{}", name, did_you_mean(name, names));
  for (std::size_t m = 0; m < std::min(names.size(), kMaxNamed); ++m)
    text += (m == 0 ? "; it has " : ", ") + std::string(names[m]);
  if (names.size() > kMaxNamed) text += fmt::format(" and {} more", names.size() - kMaxNamed);
  return fail(ErrorCode::not_found, std::move(text));
}

}  // namespace profd

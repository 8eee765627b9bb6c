#include "core/view/resolve.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/view/names.h"

namespace profd {
namespace {

constexpr std::size_t kCandidates = 8;
constexpr std::string_view kLeftOut = "…";

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

std::string candidates(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kCandidates); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kCandidates) text += ", …";
  return text;
}

// "main (a.c)" is "main" in a file or module whose path is or ends in "a.c".
bool is_at(const KeyPlace& place, std::string_view wanted) {
  const auto is = [&](std::string_view path) { return path == wanted || ends_in(path, wanted); };
  return is(place.file) || is(place.module);
}

// As tables show frames whose names meet: by file, else by module.
std::string with_its_place(const Profile& profile, const KeyTable& keys, Key key) {
  std::string text = key_name(profile, keys, key);
  const KeyPlace place = key_place(profile, keys, key);
  const std::string_view where = place.file.empty() ? place.module : place.file;
  if (!where.empty() && where != text) text.append(" (").append(where).append(")");
  return text;
}

}  // namespace

bool is_shown_as(std::string_view full, std::string_view shown) {
  if (full == shown || ends_in(full, shown)) return true;
  const std::string_view word = longest_word(shown);
  if (word.empty() || full.find(word) == std::string_view::npos) return false;
  const std::string label = short_name(full);
  if (label == shown || ends_in(label, shown)) return true;
  return shown.find(kLeftOut) != std::string_view::npos && matches_around_gaps(full, shown);
}

Result<std::optional<std::string>> function_shown_as(const Profile& profile, std::string_view shown) {
  const FunctionTable& functions = profile.functions();
  const StringTable& strings = profile.strings();
  std::vector<std::string> found;
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const std::string_view name = strings[functions.name[f]];
    const StringId linker_name = functions.system_name[f];
    if (name == shown || (linker_name.v != 0 && strings[linker_name] == shown)) return std::string(shown);
  }
  if (shown.empty()) return std::optional<std::string>();
  for (std::size_t f = 0; f < functions.size(); ++f) {
    const std::string_view name = strings[functions.name[f]];
    if (is_shown_as(name, shown)) found.emplace_back(name);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  if (found.empty()) return std::optional<std::string>();
  if (found.size() > 1) {
    const std::size_t n = found.size();
    return fail(ErrorCode::invalid,
                fmt::format("\"{}\" is short for {} functions: {}; a whole name picks one", shown, n,
                            candidates(std::move(found))));
  }
  return std::move(found.front());
}

Result<std::vector<Filter>> with_whole_names(const Profile& profile, const std::vector<Filter>& filters) {
  std::vector<Filter> out = filters;
  for (Filter& filter : out) {
    if (filter.by == FilterBy::function && !filter.regex) {
      PROFD_TRY(const std::optional<std::string> name, function_shown_as(profile, filter.pattern));
      if (name) filter.pattern = *name;
    }
    if (filter.by != FilterBy::fragment) continue;
    for (std::string& each : filter.names) {
      PROFD_TRY(const std::optional<std::string> name, function_shown_as(profile, each));
      if (name) each = *name;
    }
  }
  return out;
}

Result<Key> resolve_key(const Profile& profile, const KeyTable& keys, std::string_view name) {
  std::vector<Key> found = find_keys(profile, keys, name);
  if (const std::size_t open = name.rfind(" (");
      found.empty() && name.ends_with(')') && open != std::string_view::npos) {
    const std::string_view where = name.substr(open + 2, name.size() - open - 3);
    for (const Key key : find_keys(profile, keys, name.substr(0, open)))
      if (is_at(key_place(profile, keys, key), where)) found.push_back(key);
  }
  if (found.empty() && !name.empty()) {
    for (Key key = 0; key < keys.n_keys(); ++key)
      if (is_shown_as(key_name(profile, keys, key), name)) found.push_back(key);
  }
  if (found.empty())
    return fail(ErrorCode::not_found, fmt::format("no frame is called \"{}\"; `profd top` lists them", name));
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  for (const Key key : found) names.push_back(with_its_place(profile, keys, key));
  const std::size_t n = names.size();
  return fail(ErrorCode::invalid,
              fmt::format("\"{}\" is the name of {} frames: {}", name, n, candidates(std::move(names))));
}

}  // namespace profd

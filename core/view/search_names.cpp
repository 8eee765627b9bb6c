#include "core/view/search_names.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace profd {
namespace {

constexpr std::uint64_t in_each(std::uint8_t byte) {
  return 0x0101010101010101U * byte;
}

std::uint64_t load(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// The first place in [from, end) where `needle` begins and which it fits in; `end` when there is none. Eight
// places at a time are asked for its first and its last character.
const char* find_needle(const char* from, const char* end, std::string_view needle) {
  const std::size_t last = needle.size() - 1;
  if (static_cast<std::size_t>(end - from) < needle.size()) return end;
  const char* const stop = end - last;  // no beginning from here on
  const std::uint64_t first_char = in_each(static_cast<std::uint8_t>(needle.front()));
  const std::uint64_t last_char = in_each(static_cast<std::uint8_t>(needle.back()));
  for (; stop - from >= 8; from += 8) {
    const std::uint64_t differs = (load(from) ^ first_char) | (load(from + last) ^ last_char);
    // Not zero when some byte of `differs` is: where both characters are right.
    if (((differs - in_each(1)) & ~differs & in_each(0x80)) == 0) continue;
    for (const char* at = from; at < from + 8; ++at)
      if (std::memcmp(at, needle.data(), needle.size()) == 0) return at;
  }
  for (; from < stop; ++from)
    if (std::memcmp(from, needle.data(), needle.size()) == 0) return from;
  return end;
}

}  // namespace

void SearchNames::find(std::string_view needle, Key first, Key last, std::uint8_t* found) const {
  const char* const start = text.data();
  const char* const end = start + begin[last];
  Key key = first;
  for (const char* at = start + begin[first]; (at = find_needle(at, end, needle)) != end;) {
    const auto offset = static_cast<std::uint64_t>(at - start);
    while (begin[key + 1] <= offset) ++key;
    found[key - first] = 1;
    at = start + begin[++key];  // once is enough
  }
}

std::string_view search_name(const Boxes& boxes, Key key, std::string& made) {
  const KeyTable& keys = *boxes.keys;
  if (keys.granularity == Granularity::function && key < keys.first_group()) {
    const std::string_view name =
        boxes.profile->function_name(boxes.profile->frames().function[keys.example[key]]);
    if (!name.empty()) return name;
  }
  made = key_name(*boxes.profile, keys, key);
  return made;
}

SearchNames make_search_names(const Boxes& boxes) {
  const auto n_keys = static_cast<Key>(boxes.keys->n_keys());
  SearchNames names;
  names.begin.reserve(n_keys + std::size_t{1});
  names.is_ascii.reserve(n_keys);
  std::string made;
  for (Key key = 0; key < n_keys; ++key) {
    const std::string_view name = search_name(boxes, key, made);
    names.begin.push_back(names.text.size());
    std::uint8_t bits = 0;
    for (const char c : name) bits = static_cast<std::uint8_t>(bits | static_cast<std::uint8_t>(c));
    names.is_ascii.push_back(bits < 0x80 ? 1 : 0);
    names.text += name;
    names.text += '\0';
  }
  names.begin.push_back(names.text.size());
  for (char& c : names.text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return names;
}

}  // namespace profd

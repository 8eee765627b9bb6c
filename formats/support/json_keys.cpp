#include "formats/support/json_keys.h"

#include <algorithm>

#include "formats/support/json_scan.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::size_t kMaxPrefix = 64 * 1024;

const char* skip_space(const char* p, const char* end) {
  while (p != end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) ++p;
  return p;
}

// After the string whose opening quote is at `p`; null when the prefix ends inside it or it is malformed.
const char* after_string(const char* p, const char* end) {
  bool non_ascii = false;
  for (++p;;) {
    p = json_scan::find_string_end(p, end, non_ascii);
    if (p == end) return nullptr;
    if (*p == '"') return p + 1;
    if (*p != '\\' || end - p < 2) return nullptr;
    p += 2;
  }
}

// After the value at `p`; null when the prefix ends inside it. Counts brackets without telling them apart.
const char* after_value(const char* p, const char* end) {
  if (*p == '"') return after_string(p, end);
  if (*p != '[' && *p != '{') {
    while (p != end && *p != ',' && *p != '}' && *p != ']') ++p;
    return p == end ? nullptr : p;
  }
  for (std::size_t depth = 0;;) {
    if (*p == '"') {
      p = after_string(p, end);
      if (p == nullptr) return nullptr;
    } else {
      const bool open = *p == '[' || *p == '{';
      ++p;
      if (open) ++depth;
      if (!open && --depth == 0) return p;
    }
    p = json_scan::find_structure(p, end);
    if (p == end) return nullptr;
  }
}

JsonKind kind_at(const char* p, const char* end) {
  return JsonCursor(std::string_view(p, static_cast<std::size_t>(end - p))).kind();
}

// What stands between quotes, character by character, with its escapes undone.
class Characters {
 public:
  explicit Characters(std::string_view inside) : p_(inside.data()), end_(p_ + inside.size()) {}

  // -1 at the closing quote and at the end of the prefix; above 127 for what is not ASCII.
  int next() {
    if (p_ == end_ || *p_ == '"') return -1;
    const char c = *p_++;
    if (c != '\\' || p_ == end_) return static_cast<unsigned char>(c);
    const char escape = *p_++;
    switch (escape) {
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        return unicode();
      default:
        return static_cast<unsigned char>(escape);
    }
  }

 private:
  int unicode() {
    std::uint64_t code = 0;
    if (end_ - p_ < 4 || !parse_hex(std::string_view(p_, 4), code)) return 0xFFFD;
    p_ += 4;
    return static_cast<int>(code);
  }

  const char* p_;
  const char* end_;
};

bool begins_with(Characters written, std::string_view text, bool and_ends) {
  for (const char c : text)
    if (written.next() != c) return false;
  return !and_ends || written.next() == -1;
}

bool contains(Characters written, std::string_view text) {
  do {
    if (begins_with(written, text, false)) return true;
  } while (written.next() != -1);
  return false;
}

Characters inside(const JsonKey& key) {
  return Characters(key.kind == JsonKind::string ? key.value.substr(1) : std::string_view());
}

}  // namespace

bool JsonKey::is_named(std::string_view text) const {
  return begins_with(Characters(name), text, true);
}

bool JsonKey::name_contains(std::string_view text) const {
  return contains(Characters(name), text);
}

bool JsonKey::value_is(std::string_view text) const {
  return kind == JsonKind::string && begins_with(inside(*this), text, true);
}

bool JsonKey::value_contains(std::string_view text) const {
  return kind == JsonKind::string && contains(inside(*this), text);
}

const JsonKey* JsonKeys::find(std::string_view name) const {
  const auto all = keys();
  const auto found = std::find_if(all.begin(), all.end(), [&](const JsonKey& k) { return k.is_named(name); });
  return found == all.end() ? nullptr : &*found;
}

bool JsonKeys::has(std::string_view name, JsonKind kind) const {
  const JsonKey* key = find(name);
  return key != nullptr && key->kind == kind;
}

JsonKeys json_keys(std::string_view text) {
  JsonKeys out;
  text = text.substr(0, kMaxPrefix);
  const char* const end = text.data() + text.size();
  const char* p = skip_space(text.data(), end);
  out.kind_ = kind_at(p, end);
  if (out.kind_ == JsonKind::array) {
    p = skip_space(p + 1, end);
    out.complete_ = p != end && *p != '{';
  }
  if (p == end || *p != '{') return out;
  ++p;
  while (out.n_ < JsonKeys::kMaxKeys) {
    p = skip_space(p, end);
    if (p != end && *p == '}') {
      out.complete_ = true;
      return out;
    }
    if (p == end) return out;
    if (*p != '"') break;
    const char* const name = p;
    p = after_string(p, end);
    if (p == nullptr) return out;
    JsonKey key;
    key.name = {name + 1, static_cast<std::size_t>(p - name - 2)};
    p = skip_space(p, end);
    if (p == end) return out;
    if (*p != ':') break;
    p = skip_space(p + 1, end);
    if (p == end) return out;
    key.kind = kind_at(p, end);
    if (key.kind == JsonKind::none) break;
    const char* const value = p;
    p = after_value(p, end);
    key.value = {value, static_cast<std::size_t>((p == nullptr ? end : p) - value)};
    out.keys_[out.n_++] = key;
    if (p == nullptr) return out;
    p = skip_space(p, end);
    if (p == end) return out;
    if (*p == ',') ++p;
  }
  // Not JSON from here on, or more keys than any profile has.
  if (out.n_ == 0) out.kind_ = JsonKind::none;
  out.complete_ = true;
  return out;
}

JsonPrefix::JsonPrefix(std::span<const std::byte> prefix)
    : text_(sniff_text(prefix.first(std::min(prefix.size(), kMaxPrefix)))) {}

}  // namespace profd

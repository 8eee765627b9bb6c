#include "core/support/text.h"

#include <cstdint>
#include <cstring>

namespace profd {
namespace {

// Length of the well-formed sequence at `p`, 0 when ill-formed.
std::size_t sequence_length(const unsigned char* p, std::size_t left) {
  const auto continuation = [&](std::size_t i) { return i < left && (p[i] & 0xC0) == 0x80; };
  if (p[0] < 0x80) return 1;
  if (p[0] >= 0xC2 && p[0] <= 0xDF) return continuation(1) ? 2 : 0;
  if (p[0] >= 0xE0 && p[0] <= 0xEF) {
    if (!continuation(1) || !continuation(2)) return 0;
    if (p[0] == 0xE0 && p[1] < 0xA0) return 0;
    if (p[0] == 0xED && p[1] > 0x9F) return 0;
    return 3;
  }
  if (p[0] >= 0xF0 && p[0] <= 0xF4) {
    if (!continuation(1) || !continuation(2) || !continuation(3)) return 0;
    if (p[0] == 0xF0 && p[1] < 0x90) return 0;
    if (p[0] == 0xF4 && p[1] > 0x8F) return 0;
    return 4;
  }
  return 0;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p + i, 8);
      if ((word & 0x8080808080808080ull) == 0) {
        i += 8;
        continue;
      }
    } else if (text.size() >= 8) {
      std::uint64_t word;
      std::memcpy(&word, p + text.size() - 8, 8);
      if ((word & 0x8080808080808080ull) == 0) return true;
    }
    const std::size_t n = sequence_length(p + i, text.size() - i);
    if (n == 0) return false;
    i += n;
  }
  return true;
}

std::string repair_utf8(std::string_view text) {
  if (is_valid_utf8(text)) return std::string(text);
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  std::string out;
  out.reserve(text.size() + 8);
  bool in_bad_run = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = sequence_length(p + i, text.size() - i);
    if (n == 0) {
      if (!in_bad_run) out += "\xEF\xBF\xBD";
      in_bad_run = true;
      ++i;
      continue;
    }
    in_bad_run = false;
    out.append(text.substr(i, n));
    i += n;
  }
  return out;
}

std::string cut_bytes(std::string text, std::size_t n_bytes) {
  if (text.size() <= n_bytes) return text;
  while (n_bytes > 0 && (static_cast<unsigned char>(text[n_bytes]) & 0xC0u) == 0x80u) --n_bytes;
  text.resize(n_bytes);
  return text + "…";
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t");
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

}  // namespace profd

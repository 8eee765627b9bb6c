// Walking a function's name: characters, operators, brackets. Shared by what shortens names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace profd {

inline bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
inline bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What a character may be, by a table: an answer has thousands of names, walked character by character.
enum NameKind : std::uint8_t {
  kWord = 1,        // of an identifier
  kInJavaName = 2,  // of a package, class or method
  kCppMark = 4      // where a C++ name may be shortened
};
inline constexpr auto kKinds = [] {
  std::array<std::uint8_t, 256> kinds{};
  for (unsigned i = 0; i < kinds.size(); ++i) {
    const char c = static_cast<char>(i);
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$';
    if (word) kinds[i] |= kWord;
    if (word || i >= 0x80 || c == '<' || c == '>') kinds[i] |= kInJavaName;
    if (c == 'o' || c == '<' || c == '(' || c == ' ') kinds[i] |= kCppMark;  // o: "operator"
  }
  return kinds;
}();
inline bool is_a(NameKind kind, char c) {
  return (kKinds[static_cast<unsigned char>(c)] & kind) != 0;
}
inline bool is_word(char c) {
  return is_a(kWord, c);
}
inline bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

// Up to eight characters as a number: names have many parts, and each is looked for.
constexpr std::uint64_t packed(std::string_view text) {
  std::uint64_t out = 0;
  for (const char c : text) out = (out << 8) | static_cast<unsigned char>(c);
  return out;
}

// What compilers add to a symbol behind a dot: "work.constprop.0".
bool is_added_to_symbols(std::string_view part);

// "operator<", "operator->", "operator()": how many characters from `i` belong to the operator's name, else
// 0.
std::size_t operator_length_at_o(std::string_view name, std::size_t i);
inline std::size_t operator_length(std::string_view name, std::size_t i) {
  return name[i] == 'o' ? operator_length_at_o(name, i) : 0;  // asked for every character
}

// Position after the bracket that closes the one at `i`; npos when nothing does. Arrows do not close.
std::size_t after_closing(std::string_view name, std::size_t i, char open, char close);

}  // namespace profd

#include "server/engine/glob.h"

#include <algorithm>

namespace profd {
namespace {

enum class Kind : std::uint8_t { character, any_one, within, across, components };
struct Token {
  Kind kind;
  char character = 0;
};

std::vector<Token> tokens_of(std::string_view pattern) {
  std::vector<Token> tokens;
  const auto add = [&](Token token) {
    // What stands beside something that matches more is matched by it; the closure below relies on that no
    // two of a kind follow one another, and nothing that may be empty follows `*` or `**`.
    const Kind last = tokens.empty() ? Kind::character : tokens.back().kind;
    if (token.kind == Kind::components && last == Kind::components) return;
    if (token.kind == Kind::across && last == Kind::components) tokens.pop_back();
    tokens.push_back(token);
  };
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '*') {
      add({pattern[at] == '?' ? Kind::any_one : Kind::character, pattern[at]});
      ++at;
      continue;
    }
    const std::size_t end = std::min(pattern.find_first_not_of('*', at), pattern.size());
    const bool begins_component = at == 0 || pattern[at - 1] == '/';
    if (end - at == 1) {
      add({Kind::within});
    } else if (begins_component && end < pattern.size() && pattern[end] == '/') {
      add({Kind::components});
      at = end + 1;
      continue;
    } else {
      add({Kind::across});
    }
    at = end;
  }
  return tokens;
}

void set(std::uint64_t* words, std::size_t bit) {
  words[bit / 64] |= std::uint64_t{1} << (bit % 64);
}

// `to` gets the bits of `from` one place further, beside what it has.
void add_shifted(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  std::uint64_t carried = 0;
  for (std::size_t w = 0; w < from.size(); ++w) {
    to[w] |= (from[w] << 1) | carried;
    carried = from[w] >> 63;
  }
}

}  // namespace

Glob::Glob(std::string_view pattern) {
  const std::vector<Token> tokens = tokens_of(pattern);
  end_ = tokens.size();
  n_words_ = end_ / 64 + 1;
  // Row 1 is "/", which "?" and `*` do not take.
  std::size_t n_rows = 2;
  row_of_[static_cast<unsigned char>('/')] = 1;
  for (const Token& token : tokens)
    if (std::uint16_t& of = row_of_[static_cast<unsigned char>(token.character)];
        token.kind == Kind::character && of == 0)
      of = static_cast<std::uint16_t>(n_rows++);
  rows_.assign(n_rows * n_words_, 0);
  for (Words* words : {&within_, &across_, &skipped_, &components_}) words->assign(n_words_, 0);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    switch (tokens[i].kind) {
      case Kind::character:
        set(rows_.data() + row_of_[static_cast<unsigned char>(tokens[i].character)] * n_words_, i);
        break;
      case Kind::any_one:
        for (std::size_t r = 0; r < n_rows; ++r)
          if (r != 1) set(rows_.data() + r * n_words_, i);
        break;
      case Kind::within:
        set(within_.data(), i);
        set(skipped_.data(), i);
        break;
      case Kind::across:
        set(across_.data(), i);
        set(skipped_.data(), i);
        break;
      case Kind::components:
        set(across_.data(), i);
        set(components_.data(), i);
        break;
    }
  }
}

bool Glob::matches(std::string_view path, const StopToken& stop) const {
  constexpr std::size_t kBetweenLooks = 1024;
  Words now(n_words_, 0), entered(n_words_, 0), left(n_words_, 0);
  // Adds to `now` where `entered`, which is part of it, leads without a character; `whole`: places before
  // `**/` that have had whole components.
  const auto close = [&](bool whole) {
    bool any = false;
    for (std::size_t w = 0; w < n_words_; ++w) {
      left[w] = (now[w] & skipped_[w]) | ((whole ? now[w] : entered[w]) & components_[w]);
      any = any || left[w] != 0;
    }
    if (!any) return;
    add_shifted(now, left);
    // Behind `**/` there may be a `*`, and behind that nothing of the kind.
    for (std::size_t w = 0; w < n_words_; ++w) left[w] = now[w] & skipped_[w];
    add_shifted(now, left);
  };
  set(now.data(), 0);
  entered = now;
  close(true);
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (at % kBetweenLooks == 0 && stop.stop_requested()) return false;
    const bool is_separator = path[at] == '/';
    const std::uint64_t* further = row(row_of_[static_cast<unsigned char>(path[at])]);
    std::uint64_t carried = 0, any = 0;
    for (std::size_t w = 0; w < n_words_; ++w) {
      const std::uint64_t moved = now[w] & further[w];
      const std::uint64_t stays = now[w] & (is_separator ? across_[w] : across_[w] | within_[w]);
      entered[w] = (moved << 1) | carried;
      carried = moved >> 63;
      now[w] = entered[w] | stays;
      any |= now[w];
    }
    if (any == 0) return false;
    close(is_separator);
  }
  return (now[end_ / 64] >> (end_ % 64) & 1) != 0;
}

bool glob_matches(std::string_view glob, std::string_view path) {
  return Glob(glob).matches(path, StopToken());
}

}  // namespace profd

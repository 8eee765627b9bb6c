#include "server/proxy/split_command.h"

#include <optional>

#include <fmt/format.h>

namespace profd {

Result<std::vector<std::string>> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // the one that is being read
  char quote = 0;
  const auto take = [&](char c) { (word ? *word : word.emplace()) += c; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool escapes = c == '\\' && quote != '\'';
    if (escapes && at + 1 == text.size() && quote == 0)
      return fail(ErrorCode::invalid,
                  "the command ends in a backslash, which keeps a character that is to follow");
    if (escapes && at + 1 < text.size() && (quote == 0 || text[at + 1] == '"' || text[at + 1] == '\\')) {
      take(text[++at]);
    } else if (quote != 0) {
      if (c == quote)
        quote = 0;
      else
        take(c);
    } else if (c == '\'' || c == '"') {
      quote = c;
      if (!word) word.emplace();
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (word) words.push_back(std::move(*word));
      word.reset();
    } else {
      take(c);
    }
  }
  if (quote != 0) return fail(ErrorCode::invalid, fmt::format("the command has an open quote ({})", quote));
  if (word) words.push_back(std::move(*word));
  if (words.empty() || words.front().empty())
    return fail(ErrorCode::invalid, "the command is empty: name the language server that is to be wrapped");
  return words;
}

}  // namespace profd

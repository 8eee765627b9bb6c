#include "core/view/rename_rules.h"

#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/view/filters.h"
#include "core/view/name_scan.h"

namespace profd {
namespace {

constexpr std::string_view kForm = "a rule to rename is written OLD=NEW or /EXPRESSION/=NEW";

// What stands between `quote` at the beginning and the next one, where a backslash takes the next quote's
// meaning away. `end`: behind that; npos where none follows.
std::string between(std::string_view text, char quote, std::size_t& end) {
  std::string out;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      end = i + 1;
      return out;
    }
    // In an expression only slashes are escaped for the text's sake.
    const bool escapes = text[i] == '\\' && i + 1 < text.size() &&
                         (text[i + 1] == quote || (quote == '"' && text[i + 1] == '\\'));
    if (!escapes && quote == '/' && text[i] == '\\' && i + 1 < text.size()) out += text[i++];
    if (escapes) ++i;
    out += text[i];
  }
  end = std::string_view::npos;
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// "$1" of people as RE2 has it, "\1".
std::string rewrite_of(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\') out += '\\';
    if (name[i] != '$' || i + 1 == name.size()) {
      out += name[i];
    } else if (name[i + 1] == '$') {
      out += name[++i];
    } else if (name[i + 1] >= '1' && name[i + 1] <= '9') {
      out += '\\';
      out += name[++i];
    } else {
      out += name[i];
    }
  }
  return out;
}

// Whether the name is the text, or begins with it where a part of the name ends.
bool begins_with(std::string_view name, std::string_view text) {
  if (text.empty() || name.substr(0, text.size()) != text) return false;
  return name.size() == text.size() || !is_word(text.back()) || !is_word(name[text.size()]);
}

std::optional<std::string> replaced(std::string_view name, const re2::RE2& regex,
                                    const std::string& rewrite) {
  std::array<re2::StringPiece, 10> groups;
  const int n_groups = std::min(regex.NumberOfCapturingGroups() + 1, static_cast<int>(groups.size()));
  const re2::StringPiece whole(name.data(), name.size());
  std::string out;
  std::size_t done = 0, at = 0;
  bool any = false;
  for (std::size_t n = 0; n < kMostReplaced && at <= name.size(); ++n) {
    if (!regex.Match(whole, at, name.size(), re2::RE2::UNANCHORED, groups.data(), n_groups)) break;
    const auto begin = static_cast<std::size_t>(groups[0].data() - name.data());
    out.append(name, done, begin - done);
    if (!regex.Rewrite(&out, rewrite, groups.data(), n_groups)) break;
    any = true;
    done = begin + groups[0].size();
    at = groups[0].empty() ? done + 1 : done;
  }
  if (!any) return std::nullopt;
  return out.append(name, done);
}

}  // namespace

Result<RenameRule> parse_rename(std::string_view text) {
  RenameRule rule;
  std::size_t equals = std::string_view::npos;
  for (const char quote : {'/', '"'}) {
    if (text.empty() || text[0] != quote) continue;
    std::size_t end = 0;
    std::string inside = between(text, quote, end);
    if (end >= text.size() || text[end] != '=') continue;
    rule.pattern = std::move(inside);
    rule.regex = quote == '/';
    equals = end;
  }
  if (equals == std::string_view::npos) {
    equals = text.find('=');
    rule.pattern = text.substr(0, equals);
  }
  if (equals == std::string_view::npos || rule.pattern.empty())
    return fail(ErrorCode::invalid, fmt::format("`{}` is no pair of names: {}", text.substr(0, 80), kForm));
  const std::string_view name = text.substr(equals + 1);
  std::size_t end = 0;
  rule.name = name;
  if (!name.empty() && name[0] == '"')
    if (std::string inside = between(name, '"', end); end == name.size()) rule.name = std::move(inside);
  if (rule.name.empty())
    return fail(ErrorCode::invalid, fmt::format("`{}` has no new name: {}", text.substr(0, 80), kForm));
  if (rule.pattern.size() > kMaxRenameLength || rule.name.size() > kMaxRenameLength)
    return fail(ErrorCode::limit, fmt::format("a name in a rule has at most {} bytes", kMaxRenameLength));
  return rule;
}

std::string to_text(const RenameRule& rule) {
  std::string out;
  if (rule.regex) {
    out = "/";
    for (std::size_t i = 0; i < rule.pattern.size(); ++i) {
      if (rule.pattern[i] == '/') out += '\\';
      if (rule.pattern[i] == '\\' && i + 1 < rule.pattern.size()) out += rule.pattern[i++];
      out += rule.pattern[i];
    }
    out += '/';
  } else {
    const bool plain =
        rule.pattern.find('=') == std::string::npos && rule.pattern[0] != '/' && rule.pattern[0] != '"';
    out = plain ? rule.pattern : in_quotes(rule.pattern);
  }
  return out + "=" + (rule.name[0] == '"' ? in_quotes(rule.name) : rule.name);
}

Result<RenameRules> RenameRules::compile(const std::vector<RenameRule>& rules) {
  if (rules.size() > kMaxRenames)
    return fail(ErrorCode::limit, fmt::format("at most {} rules rename at once", kMaxRenames));
  RenameRules out;
  for (const RenameRule& rule : rules) {
    if (rule.pattern.empty() || rule.name.empty())
      return fail(ErrorCode::invalid, fmt::format("a name is missing: {}", kForm));
    if (rule.pattern.size() > kMaxRenameLength || rule.name.size() > kMaxRenameLength)
      return fail(ErrorCode::limit, fmt::format("a name in a rule has at most {} bytes", kMaxRenameLength));
    Rule made{rule.pattern, nullptr, rule.name, {}};
    if (rule.regex) {
      PROFD_TRY(const Pattern pattern, Pattern::compile(rule.pattern, true));
      made.regex = pattern.regex();
      made.rewrite = rewrite_of(rule.name);
      std::string why;
      if (!made.regex->CheckRewriteString(made.rewrite, &why))
        return fail(ErrorCode::invalid, fmt::format("`{}`: {}", to_text(rule), why));
    }
    out.rules_.push_back(std::move(made));
  }
  return out;
}

std::optional<RenameRules::Renamed> RenameRules::apply(std::string_view name) const {
  if (name.size() > Pattern::kLongText) return std::nullopt;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const Rule& rule = rules_[i];
    if (rule.regex) {
      if (auto made = replaced(name, *rule.regex, rule.rewrite)) return Renamed{std::move(*made), i};
    } else if (begins_with(name, rule.pattern)) {
      return Renamed{rule.name + std::string(name.substr(rule.pattern.size())), i};
    }
  }
  return std::nullopt;
}

}  // namespace profd

#include "core/compare/gate_rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/support/text.h"
#include "core/view/pattern.h"

namespace profd {
namespace {

struct RuleUnit {
  std::string_view name, of;  // of: as in MetricInfo
  double factor;
};
constexpr std::array<RuleUnit, 14> kRuleUnits{{{"ns", "nanoseconds", 1},
                                               {"us", "nanoseconds", 1e3},
                                               {"ms", "nanoseconds", 1e6},
                                               {"s", "nanoseconds", 1e9},
                                               {"min", "nanoseconds", 60e9},
                                               {"h", "nanoseconds", 3600e9},
                                               {"B", "bytes", 1},
                                               {"kB", "bytes", 1e3},
                                               {"KiB", "bytes", 1024},
                                               {"MB", "bytes", 1e6},
                                               {"MiB", "bytes", 1048576},
                                               {"GB", "bytes", 1e9},
                                               {"GiB", "bytes", 1073741824},
                                               {"", "", 1}}};

const RuleUnit* unit_called(std::string_view name) {
  const auto* const found =
      std::find_if(kRuleUnits.begin(), kRuleUnits.end(), [&](const RuleUnit& u) { return u.name == name; });
  return found == kRuleUnits.end() ? nullptr : found;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

class RuleParser {
 public:
  explicit RuleParser(std::string_view text) : text_(text) {}

  Result<GateRule> parse() {
    GateRule rule;
    std::string_view word = take_word();
    if (word == "each") {
      rule.each = true;
      word = take_word();
    }
    PROFD_CHECK(take_subject(word, rule));
    for (;;) {
      skip_blanks();
      const std::size_t begin = at_;
      word = take_word();
      std::string* const name = word == "of" ? &rule.metric : word == "per" ? &rule.per : nullptr;
      if (name == nullptr) {
        at_ = begin;
        break;
      }
      if (!name->empty()) return wrong(begin, fmt::format("`{}` stands here a second time", word));
      if (word == "of" && !rule.per.empty()) return wrong(begin, "`of` stands before `per`");
      PROFD_TRY(*name, take_name(word));
    }
    if (!take('<')) return wrong(at_, "after what is judged stands `< LIMIT`, as in `< +5%`");
    PROFD_CHECK(take_limit(rule));
    skip_blanks();
    if (at_ != text_.size()) return wrong(at_, "the rule ends with its limit");
    return rule;
  }

 private:
  tl::unexpected<Error> wrong(std::size_t at, std::string_view what) const {
    return fail(ErrorCode::invalid, fmt::format("rule: {} (at character {})", what, at + 1), at);
  }
  [[nodiscard]] bool ends() const { return at_ >= text_.size(); }
  void skip_blanks() {
    while (!ends() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (ends() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // Letters only.
  std::string_view take_word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (!ends() && text_[at_] >= 'a' && text_[at_] <= 'z') ++at_;
    return text_.substr(begin, at_ - begin);
  }

  Result<void> take_subject(std::string_view word, GateRule& rule) {
    const std::size_t begin = at_ - word.size();
    if (word == "new" || word == "gone") {
      rule.subject = word == "new" ? GateSubject::added : GateSubject::gone;
      return {};
    }
    if (word == "total") {
      rule.subject = GateSubject::total;
    } else if (word == "self") {
      rule.subject = GateSubject::self;
    } else if (word == "path") {
      rule.subject = GateSubject::path;
    } else {
      return wrong(begin,
                   "a rule begins with total(NAME), self(NAME), path(A;B), new or gone, `each` before it");
    }
    if (!take('(')) return wrong(at_, fmt::format("after `{}` stands what is meant, in parentheses", word));
    for (;;) {
      if (rule.patterns.size() == kMaxRulePath)
        return wrong(at_, fmt::format("a path has at most {} names", kMaxRulePath));
      PROFD_TRY(NamePattern pattern, take_pattern());
      rule.patterns.push_back(std::move(pattern));
      if (take(')')) return {};
      if (!take(';')) return wrong(at_, "a closing parenthesis is missing");
      if (rule.subject != GateSubject::path)
        return wrong(at_ - 1, "several names in a row are path(A;B); a `;` of one name needs quotes");
    }
  }

  Result<NamePattern> take_pattern() {
    skip_blanks();
    if (!ends() && text_[at_] == '"') {
      PROFD_TRY(std::string name, take_quoted());
      return NamePattern{NamePattern::Kind::name, std::move(name)};
    }
    if (!ends() && text_[at_] == '/') return take_regex();
    const std::size_t begin = at_;
    std::size_t open = 0;
    for (; !ends(); ++at_) {
      const char c = text_[at_];
      if (is_control(c)) return wrong(at_, "a control character stands in quotes only");
      if (c == ';' && open == 0) break;
      if (c == '(') ++open;
      if (c == ')' && open-- == 0) break;
    }
    const std::string_view name = trimmed(text_.substr(begin, at_ - begin));
    if (name.empty()) return wrong(begin, "a name is missing");
    const bool glob = name.find('*') != std::string_view::npos;
    return NamePattern{glob ? NamePattern::Kind::glob : NamePattern::Kind::name, std::string(name)};
  }

  Result<NamePattern> take_regex() {
    const std::size_t begin = at_++;
    NamePattern pattern{NamePattern::Kind::regex, {}};
    for (; !ends() && text_[at_] != '/'; ++at_) {
      if (is_control(text_[at_])) return wrong(at_, "a control character is written as \\xHH");
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] != '/') pattern.text += '\\';
      }
      pattern.text += text_[at_];
    }
    if (ends()) return wrong(begin, "the expression has no closing slash");
    ++at_;
    if (pattern.text.empty()) return wrong(begin, "the expression is empty");
    if (const auto compiled = Pattern::compile(pattern.text, true); !compiled)
      return wrong(begin, compiled.error().message);
    return pattern;
  }

  Result<std::string> take_quoted() {
    const std::size_t begin = at_++;
    std::string out;
    for (; !ends() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out += text_[at_];
    }
    if (ends()) return wrong(begin, "the quotes are not closed");
    ++at_;
    if (out.empty()) return wrong(begin, "a name is missing");
    return out;
  }

  // Of a metric: a word, or several in quotes.
  Result<std::string> take_name(std::string_view after) {
    skip_blanks();
    if (!ends() && text_[at_] == '"') return take_quoted();
    const std::size_t begin = at_;
    while (!ends() && !is_blank(text_[at_]) && text_[at_] != '<' && !is_control(text_[at_])) ++at_;
    if (at_ == begin) return wrong(begin, fmt::format("after `{}` stands the name of a metric", after));
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<void> take_limit(GateRule& rule) {
    const bool rise = take('+');
    skip_blanks();
    const std::size_t begin = at_;
    if (!ends() && text_[at_] == '-')
      return wrong(at_, "a limit is above what was before: `+5%`, or a share of the whole: `2%`");
    while (!ends() && ((text_[at_] >= '0' && text_[at_] <= '9') || text_[at_] == '.')) ++at_;
    const std::string_view digits = text_.substr(begin, at_ - begin);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rule.limit.value);
    if (error != std::errc() || end != digits.data() + digits.size() || !(rule.limit.value <= 1e18))
      return wrong(begin, "a limit is a number and its unit: +5%, +20ms, +2pp or 2%");
    skip_blanks();
    const std::size_t unit_at = at_;
    while (!ends() && !is_blank(text_[at_])) ++at_;
    const std::string_view unit = text_.substr(unit_at, at_ - unit_at);
    const bool one_sided = rule.subject == GateSubject::added || rule.subject == GateSubject::gone;
    if (unit == "%") {
      rule.limit.kind = rise ? GateLimit::Kind::relative : GateLimit::Kind::share;
      if (rise && one_sided)
        return wrong(begin, "one side has nothing of it, so a limit is a share of the whole: `< 2%`");
      if (!rise && rule.limit.value > 100) return wrong(begin, "a share is at most 100 %");
      if (!rise && !rule.per.empty()) return wrong(begin, "a share is the same, whatever it is divided by");
      return {};
    }
    if (unit == "pp") {
      if (!rise) return wrong(begin, "points of a share are added: `+2pp`");
      if (one_sided) return wrong(begin, "of one side alone a limit is a share: `< 2%`");
      if (!rule.per.empty()) return wrong(begin, "a share is the same, whatever it is divided by");
      rule.limit.kind = GateLimit::Kind::points;
      return {};
    }
    if (unit_called(unit) == nullptr)
      return wrong(unit_at, "the unit is none of % pp ns us ms s min h B kB KiB MB MiB GB GiB");
    if (!rise) return wrong(begin, "a limit is `+N UNIT` above what was before, or a share: `2%`");
    rule.limit.kind = GateLimit::Kind::absolute;
    rule.limit.unit = unit;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// As short as reads back as the same, and without an exponent, which a limit has not.
std::string number_text(double value) {
  std::array<char, 400> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed);
  return {digits.data(), error == std::errc() ? end : digits.data()};
}

std::string quoted_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Whether a name reads back as itself without quotes.
bool is_plain(std::string_view name) {
  if (name.empty() || name.front() == '/' || name.front() == '"' || trimmed(name).size() != name.size())
    return false;
  std::size_t open = 0;
  for (const char c : name) {
    if (is_control(c) || c == '*' || (c == ';' && open == 0)) return false;
    if (c == '(') ++open;
    if (c == ')' && open-- == 0) return false;
  }
  return open == 0;
}

std::string text_of_pattern(const NamePattern& pattern) {
  switch (pattern.kind) {
    case NamePattern::Kind::glob:
      return pattern.text;
    case NamePattern::Kind::name:
      return is_plain(pattern.text) ? pattern.text : quoted_name(pattern.text);
    case NamePattern::Kind::regex:
      break;
  }
  std::string out = "/";
  for (std::size_t i = 0; i < pattern.text.size(); ++i) {
    const char c = pattern.text[i];
    if (c == '/') out += '\\';
    out += c;
    if (c == '\\' && i + 1 < pattern.text.size()) out += pattern.text[++i];
  }
  return out + "/";
}

std::string text_of_metric(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return !is_blank(c) && !is_control(c) && c != '<' && c != '"';
  });
  return plain ? name : quoted_name(name);
}

}  // namespace

Result<GateRule> parse_gate_rule(std::string_view text) {
  if (text.size() > kMaxRuleBytes)
    return fail(ErrorCode::limit, fmt::format("rule: it is longer than {} bytes", kMaxRuleBytes));
  return RuleParser(text).parse();
}

std::string to_text(const GateLimit& limit) {
  switch (limit.kind) {
    case GateLimit::Kind::relative:
      return fmt::format("+{}%", number_text(limit.value));
    case GateLimit::Kind::absolute:
      return fmt::format("+{}{}", number_text(limit.value), limit.unit);
    case GateLimit::Kind::points:
      return fmt::format("+{}pp", number_text(limit.value));
    case GateLimit::Kind::share:
      break;
  }
  return fmt::format("{}%", number_text(limit.value));
}

std::string to_text(const GateRule& rule) {
  std::string out = rule.each ? "each " : "";
  static constexpr std::array<std::string_view, 5> kWords{"total", "self", "path", "new", "gone"};
  out += kWords[static_cast<std::size_t>(rule.subject)];
  for (std::size_t i = 0; i < rule.patterns.size(); ++i)
    out += (i == 0 ? "(" : ";") + text_of_pattern(rule.patterns[i]);
  if (!rule.patterns.empty()) out += ')';
  if (!rule.metric.empty()) out += " of " + text_of_metric(rule.metric);
  if (!rule.per.empty()) out += " per " + text_of_metric(rule.per);
  return out + " < " + to_text(rule.limit);
}

Result<double> limit_in(const GateLimit& limit, std::string_view metric_unit) {
  const RuleUnit* const unit = unit_called(limit.unit);
  if (unit == nullptr || (!unit->of.empty() && unit->of != metric_unit))
    return fail(ErrorCode::invalid, fmt::format("a limit in {} is none of a metric in {}", limit.unit,
                                                metric_unit.empty() ? "no unit" : metric_unit));
  return limit.value * unit->factor;
}

bool matches_glob(std::string_view text, std::string_view glob) {
  const std::size_t first = glob.find('*');
  if (first == std::string_view::npos) return text == glob;
  const std::size_t last = glob.rfind('*');
  const std::string_view head = glob.substr(0, first), tail = glob.substr(last + 1);
  if (text.size() < head.size() + tail.size() || !text.starts_with(head) || !text.ends_with(tail))
    return false;
  text = text.substr(head.size(), text.size() - head.size() - tail.size());
  // Each piece where it is found first leaves the most for those that follow.
  for (std::size_t at = first; at < last;) {
    const std::size_t next = glob.find('*', at + 1);
    const std::string_view piece = glob.substr(at + 1, next - at - 1);
    const std::size_t found = text.find(piece);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + piece.size());
    at = next;
  }
  return true;
}

}  // namespace profd

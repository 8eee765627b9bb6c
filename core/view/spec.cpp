// Writing: the canonical text of a spec. Reading it is in spec_parser.cpp.
#include "core/view/spec.h"

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/near_miss.h"
#include "core/view/spec_words.h"

namespace profd {
namespace {

bool is_plain_word(std::string_view text) {
  if (text.empty() || is_one_of(kReservedWords, text)) return false;
  if (text.front() == '/' || text.front() == '~') return false;
  for (char ch : text) {
    const auto byte = static_cast<unsigned char>(ch);
    if (byte <= ' ' || byte == 0x7f || ch == '|' || ch == '"') return false;
  }
  return open_angles(text) == 0;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char ch : text) {
    const auto byte = static_cast<unsigned char>(ch);
    if (ch == '"' || ch == '\\') {
      out += '\\';
      out += ch;
    } else if (ch == '\n') {
      out += "\\n";
    } else if (ch == '\t') {
      out += "\\t";
    } else if (ch == '\r') {
      out += "\\r";
    } else if (byte < ' ' || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += ch;
    }
  }
  return out + '"';
}

std::string regex_text(std::string_view pattern) {
  // Between slashes a backslash is the expression's own, so "\/" could not be told from "/", nor a last
  // backslash from an escaped slash.
  bool slashes = pattern.find("\\/") == std::string_view::npos && !pattern.ends_with('\\');
  for (char ch : pattern) slashes = slashes && static_cast<unsigned char>(ch) >= ' ' && ch != 0x7f;
  if (!slashes) return "~" + quoted(pattern);
  std::string out = "/";
  for (char ch : pattern) {
    if (ch == '/') out += '\\';
    out += ch;
  }
  return out + '/';
}

std::string pattern_text(const Filter& filter) {
  return filter.regex ? regex_text(filter.pattern) : name_in_spec(filter.pattern);
}

std::string run_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += " > ";
    out += name_in_spec(name);
  }
  return out;
}

std::string instant_text(std::int64_t ns) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 3> kUnits = {
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}}};
  for (const auto& [unit, size] : kUnits) {
    if (ns % size == 0) return fmt::format("{}{}", ns / size, unit);
  }
  return fmt::format("{}ns", ns);
}

std::string window_text(const Filter& filter) {
  std::string out = fmt::format("{}..{}", filter.from_ns ? instant_text(*filter.from_ns) : "",
                                filter.to_ns ? instant_text(*filter.to_ns) : "");
  if (filter.every_ns) out += fmt::format(" {} {}", kEveryWord, instant_text(*filter.every_ns));
  return out;
}

// What follows the word of `by`.
std::string arguments_text(const Filter& filter) {
  switch (filter.by) {
    case FilterBy::recursion:
    case FilterBy::mine:
      return "";
    case FilterBy::fragment:
    case FilterBy::path:
      return " " + run_text(filter.names);
    case FilterBy::label:
      return " " + name_in_spec(filter.key) + " = " + pattern_text(filter);
    case FilterBy::time:
      return " " + window_text(filter);
    default:
      return " " + pattern_text(filter);
  }
}

std::string filter_text(const Filter& filter) {
  std::string out(word_of(kByWords, filter.by));
  if (!filter.linked.empty()) out = fmt::format("{} {} {}", kLinkedWord, name_in_spec(filter.linked), out);
  const bool op_is_left_out =
      filter.by == FilterBy::mine || (filters_samples(filter) && filter.op == FilterOp::keep);
  if (!op_is_left_out) out = fmt::format("{} {}", word_of(kOpWords, filter.op), out);
  return out + arguments_text(filter);
}

// A canonical text has no line end of its own: one in a name is written as an escape.
std::string rule_text(const Filter& filter) {
  return filter.rule ? "\n" + filter.rule->id : std::string();
}

}  // namespace

bool operator==(const Filter& a, const Filter& b) {
  const auto id = [](const Filter& filter) { return filter.rule ? std::string_view(filter.rule->id) : ""; };
  return a.op == b.op && a.by == b.by && a.pattern == b.pattern && a.regex == b.regex && a.key == b.key &&
         a.names == b.names && a.linked == b.linked && a.from_ns == b.from_ns && a.to_ns == b.to_ns &&
         a.every_ns == b.every_ns && id(a) == id(b);
}

std::string to_text(const Filter& filter) {
  return filter_text(filter);
}

std::string key_text(const Filter& filter) {
  return filter_text(filter) + rule_text(filter);
}

std::string key_text(const ViewSpec& spec) {
  std::string out = to_text(spec);
  for (const Filter& filter : spec.filters) out += rule_text(filter);
  return out;
}

std::string name_in_spec(std::string_view name) {
  return is_plain_word(name) ? std::string(name) : quoted(name);
}

std::string listed(std::span<const std::string_view> words, std::string_view before_last) {
  return fmt::format("{} {} {}", fmt::join(words.first(words.size() - 1), ", "), before_last, words.back());
}

std::string_view to_text(Shape shape) {
  return word_of(kShapeWords, shape);
}
std::string_view to_text(Granularity granularity) {
  return word_of(kGranularityWords, granularity);
}

Result<Granularity> parse_granularity(std::string_view text) {
  if (const auto granularity = meant_by<Granularity>(kGranularityWords, text)) return *granularity;
  return fail(ErrorCode::invalid,
              fmt::format("a granularity is one of {}; \"{}\" is none{}", fmt::join(kGranularityWords, ", "),
                          text, did_you_mean(text, kGranularityWords)));
}

std::string to_text(const ViewSpec& spec) {
  std::string out(to_text(spec.shape));
  if (!spec.focus.empty()) out += " of " + run_text(spec.focus);
  out += fmt::format(" by {}", to_text(spec.granularity));
  for (const Filter& filter : spec.filters) out += " | " + filter_text(filter);
  if (spec.proven) out += fmt::format(" | {} {}", kPathsWord, kPathsWords[1]);
  if (!spec.metric.empty()) out += fmt::format(" | {} {}", kMetricWord, name_in_spec(spec.metric));
  return out;
}

}  // namespace profd

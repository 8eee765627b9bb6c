// Writing: the canonical text of a spec. Reading it is in spec_parser.cpp.
#include "core/view/spec.h"

#include <array>

#include <fmt/format.h>

#include "core/support/near_miss.h"
#include "core/view/spec_words.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 5> kShapes = {"top-down", "bottom-up", "flat", "callers", "callees"};
constexpr std::array<std::string_view, 5> kGranularities = {"address", "line", "function", "file", "module"};

bool is_plain_word(std::string_view text) {
  if (text.empty() || text == ">" || text == "=" || text == "by" || text == "of") return false;
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

std::string_view op_text(FilterOp op) {
  constexpr std::array<std::string_view, 4> kOps = {"keep", "drop", "hide", "collapse"};
  return kOps[static_cast<std::size_t>(op)];
}

std::string filter_text(const Filter& filter) {
  if (filter.by == FilterBy::mine) return "mine";
  const bool of_sample =
      filter.by == FilterBy::thread || filter.by == FilterBy::label || filter.by == FilterBy::time;
  std::string out;
  if (!of_sample || filter.op != FilterOp::keep) out = fmt::format("{} ", op_text(filter.op));
  switch (filter.by) {
    case FilterBy::function:
      return out + "function " + pattern_text(filter);
    case FilterBy::module:
      return out + "module " + pattern_text(filter);
    case FilterBy::file:
      return out + "file " + pattern_text(filter);
    case FilterBy::package:
      return out + "package " + pattern_text(filter);
    case FilterBy::fragment:
      return out + "fragment " + run_text(filter.names);
    case FilterBy::thread:
      return out + "thread " + pattern_text(filter);
    case FilterBy::label:
      return out + "label " + name_in_spec(filter.key) + " = " + pattern_text(filter);
    case FilterBy::recursion:
      return out + "recursion";
    case FilterBy::time:
    case FilterBy::mine:
      break;
  }
  out += "time ";
  if (filter.from_ns) out += instant_text(*filter.from_ns);
  out += "..";
  if (filter.to_ns) out += instant_text(*filter.to_ns);
  return out;
}

}  // namespace

bool operator==(const Filter& a, const Filter& b) {
  const auto id = [](const Filter& filter) { return filter.rule ? std::string_view(filter.rule->id) : ""; };
  return a.op == b.op && a.by == b.by && a.pattern == b.pattern && a.regex == b.regex && a.key == b.key &&
         a.names == b.names && a.from_ns == b.from_ns && a.to_ns == b.to_ns && id(a) == id(b);
}

std::string to_text(const Filter& filter) {
  return filter_text(filter);
}

std::string name_in_spec(std::string_view name) {
  return is_plain_word(name) ? std::string(name) : quoted(name);
}

std::string_view to_text(Shape shape) {
  return kShapes[static_cast<std::size_t>(shape)];
}
std::string_view to_text(Granularity granularity) {
  return kGranularities[static_cast<std::size_t>(granularity)];
}

Result<Granularity> parse_granularity(std::string_view text) {
  for (std::size_t i = 0; i < kGranularities.size(); ++i) {
    if (kGranularities[i] == text) return static_cast<Granularity>(i);
  }
  return fail(ErrorCode::invalid,
              fmt::format("a granularity is one of address, line, function, file, module; \"{}\" is none{}",
                          text, did_you_mean(text, kGranularities)));
}

std::string to_text(const ViewSpec& spec) {
  std::string out(to_text(spec.shape));
  if (!spec.focus.empty()) out += " of " + run_text(spec.focus);
  out += fmt::format(" by {}", to_text(spec.granularity));
  for (const Filter& filter : spec.filters) out += " | " + filter_text(filter);
  if (spec.proven) out += " | paths proven";
  if (!spec.metric.empty()) out += " | metric " + name_in_spec(spec.metric);
  return out;
}

}  // namespace profd

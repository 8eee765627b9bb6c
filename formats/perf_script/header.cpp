#include "formats/perf_script/header.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "formats/perf_script/lines.h"

namespace profd::perf_script {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (!all_digits(text) || error != std::errc{}) return std::nullopt;
  return value;
}

class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) { skip(); }
  std::string_view peek() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    return text_.substr(at_, end - at_);
  }
  void take() {
    at_ += peek().size();
    skip();
  }
  std::string_view rest() const { return text_.substr(at_); }
  std::size_t position() const { return at_; }

 private:
  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

// "1209.731208:" with 1 to 9 decimals.
std::optional<std::int64_t> parse_time(std::string_view token) {
  if (token.size() < 4 || token.back() != ':') return std::nullopt;
  token.remove_suffix(1);
  const std::size_t dot = token.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view decimals = token.substr(dot + 1);
  const auto seconds = integer(token.substr(0, dot));
  auto fraction = integer(decimals);
  if (!seconds || !fraction || decimals.size() > 9 ||
      *seconds > std::numeric_limits<std::int64_t>::max() / 1'000'000'001)
    return std::nullopt;
  for (std::size_t i = decimals.size(); i < 9; ++i) *fraction *= 10;
  return *seconds * 1'000'000'000 + *fraction;
}

bool is_cpu(std::string_view token) {
  return token.size() > 2 && token.front() == '[' && token.back() == ']' &&
         all_digits(token.substr(1, token.size() - 2));
}

// -F +misc: where the sample was taken (Kernel, User, Hypervisor, Guest, …) and what kind of record it is of.
bool is_misc(std::string_view token) {
  return !token.empty() && token.size() <= 4 &&
         token.find_first_not_of("KUHGgMESp") == std::string_view::npos;
}

// "cycles:u:", "cpu/event=0x3c/:", "r04c4:": names begin with a letter. Before Linux 3.6 an event without a
// name was "(unknown):".
bool is_event(std::string_view token) {
  if (token.size() < 2 || token.back() != ':') return false;
  const char first = token.front();
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' ||
         token == "(unknown):";
}

// "raw 0x1a8:", as one of a number was called then: the only name of two words.
std::string_view raw_event(Tokens& tokens) {
  if (tokens.peek() != "raw") return {};
  const std::string_view text = tokens.rest();
  Tokens after = tokens;
  after.take();
  const std::string_view number = after.peek();
  if (number.size() < 4 || !number.starts_with("0x") || number.back() != ':' ||
      number.find_first_not_of("0123456789abcdef", 2) != number.size() - 1)
    return {};
  after.take();
  tokens = after;
  return text.substr(0, static_cast<std::size_t>(number.data() - text.data()) + number.size() - 1);
}

// PERIOD EVENT: tail, both optional.
void parse_event(Tokens tokens, Header& header) {
  const Tokens start = tokens;
  const auto period = integer(tokens.peek());
  if (period) tokens.take();
  if (const std::string_view raw = raw_event(tokens); !raw.empty()) {
    header.period = period;
    header.event = raw;
    header.tail = tokens.rest();
    return;
  }
  if (!is_event(tokens.peek())) {
    header.tail = start.rest();
    if (!period || !tokens.rest().empty()) return;
    // A period that nothing follows: -F time,period,ip.
    header.period = period;
    header.tail = {};
    return;
  }
  header.period = period;
  header.event = tokens.peek();
  header.event.remove_suffix(1);
  tokens.take();
  header.tail = tokens.rest();
}

// [CPU] TIME: [PERIOD] EVENT:, at least one of time and event.
bool parse_rest(Tokens tokens, Header& header) {
  if (is_cpu(tokens.peek())) {
    const std::string_view cpu = tokens.peek();
    header.cpu = integer(cpu.substr(1, cpu.size() - 2)).value_or(-1);
    tokens.take();
  }
  if (is_misc(tokens.peek())) {
    Tokens after = tokens;
    after.take();
    if (parse_time(after.peek())) tokens = after;
  }
  header.time_ns = parse_time(tokens.peek());
  if (header.time_ns) tokens.take();
  parse_event(tokens, header);
  return header.time_ns || !header.event.empty();
}

bool parse_ids(std::string_view token, Header& header) {
  const std::size_t slash = token.find('/');
  if (slash == std::string_view::npos) {
    // The idle task of some versions is -1.
    const auto tid = token == "-1" ? std::optional<std::int64_t>(-1) : integer(token);
    if (!tid) return false;
    header.tid = *tid;
    return true;
  }
  const auto pid = integer(token.substr(0, slash)), tid = integer(token.substr(slash + 1));
  if (!pid || !tid) return false;
  header.pid = *pid;
  header.tid = *tid;
  return true;
}

}  // namespace

std::optional<Header> parse_header(std::string_view line) {
  if (line.find(':') == std::string_view::npos) return std::nullopt;
  // The first number after the comm that is followed by a time or an event.
  constexpr int kMaxCommWords = 16;  // a comm has 15 bytes
  Tokens tokens(line);
  const std::size_t begin = tokens.position();
  for (int word = 0; word <= kMaxCommWords && !tokens.rest().empty(); ++word) {
    const std::string_view token = tokens.peek();
    Tokens after = tokens;
    after.take();
    Header header;
    if (parse_ids(token, header) && parse_rest(after, header)) {
      header.comm = trim_blanks(line.substr(begin, tokens.position() - begin));
      header.thread = line.substr(begin, tokens.position() + token.size() - begin);
      return header;
    }
    if (parse_time(token) || is_cpu(token)) {  // no ids were printed
      Header bare;
      if (!parse_rest(tokens, bare)) return std::nullopt;
      bare.comm = trim_blanks(line.substr(begin, tokens.position() - begin));
      bare.thread = bare.comm;
      return bare;
    }
    tokens = after;
  }
  return std::nullopt;
}

Header parse_bare_header(std::string_view line) {
  constexpr std::size_t kPeriodWidth = 10;  // columns; an id has 5
  Header header;
  std::string_view text = trim_blanks(line);
  header.thread = text;
  const std::size_t blank = text.find_last_of(" \t");
  const std::string_view last = blank == std::string_view::npos ? text : text.substr(blank + 1);
  const std::size_t end = static_cast<std::size_t>(last.data() - line.data()) + last.size();
  if (blank == std::string_view::npos && end >= kPeriodWidth && all_digits(last)) {
    header.period = integer(last);
    header.thread = {};
    return header;
  }
  if (parse_ids(last, header))
    text = blank == std::string_view::npos ? std::string_view{} : trim_blanks(text.substr(0, blank));
  header.comm = text;
  return header;
}

std::size_t last_address(std::string_view line, std::size_t from) {
  constexpr std::size_t kWidth = 16;
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  std::size_t found = std::string_view::npos;
  for (std::size_t at = from; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    const bool alone = std::all_of(line.begin() + static_cast<std::ptrdiff_t>(at),
                                   line.begin() + static_cast<std::ptrdiff_t>(end), is_hex);
    if (alone && end - at <= kWidth && end > kWidth) {
      const std::string_view before = line.substr(end - kWidth - 1, at - (end - kWidth - 1));
      if (!before.empty() && std::all_of(before.begin(), before.end(), is_blank)) found = at;
    }
    at = end;
  }
  return found;
}

}  // namespace profd::perf_script

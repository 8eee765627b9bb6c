#include "core/view/pattern.h"

#include <algorithm>

#include <fmt/format.h>
#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include "core/view/filters.h"

namespace profd {
namespace {

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool is_literal(std::string_view expression) {
  return !expression.empty() && std::all_of(expression.begin(), expression.end(), [](char c) {
    return c >= ' ' && c <= '~' && std::string_view("\\.+*?()|[]{}^$").find(c) == std::string_view::npos;
  });
}

}  // namespace

Result<Pattern> Pattern::compile(std::string_view text, bool regex, bool ignore_case) {
  Pattern pattern;
  pattern.text_ = text;
  if (!regex) return pattern;
  if (text.size() > kMaxPatternLength)
    return fail(ErrorCode::limit,
                fmt::format("a regular expression has at most {} bytes", kMaxPatternLength));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(8 << 20);
  options.set_case_sensitive(!ignore_case);
  auto compiled = std::make_shared<RE2>(re2::StringPiece(text.data(), text.size()), options);
  if (!compiled->ok()) {
    const bool too_large = compiled->error_code() == RE2::ErrorPatternTooLarge;
    return fail(too_large ? ErrorCode::limit : ErrorCode::invalid,
                fmt::format("the regular expression is not valid: {}", compiled->error()));
  }
  pattern.regex_ = std::move(compiled);
  pattern.ignore_case_ = ignore_case;
  if (is_literal(text)) {
    pattern.literal_ = text;
    if (ignore_case) std::transform(text.begin(), text.end(), pattern.literal_.begin(), to_lower);
  }
  return pattern;
}

std::vector<std::string> Pattern::needles() const {
  if (!regex_) return {};
  if (!literal_.empty()) {
    std::string needle = literal_;
    std::transform(needle.begin(), needle.end(), needle.begin(), to_lower);
    return {std::move(needle)};
  }
  constexpr int kShortest = 3;  // shorter ones are in too many texts to be worth looking for
  re2::FilteredRE2 filter(kShortest);
  int id = 0;
  std::vector<std::string> needles;
  if (filter.Add(regex_->pattern(), regex_->options(), &id) != RE2::NoError) return {};
  filter.Compile(&needles);
  // What passes without any needle is not tied to having one.
  std::vector<int> passing;
  filter.AllPotentials({}, &passing);
  if (!passing.empty()) return {};
  return needles;
}

bool Pattern::contains_literal(std::string_view text) const {
  if (!ignore_case_) return text.find(literal_) != std::string_view::npos;
  const char first = literal_.front();
  for (std::size_t at = 0; at + literal_.size() <= text.size(); ++at) {
    if (to_lower(text[at]) != first) continue;
    std::size_t same = 1;
    while (same < literal_.size() && to_lower(text[at + same]) == literal_[same]) ++same;
    if (same == literal_.size()) return true;
  }
  return false;
}

bool Pattern::matches(std::string_view text, const StopToken& stop) const {
  if (!regex_) return text == text_;
  if (!literal_.empty()) {
    if (contains_literal(text)) return true;
    // Without regard to case, letters beyond ASCII can stand for k and s.
    if (!ignore_case_ ||
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; }))
      return false;
  }
  const re2::StringPiece whole(text.data(), text.size());
  if (text.size() <= kLongText) return RE2::PartialMatch(whole, *regex_);
  // The expression sees what stands before and behind a part: ^, $ and \b mean the text's, not the part's.
  for (std::size_t begin = 0; !stop.stop_requested(); begin += kLongText / 2) {
    const std::size_t end = std::min(begin + kLongText, text.size());
    if (regex_->Match(whole, begin, end, RE2::UNANCHORED, nullptr, 0)) return true;
    if (end == text.size()) return false;
  }
  return false;
}

}  // namespace profd

#include "core/view/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "core/view/filters.h"

namespace profd {

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
  return pattern;
}

bool Pattern::matches(std::string_view text) const {
  if (!regex_) return text == text_;
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *regex_);
}

}  // namespace profd

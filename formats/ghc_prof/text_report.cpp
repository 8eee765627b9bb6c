#include "formats/ghc_prof/text_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/ghc_prof/cost_centre.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"

namespace profd::ghc_prof {
namespace {

// "59,542,424" and "0.02".
bool parse_grouped(std::string_view text, double& value) {
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  return parse_double(digits, value);
}

class TextReading {
 public:
  TextReading(const DecodedText& text, bool truncated, ReadContext& context, ProfileBuilder& builder)
      : text_(text), truncated_(truncated), context_(context), builder_(builder) {}

  Result<void> run() {
    LineReader lines(text_.text);
    bool in_tree = false;
    for (std::string_view line; lines.next(line);) {
      if (!lines.ended() && truncated_) break;
      const std::uint64_t offset = text_.offset + lines.offset();
      const std::string_view body = trim(line);
      if (body.empty()) continue;
      if (!in_tree) {
        // The tree's header, unlike that of the flat table before it, has a number and entries.
        if (body.starts_with("COST CENTRE") && body.find("entries") != std::string_view::npos) {
          in_tree = true;
          has_source_ = body.find(" SRC ") != std::string_view::npos;
          exact_ = body.ends_with("bytes");
          PROFD_CHECK(begin(offset));
        } else {
          read_header(body);
        }
        continue;
      }
      PROFD_CHECK(read_row(line, offset));
      if (n_rows_ % 65536 == 0) PROFD_CHECK(context_.stop.status());
    }
    if (!in_tree)
      return fail(ErrorCode::malformed, "there is no table of cost-centre stacks", text_.text.size());
    if (n_rows_ == 0)
      return fail(ErrorCode::malformed, "the table of cost-centre stacks is empty", text_.text.size());
    malformed_.report(context_.report, "malformed-line", Severity::loss,
                      "rows that are no cost-centre stack were not read");
    return {};
  }

 private:
  void read_header(std::string_view body) {
    const std::size_t equals = body.find('=');
    if (body.starts_with("total time") && equals != std::string_view::npos) {
      const std::string_view value = trim(body.substr(equals + 1));
      double seconds = 0;
      if (parse_grouped(value.substr(0, value.find(' ')), seconds)) total_ns_ = seconds * 1e9;
      const std::size_t open = value.find('('), at = value.find(" @ ");
      double us = 0, ticks = 0;
      if (open != std::string_view::npos && at != std::string_view::npos && at > open) {
        const std::string_view n = value.substr(open + 1, value.find(' ', open) - open - 1);
        if (parse_grouped(n, ticks)) ticks_ = ticks;
        const std::string_view interval = value.substr(at + 3);
        if (parse_grouped(interval.substr(0, interval.find(' ')), us) && us > 0 && us < 1e9)
          tick_ns_ = static_cast<std::int64_t>(us * 1000);
      }
    } else if (body.starts_with("total alloc") && equals != std::string_view::npos) {
      const std::string_view value = trim(body.substr(equals + 1));
      parse_grouped(value.substr(0, value.find(' ')), total_bytes_);
    } else if (body.find("+RTS") != std::string_view::npos && builder_.info().program.empty()) {
      builder_.info().program = repair_utf8(body.substr(0, body.find(' ')));
    }
  }

  Result<void> begin(std::uint64_t) {
    if (tick_ns_ > 0) {
      builder_.info().period = tick_ns_;
      builder_.info().period_type = "cpu";
      builder_.info().period_unit = "nanoseconds";
    }
    builder_.add_metric("time", "nanoseconds", !exact_);
    if (exact_) builder_.add_metric("ticks", "count");
    builder_.add_metric("alloc", "bytes", !exact_);
    builder_.add_metric("entries", "count");
    builder_.set_default_metric(MetricId{0u});
    if (!exact_)
      context_.report.add(
          "rounded", Severity::info,
          "the report has percentages of one decimal only (+RTS -P writes ticks and bytes): time and alloc "
          "are those shares of the totals");
    return {};
  }

  Result<void> read_row(std::string_view line, std::uint64_t offset) {
    const std::size_t depth = std::min(line.find_first_not_of(' '), line.size());
    if (first_depth_ == std::string_view::npos) first_depth_ = depth;
    // Cells from both ends: names and numbers hold no blanks, the source between them can.
    std::vector<std::string_view> words;
    for (std::string_view rest = line; !(rest = trim(rest)).empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      words.push_back(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    const std::size_t n_numbers = exact_ ? 8 : 6;
    const std::size_t n_names = has_source_ ? 3 : 2;
    if (words.size() < n_numbers + n_names) {
      malformed_.count(offset);
      return {};
    }
    const auto number = [&](std::size_t i) { return words[words.size() - n_numbers + i]; };
    std::int64_t entries, ticks = 0, bytes = 0;
    double time_share, alloc_share;
    if (!parse_int(number(1), entries) || !parse_double(number(2), time_share) ||
        !parse_double(number(3), alloc_share) ||
        (exact_ && (!parse_int(number(6), ticks) || !parse_int(number(7), bytes))) || entries < 0 ||
        ticks < 0 || bytes < 0 || time_share < 0 || alloc_share < 0) {
      malformed_.count(offset);
      return {};
    }
    if (depth < first_depth_ || depth - first_depth_ > open_.size())
      return fail(ErrorCode::malformed, "a row is not indented below its caller", offset);
    if (depth - first_depth_ >= context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
    open_.resize(depth - first_depth_);
    std::string_view source;
    if (has_source_) {
      const std::string_view last = words[words.size() - n_numbers - 1];
      source = {words[2].data(), static_cast<std::size_t>(last.data() + last.size() - words[2].data())};
    }
    const ContextId context = builder_.context(open_.empty() ? kRootContext : open_.back(),
                                               cost_centre_frame(builder_, words[0], words[1], source));
    open_.push_back(context);
    ++n_rows_;
    std::uint32_t metric = 0;
    if (exact_) {
      std::int64_t ns;
      if (__builtin_mul_overflow(ticks, tick_ns_, &ns)) ns = INT64_MAX;
      builder_.add_self(context, MetricId{metric++}, ns);
      builder_.add_self(context, MetricId{metric++}, ticks);
      builder_.add_self(context, MetricId{metric++}, bytes);
    } else {
      builder_.add_self(context, MetricId{metric++}, time_share / 100 * total_ns_);
      builder_.add_self(context, MetricId{metric++}, alloc_share / 100 * total_bytes_);
    }
    builder_.add_self(context, MetricId{metric}, entries);
    return {};
  }

  const DecodedText& text_;
  bool truncated_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  bool has_source_ = false, exact_ = false;
  double total_ns_ = 0, total_bytes_ = 0, ticks_ = 0;
  std::int64_t tick_ns_ = 0;
  std::size_t first_depth_ = std::string_view::npos;
  std::vector<ContextId> open_;
  std::uint64_t n_rows_ = 0;
  OddLines malformed_;
};

}  // namespace

Result<void> read_text_report(const DecodedText& text, bool truncated, ReadContext& context,
                              ProfileBuilder& builder) {
  return TextReading(text, truncated, context, builder).run();
}

}  // namespace profd::ghc_prof

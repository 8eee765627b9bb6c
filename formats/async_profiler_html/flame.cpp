// The flame graph pages: calls of f(), u() and n() in a script, one a line.
#include <array>
#include <charconv>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "formats/async_profiler_html/page.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"

namespace profd::async_profiler {
namespace {

struct Call {
  char function = 0;  // f, u or n
  std::array<std::int64_t, 8> numbers{};
  std::size_t n_numbers = 0;
  bool has_title = false;
  std::string_view title;  // as written
};

// "f(1,2,3,'title',4)" with numbers that may be left out; false when it is something else.
bool parse_call(std::string_view line, Call& call) {
  call = {};
  if (line.size() < 3 || line[1] != '(' || line.back() != ')') return false;
  call.function = line[0];
  const char* p = line.data() + 2;
  const char* const end = line.data() + line.size() - 1;
  while (true) {
    if (p != end && *p == '\'') {
      if (call.has_title) return false;
      const char* const begin = ++p;
      while (p != end && *p != '\'') p += *p == '\\' && p + 1 != end ? 2 : 1;
      if (p >= end) return false;
      call.title = {begin, static_cast<std::size_t>(p - begin)};
      call.has_title = true;
      ++p;
    } else {
      if (call.n_numbers == call.numbers.size()) return false;
      std::int64_t value = 0;
      if (p != end && *p != ',') {
        const auto [next, error] = std::from_chars(p, end, value);
        if (error != std::errc()) return false;
        p = next;
      }
      call.numbers[call.n_numbers++] = value;
    }
    if (p == end) return true;
    if (*p++ != ',') return false;
  }
}

std::string unescape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

// The bytes of the first n UTF-16 units of `text`: JavaScript counts in those.
std::size_t bytes_of_units(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  while (at < text.size() && n > 0) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    n -= std::min<std::size_t>(n, length == 4 ? 2 : 1);
    at += length;
  }
  return std::min(at, text.size());
}

// The text between `from` and `to` in a line.
std::string_view between(std::string_view line, std::string_view from, std::string_view to) {
  const std::size_t begin = line.find(from);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = line.find(to, begin + from.size());
  return end == std::string_view::npos ? std::string_view()
                                       : line.substr(begin + from.size(), end - begin - from.size());
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder), tree_(builder, context) {}

  Result<void> run() {
    LineReader lines(text_.text);
    bool finished = false;
    PROFD_CHECK(each_line(lines, context_, {.step = 1u << 20}, [&](std::string_view line) -> Result<void> {
      const std::uint64_t offset = text_.offset + lines.offset();
      if (in_names_) {
        read_name(line);
      } else if (line.size() > 2 && line[1] == '(' && (line[0] == 'f' || line[0] == 'u' || line[0] == 'n')) {
        return read_frame(line, offset);
      } else if (line.starts_with("d=")) {
        return read_difference(line.substr(2), offset);
      } else if (line.starts_with("const cpool = [")) {
        in_names_ = packed_ = true;
      } else if (n_frames_ == 0) {
        read_head(line);
      } else if (line.find("</script>") != std::string_view::npos) {
        finished = true;
        lines.skip_rest();
      }
      return {};
    }));
    if (n_frames_ == 0) return fail(ErrorCode::malformed, "the page has no frames");
    if (!finished) {
      if (!context_.partial)
        return fail(ErrorCode::truncated, "the page ends before its last frame",
                    text_.offset + text_.text.size());
      context_.report.add("truncated", Severity::loss,
                          "the page ends early; frames behind its end are missing",
                          text_.offset + text_.text.size());
    }
    tree_.report();
    return {};
  }

 private:
  void read_head(std::string_view line) {
    if (const std::string_view title = between(line, "<h1>", "</h1>"); !title.empty())
      builder_.info().properties.emplace_back("title", title);
    if (const std::string_view units = between(line, "const units = '", "'"); !units.empty()) units_ = units;
    std::string_view difference = between(line, "const maxdiff = ", ";");
    if (const std::size_t comment = difference.find("*/"); comment != std::string_view::npos)
      difference.remove_prefix(comment + 2);
    std::int64_t largest = 0;
    if (parse_int(difference, largest)) differential_ = largest >= 0;
  }

  void read_name(std::string_view line) {
    line = trim(line);
    if (line.starts_with(']')) {
      in_names_ = false;
      frames_.resize(names_.size() * 8);
      return;
    }
    if (line.ends_with(',')) line.remove_suffix(1);
    if (line.size() < 2 || line.front() != '\'' || line.back() != '\'') return;
    std::string name = unescape(line.substr(1, line.size() - 2));
    // The first is whole; the others begin with how much they share with the one before.
    if (!names_.empty() && !name.empty()) {
      const int shared = static_cast<unsigned char>(name[0]) - 32;
      const std::size_t keep = bytes_of_units(last_name_, shared > 0 ? static_cast<std::size_t>(shared) : 0);
      name = last_name_.substr(0, keep) + name.substr(1);
    }
    names_.push_back(builder_.string(name));
    last_name_ = std::move(name);
  }

  Result<void> read_difference(std::string_view value, std::uint64_t offset) {
    new_ = value == "U";
    difference_ = 0;
    if (new_ || parse_int(value, difference_)) return {};
    return fail(ErrorCode::malformed, "a difference is no number", offset);
  }

  Result<void> read_frame(std::string_view line, std::uint64_t offset) {
    Call call;
    if (!parse_call(line, call)) return fail(ErrorCode::malformed, "a frame is ill-formed", offset);
    if (n_frames_++ == 0)
      tree_.declare(units_, differential_ ? Tree::Metrics::before_and_after : Tree::Metrics::one);
    FrameId frame;
    ThreadId thread;
    std::int64_t level = 0;
    const auto& n = call.numbers;
    const auto bad = [&](std::string_view what) {
      return fail(ErrorCode::malformed, std::string(what), offset);
    };
    if (call.has_title) {
      // f(level, left, width, type, 'title', …)
      if (call.function != 'f' || call.n_numbers < 4) return bad("a frame is ill-formed");
      level = n[0], left_ = n[1], width_ = n[2];
      const auto type = static_cast<std::uint8_t>(n[3] >= 0 && n[3] < 7 ? n[3] : 7);
      const std::uint32_t row = rows_.row(call.title, type);
      if (row == titled_.size()) {
        const std::string title = unescape(call.title);
        titled_.emplace_back(make_frame(builder_, title, type), thread_of(builder_, title));
      }
      std::tie(frame, thread) = titled_[row];
    } else {
      // Places and widths that are left out follow from the frame before.
      std::int64_t width = 0;
      if (call.function == 'f') {
        if (call.n_numbers < 3) return bad("a frame is ill-formed");
        level = n[1], width = n[3];
        if (__builtin_add_overflow(left_, n[2], &left_)) return bad("a frame lies beyond 64 bits");
      } else {
        level = level_ + (call.function == 'u' ? 1 : 0), width = n[1];
        if (call.function == 'n' && __builtin_add_overflow(left_, width_, &left_))
          return bad("a frame lies beyond 64 bits");
      }
      if (width != 0) width_ = width;
      const std::int64_t key = n[0];
      if (key < 0 || static_cast<std::uint64_t>(key) >= frames_.size()) return bad("a frame has no name");
      const auto at = static_cast<std::size_t>(key);
      if (!frames_[at].valid()) {
        const std::string name(builder_.text(names_[at >> 3]));  // making a frame adds texts
        frames_[at] = make_frame(builder_, name, static_cast<unsigned>(at & 7));
      }
      frame = frames_[at];
      thread = thread_of(builder_, builder_.text(names_[at >> 3]));
    }
    std::int64_t end = 0;
    if (width_ < 0 || left_ < 0 || __builtin_add_overflow(left_, width_, &end))
      return bad("a frame has a negative width or place");
    if (level < 0 || static_cast<std::uint64_t>(level) > tree_.depth()) return bad("a frame stands on none");
    const auto at = static_cast<std::size_t>(level);
    if (level > 0) {
      tree_.close_to(at);
      if (end > tree_.at(at - 1).end) return bad("a frame is wider than the one that it stands on");
    }
    // The first frame is `all`.
    PROFD_CHECK(tree_.enter(at, frame, width_, thread, offset));
    tree_.at(at).end = end;
    tree_.at(at).before = difference_;
    tree_.at(at).is_new = new_;
    level_ = level;
    return {};
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Tree tree_;
  std::string units_;
  bool in_names_ = false, packed_ = false, differential_ = false, new_ = false;
  std::string last_name_;
  std::vector<StringId> names_;
  TextRows rows_;                                     // titles, where they are not packed
  std::vector<std::pair<FrameId, ThreadId>> titled_;  // by row
  std::vector<FrameId> frames_;                       // by name and type, where they are packed
  std::int64_t level_ = 0, left_ = 0, width_ = 0, difference_ = 0;
  std::uint64_t n_frames_ = 0;
};

}  // namespace

Result<void> read_flame(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  return Reading(text, context, builder).run();
}

}  // namespace profd::async_profiler

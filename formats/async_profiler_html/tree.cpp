// The tree pages: nested lists of "[depth] 68.75% 33 self: 0.00% 0" (to 2.x) or "54.55% [18] • self: 0.00%
// [0]"; reversed trees leave the self part out.
#include <fmt/format.h>

#include "formats/async_profiler_html/page.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::async_profiler {
namespace {

// "1,234" or "[18]".
bool parse_count(std::string_view text, std::int64_t& out) {
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::string digits;
  for (char c : text)
    if (c != ',') digits += c;
  return parse_int(digits, out) && out >= 0;
}

bool is_tree_begin(std::string_view line) {
  return line.starts_with("<ul class=\"tree\">") || line.starts_with("<ul class='tree'>");
}

Result<void> check_finished(bool finished, const DecodedText& text, ReadContext& context) {
  if (finished) return {};
  const std::uint64_t end = text.offset + text.text.size();
  if (!context.partial) return fail(ErrorCode::truncated, "the page ends inside its tree", end);
  context.report.add("truncated", Severity::loss, "the page ends inside its tree", end);
  return {};
}

// "Call tree view" or "Backtrace view" stands above the tree.
bool is_backtrace_page(std::string_view text) {
  const std::size_t tree = text.find("<ul class=");
  return text.substr(0, tree).find("Backtrace view") != std::string_view::npos;
}

struct Item {
  std::int64_t total = 0, self = 0;
  unsigned type = 7;
  std::string name;
};

std::string unescape_markup(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool found = false;
    for (const auto& [entity, c] : {std::pair<std::string_view, char>{"&lt;", '<'},
                                    {"&gt;", '>'},
                                    {"&amp;", '&'},
                                    {"&quot;", '"'},
                                    {"&#39;", '\''}}) {
      if (!text.substr(i).starts_with(entity)) continue;
      out += c;
      i += entity.size() - 1;
      found = true;
      break;
    }
    if (!found) out += text[i];
  }
  return out;
}

// Items of a backtrace tell no self: they are callers of what was sampled.
bool parse_item(std::string_view line, bool is_backtrace, Item& item) {
  const std::size_t open = line.find("<div"), begin = line.find('>', open), end = line.find("</div>");
  if (open == std::string_view::npos || begin == std::string_view::npos || end == std::string_view::npos ||
      end < begin)
    return false;
  // Counts are the words that are no share: total, then self. The depth of old pages comes first.
  std::string_view numbers = line.substr(begin + 1, end - begin - 1);
  const bool has_depth = numbers.starts_with('[');
  std::size_t n = 0;
  const std::size_t n_wanted = has_depth ? 3 : 2, n_least = n_wanted - (is_backtrace ? 1 : 0);
  std::int64_t counts[3] = {};
  while (!numbers.empty() && n < n_wanted) {
    const std::size_t blank = std::min(numbers.find(' '), numbers.size());
    std::int64_t value = 0;
    if (parse_count(numbers.substr(0, blank), value)) counts[n++] = value;
    numbers.remove_prefix(std::min(blank + 1, numbers.size()));
  }
  if (n < n_least) return false;
  item.total = counts[n_wanted - 2];
  item.self = is_backtrace ? 0 : counts[n_wanted - 1];
  const std::size_t type = line.find("<span class=\"t", end);
  const std::size_t name = line.find('>', type), close = line.rfind("</span>");
  if (type == std::string_view::npos || name == std::string_view::npos || close == std::string_view::npos ||
      close < name)
    return false;
  const char digit = line[type + 14];
  item.type = digit >= '0' && digit <= '6' ? static_cast<unsigned>(digit - '0') : 7;
  item.name = unescape_markup(trim(line.substr(name + 1, close - name - 1)));
  return item.self <= item.total;
}

// Calls visit(level, item, offset) for every item of the tree, 0 the outermost level.
template <class Visit>
Result<void> each_item(const DecodedText& text, bool is_backtrace, ReadContext& context, Visit visit) {
  LineReader lines(text.text);
  std::size_t level = 0;
  bool in_tree = false, finished = false, any = false;
  for (std::string_view line; lines.next(line) && !finished;) {
    if (context.stop.check()) return context.stop.status();
    const std::uint64_t offset = text.offset + lines.offset();
    line = trim(line);
    if (!in_tree) {
      in_tree = is_tree_begin(line);
    } else if (line == "<ul>") {
      ++level;
    } else if (line.starts_with("</ul>")) {
      finished = level == 0;
      level -= finished ? 0 : 1;
    } else if (line.starts_with("<li>")) {
      Item item;
      if (!parse_item(line, is_backtrace, item))
        return fail(ErrorCode::malformed, "an item of the tree is ill-formed", offset);
      PROFD_CHECK(visit(level, item, offset));
      any = true;
    } else if (line.starts_with("<script>")) {
      finished = level == 0;
    }
  }
  if (!any) return fail(ErrorCode::malformed, "the page has no tree");
  return check_finished(finished, text, context);
}

// A backtrace page (asprof -f tree --reverse) has what was sampled outermost and its callers inside: the path
// to an item is a stack, leaf first, with what no caller further out has taken.
class Backtraces {
 public:
  explicit Backtraces(ProfileBuilder& builder) : builder_(builder) {}

  // An item at `level`, 0 the outermost: closes what is open there and below.
  bool enter(std::size_t level, FrameId frame, std::int64_t total) {
    if (level > path_.size()) return false;
    close_to(level);
    if (level > 0 && __builtin_sub_overflow(rest_[level - 1], total, &rest_[level - 1]))
      rest_[level - 1] = INT64_MIN;
    path_.push_back(frame);
    rest_.push_back(total);
    return true;
  }

  void close_to(std::size_t level) {
    for (; path_.size() > level; path_.pop_back(), rest_.pop_back()) {
      n_over_ += rest_.back() < 0;
      if (rest_.back() <= 0) continue;
      stack_.assign(path_.rbegin(), path_.rend());
      builder_.add_sample(stack_, std::span(&rest_.back(), 1), {});
    }
  }

  std::uint64_t n_over() const { return n_over_; }

 private:
  ProfileBuilder& builder_;
  std::vector<FrameId> path_, stack_;
  std::vector<std::int64_t> rest_;  // by open item
  std::uint64_t n_over_ = 0;
};

Result<void> read_backtraces(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  builder.set_default_metric(builder.add_metric("samples", "count"));
  Backtraces backtraces(builder);
  const auto enter = [&](std::size_t level, const Item& item, std::uint64_t offset) -> Result<void> {
    if (level >= context.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is too deep (limit stack_depth)", offset);
    if (!backtraces.enter(level, make_frame(builder, item.name, item.type), item.total))
      return fail(ErrorCode::malformed, "an item of the tree hangs on none", offset);
    return {};
  };
  PROFD_CHECK(each_item(text, true, context, enter));
  backtraces.close_to(0);
  context.report.add("backtrace", Severity::info,
                     "the page shows callers below what they call: stacks were turned round; where callers "
                     "are missing the page left them out as too small",
                     std::nullopt, 1);
  context.report.add("over-full", Severity::loss, "items have less than what is inside them", std::nullopt,
                     backtraces.n_over());
  return {};
}

}  // namespace

Result<void> read_tree(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  if (is_backtrace_page(text.text)) return read_backtraces(text, context, builder);
  Tree tree(builder, context);
  tree.declare("samples", Tree::Metrics::one);
  const FrameId pruned = builder.frame({.function = builder.function(FunctionSpec{
                                            .name = builder.string("[not shown]"), .unresolved = true})});
  // What an item has beyond its own and its shown children is below the page's smallest share.
  std::vector<std::int64_t> self{0};  // by open level
  std::uint64_t n_pruned = 0;
  const auto close_to = [&](std::size_t level) -> Result<void> {
    while (tree.depth() > level) {
      const std::size_t at = tree.depth() - 1;
      const std::int64_t beyond = tree.at(at).rest - self[at];
      if (beyond > 0 && at > 0) {
        ++n_pruned;
        PROFD_CHECK(tree.enter(at + 1, pruned, beyond, {}, 0));
      }
      tree.close_to(at);
      self.resize(at);
    }
    return {};
  };

  PROFD_CHECK(tree.enter(0, {}, 0, {}, 0));
  const auto enter = [&](std::size_t level, const Item& item, std::uint64_t offset) -> Result<void> {
    if (level + 1 > tree.depth())
      return fail(ErrorCode::malformed, "an item of the tree hangs on none", offset);
    PROFD_CHECK(close_to(level + 1));
    if (level == 0) tree.at(0).rest += item.total;
    PROFD_CHECK(tree.enter(level + 1, make_frame(builder, item.name, item.type), item.total,
                           thread_of(builder, item.name), offset));
    self.resize(level + 1);
    self.push_back(item.self);
    return {};
  };
  PROFD_CHECK(each_item(text, false, context, enter));
  PROFD_CHECK(close_to(0));
  tree.report();
  context.report.add("pruned", Severity::info,
                     "what the page left out as too small stands in frames [not shown] under its callers",
                     std::nullopt, n_pruned);
  return {};
}

}  // namespace profd::async_profiler

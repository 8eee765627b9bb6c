// The tree pages: nested lists of "[depth] 68.75% 33 self: 0.00% 0" (to 2.x) or "54.55% [18] • self: 0.00%
// [0]".
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

bool parse_item(std::string_view line, Item& item) {
  const std::size_t open = line.find("<div"), begin = line.find('>', open), end = line.find("</div>");
  if (open == std::string_view::npos || begin == std::string_view::npos || end == std::string_view::npos ||
      end < begin)
    return false;
  // Counts are the words that are no share: total, then self. The depth of old pages comes first.
  std::string_view numbers = line.substr(begin + 1, end - begin - 1);
  const bool has_depth = numbers.starts_with('[');
  std::size_t n = 0;
  const std::size_t n_wanted = has_depth ? 3 : 2;
  std::int64_t counts[3] = {};
  while (!numbers.empty() && n < n_wanted) {
    const std::size_t blank = std::min(numbers.find(' '), numbers.size());
    std::int64_t value = 0;
    if (parse_count(numbers.substr(0, blank), value)) counts[n++] = value;
    numbers.remove_prefix(std::min(blank + 1, numbers.size()));
  }
  if (n != n_wanted) return false;
  item.total = counts[n - 2];
  item.self = counts[n - 1];
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

}  // namespace

Result<void> read_tree(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  Tree tree(builder, context);
  tree.declare("samples", Tree::Metrics::one);
  const FrameId pruned = builder.frame({.function = builder.function(FunctionSpec{
                                            .name = builder.string("[not shown]"), .unresolved = true})});
  // What an item has beyond its own and its shown children is below the page's smallest share.
  std::vector<std::int64_t> self{0};  // by open level
  std::uint64_t n_pruned = 0, n_items = 0;
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

  LineReader lines(text.text);
  std::size_t level = 0;
  bool in_tree = false, finished = false;
  std::vector<std::pair<Item, std::uint64_t>> roots;
  PROFD_CHECK(tree.enter(0, {}, 0, {}, 0));
  for (std::string_view line; lines.next(line) && !finished;) {
    const std::uint64_t offset = text.offset + lines.offset();
    if (context.stop.check()) return context.stop.status();
    line = trim(line);
    if (!in_tree) {
      in_tree = line.starts_with("<ul class=\"tree\">") || line.starts_with("<ul class='tree'>");
      continue;
    }
    if (line == "<ul>") {
      ++level;
    } else if (line.starts_with("</ul>")) {
      if (level == 0)
        finished = true;
      else
        --level;
    } else if (line.starts_with("<li>")) {
      Item item;
      if (!parse_item(line, item))
        return fail(ErrorCode::malformed, "an item of the tree is ill-formed", offset);
      if (level + 1 > tree.depth())
        return fail(ErrorCode::malformed, "an item of the tree hangs on none", offset);
      PROFD_CHECK(close_to(level + 1));
      if (level == 0) tree.at(0).rest += item.total;
      PROFD_CHECK(tree.enter(level + 1, make_frame(builder, item.name, item.type), item.total,
                             thread_of(builder, item.name), offset));
      self.resize(level + 1);
      self.push_back(item.self);
      ++n_items;
    } else if (line.starts_with("<script>")) {
      finished = level == 0;
    }
  }
  if (n_items == 0) return fail(ErrorCode::malformed, "the page has no tree");
  if (!finished) {
    if (!context.partial)
      return fail(ErrorCode::truncated, "the page ends inside its tree", text.offset + text.text.size());
    context.report.add("truncated", Severity::loss, "the page ends inside its tree",
                       text.offset + text.text.size());
  }
  PROFD_CHECK(close_to(0));
  tree.report();
  context.report.add("pruned", Severity::info,
                     "what the page left out as too small stands in frames [not shown] under its callers",
                     std::nullopt, n_pruned);
  return {};
}

}  // namespace profd::async_profiler

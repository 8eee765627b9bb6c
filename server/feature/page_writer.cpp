#include "server/feature/page_writer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 ||
                              static_cast<unsigned char>(text[at]) >= 0x80);
}

// What Markdown makes links of without brackets.
bool may_link(std::string_view text) {
  return text.find("www") != text.npos || text.find("://") != text.npos || text.find('@') != text.npos ||
         text.find("mailto") != text.npos || text.find("xmpp") != text.npos;
}

// A sentence as a page has it: what would be markup is escaped, and no more, as it is also read as it is.
std::string readable_markdown(std::string_view text) {
  static constexpr std::string_view kMarkup = "\\`*[]<>#|~&$^{}!";
  const std::string safe = sanitize_text(text);
  if (safe.empty() || may_link(safe) || !is_word(safe, 0)) return escape_markdown(text);
  std::string out;
  bool after_number = true;  // "1." and "1)" begin a list
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const char c = safe[i];
    const bool begins_list = after_number && (c == '.' || c == ')') && !is_word(safe, i + 1);
    after_number = after_number && c >= '0' && c <= '9';
    const bool emphasis = c == '_' && !(i > 0 && is_word(safe, i - 1) && is_word(safe, i + 1));
    if (begins_list || emphasis || kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Letters, digits and what numbers are written with. A "~" before a blank strikes nothing out.
bool is_plain_value(std::string_view text) {
  if (may_link(text)) return false;
  if (text.starts_with("~ ")) text.remove_prefix(2);
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(" .,%+-()/").find(c) != std::string_view::npos;
  });
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t n = display_width(text);
  const std::string room(width > n ? width - n : 0, ' ');
  return right ? room + text : text + room;
}

}  // namespace

PageCell page_value(std::string_view text) {
  const std::string safe = sanitize_text(text);
  return {is_plain_value(safe) ? safe : escape_markdown(text)};
}

PageCell page_name(std::string_view text) {
  return {text.find('|') == text.npos ? markdown_code(text) : escape_markdown(text)};
}

PageCell page_place(const std::string& path, std::string_view file, std::string_view module,
                    std::uint32_t line) {
  const std::string_view at = !path.empty() ? std::string_view(path) : file;
  if (at.empty()) return module.empty() ? PageCell{} : page_name(base_name(module));
  PageCell cell = page_name(line != 0 ? fmt::format("{}:{}", at, line) : std::string(at));
  cell.path = path;
  cell.line = line;
  return cell;
}

void PageWriter::line(std::string_view text) {
  page_.markdown += text;
  page_.markdown += '\n';
  ++n_lines_;
}

void PageWriter::sentence(std::string_view text) {
  if (!text.empty()) line(readable_markdown(text));
}

void PageWriter::item(std::string_view text) {
  line("- " + readable_markdown(text));
}

void PageWriter::table(const std::vector<std::string_view>& head,
                       const std::vector<std::vector<PageCell>>& rows) {
  constexpr std::size_t kWidest = 60;  // a longer name moves its own row alone
  std::vector<std::size_t> widths;
  std::vector<bool> right;
  for (const std::string_view name : head) {
    right.push_back(name.starts_with(' '));
    widths.push_back(std::max<std::size_t>(3, display_width(name) - (right.back() ? 1 : 0)));
  }
  for (const std::vector<PageCell>& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], std::min(kWidest, display_width(row[i].text)));
  std::string names = "|", rule = "|";
  for (std::size_t i = 0; i < head.size(); ++i) {
    names += ' ' + padded(std::string(head[i].substr(right[i] ? 1 : 0)), widths[i], right[i]) + " |";
    rule += ' ' + std::string(widths[i] - 1, '-') + (right[i] ? ":" : "-") + " |";
  }
  line(names);
  line(rule);
  for (const std::vector<PageCell>& row : rows) {
    std::string text = "|";
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += ' ';
      const std::string cell = padded(row[i].text, widths[i], right[i]);
      if (!row[i].path.empty())
        page_.links.push_back(
            {n_lines_, text.size() + 1, text.size() + row[i].text.size() - 1, row[i].path, row[i].line});
      text += cell + " |";
    }
    line(text);
  }
}

ReportPage PageWriter::finish(std::string line) {
  page_.line = std::move(line);
  return std::move(page_);
}

}  // namespace profd

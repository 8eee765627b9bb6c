#include "server/feature/hover_text.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "server/engine/uri.h"
#include "server/feature/escape.h"

namespace profd {
namespace {

// Text that is no markup as it stands goes as it stands: some editors show the backslashes of the rest.
bool is_harmless(std::string_view text) {
  const auto harmless = [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view(" .,:;/%+-()'").find(static_cast<char>(c)) != std::string_view::npos;
  };
  return std::all_of(text.begin(), text.end(), harmless) && text.find("//") == text.npos &&
         text.find("www.") == text.npos && sanitize_text(text) == text;
}

std::string plain_or_escaped(std::string_view text) {
  return is_harmless(text) ? std::string(text) : escape_markdown(text);
}

// A sentence of ours with names in it, word by word. What could begin a list or a heading at the front is
// escaped.
std::string sentence(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const bool starts_a_list =
        at == 0 && !word.empty() && std::string_view("+-0123456789").find(word[0]) != word.npos;
    if (at > 0) out += ' ';
    out += starts_a_list ? escape_markdown(word) : plain_or_escaped(word);
    at = end + 1;
  }
  return out;
}

std::string link_to(const HoverNeighbour& neighbour) {
  if (neighbour.path.empty()) return "";
  const std::string uri = uri_of_path(neighbour.path);
  return neighbour.line == 0 ? uri : fmt::format("{}#L{}", uri, neighbour.line);
}

std::string after_title(const Hover& hover) {
  std::string text = hover.inlined ? " (inlined)" : "";
  if (hover.n_others > 0) text += fmt::format(" and {} more here", hover.n_others);
  return text;
}

std::string markdown_list(const HoverList& list) {
  std::string text = hover_list_title(list, &markdown_code) + ": ";
  for (const HoverNeighbour& entry : list.entries) {
    if (&entry != &list.entries.front()) text += " · ";
    const std::string link = link_to(entry), name = markdown_code(entry.name);
    text += (link.empty() ? name : fmt::format("[{}]({})", name, link)) + ' ' + entry.share;
  }
  if (list.n_more > 0) text += fmt::format(" · {} more", list.n_more);
  return text;
}

// What a metric comes to, as a sentence.
std::string hover_row_text(const HoverRow& row, std::string (*as_text)(std::string_view)) {
  const std::string metric = as_text(row.metric);
  if (row.change)
    return fmt::format("{}: total {} (before {}, after {}), self {} (before {}, after {})", metric,
                       as_text(row.change->total_change), as_text(row.change->total_before),
                       as_text(row.total), as_text(row.change->self_change), as_text(row.change->self_before),
                       as_text(row.self));
  const std::string share = row.share.empty() ? "" : " (" + as_text(row.share) + ")";
  return fmt::format("{}: total {}{}, self {}", metric, as_text(row.total), share, as_text(row.self));
}

std::string markdown_table(const std::vector<HoverRow>& rows) {
  if (rows.empty()) return "";
  std::string text = fmt::format("| metric | {} |\n|:--|--:|--:|--:|\n",
                                 rows.front().change ? "before | after | change" : "self | total | share");
  for (const HoverRow& row : rows) {
    if (row.change) {
      text += fmt::format("| {} | {} | {} | {} |\n", escape_markdown(row.metric),
                          plain_or_escaped(row.change->total_before), plain_or_escaped(row.total),
                          plain_or_escaped(row.change->total_change));
      text += fmt::format("| {} self | {} | {} | {} |\n", escape_markdown(row.metric),
                          plain_or_escaped(row.change->self_before), plain_or_escaped(row.self),
                          plain_or_escaped(row.change->self_change));
      continue;
    }
    text += fmt::format("| {} | {} | {} | {} |\n", escape_markdown(row.metric), plain_or_escaped(row.self),
                        plain_or_escaped(row.total), plain_or_escaped(row.share));
  }
  return text + '\n';
}

std::string markdown_sentences(const std::vector<HoverRow>& rows) {
  std::string text;
  for (const HoverRow& row : rows) text += "- " + hover_row_text(row, &plain_or_escaped) + '\n';
  return rows.empty() ? text : text + '\n';
}

}  // namespace

std::string hover_list_title(const HoverList& list, std::string (*name)(std::string_view)) {
  std::string title = list.callers ? "callers" : "callees";
  if (list.n_joined > 1) title += fmt::format(" (of {} pieces of code on this line together)", list.n_joined);
  if (!list.of.empty()) title += " of " + name(list.of);
  if (list.estimated) title += " (estimate)";
  return title;
}

std::string hover_markdown(const Hover& hover, bool tables) {
  std::string text;
  if (!hover.name.empty())
    text = fmt::format("**{}** {}{}\n\n", markdown_code(hover.name), plain_or_escaped(hover.place),
                       after_title(hover));
  for (const std::string& note : hover.notes) text += sentence(note) + "\n\n";
  text += tables ? markdown_table(hover.rows) : markdown_sentences(hover.rows);
  for (const std::string& remark : hover.remarks) text += sentence(remark) + "\n\n";
  for (const HoverList& list : hover.lists) text += markdown_list(list) + "\n\n";
  for (const std::string& tip : hover.tips) text += "**Tip:** " + sentence(tip) + "\n\n";
  return text + fmt::format("*{}*", plain_or_escaped(hover.foot));
}

std::string hover_plain_text(const Hover& hover) {
  std::string text;
  if (!hover.name.empty())
    text =
        fmt::format("{} {}{}\n\n", sanitize_text(hover.name), sanitize_text(hover.place), after_title(hover));
  for (const std::string& note : hover.notes) text += sanitize_text(note) + "\n\n";
  for (const HoverRow& row : hover.rows) text += hover_row_text(row, &sanitize_text) + '\n';
  if (!hover.rows.empty()) text += '\n';
  for (const std::string& remark : hover.remarks) text += sanitize_text(remark) + "\n\n";
  for (const HoverList& list : hover.lists) {
    text += hover_list_title(list, &sanitize_text) + ":\n";
    for (const HoverNeighbour& entry : list.entries)
      text += fmt::format("  {} {}\n", sanitize_text(entry.name), entry.share);
    if (list.n_more > 0) text += fmt::format("  {} more\n", list.n_more);
    text += '\n';
  }
  for (const std::string& tip : hover.tips) text += "Tip: " + sanitize_text(tip) + "\n\n";
  return text + sanitize_text(hover.foot);
}

}  // namespace profd

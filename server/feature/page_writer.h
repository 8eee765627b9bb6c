// A page of Markdown that is also read as it is: tables with even columns, names and places in code spans,
// and where on the page a place stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace profd {

// A place of a workspace on a page.
struct PageLink {
  std::uint32_t line = 0;          // of the page, from 0
  std::size_t begin = 0, end = 0;  // bytes of that line
  std::string path;
  std::uint32_t to_line = 0;  // from 1, 0 unknown
};

struct ReportPage {
  std::string markdown;
  std::string line;  // in one line, where only a message can be shown
  std::vector<PageLink> links;
};

struct PageCell {
  std::string text;  // Markdown
  std::string path = {};
  std::uint32_t line = 0;
};
// A value or share: as it is, unless its unit, which a file chooses, could be markup.
PageCell page_value(std::string_view text);
// A name, as a code span.
PageCell page_name(std::string_view text);
// "src/join.cc:17"; the file as the profile says where the workspace has none.
PageCell page_place(const std::string& path, std::string_view file, std::string_view module,
                    std::uint32_t line);

class PageWriter {
 public:
  // Markdown without line ends.
  void line(std::string_view text = {});
  // Text from a file, in a line of its own.
  void sentence(std::string_view text);
  // The same, of a list.
  void item(std::string_view text);
  // Columns whose heading begins with a space are numbers and stand to the right.
  void table(const std::vector<std::string_view>& head, const std::vector<std::vector<PageCell>>& rows);
  ReportPage finish(std::string line);

 private:
  ReportPage page_;
  std::uint32_t n_lines_ = 0;
};

}  // namespace profd

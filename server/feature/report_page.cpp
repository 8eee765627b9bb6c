#include "server/feature/report_page.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "server/feature/escape.h"
#include "server/feature/names.h"

namespace profd {
namespace {

constexpr std::size_t kNamesInLine = 3;

// A unit is the file's own word.
std::string value_text(const Whole& whole, const Value& value) {
  return escape_markdown(whole.text(value));
}

std::string heading(const OpenProfile& open, const std::string& what, const Whole& whole) {
  return fmt::format("# {}\n\n{}: {} · {}\n\n", what, escape_markdown(open.name),
                     escape_markdown(open.metric_info().name), value_text(whole, whole.total));
}

std::string place_text(const Place& place) {
  const std::string_view path = !place.path.empty() ? std::string_view(place.path) : place.file;
  if (path.empty()) return escape_markdown(base_name(place.module));
  return escape_markdown(place.line != 0 ? fmt::format("{}:{}", path, place.line) : std::string(path));
}

}  // namespace

ReportPage places_page(const OpenProfile& open, const Places& places) {
  ReportPage page;
  page.markdown = heading(open, "Hot spots", places.whole);
  if (places.head.excluded) page.markdown += escape_markdown(places.head.excluded->text) + "\n\n";
  page.markdown += "| self | | total | | function | place |\n| ---: | ---: | ---: | ---: | --- | --- |\n";
  page.line = open.name + ": ";
  for (std::size_t i = 0; i < places.places.size(); ++i) {
    const Place& place = places.places[i];
    page.markdown +=
        fmt::format("| {} | {} | {} | {} | {} | {} |\n", value_text(places.whole, place.self),
                    places.whole.share_text(place.self), escape_markdown(total_text(place, places.whole)),
                    total_share(place, places.whole), escape_markdown(place.name), place_text(place));
    if (i < kNamesInLine)
      page.line +=
          fmt::format("{}{} {}", i == 0 ? "" : " · ", place.short_name, places.whole.share_text(place.self));
  }
  if (places.places.empty()) page.line += "nothing was measured";
  if (places.remainder) page.markdown += "\n" + escape_markdown(places.remainder->text) + "\n";
  return page;
}

ReportPage callers_page(const OpenProfile& open, const std::string& function, const CallersAnswer& answer) {
  ReportPage page;
  page.markdown = heading(open, "Callers of " + escape_markdown(function), answer.whole);
  page.markdown += fmt::format("{} · {} in all\n\n| total | share | caller |\n| ---: | ---: | --- |\n",
                               value_text(answer.whole, answer.total), answer.whole.share_text(answer.total));
  page.line = short_name(function) + " is called by ";
  for (std::size_t i = 0; i < answer.callers.size(); ++i) {
    const Caller& caller = answer.callers[i];
    const std::string share = format_share(caller.total, answer.total);
    page.markdown += fmt::format("| {} | {} | {} |\n", value_text(answer.whole, caller.total), share,
                                 escape_markdown(caller.name));
    if (i < kNamesInLine)
      page.line += fmt::format("{}{} {}", i == 0 ? "" : " · ", short_name(caller.name), share);
  }
  if (answer.callers.empty()) page.line += "nobody: the stacks start there";
  return page;
}

}  // namespace profd

#include "server/feature/code_actions.h"

#include <algorithm>

namespace profd {
namespace {

constexpr std::size_t kFunctionsOffered = 2, kComparisonsOffered = 5;

}  // namespace

Result<std::vector<LineAction>> code_actions(Views& views, const ActionsRequest& request,
                                             const StopToken& stop) {
  std::vector<LineAction> out;
  const OpenProfile& open = *request.file.open;
  PROFD_TRY(const auto source, views.source_file(open, request.file.workspace, request.file.path,
                                                 request.file.document.get(), stop));
  if (source->files.empty()) return out;
  PROFD_TRY(const FunctionsAt at, functions_at(views, request.file, request.line, stop));
  for (std::size_t i = 0; i < std::min(at.places.size(), kFunctionsOffered); ++i) {
    const Place& place = at.places[i];
    const auto about = [&](const std::string& title, std::string_view kind, std::string_view command) {
      out.push_back({title, kind, command, {{"profile", open.handle}, {"function", place.name}}});
    };
    about("Open in flame graph: " + place.short_name, "profd.flameGraph", "profd.openInBrowser");
    about("Who calls " + place.short_name, "profd.callers", "profd.callers");
    about("Where in " + place.short_name, "profd.within", "profd.within");
  }
  const auto add = [&](const std::string& title, std::string_view kind, std::string_view command,
                       const std::string& with = "") {
    LineAction& action = out.emplace_back(LineAction{title, kind, command, {{"profile", open.handle}}});
    if (!with.empty()) action.arguments.emplace_back("with", with);
  };
  const Composition* const composition = open.profile->composition();
  if (composition != nullptr && composition->kind == Composed::diff) {
    add("What changed", "profd.changes", "profd.changes");
  } else {
    if (request.has_previous) add("Compare with the recording before", "profd.compare", "profd.compare");
    for (std::size_t i = 0; i < std::min(request.others.size(), kComparisonsOffered); ++i)
      add("Compare with " + request.others[i].name, "profd.compare", "profd.compare",
          request.others[i].handle);
  }
  add("Hot spots", "profd.hotspots", "profd.hotspots");
  if (at.places.empty()) add("Open in flame graph", "profd.flameGraph", "profd.openInBrowser");
  if (request.records_again) add("Record again", "profd.record", "profd.reload");
  return out;
}

}  // namespace profd

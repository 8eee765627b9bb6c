#include "server/feature/call_hierarchy.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "server/feature/functions_at.h"
#include "server/feature/line_places.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::size_t kMaxCallingLines = 256;  // of one function, whose calls are looked for
constexpr std::size_t kMaxLinesOfCall = 100;
constexpr std::size_t kMaxHierarchyRoots = 3;

ViewSpec hierarchy_spec(const ViewSpec& spec, Granularity granularity) {
  ViewSpec out = spec;
  out.shape = Shape::flat;
  out.granularity = granularity;
  out.focus.clear();
  return out;
}

// Where lines of the profile are now: in open documents where their edits have moved them.
class LinesNow {
 public:
  LinesNow(Views& views, const OpenProfile& open, const WorkspaceSnapshot& workspace,
           const OpenDocuments& documents, const StopToken& stop)
      : views_(views), open_(open), workspace_(workspace), documents_(documents), stop_(stop) {}

  // `line`: from 1, 0 unknown.
  Result<std::uint32_t> of(const std::string& path, std::uint32_t line) {
    const std::uint32_t as_said = line == 0 ? 0 : line - 1;
    const auto document = documents_.find(path);
    if (document == documents_.end() || line == 0) return as_said;
    auto known = files_.find(path);
    if (known == files_.end()) {
      PROFD_TRY(const auto source,
                views_.source_file(open_, workspace_, path, document->second.get(), stop_));
      known = files_.try_emplace(path, *source, document->second.get(), open_.view_id).first;
    }
    const auto placed = known->second.find(line);
    return placed ? placed->line : as_said;
  }

 private:
  Views& views_;
  const OpenProfile& open_;
  const WorkspaceSnapshot& workspace_;
  const OpenDocuments& documents_;
  const StopToken& stop_;
  std::map<std::string, LinePlaces> files_;
};

// The lines of the calls, as the profile says, by the other function.
using CallLines = std::unordered_map<Key, std::set<std::uint32_t>>;

struct LinesOfFunctions {
  CallLines calls;
  std::unordered_map<Key, std::uint32_t> first;  // the lowest line that was measured
};

// `wanted`: functions whose first line is asked for.
Result<LinesOfFunctions> lines_of_functions(Views& views, const HierarchyRequest& request,
                                            const Selection& functions, const std::set<Key>& wanted,
                                            const StopToken& stop) {
  LinesOfFunctions out;
  const ViewSpec by_line = hierarchy_spec(request.spec, Granularity::line);
  PROFD_TRY(const SelectionPtr lines, views.selection(*request.open, by_line, stop));
  const Profile& profile = *functions.profile;
  const KeyTable& line_keys = *lines->boxes->keys;
  const std::vector<Key>& function_of = functions.boxes->keys->of_frame;
  const auto function_of_line = [&](Key line) { return function_of[line_keys.example[line]]; };
  std::vector<Key> own;
  for (Key line = 0; line < line_keys.first_group(); ++line) {
    if ((line & 0xFFFF) == 0) PROFD_CHECK(stop.status());
    const Key function = function_of_line(line);
    if (wanted.count(function) == 0) continue;
    if (const std::uint32_t at = key_place(profile, line_keys, line).line; at != 0) {
      std::uint32_t& first = out.first.try_emplace(function, at).first->second;
      first = std::min(first, at);
    }
    if (function == request.key && own.size() < kMaxCallingLines) own.push_back(line);
  }
  const bool callers = request.shape == Shape::callers;
  for (const Key line : own) {
    PROFD_TRY(const Neighbours around,
              views.neighbours(*request.open, by_line, line, std::numeric_limits<std::size_t>::max(), stop));
    for (const Neighbour& other : callers ? around.callers : around.callees) {
      if (other.key >= line_keys.first_group()) continue;
      const std::uint32_t at = key_place(profile, line_keys, callers ? other.key : line).line;
      std::set<std::uint32_t>& known = out.calls[function_of_line(other.key)];
      if (at != 0 && known.size() < kMaxLinesOfCall) known.insert(at);
    }
  }
  return out;
}

}  // namespace

std::string function_detail(const Place& place, const Whole& whole) {
  return fmt::format("total {} · self {}", total_share(place, whole), whole.share_text(place.self));
}

Result<std::vector<HierarchyItem>> hierarchy_roots(Views& views, const AnnotateRequest& file,
                                                   std::uint32_t line, const OpenDocuments& documents,
                                                   const StopToken& stop) {
  PROFD_TRY(const FunctionsAt at, functions_at(views, file, line, stop));
  LinesNow now(views, *file.open, file.workspace, documents, stop);
  std::vector<HierarchyItem> out;
  for (std::size_t i = 0; i < std::min(at.places.size(), kMaxHierarchyRoots); ++i) {
    HierarchyItem item;
    item.place = at.places[i];
    // It is of this document: that is how it was found.
    if (item.place.path.empty()) item.place.path = file.path;
    item.line = line;
    if (item.place.line != 0) {
      PROFD_TRY(item.line, now.of(item.place.path, item.place.line));
    }
    item.detail = function_detail(item.place, at.whole);
    out.push_back(std::move(item));
  }
  return out;
}

Needs needs_of(const HierarchyRequest& request) {
  const ViewSpec spec = hierarchy_spec(request.spec, Granularity::function);
  const ViewSpec by_line = hierarchy_spec(request.spec, Granularity::line);
  return {{Part::selection, spec},
          {Part::flat, spec},
          {Part::one_function, spec},
          {Part::selection, by_line},
          {Part::neighbours, by_line}};
}

Result<CallHierarchy> call_hierarchy(Views& views, const HierarchyRequest& request, const StopToken& stop) {
  const ViewSpec spec = hierarchy_spec(request.spec, Granularity::function);
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, spec, stop));
  const Selection& selection = *view.selection;
  if (request.key >= selection.boxes->keys->first_group())
    return fail(ErrorCode::not_found, "no function of the profile has this number");
  PROFD_TRY(const auto flat, views.flat(*request.open, spec, stop));
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  PROFD_TRY(const CallersAnswer found,
            calls_of_key(*request.open, view, request.key, request.shape, request.limit, stop));
  std::set<Key> wanted{request.key};
  for (const Caller& call : found.callers) wanted.insert(call.key);
  PROFD_TRY(const LinesOfFunctions lines, lines_of_functions(views, request, selection, wanted, stop));
  LinesNow now(views, *request.open, request.workspace, request.documents, stop);
  const auto item_of = [&](Key key) -> Result<HierarchyItem> {
    const auto row = flat->row_of(key);
    HierarchyItem item;
    item.place =
        place_of(selection, sources.get(), key, row ? flat->self[*row] : Value(std::int64_t{0}),
                 row ? flat->total[*row] : Value(std::int64_t{0}), row ? flat->estimate_of(*row) : kExact);
    if (item.place.line == 0)
      if (const auto first = lines.first.find(key); first != lines.first.end())
        item.place.line = first->second;
    PROFD_TRY(item.line, now.of(item.place.path, item.place.line));
    return item;
  };
  CallHierarchy out;
  PROFD_TRY(out.of, item_of(request.key));
  out.of.detail = function_detail(out.of.place, view.whole);
  for (const Caller& call : found.callers) {
    HierarchyCall& one = out.calls.emplace_back();
    PROFD_TRY(one.item, item_of(call.key));
    one.item.detail = marked(format_share(call.total, found.total), call.estimated) + "  " +
                      marked(view.whole.text(call.total), call.estimated);
    const std::string& path = request.shape == Shape::callers ? one.item.place.path : out.of.place.path;
    if (const auto at = lines.calls.find(call.key); at != lines.calls.end() && !path.empty())
      for (const std::uint32_t line : at->second) {
        PROFD_TRY(const std::uint32_t placed, now.of(path, line));
        one.lines.push_back(placed);
      }
  }
  if (found.n_left > 0)
    out.left = fmt::format("{} more: {}", format_count(found.n_left), view.whole.text(found.left));
  return out;
}

}  // namespace profd

#include "server/feature/functions_at.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/view/table.h"
#include "server/feature/enclosing_line.h"
#include "server/feature/escape.h"
#include "server/feature/line_functions.h"
#include "server/feature/line_places.h"
#include "server/feature/names.h"

namespace profd {
namespace {

constexpr std::size_t kMaxFunctions = 100;

// Whether a function begins at a line of the document or above it.
bool begins_above(const Selection& selection, Key key, const LinePlaces& places, std::uint32_t line) {
  const std::uint32_t frame = selection.boxes->keys->example[key];
  const Profile& profile = *selection.profile;
  if (frame >= profile.frames().size()) return false;
  const auto begin = places.find(profile.functions().start_line[profile.frames().function[frame].v]);
  return begin && begin->line <= line;
}

// The functions that were measured on the line, or on the next measured one when they begin above this.
Result<std::vector<Key>> measured_on(const FileAnnotations& file, const AnnotateRequest& request,
                                     std::uint32_t line, const StopToken& stop) {
  std::vector<Key> keys;
  const auto next = std::find_if(file.lines.begin(), file.lines.end(),
                                 [&](const AnnotatedLine& measured) { return measured.line >= line; });
  if (next == file.lines.end()) return keys;
  PROFD_TRY(const LineFunctions on_line,
            functions_on_line(*file.selection, file.files, measured_lines(file, *next), stop));
  const LinePlaces places(*file.source, request.document.get(), request.open->view_id);
  for (const LineFunction& function : on_line.functions)
    if (function.key != kNone &&
        (next->line == line || begins_above(*file.selection, function.key, places, line)))
      keys.push_back(function.key);
  return keys;
}

// Where the functions begin that a line is of: on it, else where what encloses it begins.
std::uint32_t beginning_of(const std::vector<FunctionCost>& functions, const Document* document,
                           std::uint32_t line) {
  std::vector<std::uint32_t> begins;
  for (const FunctionCost& function : functions) begins.push_back(function.line);
  if (document == nullptr || std::find(begins.begin(), begins.end(), line) != begins.end()) return line;
  return enclosing_line(document->text(), begins, line).value_or(line);
}

std::string text_of(const FunctionsAt& found) {
  if (found.places.size() > 1)
    return fmt::format("{} functions were measured on this line", found.places.size());
  const Place& place = found.places.front();
  return fmt::format("{}: total {}, self {}", sanitize_text(place.short_name),
                     total_share(place, found.whole), found.whole.share_text(place.self));
}

}  // namespace

Needs needs_of_functions_at(const AnnotateRequest& request) {
  Needs needs = needs_of_lines(request);
  needs.push_back({Part::flat, annotation_spec(request)});
  return needs;
}

Result<FunctionsAt> functions_at(Views& views, const AnnotateRequest& request, std::uint32_t line,
                                 const StopToken& stop) {
  AnnotateRequest all = request;
  all.threshold = 0;
  PROFD_TRY(const FileAnnotations file, annotate_file(views, all, stop));
  FunctionsAt out;
  if (file.files.empty()) {
    out.text = fmt::format("{} has nothing on {}", sanitize_text(request.open->name),
                           sanitize_text(base_name(request.path)));
    return out;
  }
  const Selection& selection = *file.selection;
  out.whole = file.whole;
  out.text = "no measured function is on this line";
  PROFD_TRY(const auto sources, views.sources(*request.open, request.workspace, stop));
  const auto add = [&](Key key, const Value& self, const Value& total, Estimate estimate) {
    if (out.places.size() < kMaxFunctions)
      out.places.push_back(place_of(selection, sources.get(), key, self, total, estimate));
  };
  PROFD_TRY(const std::vector<Key> keys, measured_on(file, request, line, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, annotation_spec(all), stop));
  for (const Key key : keys) {
    if (const auto row = flat->row_of(key))
      add(key, flat->self[*row], flat->total[*row], flat->estimate_of(*row));
  }
  if (keys.empty()) {
    PROFD_TRY(const auto begin, functions_of_file(views, all, stop));
    const std::uint32_t begins = beginning_of(begin, request.document.get(), line);
    for (const FunctionCost& function : begin)
      if (function.line == begins)
        add(function.key, function.self, function.total, function.total_estimated ? kTotalEstimated : kExact);
  }
  if (!out.places.empty()) out.text = text_of(out);
  return out;
}

}  // namespace profd

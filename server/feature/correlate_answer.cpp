#include "server/feature/correlate_answer.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/view/record_pairs.h"
#include "server/engine/role_origin.h"
#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"
#include "server/feature/first_needs.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::string_view kLacking = "(none)";
// As readers of call graphs name them.
constexpr std::string_view kCalls = "calls";

// A profile that is one role already is looked at as it is; of another one the role on the right is made.
Result<OpenProfilePtr> opened_role(const CorrelateRequest& request, const StopToken& stop) {
  const Profile& profile = *request.open->profile;
  if (records_of_samples(profile).table != nullptr) return request.open;
  for (const Filter& filter : request.spec.filters)
    if (filters_rows(filter) && filter.linked.empty()) {
      Filter named = filter;
      named.linked = "ROLE";
      return fail(ErrorCode::invalid,
                  fmt::format("`{}` does not say which context of a record it means: `{}`", to_text(filter),
                              to_text(named)));
    }
  PROFD_TRY(const std::size_t table, find_records(profile, request.table));
  const AssociationTable& records = profile.associations()[table];
  if (records.roles.empty()) return fail(ErrorCode::invalid, "the records have no roles");
  std::size_t role = records.roles.size() - 1;
  if (!request.right.empty()) {
    PROFD_TRY(role, find_role(records, request.right));
  }
  auto made = std::make_shared<OpenProfile>(*request.open);
  PROFD_TRY(made->profile, role_profile(profile, table, role, stop));
  made->metric = made->profile->default_metric();
  made->derived = nullptr;
  return OpenProfilePtr(std::move(made));
}

// The URI of the profile that the records are of.
std::string source_uri(const OpenProfile& open, bool is_role) {
  if (is_role) {
    const auto parameters = parameters_of_uri(open.uri);
    if (parameters)
      for (const auto& [key, value] : *parameters)
        if (key == "of") return value;
    return open.uri;
  }
  return open.number > 1 ? fmt::format("{}#{}", open.uri, open.number) : open.uri;
}

CorrelateSide side_of(const Selection& selection, const SourceMap* sources, Key key) {
  if (key == kNone) return {std::string(kLacking), "", 0, ""};
  const KeyTable& keys = *selection.boxes->keys;
  const KeyPlace place = key_place(*selection.profile, keys, key);
  CorrelateSide out{key_name(*selection.profile, keys, key), std::string(place.file), place.line, ""};
  const std::string* const path = sources == nullptr ? nullptr : sources->file_of(place.file);
  if (path != nullptr) out.path = *path;
  return out;
}

// What has no name, or stands for a part of a runtime, is no place to move code to.
bool is_named(const Profile& profile, const KeyTable& keys, Key key) {
  const std::uint32_t function = profile.frames().function[keys.example[key]].v;
  const std::string_view name = profile.function_name(FunctionId(function));
  return profile.functions().unresolved[function] == 0 && !name.empty() && name.front() != '<' &&
         name.front() != '(' && name.front() != '[';
}

// `across`: of the metric, between two threads; "" nothing is.
std::string verdict_of(const CorrelateAnswer& answer, bool unknown_threads, const std::string& across) {
  const auto best = std::find_if(answer.meets.begin(), answer.meets.end(),
                                 [](const CorrelateMeet& meet) { return meet.named; });
  std::string care;
  if (!across.empty())
    care = fmt::format(" {} of it is between two threads, where nothing can be brought together.", across);
  else if (unknown_threads)
    care = " Which of these ran in one thread the file does not say of all.";
  if (answer.n_pairs == 0) return "No record passes the filters.";
  // A caller is always the one to call both: nothing follows from that.
  if (answer.table == kCalls) return fmt::format("{} pairs of functions call each other.", answer.n_pairs);
  if (best == answer.meets.end())
    return fmt::format("No named function calls both {} and {}: there is nothing to hoist.{}", answer.left,
                       answer.right, across.empty() ? std::string() : care);
  return fmt::format("{} of {} has {} and {} meeting in {}: that is where they could be brought together.{}",
                     best->amount.share_text.empty() ? best->amount.text : best->amount.share_text,
                     answer.head.metric, answer.left, answer.right, best->name, care);
}

}  // namespace

Needs needs_of(const CorrelateRequest& request) {
  return needs_of_shape(request.spec);
}

Result<CorrelateAnswer> correlate_answer(Views& views, const CorrelateRequest& request,
                                         const StopToken& stop) {
  const bool is_role = records_of_samples(*request.open->profile).table != nullptr;
  PROFD_TRY(const OpenProfilePtr open, opened_role(request, stop));
  const Profile& profile = *open->profile;
  PreparedView view;
  if (is_role) {
    PROFD_TRY(view, prepare_view(views, *open, request.spec, stop));
  } else {
    // It has no place among the views that are kept, which know profiles that are open.
    PROFD_TRY(view.selection, select(open->profile, request.spec, stop));
    const std::string& unit = profile.metrics()[view.selection->metric().v].unit;
    view.whole = {view.selection->sums->total, unit};
    view.profile_whole = {view.selection->sums->profile_total, unit};
  }
  const AssociationTable& records = *records_of_samples(profile).table;
  if (!request.table.empty() && request.table != records.name)
    PROFD_CHECK(find_records(profile, request.table));
  std::size_t right = records.roles.size() - 1, left = right == 0 ? 0 : right - 1;
  if (!request.right.empty()) {
    PROFD_TRY(right, find_role(records, request.right));
    if (request.left.empty() && left == right)
      left = right == 0 ? std::min<std::size_t>(1, right) : right - 1;
  }
  if (!request.left.empty()) {
    PROFD_TRY(left, find_role(records, request.left));
  }
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  PROFD_TRY(const RecordPairs found, record_pairs(*view.selection, left, right, stop));

  CorrelateAnswer out;
  out.head = head_of(*open, request.spec, view);
  out.table = records.name;
  if (is_role)
    out.tables = {records.name};
  else
    for (const AssociationTable& table : request.open->profile->associations())
      out.tables.push_back(table.name);
  const std::string of = source_uri(*request.open, is_role);
  for (std::size_t r = 0; r < records.roles.size(); ++r)
    out.roles.push_back({records.roles[r], pairs_uri(of, records.name, records.roles[r]), found.records[r],
                         found.contexts[r]});
  out.left = records.roles[left];
  out.right = records.roles[right];
  const auto function_name = [&](Key key) {
    return key == kNone ? std::string() : key_name(profile, *found.function_keys, key);
  };
  out.n_pairs = found.pairs.size();
  for (const RecordPair& pair : found.pairs) {
    if (out.pairs.size() == request.limit) break;
    out.pairs.push_back({side_of(*view.selection, sources.get(), pair.left),
                         side_of(*view.selection, sources.get(), pair.right),
                         amount_of(view.whole, pair.value), pair.records, function_name(pair.meet)});
  }
  for (const RecordMeet& meet : found.meets) {
    if (out.meets.size() == request.limit) break;
    out.meets.push_back({function_name(meet.function), amount_of(view.whole, meet.value), meet.records,
                         meet.function != kNone && is_named(profile, *found.function_keys, meet.function)});
  }
  const Amount across = amount_of(view.whole, found.across);
  const bool any_across = as_double(found.across) != 0;
  out.verdict = verdict_of(out, found.threads_unknown && request.open->profile->threads().size() > 1,
                           !any_across                 ? std::string()
                           : across.share_text.empty() ? across.text
                                                       : across.share_text);
  return out;
}

}  // namespace profd

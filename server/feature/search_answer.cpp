#include "server/feature/search_answer.h"

#include <fmt/format.h>

#include "server/feature/matching_rows.h"

namespace profd {

Needs needs_of(const SearchAnswerRequest& request) {
  return needs_of_table(request.spec);
}

Result<SearchAnswer> search_answer(Views& views, const SearchAnswerRequest& request, const StopToken& stop) {
  PROFD_TRY(const PreparedView view, prepare_view(views, *request.open, request.spec, stop));
  PROFD_TRY(const auto found, views.search(*request.open, request.spec, request.pattern, stop));
  PROFD_TRY(const auto flat, views.flat(*request.open, request.spec, stop));
  PROFD_TRY(const auto sources, sources_in(views, *request.open, request.workspace, stop));
  const FlatView matching = matching_rows(*flat, *found);
  SearchAnswer out;
  out.head = head_of(*request.open, request.spec, view);
  out.whole = view.whole;
  out.matched = amount_of(view.whole, found->matched, found->estimated);
  out.n_names = matching.key.size();
  TableRequest first;
  first.sort = SortBy::total;
  first.limit = request.limit;
  for (const std::uint32_t row : page_of(*view.selection, matching, first).rows)
    out.matches.push_back(place_of(*view.selection, sources.get(), matching.key[row], matching.self[row],
                                   matching.total[row], matching.estimate_of(row)));
  out.text = fmt::format("{} {} {}: {} · {}", format_count(out.n_names),
                         out.n_names == 1 ? to_text(request.spec.granularity) : "names",
                         out.n_names == 1 ? "matches" : "match", out.matched.text,
                         marked(view.whole.share_text(found->matched), found->estimated));
  return out;
}

}  // namespace profd

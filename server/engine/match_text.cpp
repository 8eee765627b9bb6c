#include "server/engine/match_text.h"

#include <numeric>

#include <fmt/format.h>

#include "core/view/rename_rules.h"

namespace profd {
namespace {

// "1 function", "3 functions".
std::string number_of(std::size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> match_sentences(const Matching& matching) {
  std::vector<std::string> out;
  std::size_t n_rules = 0;
  for (const std::size_t n : matching.n_renamed) n_rules += n == 0 ? 0 : 1;
  if (n_rules > 0)
    out.push_back(fmt::format(
        "{} renamed by {}",
        number_of(std::accumulate(matching.n_renamed.begin(), matching.n_renamed.end(), std::size_t{0}),
                  "name"),
        number_of(n_rules, "rule")));
  if (matching.n_by_name > 0)
    out.push_back(fmt::format("{} matched by name alone", number_of(matching.n_by_name, "function")));
  if (!matching.same.empty())
    out.push_back(fmt::format("{} matched by callees or lines", number_of(matching.same.size(), "function")));
  if (matching.n_not_looked_at > 0)
    out.push_back(fmt::format("{} too many below one caller to look for new names",
                              number_of(matching.n_not_looked_at, "function")));
  return out;
}

std::string reason_of(const Suggestion& suggestion) {
  std::string out;
  if (suggestion.near_line) out = "near line of one file";
  if (suggestion.same_callees > 0)
    out += fmt::format("{}same callees {:.2f}", out.empty() ? "" : ", ", suggestion.same_callees);
  return out;
}

std::string rename_of(const Suggestion& suggestion) {
  return to_text({suggestion.before_name, false, suggestion.after_name});
}

}  // namespace profd

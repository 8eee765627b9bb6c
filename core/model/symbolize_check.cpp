#include "core/model/symbolize_check.h"

#include <algorithm>

namespace profd {
namespace {

// Every one is a row of `n`, or none where that is allowed.
bool all_below(const std::vector<std::uint32_t>& ids, std::size_t n, bool or_none = false) {
  return std::all_of(ids.begin(), ids.end(),
                     [&](std::uint32_t id) { return id < n || (or_none && id == kNone); });
}

template <class... Columns>
bool have_length(std::size_t n, const Columns&... columns) {
  return ((columns.size() == n) && ...);
}

bool is_chain(const ChainLinks& links) {
  std::vector<std::uint32_t> depth(links.size(), 1);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::uint32_t parent = links.parent[i];
    if (parent == kNone) continue;
    if (parent >= i) return false;
    depth[i] = depth[parent] + 1;
    if (depth[i] > kMaxInlineDepth) return false;
  }
  return true;
}

bool are_apart(const std::vector<AddressSegment>& segments) {
  std::uint64_t end = 0;
  for (const AddressSegment& segment : segments) {
    if (segment.from < end || segment.size > ~segment.from) return false;
    end = segment.from + segment.size;
  }
  return true;
}

Result<void> wrong(const BinarySymbols& symbols, const char* what) {
  return fail(ErrorCode::malformed, "the symbols of " + symbols.name + " have " + what);
}

}  // namespace

Result<void> check_symbols(const BinarySymbols& s) {
  const std::size_t n_texts = s.texts.size();
  const bool even =
      have_length(s.addresses.size(), s.link) &&
      (s.piece.empty() || have_length(s.addresses.size(), s.piece)) &&
      have_length(s.links.size(), s.links.function, s.links.file, s.links.line, s.links.column) &&
      have_length(s.functions.size(), s.functions.linkage_name, s.functions.file, s.functions.first_line) &&
      have_length(s.pieces.size(), s.pieces.n_bytes, s.pieces.name, s.pieces.function);
  if (!even) return wrong(s, "columns of different lengths");
  const bool known = all_below(s.link, s.links.size(), true) && all_below(s.piece, s.pieces.size(), true) &&
                     all_below(s.links.function, s.functions.size(), true) &&
                     all_below(s.links.file, n_texts) && all_below(s.functions.name, n_texts) &&
                     all_below(s.functions.linkage_name, n_texts) && all_below(s.functions.file, n_texts) &&
                     all_below(s.pieces.name, n_texts) &&
                     all_below(s.pieces.function, s.functions.size(), true);
  if (!known) return wrong(s, "an id of a row that is not there");
  if (n_texts > 0 && !s.texts[0].empty()) return wrong(s, "a text for none");
  const auto is_nameless = [&](std::uint32_t text) { return s.texts[text].empty(); };
  if (std::any_of(s.functions.name.begin(), s.functions.name.end(), is_nameless))
    return wrong(s, "a function without a name");
  if (!is_chain(s.links)) return wrong(s, "a chain of inlined calls that is deeper than 512 or never ends");
  if (std::adjacent_find(s.addresses.begin(), s.addresses.end(), std::greater_equal<>()) != s.addresses.end())
    return wrong(s, "addresses out of order");
  if (!are_apart(s.segments)) return wrong(s, "segments that overlap or are out of order");
  return {};
}

}  // namespace profd

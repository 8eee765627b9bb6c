#include "server/engine/symbol_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace profd {
namespace {

bool is_of_binary(const BinarySymbols& symbols, std::string_view name, std::string_view build_id,
                  AddressKind kind) {
  return symbols.name == name && symbols.build_id == build_id && symbols.kind == kind;
}

std::uint32_t row_behind(std::uint32_t row, std::size_t n_before) {
  return row == kNone ? kNone : row + static_cast<std::uint32_t>(n_before);
}

void append_rows_behind(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& rows,
                        std::size_t n_before) {
  for (const std::uint32_t row : rows) to.push_back(row_behind(row, n_before));
}

template <class T>
void append_column(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The tables of `more` behind those of `to`, and its addresses among those; none is in both.
void join_symbols(BinarySymbols& to, const BinarySymbols& more) {
  const std::size_t n_texts = to.texts.size(), n_links = to.links.size(), n_functions = to.functions.size(),
                    n_pieces = to.pieces.size();
  append_column(to.texts, more.texts);
  append_rows_behind(to.functions.name, more.functions.name, n_texts);
  append_rows_behind(to.functions.linkage_name, more.functions.linkage_name, n_texts);
  append_rows_behind(to.functions.file, more.functions.file, n_texts);
  append_column(to.functions.first_line, more.functions.first_line);
  append_rows_behind(to.links.parent, more.links.parent, n_links);
  append_rows_behind(to.links.function, more.links.function, n_functions);
  append_rows_behind(to.links.file, more.links.file, n_texts);
  append_column(to.links.line, more.links.line);
  append_column(to.links.column, more.links.column);
  append_column(to.pieces.start, more.pieces.start);
  append_column(to.pieces.n_bytes, more.pieces.n_bytes);
  append_rows_behind(to.pieces.name, more.pieces.name, n_texts);
  append_rows_behind(to.pieces.function, more.pieces.function, n_functions);
  if (to.segments.empty()) to.segments = more.segments;

  std::vector<std::uint64_t> addresses;
  std::vector<std::uint32_t> link, piece;
  addresses.reserve(to.addresses.size() + more.addresses.size());
  auto piece_of = [](const BinarySymbols& symbols, std::size_t row) {
    return symbols.piece.empty() ? kNone : symbols.piece[row];
  };
  std::size_t a = 0, b = 0;
  while (a < to.addresses.size() || b < more.addresses.size()) {
    const bool is_old =
        b == more.addresses.size() || (a < to.addresses.size() && to.addresses[a] < more.addresses[b]);
    addresses.push_back(is_old ? to.addresses[a] : more.addresses[b]);
    link.push_back(is_old ? to.link[a] : row_behind(more.link[b], n_links));
    piece.push_back(is_old ? piece_of(to, a) : row_behind(piece_of(more, b), n_pieces));
    ++(is_old ? a : b);
  }
  to.addresses = std::move(addresses);
  to.link = std::move(link);
  to.piece = std::move(piece);
}

}  // namespace

std::vector<std::uint64_t> SymbolMemory::unasked(std::string_view name, std::string_view build_id,
                                                 AddressKind kind,
                                                 const std::vector<std::uint64_t>& addresses) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> left;
  if (n_addresses_ >= kMostAddresses) return left;
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const BinarySymbols& symbols) {
    return is_of_binary(symbols, name, build_id, kind);
  });
  if (found == known_.end()) return addresses;
  std::set_difference(addresses.begin(), addresses.end(), found->addresses.begin(), found->addresses.end(),
                      std::back_inserter(left));
  return left;
}

void SymbolMemory::add(BinarySymbols symbols) {
  const std::lock_guard lock(mutex_);
  n_addresses_ += symbols.addresses.size();
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const BinarySymbols& there) {
    return is_of_binary(there, symbols.name, symbols.build_id, symbols.kind);
  });
  if (found == known_.end())
    known_.push_back(std::move(symbols));
  else
    join_symbols(*found, symbols);
}

Result<ProfilePtr> SymbolMemory::applied(const Profile& profile, const StopToken& stop) const {
  const std::lock_guard lock(mutex_);
  return symbolized(profile, known_, stop);
}

}  // namespace profd

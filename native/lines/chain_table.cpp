#include "native/lines/chain_table.h"

#include "core/support/hash.h"

namespace profd::native {
namespace {

std::uint32_t next_row(std::size_t size) {
  return static_cast<std::uint32_t>(size);
}

}  // namespace

ChainTable::ChainTable() {
  text("");
}

std::uint32_t ChainTable::text(std::string_view text) {
  const std::uint32_t next = next_row(rows_.texts.size());
  const std::uint32_t row = texts_.find_or_add(
      hash_bytes(text), next, [&](std::uint32_t other) { return rows_.texts[other] == text; });
  if (row == next) rows_.texts.emplace_back(text);
  return row;
}

std::uint32_t ChainTable::link(const Chains::Link& link) {
  std::uint64_t hash = hash_combine(link.parent, link.function);
  hash = hash_combine(hash, link.file);
  hash = hash_combine(hash, std::uint64_t{link.line} << 32 | link.column);
  const std::uint32_t next = next_row(rows_.links.size());
  const std::uint32_t row =
      links_.find_or_add(mix64(hash), next, [&](std::uint32_t other) { return rows_.links[other] == link; });
  if (row == next) rows_.links.push_back(link);
  return row;
}

std::uint32_t ChainTable::function(std::string_view linkage, std::string_view name, std::uint32_t file,
                                   std::uint32_t line) {
  const Chains::Function candidate{text(linkage), text(name), file, line};
  const bool by_linkage = candidate.linkage != 0;
  std::uint64_t hash = hash_combine(1, candidate.linkage);
  if (!by_linkage) hash = hash_combine(hash_combine(hash, candidate.name), std::uint64_t{file} << 32 | line);
  const std::uint32_t next = next_row(rows_.functions.size());
  const std::uint32_t row = functions_.find_or_add(mix64(hash), next, [&](std::uint32_t other) {
    const Chains::Function& known = rows_.functions[other];
    if (known.linkage != candidate.linkage) return false;
    return by_linkage || (known.name == candidate.name && known.file == file && known.line == line);
  });
  if (row == next) {
    rows_.functions.push_back(candidate);
    return row;
  }
  Chains::Function& known = rows_.functions[row];
  if (known.name == 0) known.name = candidate.name;
  if (known.file == 0) {
    known.file = file;
    known.line = line;
  }
  return row;
}

std::uint32_t ChainTable::piece(std::uint64_t start, std::uint64_t size, std::string_view raw_name,
                                std::uint32_t function) {
  const Chains::Piece candidate{start, size, text(raw_name), function};
  const std::uint32_t next = next_row(rows_.pieces.size());
  const std::uint32_t row =
      pieces_.find_or_add(mix64(hash_combine(start, size)), next, [&](std::uint32_t other) {
        const Chains::Piece& known = rows_.pieces[other];
        return known.start == start && known.size == size;
      });
  if (row == next)
    rows_.pieces.push_back(candidate);
  else if (rows_.pieces[row].function == kNone)
    rows_.pieces[row].function = function;
  return row;
}

ChainTable::Moved ChainTable::add(const Chains& other) {
  std::vector<std::uint32_t> functions;
  functions.reserve(other.functions.size());
  const auto moved_text = [&](std::uint32_t row) { return row == 0 ? 0 : text(other.texts[row]); };
  for (const Chains::Function& one : other.functions)
    functions.push_back(
        function(other.texts[one.linkage], other.texts[one.name], moved_text(one.file), one.line));
  const auto moved_function = [&](std::uint32_t row) { return row == kNone ? kNone : functions[row]; };
  Moved moved;
  moved.links.reserve(other.links.size());
  for (Chains::Link one : other.links) {
    if (one.parent != kNone) one.parent = moved.links[one.parent];
    one.function = moved_function(one.function);
    one.file = moved_text(one.file);
    moved.links.push_back(link(one));
  }
  moved.pieces.reserve(other.pieces.size());
  for (const Chains::Piece& one : other.pieces)
    moved.pieces.push_back(
        piece(one.start, one.size, other.texts[one.raw_name], moved_function(one.function)));
  return moved;
}

}  // namespace profd::native

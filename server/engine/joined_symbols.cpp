#include "server/engine/joined_symbols.h"

#include <algorithm>
#include <utility>

#include "formats/support/demangle.h"

namespace profd {
namespace {

// Rows that count from 1, with 0 for none.
std::uint32_t moved_row(std::uint32_t row, std::size_t before) {
  return row == 0 ? kNone : row - 1 + static_cast<std::uint32_t>(before);
}

std::uint32_t add_text(BinarySymbols& symbols, std::string text) {
  if (text.empty()) return 0;
  symbols.texts.push_back(std::move(text));
  return static_cast<std::uint32_t>(symbols.texts.size() - 1);
}

}  // namespace

BinarySymbols symbols_for(std::size_t n_asked) {
  BinarySymbols symbols;
  symbols.texts.emplace_back();
  symbols.link.assign(n_asked, kNone);
  symbols.piece.assign(n_asked, kNone);
  return symbols;
}

Result<void> add_chunk(BinarySymbols& out, const worker::Chunk& chunk) {
  const auto is_asked = [&](std::uint32_t asked) { return asked < out.link.size(); };
  if (!std::all_of(chunk.asked.begin(), chunk.asked.end(), is_asked)) {
    return fail(ErrorCode::malformed, "it answers what nobody asked");
  }
  if (out.segments.empty())
    for (std::size_t i = 0; i < chunk.segment_from.size(); ++i)
      out.segments.push_back({chunk.segment_from[i], chunk.segment_size[i], chunk.segment_vaddr[i]});
  const std::size_t first_text = out.texts.size(), first_link = out.links.size(),
                    first_piece = out.pieces.size();
  out.texts.insert(out.texts.end(), chunk.texts.begin(), chunk.texts.end());
  const auto text = [&](std::uint32_t row) {
    return row == 0 ? 0u : row - 1 + static_cast<std::uint32_t>(first_text);
  };
  std::vector<std::uint32_t> function_row;  // kNone: it has no name, and so is none
  for (std::size_t i = 0; i < chunk.n_functions(); ++i) {
    const std::string& plain = chunk.texts[chunk.function_name[i]];
    const std::uint32_t linkage = text(chunk.function_linkage[i]);
    std::string name = linkage == 0 ? plain : demangle(out.texts[linkage]);
    if (linkage != 0 && name == out.texts[linkage] && !plain.empty()) name = plain;
    function_row.push_back(name.empty() ? kNone : static_cast<std::uint32_t>(out.functions.size()));
    if (name.empty()) continue;
    out.functions.name.push_back(add_text(out, std::move(name)));
    out.functions.linkage_name.push_back(linkage);
    out.functions.file.push_back(text(chunk.function_file[i]));
    out.functions.first_line.push_back(chunk.function_line[i]);
  }
  for (std::size_t i = 0; i < chunk.n_links(); ++i) {
    out.links.parent.push_back(moved_row(chunk.link_parent[i], first_link));
    out.links.function.push_back(function_row[chunk.link_function[i]]);
    out.links.file.push_back(text(chunk.link_file[i]));
    out.links.line.push_back(chunk.link_line[i]);
    out.links.column.push_back(chunk.link_column[i]);
  }
  for (std::size_t i = 0; i < chunk.n_pieces(); ++i) {
    out.pieces.start.push_back(chunk.piece_start[i]);
    out.pieces.n_bytes.push_back(chunk.piece_size[i]);
    out.pieces.name.push_back(static_cast<std::uint32_t>(first_text) + chunk.piece_name[i]);
    const std::uint32_t of = chunk.piece_function[i];
    out.pieces.function.push_back(of == 0 ? kNone : function_row[of - 1]);
  }
  for (std::size_t i = 0; i < chunk.asked.size(); ++i) {
    out.link[chunk.asked[i]] = moved_row(chunk.link[i], first_link);
    out.piece[chunk.asked[i]] = moved_row(chunk.asked_piece[i], first_piece);
  }
  return {};
}

}  // namespace profd

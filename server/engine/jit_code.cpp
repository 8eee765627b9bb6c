#include "server/engine/jit_code.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/id.h"
#include "formats/folder.h"
#include "formats/support/code_symbol.h"
#include "formats/support/demangle.h"
#include "server/engine/joined_symbols.h"

namespace profd {
namespace {

constexpr std::uint64_t kMaxDumpBytes = std::uint64_t{4} << 30;

bool is_numbered(std::string_view name, std::string_view before, std::string_view behind) {
  if (name.size() <= before.size() + behind.size() || !name.starts_with(before) || !name.ends_with(behind))
    return false;
  name.remove_prefix(before.size());
  name.remove_suffix(behind.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Result<ByteSource> open_dump(const std::string& name, const SymbolPlaces& places) {
  std::vector<std::string> folders;
  if (!places.recording.empty()) folders.push_back(places.recording);
  folders.insert(folders.end(), places.directories.begin(), places.directories.end());
  for (const std::string& folder : folders) {
    const auto files = folder_beside(folder + "/" + name, kMaxDumpBytes);
    if (files && files->has(name)) return files->open(name);
  }
  return fail(ErrorCode::not_found,
              fmt::format("its code is in {}, which is not beside the recording", name));
}

// Where the code of each record was when it was loaded or moved to there.
struct JitPlacement {
  std::uint64_t start = 0;
  std::uint32_t code = 0;
};

std::vector<JitPlacement> placements_of(const JitDump& dump) {
  std::vector<JitPlacement> all;
  std::unordered_map<std::uint64_t, std::uint32_t> newest;  // by start
  for (std::uint32_t i = 0; i < dump.code.size(); ++i) {
    const JitCode& code = dump.code[i];
    std::uint32_t loaded = i;
    if (code.moved) {
      const auto from = newest.find(code.moved_from);
      if (from == newest.end()) continue;
      loaded = from->second;
      newest.erase(from);
    }
    newest[code.start] = loaded;
    all.push_back({code.start, loaded});
  }
  return all;
}

// Tables of one piece: the function that a symbol names, with what was inlined into it, once for each line.
class JitSymbols {
 public:
  JitSymbols(BinarySymbols& out, std::string_view symbol, std::string_view line_file)
      : out_(out), parts_(jit_symbols(symbol)) {
    for (const CodeSymbol& part : parts_) {
      const bool by_line = part.file.empty() && &part == &parts_.back();
      add_function(demangle(part.name), by_line ? line_file : part.file, part.start_line);
    }
    if (parts_.empty()) add_function(std::string(symbol), line_file, 0);
  }

  std::uint32_t link_of(const JitLine* line) {
    const auto [known, is_new] = links_.try_emplace(line, kNone);
    if (!is_new) return known->second;
    const auto n = static_cast<std::uint32_t>(std::max<std::size_t>(parts_.size(), 1));
    std::uint32_t parent = kNone;
    for (std::uint32_t i = 0; i < n; ++i) {
      const bool has_line = i + 1 == n && line != nullptr;
      out_.links.parent.push_back(std::exchange(parent, static_cast<std::uint32_t>(out_.links.size())));
      out_.links.function.push_back(first_function_ + i);
      out_.links.file.push_back(has_line ? text(line->file) : 0);
      out_.links.line.push_back(has_line ? line->line : 0);
      out_.links.column.push_back(has_line ? line->column : 0);
    }
    return known->second = parent;
  }

 private:
  void add_function(std::string name, std::string_view file, std::uint32_t line) {
    out_.functions.name.push_back(text(name));
    out_.functions.linkage_name.push_back(0);
    out_.functions.file.push_back(text(file));
    out_.functions.first_line.push_back(line);
  }
  std::uint32_t text(std::string_view content) {
    if (content.empty()) return 0;
    const auto [known, is_new] = texts_.try_emplace(std::string(content), 0);
    if (is_new) {
      known->second = static_cast<std::uint32_t>(out_.texts.size());
      out_.texts.emplace_back(content);
    }
    return known->second;
  }

  BinarySymbols& out_;
  std::vector<CodeSymbol> parts_;
  const std::uint32_t first_function_ = static_cast<std::uint32_t>(out_.functions.size());
  std::map<const JitLine*, std::uint32_t> links_;
  std::map<std::string, std::uint32_t, std::less<>> texts_;
};

}  // namespace

bool is_jit_dump(std::string_view module) {
  return is_numbered(base_name(module), "jit-", ".dump");
}

std::string why_no_code_in_memory(std::string_view module) {
  if (is_numbered(base_name(module), "perf-", ".map")) {
    return fmt::format(
        "{} has the names of compiled code and not the code: a jitdump has both (perf record -k mono, "
        "node --perf-prof)",
        base_name(module));
  }
  return "its code was in memory alone, and no file has it";
}

Result<JitPiece> find_jit_piece(const CodeQuestion& question, const SymbolPlaces& places) {
  const std::string name(base_name(question.name));
  JitPiece piece;
  PROFD_TRY(piece.source, open_dump(name, places));
  PROFD_TRY(piece.dump, parse_jitdump(piece.source.bytes()));
  const std::vector<JitCode>& code = piece.dump.code;
  std::vector<std::uint32_t> found;  // with different bytes
  for (const JitPlacement& one : placements_of(piece.dump)) {
    const JitCode& loaded = code[one.code];
    if (one.start != question.start || loaded.size != question.size || loaded.name != question.symbol)
      continue;
    const auto same = [&](std::uint32_t other) {
      return std::equal(code[other].bytes.begin(), code[other].bytes.end(), loaded.bytes.begin(),
                        loaded.bytes.end());
    };
    std::erase_if(found, same);
    found.push_back(one.code);
    piece.code = one.code;
    piece.moved_by = one.start - loaded.start;
  }
  if (found.empty()) return fail(ErrorCode::not_found, fmt::format("{} does not have this code", name));
  if (piece.bytes().empty()) return fail(ErrorCode::not_found, fmt::format("{} has no bytes of it", name));
  piece.n_others = static_cast<std::uint32_t>(found.size() - 1);
  return piece;
}

void describe_jit_code(const JitPiece& piece, FoundCode& code) {
  const JitDump& dump = piece.dump;
  const JitCode& own = dump.code[piece.code];
  BinarySymbols& out = code.symbols;
  const std::string_view file = own.n_lines == 0 ? std::string_view() : dump.lines[own.first_line].file;
  JitSymbols symbols(out, own.name, file);
  for (std::size_t row = 0; row < code.rows.size(); ++row)
    out.link[row] = symbols.link_of(find_line(dump, own, code.address[row] - piece.moved_by));
  // By place, what begins there; of several with different names none.
  std::vector<std::string_view> names(code.rows.places.size());
  for (const JitPlacement& one : placements_of(dump)) {
    const auto place = std::lower_bound(code.rows.places.begin(), code.rows.places.end(), one.start);
    if (place == code.rows.places.end() || *place != one.start) continue;
    const std::string_view name = dump.code[one.code].name;
    std::string_view& known = names[static_cast<std::size_t>(place - code.rows.places.begin())];
    known = known.empty() || known == name ? name : "\n";
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty() || names[i] == "\n") continue;
    JitSymbols of_place(out, names[i], {});
    out.link[code.rows.size() + i] = of_place.link_of(nullptr);
  }
}

}  // namespace profd

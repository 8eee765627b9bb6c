#include "native/lines/unit_chains.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/support/id.h"
#include "native/elf/symbols.h"
#include "native/lines/clone_name.h"
#include "native/lines/inlines.h"
#include "native/lines/line_program.h"
#include "native/lines/names.h"

namespace profd::native {
namespace {

bool is_mangled(std::string_view symbol) {
  for (const std::string_view prefix : {"_Z", "_R", "__Z", "$s", "$S", "_T0", "?"})
    if (symbol.starts_with(prefix)) return true;
  return false;
}

std::string linkage_of(std::string_view symbol, bool folds_clones) {
  return folds_clones ? with_one_structor(without_clone_suffix(symbol)) : std::string(symbol);
}

std::string raw_name(const SymbolMap::Found& symbol) {
  return std::string(symbol.name) + (symbol.plt ? "@plt" : "");
}

std::uint32_t symbol_function(const SymbolMap::Found& symbol, bool folds_clones, ChainTable& table) {
  if (symbol.name.empty()) return kNone;
  const std::string name = symbol.plt ? raw_name(symbol) : linkage_of(symbol.name, folds_clones);
  return is_mangled(name) ? table.function(name, "", 0, 0) : table.function("", name, 0, 0);
}

constexpr std::uint64_t kNoRow = UINT64_MAX;  // as a file's number

// The row that covers each asked address; its file is kNoRow where there is none.
std::vector<LineRow> rows_at(const LineProgram& program, std::span<const std::uint64_t> asked,
                             std::uint64_t code_begin) {
  std::vector<LineRow> rows(asked.size(), LineRow{0, kNoRow, 0, 0});
  LineRow before;
  bool inside = false, alive = false;
  auto next = asked.begin();
  program.run([&](const LineRow& row, bool ends) {
    if (!inside) {
      alive = row.address >= code_begin;
      next = std::lower_bound(asked.begin(), asked.end(), row.address);
    } else if (alive) {
      if (row.address < before.address) next = std::lower_bound(asked.begin(), asked.end(), row.address);
      for (; next != asked.end() && *next < row.address; ++next)
        rows[static_cast<std::size_t>(next - asked.begin())] = before;
    }
    before = row;
    inside = !ends;
  });
  return rows;
}

class UnitChains {
 public:
  UnitChains(const UnitQuestion& question, std::span<const std::uint64_t> asked, const SymbolMap& symbols,
             KnownFunctions& known, ChainTable& table)
      : question_(question),
        asked_(asked),
        symbols_(symbols),
        known_(known),
        table_(table),
        inlines_(find_inlines(
            *question.entries, asked, question.code_begin,
            [this](std::uint64_t vaddr, std::uint64_t entry) { return is_named_by_symbol(vaddr, entry); })) {}

  std::vector<Answer> run() {
    read_lines();
    for (const std::uint64_t vaddr : asked_) at_symbol_.push_back(symbols_.find(vaddr));
    name_functions();
    link_calls();
    std::vector<Answer> answers;
    answers.reserve(asked_.size());
    for (std::size_t i = 0; i < asked_.size(); ++i) answers.push_back(answer(i));
    return answers;
  }

 private:
  // Whether the symbol at `vaddr` is that of the function at `entry`.
  bool is_named_by_symbol(std::uint64_t vaddr, std::uint64_t entry) const {
    const auto symbol = symbols_.find(vaddr);
    return symbol && names_of({question_.entries, entry}).linkage == symbol->name;
  }

  using Files = std::unordered_map<std::uint64_t, std::uint32_t>;

  void read_lines() {
    const Unit& unit = *question_.unit;
    const Unit& entries = *question_.entries;
    rows_.assign(asked_.size(), LineRow{0, kNoRow, 0, 0});
    if (unit.stmt_list) lines_ = LineProgram::read(unit, unit.stmt_list.number);
    if (lines_) rows_ = rows_at(*lines_, asked_, question_.code_begin);
    if (&entries != &unit && !entries.file->sections.line.empty())
      split_files_ = LineProgram::read(entries, entries.stmt_list.number);
  }

  std::uint32_t path(const std::optional<LineProgram>& program, Files& files, std::uint64_t file) {
    if (!program) return 0;
    const auto [found, is_new] = files.try_emplace(file, 0u);
    if (is_new) found->second = table_.text(program->path(file));
    return found->second;
  }
  std::uint32_t row_path(std::uint64_t file) { return path(lines_, row_files_, file); }
  // Of calls and declarations in `unit`: only files of this unit are known without reading another table.
  std::uint32_t entry_path(const Unit* unit, std::uint64_t file) {
    if (unit == nullptr) return 0;
    if (unit == question_.unit) return row_path(file);
    // A split unit without a table of its own counts the files of its skeleton.
    if (unit == question_.entries)
      return split_files_ ? path(split_files_, split_paths_, file) : row_path(file);
    auto [found, is_new] = other_files_.try_emplace(unit);
    if (is_new && unit->stmt_list) found->second.program = LineProgram::read(*unit, unit->stmt_list.number);
    return path(found->second.program, found->second.files, file);
  }

  // A function that is needed and has no row yet.
  struct Wanted {
    FunctionNames names;
    std::string linkage;
    std::uint32_t* row = nullptr;
  };

  void name_functions() {
    const std::size_t count = inlines_.nodes.size();
    function_of_.assign(count, kNone);
    std::vector<std::uint32_t> address_of(count, kNone);  // one that the node holds
    for (std::uint32_t i = 0; i < asked_.size(); ++i)
      for (std::uint32_t node = inlines_.node_of[i]; node != kNone && address_of[node] == kNone;
           node = inlines_.nodes[node].parent)
        address_of[node] = i;

    std::vector<Wanted> wanted;
    std::vector<std::pair<std::uint32_t, std::uint32_t*>> copies;  // node, where its function will stand
    for (std::uint32_t i = 0; i < count; ++i) {
      const InlineNode& node = inlines_.nodes[i];
      const EntryRef own{question_.entries, node.entry};
      if (node.parent != kNone) {
        const EntryRef origin = entry_of(*question_.entries, node.origin);
        const EntryRef entry = origin ? origin : own;
        const auto [found, is_new] = known_.rows[entry.unit->file].try_emplace(entry.at, kNone);
        copies.emplace_back(i, &found->second);
        if (!is_new) continue;
        Wanted one{names_of(entry), {}, &found->second};
        one.linkage = linkage_of(one.names.linkage, question_.folds_clones);
        if (one.linkage.empty()) use_own_code(entry, one);
        wanted.push_back(std::move(one));
        continue;
      }
      Wanted one{names_of(own), {}, &function_of_[i]};
      one.linkage = linkage_of(one.names.linkage, question_.folds_clones);
      if (one.linkage.empty() && address_of[i] != kNone) use_symbol(*symbol_at(address_of[i]), one);
      wanted.push_back(std::move(one));
    }
    make_rows(wanted);
    for (const auto& [node, row] : copies) function_of_[node] = *row;
  }

  // gcc gives functions that no other unit sees no linkage name. Where such a one stands on its own as well
  // it has a symbol, and what was inlined of it is the same function. Not so where its own codes have several
  // names: a destructor that frees the object too is another function, and has the same origin.
  void use_own_code(EntryRef entry, Wanted& wanted) const {
    if (entry.unit != question_.entries || wanted.names.name.starts_with('~')) return;
    auto own = std::lower_bound(inlines_.own_code.begin(), inlines_.own_code.end(), entry.at,
                                [](const OwnCode& a, std::uint64_t b) { return a.origin < b; });
    std::string found;
    for (; own != inlines_.own_code.end() && own->origin == entry.at; ++own) {
      Wanted one{wanted.names, {}, nullptr};
      if (const auto symbol = symbols_.find(own->begin); symbol && symbol->start == own->begin)
        use_symbol(*symbol, one);
      if (!found.empty() && one.linkage != found) return;
      found = one.linkage;
    }
    wanted.linkage = found;
  }
  // A bare name takes that of the symbol which it is a spelling of.
  void use_symbol(const SymbolMap::Found& symbol, Wanted& wanted) const {
    if (symbol.name.empty() || symbol.plt) return;
    if (!wanted.names.name.empty() && !is_bare_spelling(wanted.names.name, symbol.name)) return;
    const std::string linkage = linkage_of(symbol.name, question_.folds_clones);
    if (is_mangled(linkage)) wanted.linkage = linkage;
  }
  const SymbolMap::Found* symbol_at(std::uint32_t i) const {
    static const SymbolMap::Found none;
    return at_symbol_[i] ? &*at_symbol_[i] : &none;
  }

  void make_rows(std::vector<Wanted>& wanted) {
    std::vector<EntryRef> bare;  // names that their parents qualify
    const auto is_bare = [](const Wanted& one) {
      return one.linkage.empty() && !one.names.name.empty() && has_qualified_names(*one.names.named.unit);
    };
    for (const Wanted& one : wanted)
      if (is_bare(one)) bare.push_back(one.names.named);
    const std::vector<std::string> prefixes = prefixes_of(bare);
    auto prefix = prefixes.begin();
    for (const Wanted& one : wanted) {
      std::string name(one.names.name);
      if (is_bare(one)) name = (*prefix++ + name).substr(0, kMaxName);
      if (name.empty() && one.linkage.empty()) continue;
      *one.row = table_.function(one.linkage, name, entry_path(one.names.declared_in, one.names.file),
                                 one.names.line);
    }
  }

  // The links of callers: where each node's call stands in its parent.
  void link_calls() {
    caller_of_.assign(inlines_.nodes.size(), kNone);
    for (std::size_t i = 0; i < inlines_.nodes.size(); ++i) {
      const InlineNode& node = inlines_.nodes[i];
      if (node.parent == kNone) continue;
      caller_of_[i] =
          table_.link({caller_of_[node.parent], function_of_[node.parent],
                       entry_path(question_.entries, node.call_file), node.call_line, node.call_column});
    }
  }

  Answer answer(std::size_t i) {
    const LineRow& row = rows_[i];
    const std::uint32_t node = inlines_.node_of[i];
    const std::uint32_t file = row.file == kNoRow ? 0 : row_path(row.file);
    const SymbolMap::Found* symbol = at_symbol_[i] ? &*at_symbol_[i] : nullptr;

    std::uint32_t function = node == kNone ? kNone : function_of_[node];
    std::uint32_t outermost = node;
    while (outermost != kNone && inlines_.nodes[outermost].parent != kNone)
      outermost = inlines_.nodes[outermost].parent;
    std::uint32_t outer_function = outermost == kNone ? kNone : function_of_[outermost];
    if (outermost == kNone && symbol != nullptr)
      function = outer_function = symbol_function(*symbol, question_.folds_clones, table_);

    Answer answer{kNone, kNone};
    if (symbol != nullptr)
      answer.piece = table_.piece(symbol->start, symbol->size, raw_name(*symbol), outer_function);
    else if (outermost != kNone && inlines_.nodes[outermost].begin <= asked_[i] &&
             asked_[i] < inlines_.nodes[outermost].end)
      answer.piece =
          table_.piece(inlines_.nodes[outermost].begin,
                       inlines_.nodes[outermost].end - inlines_.nodes[outermost].begin, "", outer_function);
    if (function == kNone && row.file == kNoRow && node == kNone) return answer;
    answer.link = table_.link(
        {node == kNone ? kNone : caller_of_[node], function, file, row.line, row.line == 0 ? 0 : row.column});
    return answer;
  }

  struct OtherFiles {
    std::optional<LineProgram> program;
    Files files;
  };

  const UnitQuestion& question_;
  std::span<const std::uint64_t> asked_;
  const SymbolMap& symbols_;
  KnownFunctions& known_;
  ChainTable& table_;
  UnitInlines inlines_;
  std::optional<LineProgram> lines_, split_files_;
  std::vector<LineRow> rows_;
  std::vector<std::optional<SymbolMap::Found>> at_symbol_;
  Files row_files_, split_paths_;
  std::unordered_map<const Unit*, OtherFiles> other_files_;
  std::vector<std::uint32_t> function_of_;  // by node
  std::vector<std::uint32_t> caller_of_;    // by node: the link of its call
};

}  // namespace

std::vector<Answer> unit_chains(const UnitQuestion& question, std::span<const std::uint64_t> asked,
                                const SymbolMap& symbols, KnownFunctions& known, ChainTable& table) {
  return UnitChains(question, asked, symbols, known, table).run();
}

Answer symbol_chain(std::uint64_t vaddr, bool folds_clones, const SymbolMap& symbols, ChainTable& table) {
  const auto symbol = symbols.find(vaddr);
  if (!symbol) return {kNone, kNone};
  const std::uint32_t function = symbol_function(*symbol, folds_clones, table);
  Answer answer{kNone, table.piece(symbol->start, symbol->size, raw_name(*symbol), function)};
  if (function != kNone) answer.link = table.link({kNone, function, 0, 0, 0});
  return answer;
}

}  // namespace profd::native

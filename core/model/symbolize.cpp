#include "core/model/symbolize.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "core/model/module_address.h"
#include "core/model/rewrite.h"
#include "core/model/symbolize_check.h"

namespace profd {
namespace {

// The ids that the rows of one BinarySymbols have in the profile that is being made.
struct Interned {
  std::vector<StringId> texts;
  std::vector<FunctionId> functions;
};

struct Found {
  std::uint32_t symbols = kNone;  // which; kNone: nothing was found
  std::uint32_t link = kNone, piece = kNone;
};

// How far addresses move to become vaddrs; none where they stay.
using Move = std::optional<std::uint64_t>;

class Symbolizing {
 public:
  Symbolizing(const Profile& profile, std::span<const BinarySymbols> symbols)
      : p_(profile), symbols_(symbols), interned_(symbols.size()) {}

  Result<ProfilePtr> run(StopToken stop) && {
    match_modules();
    mark_frames();
    find_files();
    Rewrite how;
    how.empty_contexts = true;
    how.frames = [this](FrameId frame, RewriteTables& tables, StandIns& out) -> Result<void> {
      stand_in(frame, tables, out.frames);
      return {};
    };
    how.branch_places = [this](const BranchPlace& place, RewriteTables& tables) -> BranchPlace {
      const Move move = move_of(place.module, place.address);
      if (!move) return {tables.copy(place.module), place.address};
      return {moved(place.module, *move, tables), place.address + *move};
    };
    return rewrite(p_, how, std::move(stop));
  }

 private:
  void match_modules() {
    std::map<std::tuple<std::string_view, std::string_view, AddressKind>, std::vector<std::uint32_t>> known;
    for (std::uint32_t i = 0; i < symbols_.size(); ++i)
      if (symbols_[i].kind != AddressKind::unknown)
        known[{symbols_[i].name, symbols_[i].build_id, symbols_[i].kind}].push_back(i);
    const ModuleTable& modules = p_.modules();
    of_module_.resize(modules.size());
    for (std::size_t m = 0; m < modules.size(); ++m) {
      const auto at = known.find(
          {p_.strings()[modules.name[m]], p_.strings()[modules.build_id[m]], modules.addresses[m]});
      if (at != known.end()) of_module_[m] = at->second;
    }
  }

  void mark_frames() {
    const ContextTree& tree = p_.tree();
    is_host_.assign(p_.frames().size(), 0);
    is_used_ = is_host_;
    for (std::uint32_t c = 1; c < tree.size(); ++c) {
      is_used_[tree.frame[c]] = 1;
      if (p_.frames().inlined[tree.frame[c]] != 0 && tree.parent[c] != 0)
        is_host_[tree.frame[tree.parent[c]]] = 1;
    }
  }

  std::span<const std::uint32_t> symbols_of(std::uint32_t frame) const {
    return symbols_of(p_.frames().module[frame]);
  }
  std::span<const std::uint32_t> symbols_of(ModuleId module) const {
    return module.valid() ? std::span<const std::uint32_t>(of_module_[module.v])
                          : std::span<const std::uint32_t>();
  }
  bool is_unnamed(std::uint32_t frame) const {
    return p_.functions().unresolved[p_.frames().function[frame].v] != 0;
  }

  Found find(std::uint32_t frame) const {
    const FrameTable& frames = p_.frames();
    if (frames.address[frame] == 0 || frames.inlined[frame] != 0) return {};
    if (!is_unnamed(frame) && frames.line[frame] != 0) return {};
    const std::uint64_t address = lookup_address(frames, frame);
    for (const std::uint32_t i : symbols_of(frame)) {
      const BinarySymbols& s = symbols_[i];
      const auto at = std::lower_bound(s.addresses.begin(), s.addresses.end(), address);
      if (at == s.addresses.end() || *at != address) continue;
      const auto row = static_cast<std::size_t>(at - s.addresses.begin());
      const Found found{i, s.link[row], s.piece.empty() ? kNone : s.piece[row]};
      if (found.link != kNone || found.piece != kNone) return found;
    }
    return {};
  }

  // Links of a chain, outermost first.
  std::span<const std::uint32_t> chain(const ChainLinks& links, std::uint32_t innermost) {
    chain_.clear();
    for (std::uint32_t link = innermost; link != kNone; link = links.parent[link]) chain_.push_back(link);
    std::reverse(chain_.begin(), chain_.end());
    return chain_;
  }

  // Files of functions that have a name and no file.
  void find_files() {
    const FrameTable& frames = p_.frames();
    for (std::uint32_t f = 0; f < frames.size(); ++f) {
      const FunctionId function = frames.function[f];
      if (is_used_[f] == 0 || is_unnamed(f) || p_.functions().file[function.v].v != 0) continue;
      const Found found = find(f);
      if (found.link == kNone) continue;
      const BinarySymbols& s = symbols_[found.symbols];
      const std::uint32_t link = chain(s.links, found.link)[0], outer = s.links.function[link];
      if (outer == kNone || s.links.line[link] == 0) continue;
      const Definition here{s.texts[s.functions.file[outer]], s.functions.first_line[outer]};
      if (here.file.empty()) continue;
      const auto [at, is_new] = files_.try_emplace({function, name_of_module(f)}, here);
      if (!is_new && at->second != here) at->second = {};
    }
  }
  StringId name_of_module(std::uint32_t frame) const {
    const ModuleId module = p_.frames().module[frame];
    return module.valid() ? p_.modules().name[module.v] : StringId{0u};
  }

  void stand_in(FrameId id, RewriteTables& tables, std::vector<FrameId>& out) {
    const std::uint32_t f = id.v;
    const Found found = find(f);
    FrameSpec spec = place_of(f, found, tables);
    const bool named = !is_unnamed(f) || found.link == kNone;
    if (named) spec.function = own_function(f, tables);
    if (found.link == kNone) {
      out.push_back(tables.frame(spec));
      return;
    }
    const BinarySymbols& s = symbols_[found.symbols];
    std::span<const std::uint32_t> links = chain(s.links, found.link);
    if (is_host_[f] != 0 || p_.contexts_estimated()) links = links.first(1);
    for (const std::uint32_t link : links) {
      const std::uint32_t of = s.links.function[link];
      spec.inlined = link != links[0];
      if (of == kNone)
        spec.function = own_function(f, tables);
      else if (spec.inlined || !named)
        spec.function = function(found.symbols, of, tables);
      if (spec.inlined || !named || s.links.line[link] != 0) {
        spec.file = text(found.symbols, s.links.file[link], tables);
        if (spec.file.v == 0 && of != kNone) spec.file = text(found.symbols, s.functions.file[of], tables);
        spec.line = s.links.line[link];
        spec.column = s.links.column[link];
      }
      out.push_back(tables.frame(spec));
    }
  }

  // All of a frame but its function. Only what stays is copied, or the result would list modules and
  // functions that are none any more.
  FrameSpec place_of(std::uint32_t frame, const Found& found, RewriteTables& tables) {
    const FrameTable& frames = p_.frames();
    FrameSpec spec;
    spec.file = tables.copy(frames.file[frame]);
    spec.line = frames.line[frame];
    spec.column = frames.column[frame];
    spec.address = frames.address[frame];
    spec.kind = frames.kind[frame];
    spec.inlined = frames.inlined[frame] != 0;
    spec.is_return = is_return(frames, frame);
    const PieceId own = value_or(frames.piece, frame, PieceId{});
    const Move move = move_of(frame);
    if (move) {
      if (spec.address != 0) spec.address += *move;
      spec.module = moved(frames.module[frame], *move, tables);
      if (own.valid()) spec.piece = moved(own, spec.module, *move, tables);
    } else {
      spec.module = tables.copy(frames.module[frame]);
      spec.piece = tables.copy(own);
    }
    const bool is_vaddr = move || address_kind(p_.modules(), frames.module[frame]) == AddressKind::vaddr;
    if (found.piece != kNone && !own.valid() && is_vaddr) spec.piece = piece(found, spec.module, tables);
    return spec;
  }

  // By how much the frame's address moves. Of a frame without one: where its module goes as a whole.
  Move move_of(std::uint32_t frame) const {
    return move_of(p_.frames().module[frame], lookup_address(p_.frames(), frame));
  }

  Move move_of(ModuleId module, std::uint64_t address_or_none) const {
    for (const std::uint32_t i : symbols_of(module)) {
      const BinarySymbols& s = symbols_[i];
      if (s.kind == AddressKind::vaddr || s.segments.empty()) continue;
      std::uint64_t address = address_or_none;
      if (address == 0) {
        const ModuleRange range = range_of(p_.modules(), module);
        address = range.known() ? range.first : s.segments[0].from;
      }
      auto after =
          std::upper_bound(s.segments.begin(), s.segments.end(), address,
                           [](std::uint64_t at, const AddressSegment& seg) { return at < seg.from; });
      if (after == s.segments.begin()) continue;
      const AddressSegment& segment = *--after;
      if (address - segment.from < segment.size) return segment.vaddr - segment.from;
    }
    return {};
  }

  ModuleId moved(ModuleId module, std::uint64_t by, RewriteTables& tables) const {
    ModuleSpec to = tables.spec_of(module);
    if (range_of(p_.modules(), module).known()) to.first = p_.modules().first[module.v] + by;
    to.addresses = AddressKind::vaddr;
    return tables.module(to);
  }

  // A piece of a frame's own module goes with it.
  PieceId moved(PieceId piece, ModuleId module, std::uint64_t by, RewriteTables& tables) const {
    const PieceTable& pieces = p_.pieces();
    const FunctionId function = pieces.function[piece.v];
    return tables.piece({.module = module,
                         .start = pieces.start[piece.v] + by,
                         .n_bytes = pieces.n_bytes[piece.v],
                         .name = tables.copy(pieces.name[piece.v]),
                         .function = function.valid() ? tables.copy(function) : FunctionId{}});
  }

  FunctionId own_function(std::uint32_t frame, RewriteTables& tables) const {
    const FunctionId function = p_.frames().function[frame];
    const auto at = files_.find({function, name_of_module(frame)});
    if (at == files_.end() || at->second.file.empty()) return tables.copy(function);
    FunctionSpec with_file = tables.spec_of(function);
    with_file.file = tables.string(at->second.file);
    if (with_file.start_line == 0) with_file.start_line = at->second.first_line;
    return tables.function(with_file);
  }

  StringId text(std::uint32_t symbols, std::uint32_t row, RewriteTables& tables) {
    std::vector<StringId>& known = interned_[symbols].texts;
    const std::vector<std::string>& texts = symbols_[symbols].texts;
    if (known.empty()) known.resize(texts.size());
    if (!known[row].valid()) known[row] = tables.string(texts[row]);
    return known[row];
  }

  FunctionId function(std::uint32_t symbols, std::uint32_t row, RewriteTables& tables) {
    std::vector<FunctionId>& known = interned_[symbols].functions;
    const SymbolFunctions& functions = symbols_[symbols].functions;
    if (known.empty()) known.resize(functions.size());
    if (known[row].valid()) return known[row];
    const StringId name = text(symbols, functions.name[row], tables);
    const StringId linkage_name = text(symbols, functions.linkage_name[row], tables);
    return known[row] = tables.function({.name = name,
                                         .system_name = linkage_name == name ? StringId{0u} : linkage_name,
                                         .file = text(symbols, functions.file[row], tables),
                                         .start_line = functions.first_line[row]});
  }

  PieceId piece(const Found& found, ModuleId module, RewriteTables& tables) {
    const SymbolPieces& pieces = symbols_[found.symbols].pieces;
    const std::uint32_t row = found.piece, of = pieces.function[row];
    return tables.piece({.module = module,
                         .start = pieces.start[row],
                         .n_bytes = pieces.n_bytes[row],
                         .name = text(found.symbols, pieces.name[row], tables),
                         .function = of == kNone ? FunctionId{} : function(found.symbols, of, tables)});
  }

  struct Definition {
    std::string_view file;  // "": there are several
    std::uint32_t first_line = 0;
    bool operator==(const Definition&) const = default;
  };

  const Profile& p_;
  std::span<const BinarySymbols> symbols_;
  std::vector<Interned> interned_;                               // by symbols
  std::vector<std::vector<std::uint32_t>> of_module_;            // symbols, by module of the profile
  std::vector<std::uint8_t> is_used_;                            // by frame: it is in the tree
  std::vector<std::uint8_t> is_host_;                            // by frame: something is inlined into it
  std::map<std::pair<FunctionId, StringId>, Definition> files_;  // by function and name of module
  std::vector<std::uint32_t> chain_;
};

}  // namespace

Result<ProfilePtr> symbolized(const Profile& profile, std::span<const BinarySymbols> symbols,
                              StopToken stop) {
  for (const BinarySymbols& s : symbols) PROFD_CHECK(check_symbols(s));
  return Symbolizing(profile, symbols).run(std::move(stop));
}

}  // namespace profd

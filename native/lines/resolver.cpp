#include "native/lines/resolver.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "native/elf/debug_links.h"
#include "native/lines/chain_table.h"
#include "native/lines/symbol_map.h"
#include "native/lines/unit_chains.h"
#include "native/lines/unit_map.h"

namespace profd::native {

namespace {

// What one thread does in one go: addresses of some units, or some without.
struct Work {
  struct OfUnit {
    std::uint32_t unit = kNone;
    std::size_t first = 0, count = 0;  // of `order`
  };
  std::vector<OfUnit> units;
  std::uint64_t cost = 0;
};

}  // namespace

struct Resolver::State {
  std::vector<VaddrRange> code;
  std::vector<std::string> problems;
  std::unique_ptr<SymbolMap> symbols;
  DwarfFile main, alternate;
  std::vector<std::unique_ptr<DwarfFile>> split;
  std::unordered_map<std::uint64_t, const Unit*> skeletons, split_units;  // by id
  UnitMap units;
  bool folds_clones = true;
  ExpansionBudget budget;

  Chains resolve(std::span<const std::uint64_t> vaddrs, std::span<const std::uint32_t> order,
                 const std::vector<Work>& work, Executor& executor, const StopToken& stop) const;

  const Unit* entries_of(const Unit& unit) const {
    if (unit.dwo_name.empty()) return &unit;
    const auto found = split_units.find(unit.dwo_id);
    return found == split_units.end() ? &unit : found->second;
  }
};

namespace {

Result<void> check_ids(const ElfImage& a, const char* what, Bytes id_of_other) {
  const Bytes id = build_id(a);
  if (id.empty() || id_of_other.empty() ||
      std::equal(id.begin(), id.end(), id_of_other.begin(), id_of_other.end()))
    return {};
  return fail(ErrorCode::invalid,
              std::string(what) + " has build id " + hex(id) + ", the program has " + hex(id_of_other));
}

bool is_go(const ElfImage& image) {
  return find_section(image, ".gopclntab") != nullptr || find_section(image, ".note.go.buildid") != nullptr;
}

// The unit of each address, or kNone.
std::vector<std::uint32_t> units_of(const UnitMap& map, std::span<const std::uint64_t> vaddrs) {
  std::vector<std::uint32_t> units(vaddrs.size(), kNone);
  auto part = map.parts().begin();
  for (std::size_t i = 0; i < vaddrs.size() && part != map.parts().end(); ++i) {
    while (part != map.parts().end() && part->end <= vaddrs[i]) ++part;
    if (part != map.parts().end() && part->begin <= vaddrs[i]) units[i] = part->unit;
  }
  return units;
}

constexpr unsigned kPiecesPerThread = 8;

std::vector<Work> share_out(const DwarfFile& file, std::span<const Work::OfUnit> units, unsigned width) {
  const auto cost_of = [&](const Work::OfUnit& one) {
    return one.count * 64 + (one.unit == kNone ? 0 : file.units[one.unit].end - file.units[one.unit].begin);
  };
  std::uint64_t all = 0;
  for (const Work::OfUnit& one : units) all += cost_of(one);
  const std::uint64_t enough = width <= 1 ? UINT64_MAX : all / (width * kPiecesPerThread) + 1;
  std::vector<Work> work(1);
  for (const Work::OfUnit& one : units) {
    if (work.back().cost >= enough) work.emplace_back();
    work.back().units.push_back(one);
    work.back().cost += cost_of(one);
  }
  return work;
}

}  // namespace

Resolver::Resolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
Resolver::Resolver(Resolver&&) noexcept = default;
Resolver& Resolver::operator=(Resolver&&) noexcept = default;
Resolver::~Resolver() = default;

Result<Resolver> Resolver::open(const ModuleFiles& files, ExpansionBudget budget) {
  const ElfImage* any = files.binary != nullptr ? files.binary : files.debug;
  if (any == nullptr) return fail(ErrorCode::invalid, "no file to read names from");
  if (files.binary != nullptr && files.debug != nullptr)
    PROFD_CHECK(check_ids(*files.debug, "the debug file", build_id(*files.binary)));
  auto state = std::make_unique<State>();
  const auto finished = [&] {
    state->budget = budget;
    Resolver resolver(std::move(state));
    for (const ElfImage* split : files.split) resolver.add_split(*split);
    return resolver;
  };
  state->code = executable_ranges(*any);
  state->folds_clones = !is_go(*any);
  state->symbols = std::make_unique<SymbolMap>(files.binary, files.debug, budget, state->problems);

  const ElfImage* with_lines = files.debug;
  if (with_lines == nullptr || find_section(*with_lines, ".debug_info") == nullptr) with_lines = files.binary;
  if (with_lines == nullptr) with_lines = any;
  if (with_lines->relocatable) {
    state->problems.emplace_back("lines of files that are not linked are not read");
    return finished();
  }
  state->main.sections = dwarf_sections(*with_lines, DwarfKind::whole, budget, state->problems);
  if (const auto link = alternate_link(*with_lines); link && files.alternate != nullptr) {
    const Bytes id = build_id(*files.alternate);
    if (!std::equal(id.begin(), id.end(), link->build_id.begin(), link->build_id.end()))
      return fail(ErrorCode::invalid, "the alternate debug file has build id " + hex(id) + ", asked for is " +
                                          hex(link->build_id));
    state->alternate.sections = dwarf_sections(*files.alternate, DwarfKind::whole, budget, state->problems);
    read_units(state->alternate, DwarfKind::whole);
    state->main.alternate = &state->alternate;
  }
  read_units(state->main, DwarfKind::whole);
  for (const Unit& unit : state->main.units)
    if (!unit.dwo_name.empty()) state->skeletons.emplace(unit.dwo_id, &unit);
  state->units = UnitMap(state->main, state->code);
  return finished();
}

std::size_t Resolver::add_split(const ElfImage& image) {
  auto file = std::make_unique<DwarfFile>();
  file->sections = dwarf_sections(image, DwarfKind::split, state_->budget, state_->problems);
  read_units(*file, DwarfKind::split);
  std::size_t n_joined = 0;
  for (Unit& unit : file->units) {
    const auto skeleton = state_->skeletons.find(unit.dwo_id);
    if (skeleton == state_->skeletons.end() || unit.type == dwarf::unit_split_type) continue;
    unit.skeleton = skeleton->second;
    n_joined += state_->split_units.emplace(unit.dwo_id, &unit).second ? 1 : 0;
  }
  if (n_joined > 0) state_->split.push_back(std::move(file));
  return n_joined;
}

bool Resolver::has_lines() const {
  return !state_->units.parts().empty();
}
const std::vector<std::string>& Resolver::problems() const {
  return state_->problems;
}

std::vector<SplitWish> Resolver::wishes(std::span<const std::uint64_t> vaddrs) const {
  std::vector<bool> wished(state_->main.units.size());
  std::vector<SplitWish> wishes;
  for (const std::uint32_t row : units_of(state_->units, vaddrs)) {
    if (row == kNone || wished[row]) continue;
    wished[row] = true;
    const Unit& unit = state_->main.units[row];
    if (unit.dwo_name.empty() || state_->split_units.contains(unit.dwo_id)) continue;
    wishes.push_back({std::string(unit.dwo_name), std::string(unit.folder), unit.dwo_id});
  }
  return wishes;
}

namespace {

// Places in `vaddrs` in the order they are worked on, and which unit has which of them.
struct Plan {
  std::vector<std::uint32_t> order;
  std::vector<Work::OfUnit> units;
};

Plan plan_of(const UnitMap& map, std::span<const std::uint64_t> vaddrs) {
  const std::vector<std::uint32_t> unit_of = units_of(map, vaddrs);
  Plan plan;
  plan.order.resize(vaddrs.size());
  std::iota(plan.order.begin(), plan.order.end(), 0u);
  std::stable_sort(plan.order.begin(), plan.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return unit_of[a] < unit_of[b]; });
  for (std::size_t i = 0; i < plan.order.size(); ++i) {
    const std::uint32_t unit = unit_of[plan.order[i]];
    if (plan.units.empty() || plan.units.back().unit != unit ||
        plan.units.back().count == Resolver::kMostOfUnit)
      plan.units.push_back({unit, i, 0});
    ++plan.units.back().count;
  }
  return plan;
}

}  // namespace

// Chains in the order of the work.
Chains Resolver::State::resolve(std::span<const std::uint64_t> vaddrs, std::span<const std::uint32_t> order,
                                const std::vector<Work>& work, Executor& executor,
                                const StopToken& stop) const {
  struct Done {
    ChainTable table;
    std::vector<std::uint32_t> links, pieces;  // by place in `order`, from the first of the work on
  };
  std::vector<Done> done(work.size());
  executor.run(work.size(), [&](std::size_t task) {
    Done& mine = done[task];
    KnownFunctions known;
    std::vector<std::uint64_t> asked;
    for (const Work::OfUnit& one : work[task].units) {
      if (stop.stop_requested()) return;
      asked.clear();
      for (std::size_t i = one.first; i < one.first + one.count; ++i) asked.push_back(vaddrs[order[i]]);
      std::vector<Answer> answers;
      if (one.unit == kNone) {
        for (const std::uint64_t vaddr : asked)
          answers.push_back(symbol_chain(vaddr, folds_clones, *symbols, mine.table));
      } else {
        const Unit& unit = main.units[one.unit];
        const UnitQuestion question{&unit, entries_of(unit), code.empty() ? 0 : code.front().begin,
                                    folds_clones};
        answers = unit_chains(question, asked, *symbols, known, mine.table);
      }
      for (const Answer& answer : answers) {
        mine.links.push_back(answer.link);
        mine.pieces.push_back(answer.piece);
      }
    }
  });

  ChainTable table;
  std::vector<std::uint32_t> link_of, piece_of;
  const bool alone = work.size() == 1;
  for (Done& part : done) {
    ChainTable::Moved moved;
    if (alone)
      table = std::move(part.table);
    else
      moved = table.add(part.table.rows());
    for (const std::uint32_t link : part.links)
      link_of.push_back(alone || link == kNone ? link : moved.links[link]);
    for (const std::uint32_t piece : part.pieces)
      piece_of.push_back(alone || piece == kNone ? piece : moved.pieces[piece]);
    part = {};
  }
  Chains chains = std::move(table).take();
  chains.link_of = std::move(link_of);
  chains.piece_of = std::move(piece_of);
  return chains;
}

Result<Chains> Resolver::resolve(std::span<const std::uint64_t> vaddrs, Executor& executor,
                                 const StopToken& stop) const {
  Chains whole;
  std::vector<std::uint32_t> links(vaddrs.size(), kNone), pieces(vaddrs.size(), kNone);
  PROFD_CHECK(resolve_parts(vaddrs, PartSizes{}, executor, stop,
                            [&](std::span<const std::uint32_t> places, Chains chains) -> Result<void> {
                              for (std::size_t i = 0; i < places.size(); ++i) {
                                links[places[i]] = chains.link_of[i];
                                pieces[places[i]] = chains.piece_of[i];
                              }
                              whole = std::move(chains);
                              return {};
                            }));
  if (vaddrs.empty()) whole.texts.emplace_back();
  whole.link_of = std::move(links);
  whole.piece_of = std::move(pieces);
  return whole;
}

Result<void> Resolver::resolve_parts(std::span<const std::uint64_t> vaddrs, PartSizes sizes,
                                     Executor& executor, const StopToken& stop, const TakePart& take) const {
  if (!std::is_sorted(vaddrs.begin(), vaddrs.end()))
    return fail(ErrorCode::invalid, "addresses are asked unsorted");
  const Plan plan = plan_of(state_->units, vaddrs);
  for (std::size_t first = 0; first < plan.units.size();) {
    const std::size_t part_size = first == 0 ? sizes.first : sizes.others;
    std::size_t last = first, count = 0;
    while (last < plan.units.size() && (count == 0 || plan.units[last].count <= part_size - count))
      count += plan.units[last++].count;
    const std::vector<Work> work =
        share_out(state_->main, std::span(plan.units).subspan(first, last - first), executor.width());
    Chains chains = state_->resolve(vaddrs, plan.order, work, executor, stop);
    PROFD_CHECK(stop.status());
    PROFD_CHECK(take(std::span(plan.order).subspan(plan.units[first].first, count), std::move(chains)));
    first = last;
  }
  return {};
}

}  // namespace profd::native

#include "server/engine/symbolize_profile.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/model/symbolize_check.h"
#include "server/engine/joined_symbols.h"
#include "server/engine/kernel_names.h"

namespace profd {
namespace {

using SymbolClock = std::chrono::steady_clock;

// A debug file, and what it shares with others.
constexpr int kFetchRounds = 3;
// Files that one run asks for: costliest modules first.
constexpr std::size_t kMostFetched = 64;

std::optional<worker::Addresses> worker_kind(AddressKind kind) {
  switch (kind) {
    case AddressKind::vaddr:
      return worker::Addresses::vaddr;
    case AddressKind::file_offset:
      return worker::Addresses::file_offset;
    case AddressKind::image_offset:
      return worker::Addresses::image_offset;
    case AddressKind::unknown:
    case AddressKind::loaded:
      break;
  }
  return std::nullopt;
}

class Symbolizer {
 public:
  Symbolizer(ProfilePtr profile, const SymbolizeRequest& request, const SymbolizeMeans& means,
             const SymbolizeCalls& calls, const StopToken& stop)
      : request_(request), means_(means), calls_(calls), stop_(stop), profile_(std::move(profile)) {
    out_.profile = profile_;
    add_identities(*profile_, request_.places.identities);
  }

  Result<Symbolized> run() {
    PROFD_CHECK(gather());
    if (questions_.empty() && found_.empty() && request_.memory == nullptr) return std::move(out_);
    if (calls_.progress) calls_.progress(0, n_total_);
    PROFD_CHECK(look_up(questions_, 0));
    PROFD_CHECK(fetch_missing());
    PROFD_CHECK(apply());
    return std::move(out_);
  }

 private:
  Result<void> gather() {
    if (!has_open_addresses(*out_.profile)) return {};
    const StringTable& strings = out_.profile->strings();
    PROFD_TRY(const std::vector<BinaryCode> all, gather_code(*out_.profile, stop_));
    for (BinaryCode code : all) {
      const std::string name(strings[code.name]), build_id(strings[code.build_id]);
      const auto kind = worker_kind(code.kind);
      if (request_.memory != nullptr)
        code.addresses = request_.memory->unasked(name, build_id, code.kind, code.addresses);
      const bool can_be_asked = kind || is_in_kallsyms(name, code.kind);
      if (code.addresses.empty() || !can_be_asked || name.empty() || !is_wanted(name, build_id)) continue;
      out_.modules.push_back({name, build_id, code.kind, code.addresses.size(), {}, {}});
      if (is_in_kallsyms(name, code.kind)) {
        gather_kernel(code, name, build_id);
        continue;
      }
      // Nothing says of a file that it is what ran, unless a person or its inode does.
      const auto is_meant = [&](const ModuleFile& file) { return is_module(file.module, name, build_id); };
      const std::vector<ModuleFile>& files = request_.places.files;
      if (build_id.empty() && !request_.places.identities.by_name.contains(name) &&
          std::none_of(files.begin(), files.end(), is_meant))
        continue;
      module_of_.push_back(out_.modules.size() - 1);
      questions_.push_back({name, build_id, *kind, code.addresses});
      n_total_ += code.addresses.size();
    }
    return {};
  }

  // A run of the questions, of which `first` is the first one.
  Result<void> look_up(std::span<const ModuleQuestion> questions, std::size_t first) {
    Result<void> applied;
    const LookupMeans means{request_.places, means_.cache, means_.program, means_.limits, 2, means_.patience};
    const auto partly = [&](std::size_t question, const worker::Chunk& chunk) {
      if (applied) applied = take_part(first + question, chunk);
    };
    PROFD_CHECK(look_up_modules(
        questions, means, stop_,
        [&](std::size_t question, ModuleAnswer answer) {
          if (applied) applied = take(first + question, std::move(answer));
        },
        calls_.better ? std::function<void(std::size_t, worker::Chunk)>(partly) : nullptr));
    return applied;
  }

  // Asks for what is missing of each module, and looks that up at once: names come one module after the
  // other.
  Result<void> fetch_missing() {
    for (std::size_t question = 0; question < questions_.size(); ++question) {
      // Who has debug information may say that some of it is in one more file.
      for (int round = 0; round < kFetchRounds; ++round) {
        PROFD_TRY(const bool something_came, fetch_for(question));
        if (!something_came) break;
        n_done_ -= questions_[question].addresses.size();
        PROFD_CHECK(look_up(std::span(questions_).subspan(question, 1), question));
      }
    }
    return {};
  }

  Result<bool> fetch_for(std::size_t question) {
    ModuleLookup& lookup = out_.modules[module_of_[question]];
    const FetchPlaces& from = request_.places.fetch;
    if (from.consent == FetchConsent::off) return false;
    if (!has_file(lookup.name) && !is_in_kallsyms(lookup.name, lookup.kind)) return false;
    bool something_came = false;
    for (const std::string& id : lookup.answer.missing) {
      if (!can_fetch(from, id)) continue;
      if (const auto known = fetched_.find(id); known != fetched_.end()) {
        if (!known->second.path.empty()) lookup.answer.tried.push_back(known->second);
        continue;
      }
      if (from.consent == FetchConsent::ask || n_fetched_ == kMostFetched) {
        lookup.fetch = from.servers;
        continue;
      }
      if (!no_more_.empty()) {
        lookup.fetch = from.servers;
        lookup.answer.tried.push_back({servers_text(from.servers), no_more_});
        continue;
      }
      // What is known by now is not held up by a network.
      PROFD_CHECK(tell(When::at_once));
      ++n_fetched_;
      PROFD_TRY(const worker::Fetching came, fetch(lookup, id));
      something_came = something_came || came.end == worker::FetchEnd::there;
    }
    return something_came;
  }

  Result<worker::Fetching> fetch(ModuleLookup& lookup, const std::string& id) {
    const FetchPlaces& from = request_.places.fetch;
    const FetchMeans means{fetcher_beside(means_.program), means_.patience};
    const auto tell = [&](const worker::Fetching& so_far) {
      if (calls_.fetching) calls_.fetching(lookup.name, so_far);
    };
    tell({});
    PROFD_TRY(worker::Fetching came, fetch_debug_file(id, from, means, tell, stop_));
    TriedFile& tried = fetched_[id];
    if (came.end == worker::FetchEnd::there) return came;  // it is a file like others now
    tried = {fmt::format("{}/buildid/{}/debuginfo", servers_text(from.servers), id), came.why};
    // It would be the same for all others, after as long a wait.
    if (came.end != worker::FetchEnd::absent) no_more_ = came.why;
    lookup.answer.tried.push_back(tried);
    return came;
  }

  // Its files say more than its list of symbols, which is looked at where there are none.
  void gather_kernel(const BinaryCode& code, const std::string& name, const std::string& build_id) {
    const std::size_t module = out_.modules.size() - 1;
    const auto reference = kernel_reference(*profile_);
    const bool is_kernel = code.kind == AddressKind::loaded;
    if (build_id.empty() || (is_kernel && !reference)) {
      if (auto names = name_kernel(module, code.addresses))
        found_.push_back(std::move(*names));
      else if (request_.memory != nullptr)
        found_.push_back(nothing_of({name, build_id, {}, code.addresses}, code.kind));
      return;
    }
    module_of_.push_back(module);
    ModuleQuestion question{name, build_id, worker::Addresses::image_offset, code.addresses};
    if (is_kernel) {
      question.kind = worker::Addresses::loaded;
      question.reference_symbol = reference->symbol;
      question.reference_address = reference->address;
    }
    questions_.push_back(std::move(question));
    n_total_ += code.addresses.size();
  }

  std::optional<BinarySymbols> name_kernel(std::size_t module, const std::vector<std::uint64_t>& addresses) {
    ModuleLookup& lookup = out_.modules[module];
    const KernelQuestion question{lookup.name, lookup.build_id, lookup.kind, addresses,
                                  kernel_reference(*profile_)};
    KernelAnswer names = kernel_names(question, request_.places);
    std::move(names.tried.begin(), names.tried.end(), std::back_inserter(lookup.answer.tried));
    // What is wrong with a file that is there is more than that there is no list.
    if (lookup.answer.problem.empty() || names.n_known > 0) lookup.answer.problem = std::move(names.problem);
    lookup.answer.n_known = names.n_known;
    if (names.n_known == 0) return std::nullopt;
    changed_ = true;
    return std::move(names.symbols);
  }

  [[nodiscard]] bool is_wanted(const std::string& name, const std::string& build_id) const {
    return request_.modules.empty() ||
           std::any_of(request_.modules.begin(), request_.modules.end(),
                       [&](const std::string& named) { return is_module(named, name, build_id); });
  }

  Result<void> take(std::size_t question, ModuleAnswer answer) {
    // What came by parts is in it, or was of a process that ended badly.
    if (!answer.chunks.empty() || row_of_.contains(question)) {
      BinarySymbols& symbols = symbols_of(question) = nothing_of(question);
      Result<void> right;
      for (const worker::Chunk& chunk : answer.chunks)
        if (right) right = add_chunk(symbols, chunk);
      if (right) right = check_symbols(symbols);
      // What makes no sense is the fault of a file, which is not to cost others their names.
      if (!right) {
        symbols = nothing_of(question);
        answer.problem = right.error().message;
      }
      changed_ = true;
    }
    answer.chunks.clear();
    const bool found_nothing = answer.n_known == 0;
    ModuleLookup& lookup = out_.modules[module_of_[question]];
    lookup.answer = std::move(answer);
    if (found_nothing && is_in_kallsyms(lookup.name, lookup.kind))
      if (auto names = name_kernel(module_of_[question], questions_[question].addresses))
        symbols_of(question) = std::move(*names);
    n_done_ += questions_[question].addresses.size();
    if (calls_.progress) calls_.progress(n_done_, n_total_);
    return n_done_ == n_total_ ? Result<void>() : tell(When::in_time);
  }

  // What came of a module that is not done; it comes again with the rest.
  Result<void> take_part(std::size_t question, const worker::Chunk& chunk) {
    BinarySymbols& symbols = symbols_of(question);
    if (!add_chunk(symbols, chunk)) symbols = nothing_of(question);
    changed_ = true;
    // A module that comes in parts is a large one, and the first is the costliest.
    const bool is_first = !told_ && chunk.asked.size() < questions_[question].addresses.size();
    return tell(is_first ? When::at_once : When::in_time);
  }

  BinarySymbols nothing_of(std::size_t question) const {
    return nothing_of(questions_[question], out_.modules[module_of_[question]].kind);
  }
  static BinarySymbols nothing_of(const ModuleQuestion& asked, AddressKind kind) {
    BinarySymbols symbols = symbols_for(asked.addresses.size());
    symbols.name = asked.name;
    symbols.build_id = asked.build_id;
    symbols.kind = kind;
    symbols.addresses = asked.addresses;
    return symbols;
  }

  BinarySymbols& symbols_of(std::size_t question) {
    const auto [row, is_new] = row_of_.try_emplace(question, found_.size());
    if (is_new) found_.push_back(nothing_of(question));
    return found_[row->second];
  }

  enum class When : std::uint8_t { at_once, in_time };
  // A revision on the way, if it is time for one.
  Result<void> tell(When when) {
    const auto now = SymbolClock::now();
    if (!calls_.better || !changed_ || (when == When::in_time && now < next_revision_)) return {};
    told_ = true;
    for (const auto& [question, row] : row_of_)
      if (!check_symbols(found_[row])) found_[row] = nothing_of(question);
    PROFD_CHECK(apply());
    next_revision_ = SymbolClock::now() + std::max<SymbolClock::duration>(means_.between_revisions,
                                                                          4 * (SymbolClock::now() - now));
    calls_.better(out_.profile);
    return {};
  }

  // To the profile as it was: names turn addresses into others, by which further ones would not be found.
  Result<void> apply() {
    if (request_.memory != nullptr) return remember();
    if (!changed_) return {};
    PROFD_TRY(out_.profile, symbolized(*profile_, found_, stop_));
    changed_ = false;
    return {};
  }

  // What was asked and not found is not asked again, either.
  Result<void> remember() {
    for (std::size_t question = 0; question < questions_.size(); ++question) symbols_of(question);
    for (BinarySymbols& symbols : found_) request_.memory->add(std::move(symbols));
    PROFD_TRY(out_.profile, request_.memory->applied(*profile_, stop_));
    return {};
  }

  SymbolizeRequest request_;
  const SymbolizeMeans& means_;
  const SymbolizeCalls& calls_;
  const StopToken& stop_;
  const ProfilePtr profile_;
  Symbolized out_;
  std::vector<ModuleQuestion> questions_;
  std::vector<std::size_t> module_of_;         // by question
  std::vector<BinarySymbols> found_;           // all of it
  std::map<std::size_t, std::size_t> row_of_;  // in found_, by question
  bool changed_ = false;                       // since it was applied
  bool told_ = false;                          // a revision on the way
  std::size_t n_done_ = 0, n_total_ = 0;
  SymbolClock::time_point next_revision_ = SymbolClock::now() + means_.between_revisions;
  std::map<std::string, TriedFile> fetched_;  // by build id, in this run; no path: it came
  std::size_t n_fetched_ = 0;
  std::string no_more_;  // why no server is asked any more; "" nothing
};

}  // namespace

bool has_open_addresses(const Profile& profile) {
  const FrameTable& frames = profile.frames();
  const auto& unresolved = profile.functions().unresolved;
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames.address[i] != 0 && frames.module[i].valid() &&
        (frames.line[i] == 0 || unresolved[frames.function[i].v] != 0))
      return true;
  return false;
}

bool is_module(const std::string& named, std::string_view name, std::string_view build_id) {
  return named == name || named == module_base_name(name) || (!build_id.empty() && named == build_id);
}

Result<Symbolized> symbolize_profile(ProfilePtr profile, const SymbolizeRequest& request,
                                     const SymbolizeMeans& means, const SymbolizeCalls& calls,
                                     const StopToken& stop) {
  return Symbolizer(std::move(profile), request, means, calls, stop).run();
}

}  // namespace profd

#include "server/engine/symbolize_profile.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/model/symbolize_check.h"
#include "server/engine/joined_symbols.h"
#include "server/engine/kernel_names.h"

namespace profd {
namespace {

using SymbolClock = std::chrono::steady_clock;

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

// Some code has an address, and no name or no line: a look at frames alone.
bool has_open_addresses(const Profile& profile) {
  const FrameTable& frames = profile.frames();
  const auto& unresolved = profile.functions().unresolved;
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (frames.address[i] != 0 && frames.module[i].valid() &&
        (frames.line[i] == 0 || unresolved[frames.function[i].v] != 0))
      return true;
  return false;
}

class Symbolizer {
 public:
  Symbolizer(ProfilePtr profile, const SymbolizeRequest& request, const SymbolizeMeans& means,
             const SymbolizeCalls& calls, const StopToken& stop)
      : request_(request), means_(means), calls_(calls), stop_(stop), profile_(std::move(profile)) {
    out_.profile = profile_;
  }

  Result<Symbolized> run() {
    PROFD_CHECK(gather());
    if (questions_.empty() && found_.empty()) return std::move(out_);
    if (calls_.progress) calls_.progress(0, n_total_);
    Result<void> applied;
    const LookupMeans means{request_.places, means_.cache, means_.program, means_.limits, 2, means_.patience};
    const auto partly = [&](std::size_t question, const worker::Chunk& chunk) {
      if (applied) applied = take_part(question, chunk);
    };
    PROFD_CHECK(look_up_modules(
        questions_, means, stop_,
        [&](std::size_t question, ModuleAnswer answer) {
          if (applied) applied = take(question, std::move(answer));
        },
        calls_.better ? std::function<void(std::size_t, worker::Chunk)>(partly) : nullptr));
    PROFD_CHECK(applied);
    PROFD_CHECK(apply());
    return std::move(out_);
  }

 private:
  Result<void> gather() {
    if (!has_open_addresses(*out_.profile)) return {};
    const StringTable& strings = out_.profile->strings();
    PROFD_TRY(const std::vector<BinaryCode> all, gather_code(*out_.profile, stop_));
    for (const BinaryCode& code : all) {
      const std::string name(strings[code.name]), build_id(strings[code.build_id]);
      const auto kind = worker_kind(code.kind);
      const bool can_be_asked = kind || is_in_kallsyms(name, code.kind);
      if (code.addresses.empty() || !can_be_asked || name.empty() || !is_wanted(name, build_id)) continue;
      out_.modules.push_back({name, build_id, code.kind, code.addresses.size(), {}});
      if (is_in_kallsyms(name, code.kind)) {
        name_kernel(code, out_.modules.back());
        continue;
      }
      // Nothing says of a file that it is what ran, unless a person does.
      const auto is_meant = [&](const ModuleFile& file) { return is_module(file.module, name, build_id); };
      const std::vector<ModuleFile>& files = request_.places.files;
      if (build_id.empty() && std::none_of(files.begin(), files.end(), is_meant)) continue;
      module_of_.push_back(out_.modules.size() - 1);
      questions_.push_back({name, build_id, *kind, code.addresses});
      n_total_ += code.addresses.size();
    }
    return {};
  }

  void name_kernel(const BinaryCode& code, ModuleLookup& lookup) {
    const KernelQuestion question{lookup.name, lookup.build_id, code.kind, code.addresses,
                                  kernel_reference(*out_.profile)};
    KernelAnswer names = kernel_names(question, request_.places);
    lookup.answer.tried = std::move(names.tried);
    lookup.answer.problem = std::move(names.problem);
    lookup.answer.n_known = names.n_known;
    if (names.n_known == 0) return;
    found_.push_back(std::move(*names.symbols));
    changed_ = true;
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
    out_.modules[module_of_[question]].answer = std::move(answer);
    n_done_ += questions_[question].addresses.size();
    if (calls_.progress) calls_.progress(n_done_, n_total_);
    return n_done_ == n_total_ ? Result<void>() : tell();
  }

  // What came of a module that is not done; it comes again with the rest.
  Result<void> take_part(std::size_t question, const worker::Chunk& chunk) {
    BinarySymbols& symbols = symbols_of(question);
    if (!add_chunk(symbols, chunk)) symbols = nothing_of(question);
    changed_ = true;
    return tell();
  }

  BinarySymbols nothing_of(std::size_t question) const {
    const ModuleQuestion& asked = questions_[question];
    BinarySymbols symbols = symbols_for(asked.addresses.size());
    symbols.name = asked.name;
    symbols.build_id = asked.build_id;
    symbols.kind = out_.modules[module_of_[question]].kind;
    symbols.addresses = asked.addresses;
    return symbols;
  }

  BinarySymbols& symbols_of(std::size_t question) {
    const auto [row, is_new] = row_of_.try_emplace(question, found_.size());
    if (is_new) found_.push_back(nothing_of(question));
    return found_[row->second];
  }

  // A revision on the way, if it is time for one.
  Result<void> tell() {
    const auto now = SymbolClock::now();
    if (!calls_.better || now < next_revision_ || !changed_) return {};
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
    if (!changed_) return {};
    PROFD_TRY(out_.profile, symbolized(*profile_, found_, stop_));
    changed_ = false;
    return {};
  }

  const SymbolizeRequest& request_;
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
  std::size_t n_done_ = 0, n_total_ = 0;
  SymbolClock::time_point next_revision_ = SymbolClock::now() + means_.between_revisions;
};

}  // namespace

bool is_module(const std::string& named, std::string_view name, std::string_view build_id) {
  return named == name || named == module_base_name(name) || (!build_id.empty() && named == build_id);
}

Result<Symbolized> symbolize_profile(ProfilePtr profile, const SymbolizeRequest& request,
                                     const SymbolizeMeans& means, const SymbolizeCalls& calls,
                                     const StopToken& stop) {
  return Symbolizer(std::move(profile), request, means, calls, stop).run();
}

}  // namespace profd

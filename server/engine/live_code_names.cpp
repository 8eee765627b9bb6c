#include "server/engine/live_code_names.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/model/symbolize_check.h"
#include "core/support/id.h"
#include "server/engine/joined_symbols.h"
#include "server/engine/symbol_cache.h"
#include "server/engine/symbol_lookup.h"
#include "server/platform/file_watcher.h"

namespace profd {
namespace {

// One module's part of a pass.
struct OfModule {
  LiveBinary module;
  std::vector<LiveCode> code;  // ascending by address
};

std::vector<OfModule> by_module(const LiveSession& session, std::vector<LiveCode> code) {
  std::vector<OfModule> parts;
  for (LiveCode& one : code) {
    if (parts.empty() || parts.back().code.front().module != one.module)
      parts.push_back({session.module(one.module), {}});
    parts.back().code.push_back(one);
  }
  for (OfModule& part : parts)
    std::sort(part.code.begin(), part.code.end(),
              [](const LiveCode& a, const LiveCode& b) { return a.address < b.address; });
  return parts;
}

// Of the function that begins there: the outermost of what is inlined at its first instruction.
live::CodeFound found_at(const BinarySymbols& symbols, std::size_t asked) {
  live::CodeFound found;
  std::uint32_t function = kNone, file = 0;
  for (std::uint32_t link = symbols.link[asked]; link != kNone; link = symbols.links.parent[link]) {
    function = symbols.links.function[link];
    file = symbols.links.file[link];
  }
  if (function != kNone) {
    found.symbol = symbols.texts[symbols.functions.name[function]];
    found.file = symbols.texts[symbols.functions.file[function]];
    // Of what has no name of its own only its lines say where it is.
    if (found.file.empty()) found.file = symbols.texts[file];
    found.line = symbols.functions.first_line[function];
  }
  return found;
}

// A program that runs may say where its files are: it is its user's. Of one without a build id the file must
// not be newer than the program.
void add_running(const LiveSession& session, const LiveBinary& module, SymbolPlaces& places) {
  const auto hello = session.hello();
  if (!hello || module.path.empty() || module.path.front() != '/') return;
  if (module.build_id.empty()) {
    const auto stamp = stamp_of(module.path);
    if (!stamp || stamp->mtime_ns > static_cast<std::int64_t>(hello->unix_ns)) return;
  }
  places.files.push_back({module.path, module.path});
}

class LiveNames {
 public:
  explicit LiveNames(SymbolOptions options)
      : options_(std::move(options)), cache_(options_.cache, options_.max_cache_bytes) {}

  void pass(LiveSession& session, SymbolPlaces places, const StopToken& stop) const {
    places.fetch.consent = FetchConsent::off;  // nothing waits for a network
    const std::vector<OfModule> parts = by_module(session, session.take_unnamed());
    std::vector<ModuleQuestion> questions;
    for (const OfModule& part : parts) {
      if (!session.is_replay()) add_running(session, part.module, places);
      ModuleQuestion question{part.module.path, part.module.build_id, worker::Addresses::vaddr, {}};
      for (const LiveCode& code : part.code)
        if (question.addresses.empty() || question.addresses.back() != code.address)
          question.addresses.push_back(code.address);
      questions.push_back(std::move(question));
    }
    const LookupMeans means{places, cache_, options_.program, options_.limits, 1, options_.patience};
    std::vector<bool> answered(parts.size());
    auto give = [&](std::size_t i, const ModuleAnswer& answer) {
      answered[i] = true;
      session.give_names(names_of(parts[i], questions[i], answer));
    };
    // Where it is cut short, addresses are what there is.
    static_cast<void>(look_up_modules(questions, means, stop, give));
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!answered[i]) give(i, {});
  }

 private:
  static std::vector<std::pair<LiveCode, live::CodeFound>> names_of(const OfModule& part,
                                                                    const ModuleQuestion& question,
                                                                    const ModuleAnswer& answer) {
    BinarySymbols symbols = symbols_for(question.addresses.size());
    symbols.addresses = question.addresses;
    bool right = true;
    for (const worker::Chunk& chunk : answer.chunks) right = right && add_chunk(symbols, chunk);
    right = right && check_symbols(symbols);
    std::vector<std::pair<LiveCode, live::CodeFound>> names;
    std::size_t asked = 0;
    for (const LiveCode& code : part.code) {
      while (question.addresses[asked] != code.address) ++asked;
      names.emplace_back(code, right ? found_at(symbols, asked) : live::CodeFound());
    }
    return names;
  }

  SymbolOptions options_;
  SymbolCache cache_;
};

}  // namespace

LiveNamer live_namer(const SymbolOptions& options) {
  if (options.program.empty() || !options.on_open) return {};
  return [names = std::make_shared<const LiveNames>(options)](
             LiveSession& session, const SymbolPlaces& places, const StopToken& stop) {
    names->pass(session, places, stop);
  };
}

}  // namespace profd

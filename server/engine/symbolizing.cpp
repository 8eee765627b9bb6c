#include "server/engine/symbolizing.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <fmt/format.h>

#include "server/engine/profile_cache.h"
#include "server/engine/stack_unwinding.h"
#include "server/platform/last_words.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

// What a newer run found out about a module, over what was known of it.
void merge_lookup(const ModuleLookup& newer, ModuleLookup& known) {
  const bool lines = known.answer.lines || newer.answer.lines;
  const bool says_nothing = newer.answer.tried.empty() && newer.answer.problem.empty();
  if (!says_nothing) known = newer;
  known.answer.lines = lines;
  known.fetch = newer.fetch;
}

std::shared_ptr<const Symbolizing::Lookups> merged(const std::shared_ptr<const Symbolizing::Lookups>& before,
                                                   const std::vector<ModuleLookup>& newer) {
  auto all =
      before ? std::make_shared<Symbolizing::Lookups>(*before) : std::make_shared<Symbolizing::Lookups>();
  for (const ModuleLookup& one : newer) {
    const auto known = std::find_if(all->begin(), all->end(), [&](const ModuleLookup& other) {
      return other.name == one.name && other.build_id == one.build_id && other.kind == one.kind;
    });
    if (known == all->end())
      all->push_back(one);
    else
      merge_lookup(one, *known);
  }
  return all;
}

}  // namespace

SymbolOptions symbol_options_from_environment() {
  SymbolOptions options;
  options.program = symbolizer_path();
  const char* use = std::getenv("PROFD_SYMBOLS");
  options.on_open = use == nullptr || std::string_view(use) != "off";
  const CacheOptions cache = cache_options_from_environment();
  if (!cache.directory.empty()) options.cache = cache.directory + "/symbols";
  options.max_cache_bytes = std::min(options.max_cache_bytes, cache.max_bytes);
  return options;
}

Symbolizing::Symbolizing(Means means)
    : means_(std::move(means)),
      cache_(std::make_shared<const SymbolCache>(means_.options.cache, means_.options.max_cache_bytes)),
      post_(means_.post) {}

Symbolizing::~Symbolizing() {
  stop();
}

void Symbolizing::stop() {
  for (auto& [handle, state] : states_)
    for (Run& run : state.runs) run.stop.request_stop();
  post_.end();
}

void Symbolizing::opened(const OpenProfilePtr& open, ClientId client, const SymbolPlaces* places) {
  if (means_.options.program.empty() || !means_.options.on_open) return;
  const auto known = states_.find(open->handle);
  if (places == nullptr && (known == states_.end() || !known->second.places)) return;
  State& state = states_[open->handle];
  if (places != nullptr) state.places = std::make_shared<const SymbolPlaces>(*places);
  SymbolizeRequest request;
  request.places = *state.places;
  add(open, {next_run_++, client, std::move(request), {}, {}, {}, {}, 0, nullptr});
}

std::function<void()> Symbolizing::start(const OpenProfilePtr& open, ClientId client,
                                         SymbolizeRequest request, ProgressFn progress, Done done,
                                         FetchingFn fetching) {
  if (means_.options.program.empty()) {
    done(fail(ErrorCode::unsupported, "this daemon reads no binaries"));
    return [] {};
  }
  const std::uint64_t number = next_run_++;
  add(open, {number,
             client,
             std::move(request),
             std::move(progress),
             std::move(fetching),
             std::move(done),
             {},
             0,
             nullptr});
  return [this, post = post_.shared(), handle = open->handle, number] {
    if (post.owner_is_there()) cancel(handle, number);
  };
}

void Symbolizing::add(const OpenProfilePtr& open, Run run) {
  State& state = states_[open->handle];
  state.runs.push_back(std::move(run));
  if (state.runs.size() == 1) begin(open->handle);
}

Result<ProfilePtr> Symbolizing::named(ProfilePtr profile, const SymbolPlaces& places,
                                      const StopToken& stop) const {
  const SymbolOptions& options = means_.options;
  if (options.program.empty() || !options.on_open) return profile;
  SymbolizeRequest request{places, {}};
  request.places.fetch.consent = FetchConsent::off;  // nothing is opened on condition of a network
  const SymbolizeMeans means{options.program, *cache_, options.limits, options.patience};
  PROFD_TRY(Symbolized symbolized, symbolize_profile(std::move(profile), request, means, {}, stop));
  return std::move(symbolized.profile);
}

UnwindStacks Symbolizing::unwinder(const SymbolPlaces& places, const StopToken& stop) const {
  const SymbolOptions& options = means_.options;
  if (options.program.empty() || !options.on_open) return {};
  return unwinder_of({places, options.program, options.limits, options.patience}, stop);
}

void Symbolizing::cancel(const std::string& handle, std::uint64_t number) {
  const auto found = states_.find(handle);
  if (found == states_.end()) return;
  std::deque<Run>& runs = found->second.runs;
  const auto run =
      std::find_if(runs.begin(), runs.end(), [&](const Run& one) { return one.number == number; });
  if (run == runs.end()) return;
  run->stop.request_stop();
  Done done = std::move(run->done);
  // The first one is taken away when it has ended.
  if (run != runs.begin()) runs.erase(run);
  if (done) done(fail(ErrorCode::cancelled, "cancelled"));
}

void Symbolizing::forget(const std::string& handle) {
  const auto found = states_.find(handle);
  if (found == states_.end()) return;
  for (Run& run : found->second.runs) run.stop.request_stop();
  const bool busy = !found->second.runs.empty();
  states_.erase(found);
  if (busy) means_.activity_changed();
}

bool Symbolizing::is_busy(const std::string& handle) const {
  const auto found = states_.find(handle);
  return found != states_.end() && !found->second.runs.empty();
}

std::shared_ptr<const Symbolizing::Lookups> Symbolizing::lookups(const std::string& handle) const {
  const auto found = states_.find(handle);
  return found == states_.end() ? nullptr : found->second.lookups;
}

std::string Symbolizing::title() const {
  for (const auto& [handle, state] : states_) {
    if (state.runs.empty() || state.name.empty()) continue;
    return state.fetching.empty() ? "Looking for names of " + state.name
                                  : "Fetching debug information of " + state.fetching;
  }
  return "";
}

Symbolizing::Run* Symbolizing::current(const std::string& handle, std::uint64_t number) {
  const auto found = states_.find(handle);
  if (found == states_.end() || found->second.runs.empty()) return nullptr;
  Run& run = found->second.runs.front();
  return run.number == number ? &run : nullptr;
}

void Symbolizing::begin(const std::string& handle) {
  State& state = states_.at(handle);
  Run& run = state.runs.front();
  const auto open = means_.find(handle);
  if (!open) return forget(handle);
  run.view_id = (*open)->view_id;
  run.profile = (*open)->profile;
  auto account = std::make_shared<Account>(means_.pool, run.stop);
  UniqueFunction<void()> work = [this, post = post_.shared(), handle, number = run.number, stop = run.stop,
                                 request = run.request, progress = run.progress, fetching = run.fetching,
                                 profile = run.profile, cache = cache_, options = means_.options, account,
                                 name = (*open)->name] {
    Result<Symbolized> result = fail(ErrorCode::internal, "looking for names failed");
    try {
      const Account::Scope scope(account.get());
      SymbolizeCalls calls;
      // Most profiles have nothing to be looked for, which is no activity.
      bool told = false;
      calls.progress = [&](std::uint64_t done, std::uint64_t total) {
        if (!std::exchange(told, true))
          post([this, handle, number, name] { this->told(handle, number, name, ""); });
        if (progress) progress(done, total);
      };
      std::string being_fetched;
      calls.fetching = [&](const std::string& module, const worker::Fetching& so_far) {
        if (std::exchange(being_fetched, module) != module)
          post([this, handle, number, name, module] { this->told(handle, number, name, module); });
        if (fetching) fetching(module, so_far);
      };
      calls.better = [&](ProfilePtr better_one) {
        post([this, handle, number, better_one = std::move(better_one)]() mutable {
          better(handle, number, std::move(better_one));
        });
      };
      const SymbolizeMeans means{options.program, *cache, options.limits, options.patience};
      result = symbolize_profile(profile, request, means, calls, StopToken(stop));
    } catch (const std::bad_alloc&) {
      const LastWords words;
      result = fail(ErrorCode::limit, "not enough memory to look for names");
    } catch (const std::exception& exception) {
      log_error(fmt::format("symbolize {}: {}", handle, exception.what()));
      result = fail(ErrorCode::internal, std::string("looking for names failed: ") + exception.what());
    }
    if (!result && account->over())
      result = tl::unexpected<Error>(account->error("looking for names of this profile"));
    const LastWords words;
    // What was made is the account's until the engine has it.
    post([this, handle, number, account, result = std::move(result)]() mutable {
      ended(handle, number, std::move(result));
    });
  };
  const ClientId client = run.client;
  const std::uint64_t number = run.number;
  try {
    means_.scheduler.submit(Lane::bulk, client, "symbolize " + (*open)->name, std::move(work));
  } catch (const std::exception&) {  // neither memory nor a thread for it
    const LastWords words;
    ended(handle, number, fail(ErrorCode::limit, "not enough memory to look for names"));
  }
}

// Nothing where the profile has been loaded anew since: that has a run of its own.
Result<OpenProfilePtr> Symbolizing::take(const std::string& handle, Run& run, ProfilePtr profile) {
  PROFD_TRY(OpenProfilePtr open, means_.find(handle));
  if (open->view_id != run.view_id || profile == run.profile) return open;
  PROFD_TRY(open, means_.revise(handle, profile));
  // Who is told of it may have closed it, or asked for more.
  if (Run* still = current(handle, run.number)) {
    still->view_id = open->view_id;
    still->profile = std::move(profile);
  }
  return open;
}

void Symbolizing::told(const std::string& handle, std::uint64_t number, const std::string& name,
                       const std::string& fetching) {
  if (current(handle, number) == nullptr) return;
  State& state = states_.at(handle);
  state.name = name;
  state.fetching = module_base_name(fetching);
  means_.activity_changed();
}

void Symbolizing::better(const std::string& handle, std::uint64_t number, ProfilePtr profile) {
  Run* run = current(handle, number);
  if (run == nullptr || run->stop.stopped()) return;
  if (const auto taken = take(handle, *run, std::move(profile)); !taken)
    log_info(fmt::format("{}: {}", handle, describe(taken.error())));
}

void Symbolizing::ended(const std::string& handle, std::uint64_t number, Result<Symbolized> result) {
  Run* run = current(handle, number);
  if (run == nullptr) return;
  Done done = std::move(run->done);
  Result<OpenProfilePtr> answer = fail(ErrorCode::cancelled, "cancelled");
  if (!result) {
    answer = tl::unexpected<Error>(result.error());
    if (result.error().code != ErrorCode::cancelled)
      log_warning(fmt::format("symbolize {}: {}", handle, describe(result.error())));
  } else if (!run->stop.stopped()) {
    State& state = states_.at(handle);
    state.lookups = merged(state.lookups, result->modules);
    answer = take(handle, *run, std::move(result->profile));
  }
  const auto found = states_.find(handle);
  if (found != states_.end() && !found->second.runs.empty() && found->second.runs.front().number == number) {
    found->second.runs.pop_front();
    const bool was_told = !std::exchange(found->second.name, "").empty();
    found->second.fetching.clear();
    if (!found->second.runs.empty()) begin(handle);
    if (was_told) means_.activity_changed();
  }
  if (done) done(std::move(answer));
}

}  // namespace profd

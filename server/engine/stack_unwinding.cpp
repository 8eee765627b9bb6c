#include "server/engine/stack_unwinding.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

#include "core/support/id.h"
#include "workers/symbols.h"

namespace profd {
namespace {

using UnwindClock = std::chrono::steady_clock;

// How often somebody who waits is looked after.
constexpr std::chrono::milliseconds kLookAroundForStacks{20};
constexpr std::chrono::milliseconds kForAStackFrame{10'000};

// Without a single caller.
UnwoundStacks not_unwound(const StackBatch& batch, const std::string& problem) {
  UnwoundStacks out;
  out.n_addresses.assign(batch.size(), 1);
  out.addresses = batch.pc;
  out.end.assign(batch.size(), StackEnd::no_binary);
  out.module.assign(batch.size(), kNone);
  out.repeatable = false;
  out.problem = problem;
  return out;
}

class StackConversation {
 public:
  StackConversation(UnwindMeans means, StopToken stop) : means_(std::move(means)), stop_(std::move(stop)) {}

  Result<UnwoundStacks> unwind(const StackBatch& batch) {
    modules_.insert(modules_.end(), batch.modules.begin(), batch.modules.end());
    for (const StackModule& module : batch.modules)
      if (module.build_id.empty() && module.identity.inode != 0) add_identity(module);
    unwound_.reset();
    done_ = false;
    if (problem_.empty()) start();
    if (problem_.empty()) send(encode(worker::Order(batch)), {});
    while (problem_.empty() && !done_) {
      PROFD_TRY(const bool there, wait());
      if (there) take();
    }
    settle();
    if (problem_.empty() && (!unwound_ || !fits(batch))) give_up("it answers what nobody asked");
    if (!problem_.empty()) {
      process_.reset();
      return not_unwound(batch, problem_);
    }
    unwound_->repeatable = repeatable_;
    return std::move(*unwound_);
  }

 private:
  void give_up(const std::string& how) { problem_ = "the reader of binaries: " + how; }

  // Two files by one name are told apart by nothing.
  void add_identity(const StackModule& module) {
    const auto [known, is_new] = means_.places.identities.by_name.try_emplace(module.name, module.identity);
    if (!is_new && known->second != module.identity) known->second = {};
  }

  void start() {
    if (process_) return;
    auto process = WorkerProcess::start(means_.program, means_.limits);
    if (!process) return give_up("cannot be started: " + process.error().message);
    process_.emplace(std::move(*process));
  }

  void send(const std::string& bytes, const std::vector<int>& files) {
    deadline_ = UnwindClock::now() + means_.patience;
    if (!process_->send(bytes, files, deadline_)) lost();
  }

  void lost() {
    const std::string how = process_->end();
    give_up("it " + (how.empty() ? std::string("stopped answering and was ended") : how));
  }

  Result<bool> wait() {
    PROFD_CHECK(stop_.status());
    pollfd fd{process_->socket(), POLLIN, 0};
    ::poll(&fd, 1, static_cast<int>(kLookAroundForStacks.count()));
    if (fd.revents != 0) return true;
    if (UnwindClock::now() >= deadline_) give_up("it said nothing for long and was ended");
    return false;
  }

  void take() {
    auto frame = process_->receive(UnwindClock::now() + kForAStackFrame);
    if (!frame) return lost();
    auto report = worker::decode_report(frame->bytes);
    if (!report) return give_up(report.error().message);
    deadline_ = UnwindClock::now() + means_.patience;
    if (const auto* hello = std::get_if<worker::Hello>(&*report)) {
      if (hello->version != PROFD_VERSION) give_up("it is of another version than profd");
    } else if (const auto* wish = std::get_if<worker::Wish>(&*report)) {
      grant(*wish);
    } else if (auto* unwound = std::get_if<UnwoundStacks>(&*report)) {
      unwound_ = std::move(*unwound);
    } else if (const auto* done = std::get_if<worker::Done>(&*report)) {
      if (!done->problem.empty()) give_up(done->problem);
      done_ = true;
    } else {
      give_up("it answers what nobody asked");
    }
  }

  // It may wish for the binaries of the recording, and for nothing else.
  void grant(const worker::Wish& wish) {
    const bool is_told = std::any_of(modules_.begin(), modules_.end(), [&](const StackModule& module) {
      return module.name == wish.name && module.build_id == wish.build_id;
    });
    if (wish.kind != worker::WishKind::binary || !is_told) return give_up("it wishes for what nobody named");
    if (!search_ || wish.refused.empty()) {
      settle();
      search_.emplace(means_.places, wish.name, wish.build_id);
    }
    const auto file = search_->next(wish);
    given_ = file.has_value();
    send(encode(worker::Order(worker::FileAnswer{given_})),
         file ? std::vector<int>{file->fd.get()} : std::vector<int>());
  }

  // What became of the search before.
  void settle() {
    if (!search_) return;
    search_->finish();
    repeatable_ = repeatable_ && given_ && !search_->unchecked();
    search_.reset();
  }

  // Modules that are told, and every stack.
  bool fits(const StackBatch& batch) const {
    return unwound_->n_addresses.size() == batch.size() &&
           std::all_of(unwound_->module.begin(), unwound_->module.end(),
                       [&](std::uint32_t row) { return row == kNone || row < modules_.size(); });
  }

  UnwindMeans means_;
  StopToken stop_;
  std::optional<WorkerProcess> process_;
  std::vector<StackModule> modules_;
  std::optional<SymbolSearch> search_;  // of the newest wish
  bool given_ = false;                  // a file came for it
  bool repeatable_ = true;
  std::optional<UnwoundStacks> unwound_;
  bool done_ = false;
  FrameDeadline deadline_;
  std::string problem_;  // it is of no use any more
};

}  // namespace

UnwindStacks unwinder_of(UnwindMeans means, StopToken stop) {
  auto conversation = std::make_shared<StackConversation>(std::move(means), std::move(stop));
  return [conversation](const StackBatch& batch) { return conversation->unwind(batch); };
}

}  // namespace profd

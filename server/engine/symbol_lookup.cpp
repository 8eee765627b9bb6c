#include "server/engine/symbol_lookup.h"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "core/support/id.h"
#include "server/platform/process.h"

namespace profd {
namespace {

using LookupClock = std::chrono::steady_clock;

// How often somebody who waits is looked after.
constexpr std::chrono::milliseconds kLookAround{50};
// A frame that has begun comes whole within this.
constexpr std::chrono::milliseconds kForOneFrame{10'000};
constexpr const char* kSymbolizer = "profd-symbolize";

// The part of a known chunk that was asked for; `asked` are positions in the question, beside the rows.
worker::Chunk part_of_chunk(const worker::Chunk& known, const std::vector<std::uint32_t>& rows,
                            std::vector<std::uint32_t> asked) {
  worker::Chunk out = known;
  out.asked = std::move(asked);
  out.link.clear();
  out.asked_piece.clear();
  for (const std::uint32_t row : rows) {
    out.link.push_back(known.link[row]);
    out.asked_piece.push_back(known.asked_piece[row]);
  }
  return out;
}

// Answers what is known already; returns the positions that are left.
std::vector<std::uint32_t> answer_known(const ModuleQuestion& question, const KnownModule& known,
                                        ModuleAnswer& answer) {
  std::vector<std::uint8_t> is_answered(question.addresses.size(), 0);
  for (const KnownChunk& one : known.chunks) {
    std::vector<std::uint32_t> rows, asked;
    for (std::uint32_t row = 0; row < one.chunk.asked.size(); ++row) {
      const std::uint64_t address = one.addresses[one.chunk.asked[row]];
      const auto found = std::lower_bound(question.addresses.begin(), question.addresses.end(), address);
      if (found == question.addresses.end() || *found != address) continue;
      const auto position = static_cast<std::uint32_t>(found - question.addresses.begin());
      if (is_answered[position]++ != 0) continue;
      rows.push_back(row);
      asked.push_back(position);
    }
    if (!rows.empty()) answer.chunks.push_back(part_of_chunk(one.chunk, rows, std::move(asked)));
  }
  std::vector<std::uint32_t> left;
  for (std::uint32_t i = 0; i < is_answered.size(); ++i)
    if (is_answered[i] == 0) left.push_back(i);
  return left;
}

// So many addresses are worth a process more: opening a big binary twice costs less than they do.
constexpr std::size_t kWorthAProcess = 1000;

// A module of which not all is looked up.
struct OpenQuestion {
  std::size_t n_shares = 0;          // that are not answered
  std::optional<KnownModule> known;  // of before
  KnownModule fresh;                 // of now, to be kept
  ModuleAnswer answer;
};

// What one process is asked of a module: all, or a run of its addresses.
struct Share {
  std::size_t question = kNone;
  std::vector<std::uint32_t> asked;  // positions in the question
};

// One process and the share that it is at.
struct LookupSlot {
  std::optional<WorkerProcess> process;
  bool greeted = false, confined = true;
  std::size_t question = kNone;  // kNone: idle
  std::optional<SymbolSearch> search;
  std::vector<std::uint32_t> asked;     // as in Share
  std::vector<worker::Chunk> received;  // their `asked` counts in these
  FrameDeadline deadline;

  [[nodiscard]] bool idle() const { return question == kNone; }
};

class SymbolLookup {
 public:
  SymbolLookup(std::span<const ModuleQuestion> questions, const LookupMeans& means, const StopToken& stop,
               const std::function<void(std::size_t, ModuleAnswer)>& answered,
               const std::function<void(std::size_t, worker::Chunk)>& partly)
      : questions_(questions), means_(means), stop_(stop), answered_(answered), partly_(partly) {
    slots_.resize(std::max(1u, means.n_processes));
  }

  Result<void> run() {
    while (true) {
      PROFD_CHECK(stop_.status());
      for (LookupSlot& slot : slots_)
        while (slot.idle() && (!shares_.empty() || next_ < questions_.size())) {
          if (shares_.empty()) {
            open(next_++);
          } else {
            Share share = std::move(shares_.front());
            shares_.pop_front();
            begin(slot, std::move(share));
          }
        }
      if (std::all_of(slots_.begin(), slots_.end(), [](const LookupSlot& slot) { return slot.idle(); }))
        return {};
      wait();
    }
  }

 private:
  // Answers what is known and shares out the rest.
  void open(std::size_t question) {
    const ModuleQuestion& asked = questions_[question];
    OpenQuestion& work = open_[question];
    std::vector<std::uint32_t> left;
    // Where a kernel was is of one boot.
    if (asked.kind != worker::Addresses::loaded) work.known = means_.cache.find(asked.build_id, asked.kind);
    if (work.known) {
      left = answer_known(asked, *work.known, work.answer);
      work.answer.lines = true;
      if (left.empty()) {
        work.answer.unchecked = work.known->unchecked;
        for (const SymbolSearch::Used& used : work.known->used)
          work.answer.tried.push_back({used.path, "used", false});
        return tell(question);
      }
    } else {
      for (std::uint32_t i = 0; i < asked.addresses.size(); ++i) left.push_back(i);
    }
    if (!is_anything_there(question)) return tell(question);
    const std::size_t n = std::clamp<std::size_t>(left.size() / kWorthAProcess, 1, slots_.size());
    work.n_shares = n;
    for (std::size_t i = 0; i < n; ++i) {
      const auto begin = left.begin() + static_cast<std::ptrdiff_t>(left.size() * i / n);
      const auto end = left.begin() + static_cast<std::ptrdiff_t>(left.size() * (i + 1) / n);
      shares_.push_back({question, {begin, end}});
    }
  }

  void begin(LookupSlot& slot, Share share) {
    const ModuleQuestion& asked = questions_[share.question];
    slot.question = share.question;
    slot.asked = std::move(share.asked);
    slot.received.clear();
    slot.search.emplace(means_.places, asked.name, asked.build_id);
    worker::ModuleOrder order{asked.name, asked.build_id,         asked.kind,
                              {},         asked.reference_symbol, asked.reference_address};
    for (const std::uint32_t position : slot.asked) order.addresses.push_back(asked.addresses[position]);
    if (auto started = start(slot); !started) return give_up(slot, started.error().message);
    send(slot, encode(worker::Order(std::move(order))), {});
  }

  // A process is not started for files that nobody has; what was refused on the way is told.
  bool is_anything_there(std::size_t question) {
    const ModuleQuestion& asked = questions_[question];
    SymbolSearch search(means_.places, asked.name, asked.build_id);
    worker::Wish wish;
    wish.name = asked.name;
    wish.build_id = asked.build_id;
    for (const worker::WishKind kind : {worker::WishKind::binary, worker::WishKind::debug_file}) {
      wish.kind = kind;
      if (search.next(wish)) return true;
    }
    add_search(search, open_[question].answer);
    return false;
  }

  static void add_search(const SymbolSearch& search, ModuleAnswer& answer) {
    for (const TriedFile& tried : search.tried()) {
      const auto same = [&](const TriedFile& other) { return other.path == tried.path; };
      if (std::none_of(answer.tried.begin(), answer.tried.end(), same)) answer.tried.push_back(tried);
    }
    for (std::string& id : search.missing())
      if (std::find(answer.missing.begin(), answer.missing.end(), id) == answer.missing.end())
        answer.missing.push_back(std::move(id));
    if (!search.outside().empty()) answer.outside = search.outside();
    answer.unchecked = answer.unchecked || search.unchecked();
    answer.by_inode = answer.by_inode || search.by_inode();
  }

  Result<void> start(LookupSlot& slot) {
    if (slot.process) return {};
    auto process = WorkerProcess::start(means_.program, means_.limits);
    if (!process)
      return fail(ErrorCode::io,
                  fmt::format("{} cannot be started: {}", kSymbolizer, process.error().message));
    slot.process.emplace(std::move(*process));
    slot.greeted = false;
    return {};
  }

  void send(LookupSlot& slot, const std::string& bytes, const std::vector<int>& files) {
    slot.deadline = LookupClock::now() + means_.patience;
    if (auto sent = slot.process->send(bytes, files, slot.deadline); !sent) lost(slot, sent.error());
  }

  void wait() {
    std::vector<pollfd> fds;
    for (const LookupSlot& slot : slots_)
      fds.push_back({slot.idle() ? -1 : slot.process->socket(), POLLIN, 0});
    ::poll(fds.data(), fds.size(), static_cast<int>(kLookAround.count()));
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      LookupSlot& slot = slots_[i];
      if (slot.idle()) continue;
      if (fds[i].revents != 0) {
        take(slot);
      } else if (LookupClock::now() >= slot.deadline) {
        hung(slot);
      }
    }
  }

  void take(LookupSlot& slot) {
    auto frame = slot.process->receive(LookupClock::now() + kForOneFrame);
    if (!frame) return lost(slot, frame.error());
    auto report = worker::decode_report(frame->bytes);
    if (!report) return broken(slot, report.error().message);
    slot.deadline = LookupClock::now() + means_.patience;
    if (const auto* hello = std::get_if<worker::Hello>(&*report)) return greet(slot, *hello);
    if (!slot.greeted) return broken(slot, "it does not say who it is");
    if (const auto* wish = std::get_if<worker::Wish>(&*report)) return grant(slot, *wish);
    if (auto* chunk = std::get_if<worker::Chunk>(&*report)) return take_chunk(slot, std::move(*chunk));
    finish(slot, std::get<worker::Done>(*report));
  }

  void greet(LookupSlot& slot, const worker::Hello& hello) {
    if (hello.version != PROFD_VERSION)
      return broken(slot, fmt::format("it is of version {}, and profd of {}", hello.version, PROFD_VERSION));
    slot.greeted = true;
    slot.confined = hello.confined;
  }

  void grant(LookupSlot& slot, const worker::Wish& wish) {
    const auto file = slot.search->next(wish);
    const std::string bytes = encode(worker::Order(worker::FileAnswer{file.has_value()}));
    send(slot, bytes, file ? std::vector<int>{file->fd.get()} : std::vector<int>());
  }

  void take_chunk(LookupSlot& slot, worker::Chunk chunk) {
    const auto is_asked = [&](std::uint32_t asked) { return asked < slot.asked.size(); };
    if (!std::all_of(chunk.asked.begin(), chunk.asked.end(), is_asked))
      return broken(slot, "it answers what nobody asked");
    if (partly_) partly_(slot.question, in_question(slot, chunk));
    slot.received.push_back(std::move(chunk));
  }

  // What the process was asked is a part of the question, where the cache knew the rest.
  static worker::Chunk in_question(const LookupSlot& slot, worker::Chunk chunk) {
    for (std::uint32_t& asked : chunk.asked) asked = slot.asked[asked];
    return chunk;
  }

  void finish(LookupSlot& slot, const worker::Done& done) {
    slot.search->finish();
    OpenQuestion& work = open_.at(slot.question);
    if (work.answer.problem.empty()) work.answer.problem = done.problem;
    work.answer.lines = work.answer.lines || done.lines;
    const ModuleQuestion& asked = questions_[slot.question];
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t position : slot.asked) addresses.push_back(asked.addresses[position]);
    for (const worker::Chunk& chunk : slot.received) work.fresh.chunks.push_back({addresses, chunk});
    for (const SymbolSearch::Used& used : slot.search->used()) {
      const auto same = [&](const SymbolSearch::Used& other) { return other.path == used.path; };
      if (std::none_of(work.fresh.used.begin(), work.fresh.used.end(), same)) work.fresh.used.push_back(used);
    }
    work.fresh.unchecked = work.fresh.unchecked || slot.search->unchecked();
    complete(slot);
  }

  // What has lines, and came whole.
  void keep(std::size_t question, OpenQuestion& work) const {
    const ModuleQuestion& asked = questions_[question];
    const bool is_whole = work.answer.lines && work.answer.problem.empty() && !work.fresh.chunks.empty();
    if (!is_whole || asked.build_id.empty() || asked.kind == worker::Addresses::loaded) return;
    if (work.known) {
      std::move(work.known->chunks.begin(), work.known->chunks.end(), std::back_inserter(work.fresh.chunks));
    }
    means_.cache.store(asked.build_id, asked.kind, work.fresh);
  }

  // It died, or was never well.
  void lost(LookupSlot& slot, const Error& error) {
    if (error.code == ErrorCode::limit) return hung(slot);
    const std::string how = slot.process->end();
    slot.process.reset();
    give_up(slot, fmt::format("{} {}", kSymbolizer, how.empty() ? "stopped answering and was ended" : how));
  }
  void hung(LookupSlot& slot) {
    slot.process->kill();
    slot.process.reset();
    give_up(slot, fmt::format("{} said nothing for {} s and was ended", kSymbolizer,
                              std::chrono::duration_cast<std::chrono::seconds>(means_.patience).count()));
  }
  void broken(LookupSlot& slot, const std::string& how) {
    slot.process->kill();
    slot.process.reset();
    give_up(slot, fmt::format("{}: {}", kSymbolizer, how));
  }

  void give_up(LookupSlot& slot, std::string problem) {
    open_.at(slot.question).answer.problem = std::move(problem);
    slot.received.clear();  // who ends badly may have been wrong before
    complete(slot);
  }

  void complete(LookupSlot& slot) {
    OpenQuestion& work = open_.at(slot.question);
    work.answer.confined = work.answer.confined && slot.confined;
    add_search(*slot.search, work.answer);
    for (worker::Chunk& chunk : slot.received)
      work.answer.chunks.push_back(in_question(slot, std::move(chunk)));
    slot.received.clear();
    const std::size_t question = std::exchange(slot.question, kNone);
    if (--work.n_shares == 0) tell(question);
  }

  void tell(std::size_t question) {
    OpenQuestion work = std::move(open_.extract(question).mapped());
    keep(question, work);
    ModuleAnswer& answer = work.answer;
    for (const worker::Chunk& chunk : answer.chunks)
      answer.n_known += static_cast<std::size_t>(
          std::count_if(chunk.link.begin(), chunk.link.end(), [](std::uint32_t link) { return link != 0; }));
    answered_(question, std::move(answer));
  }

  std::span<const ModuleQuestion> questions_;
  const LookupMeans& means_;
  const StopToken& stop_;
  const std::function<void(std::size_t, ModuleAnswer)>& answered_;
  const std::function<void(std::size_t, worker::Chunk)>& partly_;
  std::vector<LookupSlot> slots_;
  std::map<std::size_t, OpenQuestion> open_;
  std::deque<Share> shares_;
  std::size_t next_ = 0;
};

}  // namespace

std::string symbolizer_path() {
  const auto own = own_executable();
  return own ? (std::filesystem::path(*own).parent_path() / kSymbolizer).string() : std::string(kSymbolizer);
}

Result<void> look_up_modules(std::span<const ModuleQuestion> questions, const LookupMeans& means,
                             const StopToken& stop,
                             const std::function<void(std::size_t, ModuleAnswer)>& answered,
                             const std::function<void(std::size_t, worker::Chunk)>& partly) {
  return SymbolLookup(questions, means, stop, answered, partly).run();
}

}  // namespace profd

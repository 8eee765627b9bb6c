#include "server/engine/code_lookup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "core/support/id.h"
#include "server/engine/jit_code.h"
#include "server/engine/joined_symbols.h"
#include "workers/symbols.h"

namespace profd {
namespace {

using CodeClock = std::chrono::steady_clock;

// How often somebody who waits is looked after.
constexpr std::chrono::milliseconds kLookAroundForCode{20};
constexpr std::chrono::milliseconds kForACodeFrame{10'000};

// One process and its answers. Ends the process with itself.
class CodeConversation {
 public:
  // `jit`: what is to be disassembled, where that is in no binary; else null.
  CodeConversation(const CodeQuestion& question, const JitPiece* jit, const CodeMeans& means,
                   const StopToken& stop)
      : question_(question),
        jit_(jit),
        means_(means),
        stop_(stop),
        search_(means.places, question.name, question.build_id) {}

  // `llvm`: with the library that code of ARM needs. Returns whether it is wanted and was not given.
  Result<bool> run(bool llvm) {
    auto process = WorkerProcess::start(means_.program, means_.limits, llvm ? "--llvm" : "");
    if (!process) {
      answer.problem = fmt::format("the reader of binaries cannot be started: {}", process.error().message);
      return false;
    }
    worker::CodeOrder order;
    order.name = question_.name;
    order.build_id = question_.build_id;
    order.start = question_.start;
    order.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(question_.size, worker::kMaxCodeSize));
    order.att = question_.att;
    if (jit_ != nullptr) {
      const auto* bytes = reinterpret_cast<const char*>(jit_->bytes().data());
      order.bytes.assign(bytes, order.size);
      order.machine = static_cast<std::uint16_t>(jit_->dump.machine);
    }
    send(*process, encode(worker::Order(order)), {});
    while (!done_) {
      PROFD_TRY(const bool there, wait(*process));
      if (there) take(*process);
    }
    search_.finish();
    answer.tried = search_.tried();
    answer.unchecked = search_.unchecked();
    if (!answer.problem.empty()) answer.code = {};
    return wants_llvm_ && !llvm;
  }

  CodeAnswer answer;
  // Of what files the answer was made.
  [[nodiscard]] const std::vector<SymbolSearch::Used>& used() const { return search_.used(); }

 private:
  void give_up(std::string problem) {
    answer.problem = std::move(problem);
    done_ = true;
  }

  void send(WorkerProcess& process, const std::string& bytes, const std::vector<int>& files) {
    deadline_ = CodeClock::now() + means_.patience;
    if (!process.send(bytes, files, deadline_)) lost(process);
  }

  void lost(WorkerProcess& process) {
    const std::string how = process.end();
    give_up(fmt::format("the reader of binaries {}", how.empty() ? "stopped answering and was ended" : how));
  }

  Result<bool> wait(WorkerProcess& process) {
    PROFD_CHECK(stop_.status());
    pollfd fd{process.socket(), POLLIN, 0};
    ::poll(&fd, 1, static_cast<int>(kLookAroundForCode.count()));
    if (fd.revents != 0) return true;
    if (CodeClock::now() >= deadline_) give_up("the reader of binaries said nothing for long and was ended");
    return false;
  }

  void take(WorkerProcess& process) {
    auto frame = process.receive(CodeClock::now() + kForACodeFrame);
    if (!frame) return lost(process);
    auto report = worker::decode_report(frame->bytes);
    if (!report) return give_up(report.error().message);
    deadline_ = CodeClock::now() + means_.patience;
    if (const auto* hello = std::get_if<worker::Hello>(&*report)) {
      if (hello->version != PROFD_VERSION) give_up("the reader of binaries is of another version than profd");
    } else if (const auto* wish = std::get_if<worker::Wish>(&*report)) {
      const auto file = search_.next(*wish);
      send(process, encode(worker::Order(worker::FileAnswer{file.has_value()})),
           file ? std::vector<int>{file->fd.get()} : std::vector<int>());
    } else if (auto* rows = std::get_if<worker::CodeRows>(&*report)) {
      take_rows(std::move(*rows));
    } else if (const auto* chunk = std::get_if<worker::Chunk>(&*report)) {
      if (auto added = add_chunk(answer.code.symbols, *chunk); !added) give_up(added.error().message);
    } else {
      const auto& end = std::get<worker::Done>(*report);
      wants_llvm_ = end.wants_llvm;
      // Lines that cannot be read leave instructions as they are.
      if (answer.code.address.empty() && !wants_llvm_) {
        give_up(end.problem.empty() ? "its code cannot be read" : end.problem);
      }
      done_ = true;
    }
  }

  void take_rows(worker::CodeRows rows) {
    FoundCode& code = answer.code;
    code = {};
    code.symbols = symbols_for(rows.size() + rows.places.size());
    std::uint64_t address = question_.start;
    std::size_t text = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      code.address.push_back(address);
      code.text_begin.push_back(text);
      address += rows.length[row];
      text += rows.text_size[row];
    }
    code.rows = std::move(rows);
  }

  const CodeQuestion& question_;
  const JitPiece* jit_;
  const CodeMeans& means_;
  const StopToken& stop_;
  SymbolSearch search_;
  FrameDeadline deadline_;
  bool done_ = false, wants_llvm_ = false;
};

}  // namespace

std::string_view FoundCode::name_of_place(std::uint64_t address_outside) const {
  const auto found = std::lower_bound(rows.places.begin(), rows.places.end(), address_outside);
  if (found == rows.places.end() || *found != address_outside) return {};
  const std::size_t asked = rows.size() + static_cast<std::size_t>(found - rows.places.begin());
  const std::uint32_t piece = symbols.piece[asked];
  if (piece != kNone) {
    const std::uint32_t function = symbols.pieces.function[piece];
    const std::string_view raw = symbols.texts[symbols.pieces.name[piece]];
    if (function == kNone || raw.ends_with("@plt")) return raw;
    return symbols.texts[symbols.functions.name[function]];
  }
  std::uint32_t link = symbols.link[asked];
  if (link == kNone) return {};
  while (symbols.links.parent[link] != kNone) link = symbols.links.parent[link];
  const std::uint32_t function = symbols.links.function[link];
  return function == kNone ? std::string_view()
                           : std::string_view(symbols.texts[symbols.functions.name[function]]);
}

namespace {

using Answer = std::shared_ptr<const CodeAnswer>;

Result<CodeAnswer> converse(const CodeQuestion& question, const JitPiece* jit, const CodeMeans& means,
                            const StopToken& stop, std::vector<SymbolSearch::Used>& used) {
  for (bool llvm = false;; llvm = true) {
    CodeConversation conversation(question, jit, means, stop);
    PROFD_TRY(const bool again, conversation.run(llvm));
    if (again) continue;
    used = conversation.used();
    return std::move(conversation.answer);
  }
}

Result<Answer> look_up_in_binary(const CodeQuestion& question, const CodeMeans& means,
                                 const StopToken& stop) {
  std::string key;
  if (means.cache != nullptr) {
    key = CodeCache::key_of(question, means.places);
    if (Answer known = means.cache->find(key)) return known;
  }
  std::vector<SymbolSearch::Used> used;
  PROFD_TRY(CodeAnswer found, converse(question, nullptr, means, stop, used));
  auto answer = std::make_shared<const CodeAnswer>(std::move(found));
  if (means.cache != nullptr && answer->problem.empty())
    means.cache->keep(std::move(key), answer, std::move(used));
  return answer;
}

// What is to be disassembled is read from the dump each time.
Result<CodeAnswer> look_up_in_dump(const CodeQuestion& question, const CodeMeans& means,
                                   const StopToken& stop) {
  const auto jit = find_jit_piece(question, means.places);
  if (!jit) {
    CodeAnswer answer;
    answer.problem = jit.error().message;
    return answer;
  }
  std::vector<SymbolSearch::Used> used;
  PROFD_TRY(CodeAnswer answer, converse(question, &*jit, means, stop, used));
  if (!answer.problem.empty()) return answer;
  describe_jit_code(*jit, answer.code);
  if (jit->n_others > 0) {
    answer.note =
        fmt::format("Code of this name and size was compiled to this place {} times; this is the last.",
                    jit->n_others + 1);
  }
  return answer;
}

}  // namespace

Result<Answer> look_up_code(const CodeQuestion& question, const CodeMeans& given, const StopToken& stop) {
  const SymbolPlaces places =
      question.recording.empty() ? given.places : given.places.of_file(question.recording);
  const CodeMeans means{places, given.program, given.limits, given.patience, given.cache};
  if (!question.in_memory) return look_up_in_binary(question, means, stop);
  PROFD_TRY(CodeAnswer answer, look_up_in_dump(question, means, stop));
  return std::make_shared<const CodeAnswer>(std::move(answer));
}

}  // namespace profd

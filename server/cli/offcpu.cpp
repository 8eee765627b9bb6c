// profd offcpu: what threads did on and off the processor, and what blocked ones waited for.
#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/waits/wait_metrics.h"
#include "server/cli/align.h"
#include "server/cli/arguments.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/dialect/psp/convert_states.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/feature/states_answer.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct OffCpuOptions {
  ProfileOptions profile;
  std::size_t n = 10;
  bool whole_chains = false;
  bool json = false;
};

constexpr std::size_t kLeastName = 16, kMostName = 40, kTime = 10, kOfWall = 8;

std::string amounts(const ThreadStatesRow& row) {
  std::string out = right_aligned(sanitize_text(row.wall.text), kTime);
  for (const Amount* amount : {&row.on_cpu, &row.blocked, &row.runnable, &row.unknown})
    out += right_aligned(sanitize_text(amount->text), kTime) + right_aligned(amount->share_text, kOfWall);
  return out;
}

std::string threads_text(const Console& console, const StatesAnswer& answer) {
  std::size_t width = kLeastName;
  for (const ThreadStatesRow& row : answer.threads) width = std::max(width, display_width(row.name));
  width = std::min(width, kMostName);
  const auto line = [&](const std::string& name, const ThreadStatesRow& row) {
    return left_aligned(fitted_name(sanitize_text(name), width), width) + amounts(row) + "\n";
  };
  std::string head = left_aligned("", width) + right_aligned("wall", kTime);
  for (const std::string_view state : {"on CPU", "blocked", "runnable", "unknown"})
    head += right_aligned(state, kTime) + std::string(kOfWall, ' ');
  std::string out = console.out.bold(head) + "\n";
  for (const ThreadStatesRow& row : answer.threads) out += line(row.name, row);
  if (answer.n_threads > answer.threads.size())
    out += console.out.dim(fmt::format("and {} more threads; -n shows more of them\n",
                                       answer.n_threads - answer.threads.size()));
  if (answer.n_threads > 1) out += line("all threads", answer.all);
  return out;
}

// One stack of a chain: the thread, then its functions, those of the kernel as one word unless asked for.
std::string stack_text(std::span<const ChainFrame> frames, bool whole) {
  std::vector<std::string> names;
  bool in_kernel = false;
  for (const ChainFrame& frame : frames) {
    if (frame.kernel && !whole) {
      if (!in_kernel) names.emplace_back("[kernel]");
      in_kernel = true;
      continue;
    }
    in_kernel = false;
    names.push_back(sanitize_text(frame.name));
  }
  return fmt::format("{}", fmt::join(names, " > "));
}

std::string chains_text(const Console& console, const OffCpuOptions& options, const StatesAnswer& answer) {
  if (answer.chains.empty()) return {};
  std::string out = "\n" + console.out.bold("What blocked threads waited for") + "\n";
  const auto columns = static_cast<std::size_t>(std::max(console.out.columns, 40));
  for (const ChainRow& chain : answer.chains) {
    std::string margin = right_aligned(sanitize_text(chain.amount.text), kTime) +
                         right_aligned(chain.amount.share_text, kOfWall) + "  ";
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= chain.frames.size(); ++i) {
      if (i < chain.frames.size() && chain.frames[i].name != kWakerMark) continue;
      const std::string text =
          stack_text(std::span(chain.frames).subspan(begin, i - begin), options.whole_chains);
      const std::size_t room = columns - kTime - kOfWall - 5;
      out += margin + (begin == 0 ? "" : "-- ") +
             (options.whole_chains ? text : fitted_name(text, begin == 0 ? room + 3 : room)) + "\n";
      margin = std::string(kTime + kOfWall + 2, ' ');
      begin = i + 1;
    }
  }
  if (answer.n_chains > answer.chains.size())
    out += console.out.dim(
        fmt::format("and {} more chains; -n shows more of them\n", answer.n_chains - answer.chains.size()));
  return out;
}

std::string text_of(const Console& console, const OffCpuOptions& options, const StatesAnswer& answer) {
  std::string out = sanitize_text(answer.verdict) + "\n";
  for (const std::string& warning : answer.head.warnings)
    out += console.out.warning(sanitize_text(warning)) + "\n";
  return out + "\n" + threads_text(console, answer) + chains_text(console, options, answer);
}

int offcpu(OffCpuOptions options, const Console& console) {
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor, false);
  if (!view) return console.fail(view.error().message);
  StatesRequest request;
  request.open = view->open;
  request.spec = view->spec;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = states_answer(*view->views, request, StopToken{});
  const int code = options.json || !answer ? print_answer<psp::StatesRequest>(
                                                 std::move(answer), shown_file(options.profile), console)
                                           : console.print(text_of(console, options, *answer));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_offcpu(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<OffCpuOptions>();
  CLI::App* app = root.add_subcommand(
      "offcpu", "How long threads ran, were blocked and waited for a processor; what they were blocked by");
  add_profile_options(*app, options->profile);
  add_number(*app, "-n", "-n", options->n, 0, kMostRows,
             "Threads and chains at most; 0 shows all, otherwise 10");
  app->add_flag("--chains", options->whole_chains, "Chains with all their functions, the kernel's too");
  app->add_flag("--json", options->json, "The answer of view/states, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd offcpu perf.data\n  profd offcpu --filter 'thread main' perf.data\n  profd flame "
      "--metric wall perf.data\n  profd flame --metric chains -o chains.svg perf.data\n\nNeeds every event "
      "of "
      "the scheduler, of the whole system and with stacks:\n  perf record -a -e cpu-clock/freq=999/ -e "
      "sched:sched_switch -e sched:sched_waking -g -- ./app\nThere is no -F in it: that would sample the "
      "events "
      "of the scheduler, too.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return offcpu(*options, console); };
  });
}

}  // namespace profd

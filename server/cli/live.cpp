#include "server/cli/live.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "core/support/executor.h"
#include "server/cli/arguments.h"
#include "server/cli/live_screen.h"
#include "server/cli/symbols_here.h"
#include "server/engine/growing_input.h"
#include "server/engine/live_sessions.h"
#include "server/engine/sample_source.h"
#include "server/feature/escape.h"
#include "server/runtime/log.h"

namespace profd {
namespace {

using std::chrono::milliseconds;

struct LiveOptions {
  std::string source, replay, record, socket;
  double speed = 1;
  bool once = false, json = false, tcp = false;
  std::size_t rows = 15, threads = 10;
  double window = 3;
};

// Signals that end the command wait until it asks for them, so that it puts away what it made.
class EndSignalsHeld {
 public:
  EndSignalsHeld() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~EndSignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndSignalsHeld(const EndSignalsHeld&) = delete;
  EndSignalsHeld& operator=(const EndSignalsHeld&) = delete;
  // Whether one came within that time.
  [[nodiscard]] bool come_within(milliseconds time) const {
    const timespec wait{time.count() / 1000, (time.count() % 1000) * 1'000'000};
    return ::sigtimedwait(&signals_, nullptr, &wait) > 0;
  }

 private:
  sigset_t signals_{}, before_{};
};

// The picture in place of the one before.
void redraw(const Console& console, const std::string& text, std::size_t& lines) {
  std::string out;
  if (lines > 0) out += fmt::format("\x1b[{}A\x1b[J", lines);
  lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  console.print(out + text);
}

int show_until_end(const LiveOptions& options, const Console& console, LiveSessions& sessions,
                   std::shared_ptr<LiveSession> session, const EndSignalsHeld& signals) {
  std::size_t lines = 0;
  std::uint32_t shown = 0;
  auto text = [&] {
    const LivePicture picture = session->picture(0, options.rows, options.threads);
    shown = picture.frame;
    const LiveInfo info = session->info();
    return options.json ? live_json(info, picture) : live_screen(info, picture, console.out);
  };
  const bool in_place = console.out.is_terminal && !options.json;
  while (true) {
    if (!session) {
      const auto all = sessions.list();
      if (!all.empty()) session = all.front();
    }
    const bool ended = session && session->ended();
    if (session && !options.once && session->frame() != shown) {
      if (in_place)
        redraw(console, text(), lines);
      else
        console.print(text());
    }
    if (ended) break;
    if (signals.come_within(milliseconds(options.once ? 50 : in_place ? 250 : 1000))) break;
  }
  if (!session) return kExitOk;
  if (options.once) console.print(text());
  return session->info().error.empty() ? kExitOk : kExitInput;
}

// The first samples are waited for here, so that whoever ends the command before them is heard.
int run_sampled(const LiveOptions& options, const Console& console, LiveSessions& sessions,
                const EndSignalsHeld& signals) {
  Result<std::unique_ptr<SampleFeed>> feed = options.source == "-"
                                                 ? pipe_feed(UniqueFd(::dup(STDIN_FILENO)), "standard input")
                                                 : sample_feed_of(options.source);
  if (!feed) return console.fail(describe(feed.error()));
  StopSource stop;
  std::atomic<bool> begun{false};
  Result<std::shared_ptr<LiveSession>> session;
  std::thread beginning([&] {
    session = sessions.sample(std::move(*feed), places_here("-", ProfileOptions()), StopToken(stop));
    begun = true;
  });
  console.note("waiting for samples; Ctrl-C ends this, the program runs on");
  bool given_up = false;
  while (!begun && !given_up) given_up = signals.come_within(milliseconds(20));
  if (given_up) stop.request_stop();
  beginning.join();
  if (given_up) return kExitOk;
  if (!session) return console.fail(describe(session.error()));
  return show_until_end(options, console, sessions, *session, signals);
}

int run_live(const LiveOptions& options, const Console& console) {
  const EndSignalsHeld signals;  // before any thread
  if (const auto logging = start_logging(""); !logging) return console.fail(describe(logging.error()));
  LiveSessions sessions({}, symbol_options_from_environment());
  if (const auto set =
          sessions.set_window(static_cast<live::Nanoseconds>(options.window * 10 + 0.5) * live::kBucket);
      !set)
    return console.fail("--window: " + set.error().message, kExitUsage);
  if (!options.replay.empty()) {
    if (!options.source.empty())
      return console.fail("--replay is of a recording: leave the source out", kExitUsage);
    if (!options.record.empty())
      return console.fail("--record writes what programs send, not a replay", kExitUsage);
    SerialExecutor executor;
    const auto session = sessions.replay(options.replay, options.once ? 0 : options.speed,
                                         places_here(options.replay, ProfileOptions()), executor, {});
    if (!session) return console.fail(describe(session.error()));
    return show_until_end(options, console, sessions, *session, signals);
  }
  if (!options.record.empty()) sessions.record_to(std::filesystem::absolute(options.record).string());
  if (!options.source.empty()) return run_sampled(options, console, sessions, signals);
  const auto listening = options.tcp ? sessions.listen_tcp() : sessions.listen_unix(options.socket);
  if (!listening) return console.fail(describe(listening.error()));
  std::string how;
  for (const std::string& variable : listening->environment) how += variable + " ";
  console.note("waiting for a program: start it with " + how +
               "and an agent in it; Ctrl-C ends this, the program runs on");
  return show_until_end(options, console, sessions, nullptr, signals);
}

}  // namespace

void add_live(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<LiveOptions>();
  CLI::App* app = root.add_subcommand("live", "What a running program does now, method by method");
  app->add_option(
         "source", options->source,
         "A program without an agent, by samples: http://… of its pprof, ws://… of Node's inspector, a "
         "file or folder that a profiler writes, - for a pipe")
      ->type_name("SOURCE");
  app->add_option("--replay", options->replay, "A recorded stream instead of a program")->type_name("FILE");
  app->add_option("--speed", options->speed,
                  "Seconds of a replay for one of the clock; 0 plays all of it at once")
      ->type_name("NUMBER")
      ->check(CLI::Range(0.0, 1000.0));
  app->add_flag("--once", options->once,
                "Print the last picture when the program or replay has ended, nothing before");
  app->add_flag("--json", options->json, "A line of JSON for each picture");
  app->add_option("--record", options->record, "Also write the stream to this new file")->type_name("FILE");
  app->add_option("--socket", options->socket, "Where agents dial in, instead of the runtime folder")
      ->type_name("PATH");
  app->add_flag("--tcp", options->tcp, "Agents dial in over TCP on this machine, with a token");
  app->add_option("--window", options->window, "Seconds that shares look back, 0.1 to 60; otherwise 3")
      ->type_name("NUMBER");
  add_number(*app, "-n", "-n", options->rows, 1, 1000, "Methods shown, otherwise 15");
  app->footer(
      "Examples:\n  profd live\n  profd live http://127.0.0.1:6060\n  profd live ws://127.0.0.1:9229\n  perf "
      "record -F 99 -g -o - ./program | profd live -\n  profd live --record game.plive\n  profd live "
      "--replay game.plive --speed "
      "4\n"
      "  profd live --replay game.plive --once --json");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return run_live(*options, console); };
  });
}

}  // namespace profd

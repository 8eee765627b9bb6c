// profd serve and connect: the daemon and the way to it.
#include <limits>
#include <memory>

#include "server/cli/arguments.h"
#include "server/cli/command.h"
#include "server/cli/connect.h"
#include "server/cli/serve.h"

namespace profd {
namespace {

constexpr std::uint64_t kMostThreads = 4096, kLongestIdle = 1'000'000'000;

}  // namespace

void add_serve(CLI::App& root, Commands& commands) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* serve =
      root.add_subcommand("serve", "Serve editors and scripts: JSON-RPC over stdio, a Unix socket or TCP");
  serve->add_flag("--stdio", options->stdio, "One client on stdin and stdout; the default");
  serve->add_option("--socket", options->socket, "A Unix socket (mode 0600) for any number of clients")
      ->type_name("PATH");
  serve
      ->add_option_function<std::string>(
          "--port",
          [options](const std::string& given) {
            constexpr std::uint64_t kLast = std::numeric_limits<std::uint16_t>::max();
            options->port = static_cast<std::uint16_t>(whole_number("--port", given, 0, kLast));
          },
          "TCP on 127.0.0.1, with a token; 0 lets the system choose")
      ->type_name("PORT");
  serve->add_option("--token-file", options->token_file, "Where port and token are written (mode 0600)")
      ->type_name("PATH");
  add_number(*serve, "--threads", "--threads", options->threads, 0, kMostThreads,
             "Worker threads; default: one more than the machine has cores");
  serve
      ->add_option("--memory-budget", options->memory_budget,
                   "For all that is held, such as 4GB; default: half of the memory")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  add_number(*serve, "--idle-timeout", "--idle-timeout", options->idle_timeout_s, 0, kLongestIdle,
             "Exit after so many seconds without clients; 0: never")
      ->type_name("SECONDS");
  serve
      ->add_option("--log", options->log,
                   "Log to a file instead of stderr (level: environment variable PROFD_LOG)")
      ->type_name("FILE");
  serve->add_flag("--test-mode", options->test_mode, "Everything in order and without a clock, for tests")
      ->group("");
  serve->add_flag("--test-threads", options->test_threads, "Threads in test mode")->group("");
  serve->footer(
      "Examples:\n  profd serve --stdio                      what an editor starts\n"
      "  profd serve --socket /tmp/me/profd.sock  for several clients\n"
      "  profd serve --port 0                     TCP; port and token go to the token file");
  serve->callback(
      [&commands, options] { commands.action = [options](const Console&) { return run_serve(*options); }; });
}

void add_connect(CLI::App& root, Commands& commands) {
  auto options = std::make_shared<ConnectOptions>();
  CLI::App* connect = root.add_subcommand(
      "connect", "stdio for an editor, in front of the one daemon of the user; started when none runs");
  connect->add_option("--socket", options->socket, "The daemon's socket; default: in the runtime folder")
      ->type_name("PATH");
  add_number(*connect, "--idle-timeout", "--idle-timeout", options->idle_timeout_s, 0, kLongestIdle,
             "Of a daemon that this starts")
      ->type_name("SECONDS");
  connect->add_option("--log", options->log, "Of a daemon that this starts")->type_name("FILE");
  connect->add_flag("!--no-start", options->start, "Fail when no daemon runs");
  connect->footer(
      "Examples:\n  profd connect               what an editor's configuration names\n"
      "  profd connect --no-start    only when a daemon runs already");
  connect->callback([&commands, options] {
    commands.action = [options](const Console&) { return run_connect(*options); };
  });
}

}  // namespace profd

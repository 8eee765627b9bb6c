// profd lsp: profd as a language server, alone or around another one.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "server/cli/arguments.h"
#include "server/cli/command.h"
#include "server/cli/connect.h"
#include "server/proxy/run_proxy.h"
#include "server/proxy/split_command.h"

#ifndef PROFD_VERSION
#define PROFD_VERSION "unknown"
#endif

namespace profd {
namespace {

constexpr std::uint64_t kLongestPatience = 600'000, kLongestIdleOfLsp = 1'000'000'000;

struct LspOptions {
  ConnectOptions daemon;
  std::string wrap, log;
  std::vector<std::string> misplaced;
  unsigned patience_ms = 200;
};

int run_lsp(const LspOptions& options, const std::vector<std::string>& words, const Console& console) {
  if (!options.misplaced.empty())
    return console.fail(
        "the language server is named after --: `profd lsp -- " + options.misplaced.front() + " ...`",
        kExitUsage);
  if (!options.wrap.empty() && !words.empty())
    return console.fail("the language server is named twice: give either --wrap or what follows --",
                        kExitUsage);
  RunProxyOptions proxy;
  proxy.command = words;
  if (!options.wrap.empty()) {
    auto split = split_command(options.wrap);
    if (!split) return console.fail("--wrap: " + split.error().message, kExitUsage);
    proxy.command = std::move(*split);
  }
  if (proxy.command.empty() && !options.log.empty())
    return console.fail("--log writes what is said to a wrapped language server: give --wrap, too",
                        kExitUsage);
  if (proxy.command.empty()) return run_connect(options.daemon);
  proxy.patience = std::chrono::milliseconds(options.patience_ms);
  proxy.version = PROFD_VERSION;
  proxy.log = options.log;
  proxy.daemon = [daemon = options.daemon] { return connect_to_daemon(daemon); };
  const int code = run_proxy(proxy);
  std::fflush(nullptr);
  ::_exit(code);  // without the destructors that a thread which is left could trip over
}

}  // namespace

void add_lsp(CLI::App& root, Commands& commands) {
  auto options = std::make_shared<LspOptions>();
  CLI::App* lsp = root.add_subcommand(
      "lsp", "A language server for an editor that takes one: profd's answers among those of another");
  lsp->add_option(
         "--wrap", options->wrap,
         "The language server and its arguments; blanks and quotes part words, and there is no shell")
      ->type_name("COMMAND");
  add_number(*lsp, "--patience", "--patience", options->patience_ms, 0, kLongestPatience,
             "How long an answer of the language server waits for profd's; default: 200")
      ->type_name("MS");
  lsp->add_option("--log", options->log,
                  "Add all messages to this file, for a report; the texts of documents are in it")
      ->type_name("FILE");
  lsp->add_option("--socket", options->daemon.socket, "The daemon's socket; default: in the runtime folder")
      ->type_name("PATH");
  add_number(*lsp, "--idle-timeout", "--idle-timeout", options->daemon.idle_timeout_s, 0, kLongestIdleOfLsp,
             "Of a daemon that this starts")
      ->type_name("SECONDS");
  lsp->add_flag("!--no-start", options->daemon.start, "Do without profd when no daemon runs");
  lsp->add_option("COMMAND", options->misplaced, "After --: the language server and its arguments")
      ->option_text("...");
  lsp->footer(
      "Examples:\n  profd lsp --wrap \"clangd --background-index\"   clangd, with what profd measured\n"
      "  profd lsp -- gopls serve                       the same, for lists of arguments\n"
      "  profd lsp                                      profd alone, as `profd connect`\n\n"
      "The exit code is that of the language server, or 127 when it cannot be started.");
  lsp->callback([&commands, options] {
    commands.action = [options, words = commands.command_line](const Console& console) {
      return run_lsp(*options, words, console);
    };
  });
}

}  // namespace profd

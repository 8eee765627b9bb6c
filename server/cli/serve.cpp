#include "server/cli/serve.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "server/dialect/psp/psp_session.h"
#include "server/feature/escape.h"
#include "server/platform/process.h"
#include "server/platform/runtime_dir.h"
#include "server/runtime/log.h"
#include "server/runtime/secret.h"
#include "server/transport/daemon.h"

namespace profd {
namespace {

int complain(const Error& error) {
  std::fprintf(stderr, "profd serve: %s\n", sanitize_text(describe(error)).c_str());
  return 1;
}

// One worker is kept for interactive requests, so a machine of n cores gets n + 1 and at least three.
unsigned default_threads() {
  return std::clamp(std::thread::hardware_concurrency() + 1, 3u, 33u);
}

Result<void> serve_tcp(Daemon& daemon, const ServeOptions& options) {
  std::string file = options.token_file;
  if (file.empty()) {
    PROFD_TRY(const std::string folder, runtime_dir());
    file = folder + "/tcp";
  }
  const std::string token = make_secret(32);
  PROFD_TRY(const std::uint16_t port, daemon.serve_tcp(*options.port, token));
  PROFD_CHECK(write_private_file(file, fmt::format("{}\n{}\n", port, token)));
  std::fprintf(stderr, "profd: listening on 127.0.0.1:%u, port and token are in %s\n", port,
               sanitize_text(file).c_str());
  return {};
}

}  // namespace

int run_serve(const ServeOptions& options) {
  if (const auto logging = start_logging(options.log); !logging) return complain(logging.error());
  const bool stdio = options.stdio || (options.socket.empty() && !options.port);
  DaemonOptions daemon_options;
  daemon_options.make_session = make_psp_session;
  daemon_options.admission = admission_limits(descriptor_limit());
  daemon_options.test_mode = options.test_mode;
  daemon_options.idle_timeout = std::chrono::seconds(options.idle_timeout_s);
  daemon_options.engine.memory_budget = options.memory_budget;
  SymbolOptions& symbols = daemon_options.engine.symbols;
  symbols = symbol_options_from_environment();
  if (options.test_mode) {
    symbols.on_open = false;
    symbols.cache.clear();
  } else {
    daemon_options.engine.cache = cache_options_from_environment();
  }
  const unsigned threads = options.threads != 0 ? options.threads : default_threads();
  daemon_options.engine.n_threads = options.test_mode && !options.test_threads ? 0 : threads;
  auto out = stdio ? take_stdout() : Result<UniqueFd>(UniqueFd());
  if (!out) return complain(out.error());
  Daemon daemon(daemon_options);
  if (!options.socket.empty())
    if (const auto listening = daemon.serve_unix(options.socket); !listening)
      return complain(listening.error());
  if (options.port)
    if (const auto listening = serve_tcp(daemon, options); !listening) return complain(listening.error());
  if (stdio) daemon.serve_pipes(0, std::move(*out));
  return daemon.run();
}

}  // namespace profd

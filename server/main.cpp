// Replaced by the table of sub-commands.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "server/cli/connect.h"
#include "server/cli/serve.h"

int main(int argc, char** argv) {
  if (argc >= 2 && std::strcmp(argv[1], "serve") == 0) {
    profd::ServeOptions options;
    for (int i = 2; i < argc; ++i) {
      const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
      if (std::strcmp(argv[i], "--stdio") == 0) options.stdio = true;
      else if (std::strcmp(argv[i], "--socket") == 0) options.socket = value();
      else if (std::strcmp(argv[i], "--port") == 0) options.port = static_cast<std::uint16_t>(std::atoi(value()));
      else if (std::strcmp(argv[i], "--token-file") == 0) options.token_file = value();
      else if (std::strcmp(argv[i], "--idle-timeout") == 0) options.idle_timeout_s = static_cast<unsigned>(std::atoi(value()));
      else if (std::strcmp(argv[i], "--memory-budget") == 0) options.memory_budget = std::strtoull(value(), nullptr, 10);
      else if (std::strcmp(argv[i], "--log") == 0) options.log = value();
      else if (std::strcmp(argv[i], "--test-mode") == 0) options.test_mode = true;
      else if (std::strcmp(argv[i], "--test-threads") == 0) options.test_threads = true;
      else return 2;
    }
    return profd::run_serve(options);
  }
  if (argc >= 2 && std::strcmp(argv[1], "connect") == 0) {
    profd::ConnectOptions options;
    for (int i = 2; i + 1 < argc; i += 2) {
      if (std::strcmp(argv[i], "--socket") == 0) options.socket = argv[i + 1];
      else if (std::strcmp(argv[i], "--idle-timeout") == 0) options.idle_timeout_s = static_cast<unsigned>(std::atoi(argv[i + 1]));
    }
    return profd::run_connect(options);
  }
  return 2;
}

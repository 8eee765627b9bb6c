// profd query: requests to the user's daemon over one connection, and their answers.
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "protocol/json_parse.h"
#include "protocol/json_text.h"
#include "server/cli/command.h"
#include "server/cli/connect.h"
#include "server/cli/daemon_client.h"

namespace profd {
namespace {

struct QueryOptions {
  ConnectOptions connect;
  std::vector<std::string> words;  // METHOD [JSON] [METHOD [JSON]]...
};

struct Request {
  std::string method, params;
};

bool is_params(std::string_view word) {
  const std::size_t first = word.find_first_not_of(" \t\r\n");
  return first != word.npos && (word[first] == '{' || word[first] == '[');
}

// The parameters must be an object or an array; `where` begins the sentence.
Result<void> check_params(const std::string& text, const std::string& where) {
  const auto params = protocol::parse_json(text);
  if (!params) return fail(ErrorCode::invalid, where + " is not JSON: " + params.error().message);
  if (!params->is_object() && !params->is_array())
    return fail(ErrorCode::invalid, where + " must be a JSON object or array");
  return {};
}

// Pairs of METHOD and JSON, where JSON may be left out: methods never begin with a bracket.
Result<std::vector<Request>> requests_of(const std::vector<std::string>& words) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (is_params(words[i]))
      return fail(ErrorCode::invalid,
                  "a method goes before its parameters; there is none before " + words[i]);
    Request request{words[i], ""};
    // What follows a method and cannot be one is a broken PARAMS, not the name of another method.
    const bool is_pair =
        i + 1 < words.size() && (is_params(words[i + 1]) || words[i + 1].find('/') == std::string::npos);
    if (is_pair) {
      request.params = words[++i];
      PROFD_CHECK(check_params(request.params, "PARAMS"));
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

// "METHOD" or "METHOD JSON", blank lines and lines that begin with # aside.
Result<std::optional<Request>> request_of_line(std::string_view line, std::size_t number) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == line.npos || line[first] == '#') return std::optional<Request>();
  line.remove_prefix(first);
  const std::size_t end = line.find_last_not_of(" \t\r") + 1;
  line = line.substr(0, end);
  const std::size_t space = line.find_first_of(" \t");
  Request request{std::string(line.substr(0, space)), ""};
  if (space != line.npos) {
    request.params = line.substr(line.find_first_not_of(" \t", space));
    PROFD_CHECK(
        check_params(request.params, fmt::format("line {}: what follows {}", number, request.method)));
  }
  return std::optional<Request>(std::move(request));
}

// Prints the answer. The exit code so far: a refused request is told and does not stop the ones after it.
Result<int> answer(DaemonClient& daemon, const Request& request, const Console& console, int code) {
  const auto result = daemon.ask(request.method, request.params);
  if (result) {
    const int printed = console.print(protocol::without_controls(protocol::dump_json(*result)) + "\n");
    return printed != kExitOk ? printed : code;
  }
  if (result.error().code != ErrorCode::invalid) return tl::unexpected<Error>(result.error());
  return console.fail(fmt::format("{}: {}", request.method, describe(result.error())));
}

Result<int> ask_lines(DaemonClient& daemon, const Console& console) {
  int code = kExitOk;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    auto request = request_of_line(line, number);
    if (!request) {
      code = console.fail(describe(request.error()));
      continue;
    }
    if (*request) {
      PROFD_TRY(code, answer(daemon, **request, console, code));
    }
  }
  return code;
}

int run_query(const QueryOptions& options, const Console& console) {
  const bool from_stdin = options.words.size() == 1 && options.words.front() == "-";
  std::vector<Request> requests;
  if (!from_stdin) {
    auto parsed = requests_of(options.words);
    if (!parsed) return console.fail(describe(parsed.error()), kExitUsage);
    requests = std::move(*parsed);
  }
  std::error_code unknown;
  auto daemon =
      DaemonClient::open(options.connect, "profd query", std::filesystem::current_path(unknown).string());
  if (!daemon) return console.fail(describe(daemon.error()));
  Result<int> code = kExitOk;
  if (from_stdin) code = ask_lines(*daemon, console);
  for (std::size_t i = 0; i < requests.size() && code; ++i)
    code = answer(*daemon, requests[i], console, *code);
  if (!code) return console.fail(describe(code.error()));
  daemon->close();
  return *code;
}

}  // namespace

void add_query(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<QueryOptions>();
  CLI::App* app = root.add_subcommand(
      "query", "Send requests to your daemon over one connection and print each result as a line of JSON");
  app->add_option("REQUEST", options->words,
                  "METHOD [JSON], as often as wanted: profile/list; - reads them from stdin, one a line")
      ->required()
      ->type_name("METHOD [JSON]");
  app->add_option("--socket", options->connect.socket, "The daemon's socket; default: in the runtime folder")
      ->type_name("PATH");
  app->add_flag("!--no-start", options->connect.start, "Fail when no daemon runs");
  app->footer(
      "Examples:\n  profd query profile/list\n"
      "  profd query profile/open '{\"uri\": \"file:///tmp/cpu.pprof\"}' view/hotspots '{\"limit\": 5}'\n"
      "  profd query - < requests.txt    one METHOD JSON a line");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return run_query(*options, console); };
  });
}

}  // namespace profd

// profd query: requests to the user's daemon over one connection, and their answers.
#include <cerrno>
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
#include <unistd.h>

#include "protocol/framing.h"
#include "protocol/json_parse.h"
#include "protocol/json_text.h"
#include "protocol/message.h"
#include "server/cli/command.h"
#include "server/cli/connect.h"
#include "server/cli/json_writer.h"
#include "server/engine/uri.h"

namespace profd {
namespace {

struct QueryOptions {
  ConnectOptions connect;
  std::vector<std::string> words;  // METHOD [JSON] [METHOD [JSON]]...
};

struct Request {
  std::string method, params;
};

constexpr std::int64_t kInitializeId = 1, kFirstRequestId = 2;

Result<void> send(int fd, std::string_view body) {
  const int error = write_all(fd, protocol::frame(body));
  if (error == 0) return {};
  return fail(ErrorCode::io, "the daemon went away: " + std::generic_category().message(error));
}

std::string initialize_text() {
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  std::string params;
  JsonWriter json(params);
  json.begin_object();
  json.field("processId", static_cast<std::int64_t>(::getpid()));
  json.key("clientInfo");
  json.begin_object();
  json.field("name", "profd query");
  json.end_object();
  json.key("rootUri");
  if (error) {
    json.null();
  } else {
    json.value(uri_of_path(here));
  }
  json.key("capabilities");
  json.begin_object();
  json.end_object();
  json.end_object();
  return protocol::request_text(kInitializeId, "initialize", params);
}

// The next message; answers what the daemon asks of a client that can do nothing.
Result<nlohmann::json> next_message(int fd, protocol::FrameReader& frames) {
  char buffer[1 << 16];
  for (;;) {
    while (auto frame = frames.next()) {
      if (const auto* broken = std::get_if<protocol::FrameError>(&*frame)) {
        return fail(ErrorCode::malformed, "the daemon's answer is broken: " + broken->message);
      }
      auto message = protocol::parse_json(std::get<std::string>(*frame));
      if (!message)
        return fail(ErrorCode::malformed, "the daemon's answer is broken: " + message.error().message);
      if (!message->is_object()) continue;
      if (message->contains("method") && message->contains("id")) {
        const std::string answer = fmt::format(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":-32601,\"message\":\"not supported\"}}}}",
            (*message)["id"].dump());
        PROFD_CHECK(send(fd, answer));
        continue;
      }
      return std::move(*message);
    }
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(ErrorCode::io, "the daemon closed the connection before it answered");
    frames.feed({buffer, static_cast<std::size_t>(n)});
  }
}

Result<nlohmann::json> answer_to(std::int64_t id, int fd, protocol::FrameReader& frames) {
  for (;;) {
    PROFD_TRY(nlohmann::json message, next_message(fd, frames));
    const auto at = message.find("id");
    if (at != message.end() && at->is_number_integer() && at->get<std::int64_t>() == id) return message;
  }
}

// The daemon's error as a sentence, nothing when the answer is a result.
std::string error_in(const nlohmann::json& answer) {
  const auto error = answer.find("error");
  if (error == answer.end()) return {};
  if (!error->is_object()) return "the daemon refused";
  const std::string message = error->value("message", std::string("the daemon refused"));
  const auto code = error->find("code");
  return code == error->end() ? message : fmt::format("{} (code {})", message, code->dump());
}

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

// One connection to the daemon, and its requests one after another.
class Connection {
 public:
  static Result<Connection> open(const ConnectOptions& options) {
    PROFD_TRY(UniqueFd fd, connect_to_daemon(options));
    Connection connection(std::move(fd));
    PROFD_CHECK(send(connection.fd_.get(), initialize_text()));
    PROFD_TRY(const nlohmann::json hello, answer_to(kInitializeId, connection.fd_.get(), connection.frames_));
    if (const std::string refused = error_in(hello); !refused.empty()) return fail(ErrorCode::io, refused);
    PROFD_CHECK(send(connection.fd_.get(), protocol::notification_text("initialized", "{}")));
    return connection;
  }

  // The result as a line. `invalid`: the daemon refused, and goes on.
  Result<std::string> ask(const Request& request) {
    const std::int64_t id = next_id_++;
    PROFD_CHECK(send(fd_.get(), protocol::request_text(id, request.method, request.params)));
    PROFD_TRY(const nlohmann::json answer, answer_to(id, fd_.get(), frames_));
    if (const std::string refused = error_in(answer); !refused.empty())
      return fail(ErrorCode::invalid, refused);
    const auto result = answer.find("result");
    if (result == answer.end()) return fail(ErrorCode::malformed, "the daemon's answer has no result");
    return protocol::without_controls(protocol::dump_json(*result)) + "\n";
  }

  void close() {
    (void)send(fd_.get(), protocol::request_text(next_id_++, "shutdown", {}));
    (void)send(fd_.get(), protocol::notification_text("exit", {}));
  }

 private:
  explicit Connection(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  protocol::FrameReader frames_;
  std::int64_t next_id_ = kFirstRequestId;
};

// Prints the answer. The exit code so far: a refused request is told and does not stop the ones after it.
Result<int> answer(Connection& connection, const Request& request, const Console& console, int code) {
  const auto result = connection.ask(request);
  if (result) {
    const int printed = console.print(*result);
    return printed != kExitOk ? printed : code;
  }
  if (result.error().code != ErrorCode::invalid) return tl::unexpected<Error>(result.error());
  return console.fail(fmt::format("{}: {}", request.method, describe(result.error())));
}

Result<int> ask_lines(Connection& connection, const Console& console) {
  int code = kExitOk;
  std::string line;
  for (std::size_t number = 1; std::getline(std::cin, line); ++number) {
    auto request = request_of_line(line, number);
    if (!request) {
      code = console.fail(describe(request.error()));
      continue;
    }
    if (*request) {
      PROFD_TRY(code, answer(connection, **request, console, code));
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
  auto connection = Connection::open(options.connect);
  if (!connection && connection.error().code == ErrorCode::not_found)
    return console.fail("no daemon answers (" + describe(connection.error()) +
                        "); leave out --no-start, or start one with `profd serve --socket PATH`");
  if (!connection) return console.fail(describe(connection.error()));
  Result<int> code = kExitOk;
  if (from_stdin) code = ask_lines(*connection, console);
  for (std::size_t i = 0; i < requests.size() && code; ++i)
    code = answer(*connection, requests[i], console, *code);
  if (!code) return console.fail(describe(code.error()));
  connection->close();
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

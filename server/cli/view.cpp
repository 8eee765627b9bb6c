// profd view: the views in a browser, of profiles that the user's daemon opens.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "core/support/base_name.h"
#include "protocol/generated/psp_messages.h"
#include "server/cli/command.h"
#include "server/cli/daemon_client.h"
#include "server/cli/formats.h"
#include "server/cli/progress_line.h"
#include "server/cli/project_here.h"
#include "server/engine/uri.h"
#include "server/feature/escape.h"
#include "server/platform/run.h"

namespace profd {
namespace {
namespace fs = std::filesystem;

struct ViewOptions {
  ConnectOptions connect;
  std::vector<std::string> files;
  std::string format, view;
  bool open = true;
};

// An address of a page, as *Copy the link* gives it or a browser shows it: the files it names, and how they
// are looked at. What lets in (`t`, `c`) and folders (`root`) are not taken from a link: whoever wrote it is
// not asked. Nothing for what is no such address.
struct Link {
  std::vector<std::string> uris;
  std::string place;  // "&tab=flat&zoom=x": escaped as it was, and nothing that is not
};
std::optional<Link> link_of_argument(std::string_view text, bool has_view) {
  constexpr std::array<std::string_view, 14> kPlace = {"member", "tab",      "view",  "off", "zoom",
                                                       "search", "order",    "color", "by",  "up",
                                                       "file",   "function", "line",  "sort"};
  const std::size_t hash = text.find('#');
  if (!text.starts_with("http://") || hash == text.npos) return std::nullopt;
  Link link;
  std::string_view rest = text.substr(hash + 1);
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) continue;
    const std::string_view key = part.substr(0, equals);
    const auto value = fragment_decoded(part.substr(equals + 1));
    if (!value) continue;
    if (key == "open")
      link.uris.push_back(*value);
    else if (std::find(kPlace.begin(), kPlace.end(), key) != kPlace.end() && (key != "view" || !has_view))
      link.place += fmt::format("&{}={}", key, percent_encoded(*value));
  }
  return link;
}

std::string uri_of_argument(const std::string& file) {
  if (file.find("://") != file.npos) return file;
  std::error_code error;
  return uri_of_path(fs::absolute(file, error).lexically_normal().string());
}

std::string text_at(const nlohmann::json& value, const char* name) {
  const auto found = value.is_object() ? value.find(name) : value.end();
  return value.is_object() && found != value.end() && found->is_string() ? found->get<std::string>() : "";
}

// Ctrl-C ends this program, and with its connection the daemon stops reading.
Result<std::string> open_one(DaemonClient& daemon, const ViewOptions& options, const std::string& file,
                             const Console& console) {
  const std::string uri = uri_of_argument(file);
  psp::ProfileOpenParams params;
  params.uri = uri;
  params.work_done_token = psp::ProgressToken("view");
  if (!options.format.empty()) params.format = options.format;
  ProgressLine line(console, sanitize_text(base_name(file)));
  PROFD_TRY(const nlohmann::json opened,
            daemon.ask(psp::ProfileOpenRequest::method, psp::ProfileOpenRequest::params_text(params),
                       [&](const std::string& method, const nlohmann::json& told) {
                         const auto value = told.is_object() ? told.find("value") : told.end();
                         if (method != "$/progress" || value == told.end() || !value->is_object()) return;
                         const auto percentage = value->find("percentage");
                         std::string far = percentage != value->end() && percentage->is_number_integer()
                                               ? fmt::format("{} %", percentage->get<std::int64_t>())
                                               : "";
                         if (const std::string message = text_at(*value, "message"); !message.empty())
                           far += (far.empty() ? "" : ", ") + message;
                         if (!far.empty()) line.update(far);
                       }));
  return uri;
}

Result<nlohmann::json> address_of(DaemonClient& daemon, const std::vector<std::string>& uris,
                                  const std::string& view) {
  psp::WebAddressParams params;
  params.open = uris;
  if (!view.empty()) params.view = view;
  return daemon.ask(psp::WebAddressRequest::method, psp::WebAddressRequest::params_text(params));
}

bool has_desktop() {
#ifdef __APPLE__
  return std::getenv("SSH_CONNECTION") == nullptr;
#else
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"})
    if (const char* value = std::getenv(name); value != nullptr && value[0] != '\0') return true;
  return false;
#endif
}

Result<void> open_in_browser(const std::string& address) {
  RunRequest request;
#ifdef __APPLE__
  request.argv = {"open", address};
#else
  request.argv = {"xdg-open", address};
#endif
  request.timeout = std::chrono::seconds(20);
  PROFD_TRY(const RunAnswer answer, run_program(request, {}));
  if (answer.exit_code != 0) return fail(ErrorCode::io, request.argv.front() + " opened no browser");
  return {};
}

int run_view(const ViewOptions& options, const Console& console) {
  auto daemon = DaemonClient::open(options.connect, "profd view", project_here());
  if (!daemon) return console.fail(describe(daemon.error()));
  int code = kExitOk;
  std::vector<std::string> uris, files;
  std::string place;
  for (const std::string& file : options.files) {
    const auto link = link_of_argument(file, !options.view.empty());
    if (!link) {
      files.push_back(file);
      continue;
    }
    files.insert(files.end(), link->uris.begin(), link->uris.end());
    if (place.empty()) place = link->place;
  }
  for (const std::string& file : files) {
    auto uri = open_one(*daemon, options, file, console);
    if (uri)
      uris.push_back(std::move(*uri));
    else
      code = console.fail(describe(uri.error()));
  }
  if (uris.empty() && !files.empty()) return code;
  const auto page = address_of(*daemon, uris, options.view);
  if (!page) return console.fail(describe(page.error()));
  const auto has_page = page->find("hasPage");
  if (has_page == page->end() || *has_page != true)
    return console.fail(
        "this profd was built without the views for browsers (Node was not there); `profd flame` draws in "
        "the "
        "terminal, `profd flame -o cpu.svg` makes a page");
  const std::string address = text_at(*page, "address") + place;
  if (const int printed = console.print(sanitize_text(address) + "\n"); printed != kExitOk) return printed;
  const bool desktop = options.open && has_desktop();
  if (desktop)
    if (const auto opened = open_in_browser(text_at(*page, "once") + place); !opened)
      console.note(describe(opened.error()) + "; open the address yourself");
  if (options.open && !desktop && console.err.is_terminal)
    console.note(
        "there is no desktop here; open the address in a browser. From another machine forward its port "
        "first: "
        "`profd view --help`");
  daemon->close();
  return code;
}

}  // namespace

void add_view(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<ViewOptions>();
  CLI::App* app =
      root.add_subcommand("view", "Show profiles in your browser; your daemon opens and serves them");
  app->add_option("FILE", options->files, "Profiles, or a link that a page gave; none shows what is open")
      ->type_name("FILE...");
  app->add_option("--view", options->view, "The view to begin with: 'bottom-up by module | drop thread idle'")
      ->type_name("SPEC");
  add_format_option(*app, options->format);
  app->add_flag("!--no-open", options->open, "Print the address and open nothing");
  app->add_option("--socket", options->connect.socket, "The daemon's socket; default: in the runtime folder")
      ->type_name("PATH");
  app->add_flag("!--no-start", options->connect.start, "Fail when no daemon runs");
  app->footer(
      "Examples:\n  profd view cpu.pprof\n"
      "  profd view before.pprof after.pprof   both, to switch between\n"
      "  profd view 'http://127.0.0.1:40817/#open=...'   what a page showed, whose daemon may have ended\n"
      "  profd view --no-open cpu.pprof        on a machine without a desktop: prints the address\n"
      "From another machine: with the port of the printed address (say 40817)\n"
      "  ssh -L 40817:127.0.0.1:40817 HOST     then open the printed address in the browser there\n"
      "The address lets in whoever has it, as long as the daemon runs. Ctrl-C while a file is read stops "
      "that.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return run_view(*options, console); };
  });
}

}  // namespace profd

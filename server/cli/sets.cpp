// profd sets: how much of a profile belongs to sets of frames, each stack counted once.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/support/text.h"
#include "core/view/pattern.h"
#include "server/cli/align.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/sets_here.h"
#include "server/feature/escape.h"
#include "server/feature/sets_answer.h"

namespace profd {
namespace {

struct SetsOptions {
  ProfileOptions profile;
  std::vector<std::string> sets;
  bool json = false;
};

// "NAME=EXPRESSION", "NAME=a > b", or the name of a set.
Result<NamedSet> set_of(const std::string& text) {
  NamedSet out;
  const auto equals = text.find('=');
  out.name = std::string(trimmed(std::string_view(text).substr(0, equals)));
  if (out.name.empty())
    return fail(ErrorCode::invalid, "a set is NAME=EXPRESSION, NAME=CALLER > CALLEE or a name");
  if (equals == text.npos) {
    out.set = out.name;
    return out;
  }
  const std::string_view meant = trimmed(std::string_view(text).substr(equals + 1));
  if (meant.find(" > ") != meant.npos) {
    PROFD_TRY(const std::vector<Filter> run, parse_filters(fmt::format("keep fragment {}", meant)));
    out.frames = run.front().names;
    return out;
  }
  PROFD_CHECK(Pattern::compile(meant, true));
  out.pattern = meant;
  return out;
}

std::string sets_text(const Console& console, const SetsAnswer& answer, bool kinds) {
  std::string out;
  if (answer.head.excluded) out += console.out.warning(sanitize_text(answer.head.excluded->text)) + "\n";
  if (!answer.head.estimated.empty()) out += console.out.dim(answer.head.estimated) + "\n";
  if (answer.sets.empty()) return out + "No stack belongs to a kind of work that profd knows.\n";
  std::size_t width = std::string_view("together").size();
  for (const SetRow& row : answer.sets) width = std::max(width, display_width(sanitize_text(row.title)));
  const auto amount = [](const Amount& of) {
    return right_aligned(sanitize_text(of.text), 10) + "  " + right_aligned(of.share_text, 7);
  };
  out += console.out.dim(left_aligned(kinds ? "kind of work" : "set", width) + "  " +
                         right_aligned("stacks through it", 19) + (kinds ? "  coloured" : "") + "  names") +
         "\n";
  for (const SetRow& row : answer.sets) {
    out += left_aligned(sanitize_text(row.title), width) + "  " + amount(row.amount);
    if (kinds) out += "  " + right_aligned(row.first ? row.first->share_text : "", 8);
    out += "  " + right_aligned(format_count(row.n_names), 5);
    if (kinds && row.title != row.name) out += console.out.dim("  --kind " + sanitize_text(row.name));
    out += '\n';
  }
  if (answer.sets.size() > 1) {
    out += console.out.bold(left_aligned("together", width) + "  " + amount(answer.any));
    if (kinds) out += console.out.dim("  without whose code it is");
    out += '\n';
  }
  return out;
}

int sets_in(const SetsOptions& options, const ProfileOptions& file, const FileTurn& turn,
            const Console& console) {
  ThreadExecutor executor;
  SetsAnswerRequest request;
  for (const std::string& text : options.sets) {
    auto set = set_of(text);
    if (!set) return console.fail(set.error().message);
    request.asked.push_back(std::move(*set));
  }
  auto view = open_view(file, console, executor);
  if (!view) return console.fail(view.error().message);
  request.open = view->open;
  request.spec = view->spec;
  request.sets = sets_here(true);
  auto answer = sets_answer(*view->views, request, StopToken{});
  int code = kExitOk;
  if (options.json || !answer)
    code = print_answer<psp::SetsRequest>(std::move(answer), shown_file(file), console);
  else
    code = console.print(sets_text(console, *answer, options.sets.empty()));
  keep_in_cache(*view);
  return turn.end(code);
}

int sets_command(const SetsOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  return for_each_file(options.profile, console, !options.json,
                       [&](const ProfileOptions& file, const FileTurn& turn) {
                         return sets_in(options, file, turn, console);
                       });
}

}  // namespace

void add_sets(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<SetsOptions>();
  CLI::App* app = root.add_subcommand(
      "sets",
      "Kinds of work (garbage collection, allocation, …) and sets of your own, each stack counted once");
  add_profile_options(*app, options->profile, true);
  app->add_option(
         "--set", options->sets,
         "In place of the kinds: NAME=EXPRESSION over names, NAME='CALLER > CALLEE', or a set's name; "
         "may be given again")
      ->type_name("SET")
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        if (const auto set = set_of(text); !set) throw CLI::ValidationError(set.error().message);
        return std::string();
      });
  app->add_flag("--json", options->json, "The answer of view/sets, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd sets cpu.pprof\n  profd sets --set 'json=^encoding/json' --set 'http=^net/http' "
      "cpu.pprof\n  profd top --kind gc cpu.pprof");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return sets_command(*options, console); };
  });
}

}  // namespace profd

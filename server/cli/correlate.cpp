// profd correlate: what goes with what, in records of several contexts.
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/cli/arguments.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/dialect/psp/convert_correlate.h"
#include "server/feature/correlate_answer.h"
#include "server/feature/escape.h"
#include "server/feature/fitted_name.h"
#include "server/platform/memory.h"

namespace profd {
namespace {

struct CorrelateOptions {
  ProfileOptions profile;
  std::string table, left, right;
  std::size_t n = 20;
  bool json = false;
};

std::string side_text(const CorrelateSide& side, std::size_t width) {
  std::string text = sanitize_text(side.name);
  return fmt::format("{:<{}}", fitted_name(text, width), width);
}

std::string share_of(const Amount& amount) {
  return fmt::format("{:>7}  {:>10}", amount.share_text, sanitize_text(amount.text));
}

std::string text_of(const Console& console, const CorrelateAnswer& answer) {
  std::string out = fmt::format("{} of {}: {}\n", console.out.bold(sanitize_text(answer.head.metric)),
                                sanitize_text(answer.table), sanitize_text(answer.head.view_total.text));
  out += sanitize_text(answer.verdict) + "\n";
  for (const std::string& warning : answer.head.warnings)
    out += console.out.warning(sanitize_text(warning)) + "\n";
  out += "\n" + console.out.bold("Roles") + "\n";
  for (const CorrelateRole& role : answer.roles)
    out += fmt::format("  {:<16} {} records in {} contexts\n", sanitize_text(role.name), role.records,
                       role.contexts);
  const auto columns = static_cast<std::size_t>(console.out.columns);
  const std::size_t width = std::clamp<std::size_t>(columns > 30 ? (columns - 30) / 2 : 20, 16, 60);
  out += "\n" +
         console.out.bold(fmt::format("{:>19}  {:<{}}  {}", "", sanitize_text(answer.left), width,
                                      sanitize_text(answer.right))) +
         "\n";
  for (const CorrelatePair& pair : answer.pairs) {
    out += fmt::format("{}  {}  {}\n", share_of(pair.amount), side_text(pair.left, width),
                       fitted_name(sanitize_text(pair.right.name), width));
  }
  if (answer.n_pairs > answer.pairs.size())
    out += console.out.dim(fmt::format("  … {} more pairs\n", answer.n_pairs - answer.pairs.size()));
  if (answer.left == answer.right) return out;
  out += "\n" + console.out.bold("Where both meet") + "\n";
  for (const CorrelateMeet& meet : answer.meets)
    out += fmt::format(
        "{}  {}{}\n", share_of(meet.amount),
        meet.name.empty() ? "(no function calls both)" : fitted_name(sanitize_text(meet.name), width * 2),
        meet.named || meet.name.empty() ? "" : console.out.dim("  (nothing to hoist into)"));
  return out;
}

int correlate(CorrelateOptions options, const Console& console) {
  options.profile.role = options.right;
  options.profile.records = options.table;
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  CorrelateRequest request;
  request.open = view->open;
  request.spec = view->spec;
  request.table = options.table;
  request.left = options.left;
  request.right = options.right;
  request.limit = options.n == 0 ? std::numeric_limits<std::size_t>::max() : options.n;
  auto answer = correlate_answer(*view->views, request, StopToken{});
  const int code = options.json || !answer ? print_answer<psp::CorrelateRequest>(
                                                 std::move(answer), shown_file(options.profile), console)
                                           : console.print(text_of(console, *answer));
  keep_in_cache(*view);
  return end_process(code);
}

}  // namespace

void add_correlate(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<CorrelateOptions>();
  CLI::App* app = root.add_subcommand(
      "correlate", "What goes with what: allocations and their uses, the two sides of a race");
  add_profile_options(*app, options->profile);
  app->add_option("--records", options->table, "Which records, where the profile has several kinds")
      ->type_name("NAME");
  app->add_option("--left", options->left, "A role; otherwise the last but one")->type_name("ROLE");
  app->add_option("--right", options->right, "Another; otherwise the last")->type_name("ROLE");
  add_number(*app, "-n", "-n", options->n, 0, kMostRows, "Pairs at most; 0 shows all, otherwise 20");
  app->add_flag("--json", options->json, "The answer of view/correlate, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd correlate reuse.ezview\n  profd correlate --left allocation --right use "
      "reuse.ezview\n  profd correlate --filter 'linked allocation function make' reuse.ezview\n\nA record "
      "of "
      "several contexts ties places together. A filter says of which role it is: `linked ROLE function "
      "NAME`, "
      "`linked ROLE path A > B`, or any other clause about frames.");
  app->callback([&commands, options] {
    commands.action = [options](const Console& console) { return correlate(*options, console); };
  });
}

}  // namespace profd

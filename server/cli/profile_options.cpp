#include "server/cli/profile_options.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "server/cli/file_error.h"
#include "server/cli/progress_line.h"
#include "server/cli/read_within.h"
#include "server/cli/report_text.h"
#include "server/engine/pick_profile.h"
#include "server/feature/estimate.h"
#include "server/feature/exclusion.h"
#include "server/feature/missing.h"
#include "server/feature/names.h"
#include "server/feature/text.h"

namespace profd {
namespace {

// Above this the time is not in page faults of the heap, and the peak of memory matters.
constexpr std::size_t kSmallFile = 8u << 20;
// A command makes few views, and each once: none is dropped.
constexpr std::size_t kViewBudget = std::size_t{1} << 40;

// How much --partial would give, said only when it gives something.
std::string partial_offer(const OpenInput& input, const OpenOptions& options, Executor& executor) {
  OpenOptions again = options;
  again.partial = true;
  std::uint64_t n = 0;
  const Result<void> done = read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
    PROFD_TRY(const OpenedFile opened, open_profiles(input, again, executor, stop));
    for (const ProfilePtr& profile : opened.profiles) n += profile->n_samples();
    return {};
  });
  if (!done) return {};
  if (n == 0) return {};
  return fmt::format("The {} samples before it can be opened with --partial.", format_exact(n));
}

tl::unexpected<Error> named(const std::string& file, const Error& error) {
  const std::string advice = file_error_advice(error);
  std::string text = file_error_text(file, error);
  if (!advice.empty()) text += ". " + advice;
  return fail(error.code, std::move(text));
}

}  // namespace

void add_profile_options(CLI::App& app, ProfileOptions& options, bool view) {
  app.add_option("FILE", options.file, "The profile, or a folder of them; - reads stdin")
      ->required()
      ->option_text(" ");
  app.add_option("--format", options.format, "Read it as this format instead of looking")->type_name("ID");
  app.add_flag("--partial", options.partial, "Read what is there of a file that ends early");
  app.add_flag("--no-cache", options.no_cache, "Neither use nor write the cache of big files");
  app.add_option("--profile", options.profile, "Which one, in a file of several")->type_name("N|NAME");
  if (!view) return;
  app.add_option("--metric", options.metric, "The metric shown; default: the profile's own")
      ->type_name("NAME");
  app.add_option("--granularity", options.granularity,
                 "What makes two frames one: address, line, function, file or module")
      ->type_name("G");
  app.add_option("--filter", options.filters,
                 "Keep, drop, hide or collapse: 'drop module libc.so.6'; may be given again")
      ->type_name("FILTER")
      ->allow_extra_args(false);
  app.add_option("--spec,--view", options.spec,
                 "A whole view in its text form: 'bottom-up by file | thread main'")
      ->type_name("SPEC");
}

Result<ViewSpec> spec_of(const ProfileOptions& options, std::string_view otherwise) {
  std::string text = options.spec.empty() ? std::string(otherwise) : options.spec;
  for (const std::string& filter : options.filters) text += " | " + filter;
  PROFD_TRY(ViewSpec spec, parse_view_spec(text));
  if (!options.metric.empty()) spec.metric = options.metric;
  if (!options.granularity.empty()) {
    PROFD_TRY(spec.granularity, parse_granularity(options.granularity));
  }
  return spec;
}

Result<CachedOpen> open_file_of(const ProfileOptions& options, const Console& console, Executor& executor) {
  OpenOptions open;
  open.format = options.format;
  open.partial = options.partial;
  const std::string path = options.file == "-" ? "/dev/stdin" : options.file;
  auto input = open_input(path, open.limits.input_bytes);
  if (!input) return named(options.file, input.error());
  if (input->file.bytes().size() < kSmallFile) expect_a_full_heap();
  CachedOpen opened;
  const Result<void> done = read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
    ProgressLine progress(console, options.file);
    const ProfileCache cache(options.no_cache ? CacheOptions{} : cache_options_from_environment());
    PROFD_TRY(opened,
              open_cached(cache, *input, open, executor, stop,
                          [&](std::uint64_t read, std::uint64_t total) { progress.update(read, total); }));
    return {};
  });
  if (done) return opened;
  const Error& error = done.error();
  if (error.code == ErrorCode::truncated && !options.partial) {
    if (const std::string offer = partial_offer(*input, open, executor); !offer.empty()) {
      return fail(error.code, file_error_text(options.file, error) + ". " + offer);
    }
    return fail(error.code, file_error_text(options.file, error) + ". Nothing before it can be read.");
  }
  return named(options.file, error);
}

Result<OpenView> open_view(const ProfileOptions& options, const Console& console, Executor& executor) {
  // A wrong view is told before a big file is read for it.
  PROFD_TRY(ViewSpec spec, spec_of(options));
  PROFD_TRY(CachedOpen opened, open_file_of(options, console, executor));
  const auto picked = pick_profile(opened.file.profiles, options.profile);
  if (!picked) return named(options.file, picked.error());
  auto loaded = std::make_shared<LoadedProfiles>();
  loaded->opened = std::move(opened.file);
  auto open = std::make_shared<OpenProfile>();
  open->handle = options.file;
  open->name = base_name(options.file);
  open->number = static_cast<std::uint32_t>(*picked + 1);
  open->profile = loaded->opened.profiles[*picked];
  open->metric = open->profile->default_metric();
  open->origin = file_origin(options.file, {});
  open->loaded = std::move(loaded);
  OpenView view{std::move(open),
                std::make_unique<Views>(kViewBudget, executor),
                std::move(spec),
                {},
                std::move(opened.write_entry)};
  auto prepared = prepare_view(*view.views, *view.open, view.spec, StopToken{});
  if (!prepared) return named(options.file, prepared.error());
  view.prepared = std::move(*prepared);
  for (const std::string& warning : view.selection().warnings)
    console.note(fmt::format("{}: {}", options.file, warning));
  if (const std::string note = granularity_note(view.selection(), view.spec.granularity); !note.empty())
    console.note(fmt::format("{}: {}", options.file, note));
  return view;
}

std::optional<OpenTree> open_tree(const ProfileOptions& options, const std::string& shape,
                                  std::string_view flat_advice, const Console& console, Executor& executor,
                                  int& code) {
  ProfileOptions profile = options;
  if (profile.spec.empty()) profile.spec = shape;
  auto view = open_view(profile, console, executor);
  if (!view) {
    code = console.fail(view.error().message);
    return std::nullopt;
  }
  if (view->spec.shape == Shape::flat) {
    code = console.fail(flat_advice, kExitUsage);
    return std::nullopt;
  }
  FlameRequest request;
  request.open = view->open;
  request.spec = view->spec;
  if (const std::string excluded = exclusion_text(view->selection()); !excluded.empty())
    console.note(excluded);
  if (const std::string estimated = estimate_text(view->selection()); !estimated.empty())
    console.note(estimated);
  return OpenTree{std::move(*view), std::move(request)};
}

void keep_in_cache(const OpenView& view) {
  if (view.write_entry) (void)view.write_entry(StopToken{});
}

}  // namespace profd

#include "server/cli/profile_options.h"

#include <algorithm>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/view/pattern.h"
#include "core/view/rename_rules.h"
#include "core/view/spec_words.h"
#include "formats/loss_texts.h"
#include "server/cli/arguments.h"
#include "server/cli/file_error.h"
#include "server/cli/formats.h"
#include "server/cli/progress_line.h"
#include "server/cli/project_here.h"
#include "server/cli/read_within.h"
#include "server/cli/report_text.h"
#include "server/cli/sets_here.h"
#include "server/cli/symbols_here.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/formula_metrics.h"
#include "server/engine/mine.h"
#include "server/engine/origins.h"
#include "server/engine/pick_profile.h"
#include "server/engine/recording_title.h"
#include "server/engine/role_origin.h"
#include "server/engine/rule_sets.h"
#include "server/engine/workspace.h"
#include "server/engine/workspace_files.h"
#include "server/feature/escape.h"
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
  return fmt::format("The {} {} before it can be opened with --partial.", format_exact(n),
                     n == 1 ? "record" : "records");
}

// `cat cpu.pprof | profd`: what stands on stdin is meant. A terminal, and a device such as /dev/null, is not.
bool stdin_is_given() {
  struct stat info {};
  return ::fstat(STDIN_FILENO, &info) == 0 && (S_ISFIFO(info.st_mode) || S_ISREG(info.st_mode));
}

// "file:///a/cpu.pprof". A file that is there is a file, whatever it is called.
bool is_uri(const std::string& argument) {
  const std::string scheme = scheme_of(argument);
  return !scheme.empty() && argument.compare(scheme.size(), 3, "://") == 0 &&
         ::access(argument.c_str(), F_OK) != 0;
}

tl::unexpected<Error> named(const std::string& file, const Error& error) {
  const std::string advice = file_error_advice(error);
  std::string text = file_error_text(file, error);
  if (!advice.empty()) text += ". " + advice;
  return fail(error.code, std::move(text));
}

// A text that is no filter or no view is a wrong command line, as an unknown option is. The option is named
// before the parser's sentence, so that "filter: " and "view: " need not be.
template <class T>
T checked(Result<T> parsed) {
  if (parsed) return std::move(*parsed);
  std::string_view text = parsed.error().message;
  for (const std::string_view part : {"filter: ", "view: "})
    if (text.starts_with(part)) text.remove_prefix(part.size());
  throw CLI::ValidationError(std::string(text));
}

std::string check_filters(const std::vector<Filter>& filters) {
  for (const Filter& filter : filters)
    if (filter.regex) checked(Pattern::compile(filter.pattern, true));
  return {};
}

std::string check_view(const std::string& text) {
  return check_filters(checked(parse_view_spec(text)).filters);
}

// Those of the command line, then those of the project.
std::vector<DerivedMetric> formulas_named(const ProfileOptions& options) {
  std::vector<DerivedMetric> all = options.derived;
  if (options.names_metrics || !options.columns.empty() || !options.metric.empty()) {
    std::error_code failed;
    const ProjectFound project = find_project({std::filesystem::current_path(failed).string()});
    if (project.file)
      all.insert(all.end(), project.file->settings.derived.begin(), project.file->settings.derived.end());
  }
  return all;
}

// The profile must have metrics for those of the command line. What it was put together of may have been
// given some already.
Result<std::vector<DerivedMetric>> formulas_of_view(const ProfileOptions& options, const Profile& profile) {
  std::vector<DerivedMetric> all = formulas_named(options);
  if (profile.composition() != nullptr)
    std::erase_if(all, [&](const DerivedMetric& metric) { return profile.find_metric(metric.name); });
  for (const DerivedMetric& metric : options.derived) {
    if (std::find(all.begin(), all.end(), metric) == all.end()) continue;
    if (const auto fits = derive_metric(profile, metric); !fits)
      return fail(fits.error().code, fits.error().message);  // the place in it is not one in a file
  }
  return all;
}

// The program that a file without modules is of: the first that was named. "" none.
std::string program_of(const ProfileOptions& options) {
  if (options.binaries.empty()) return "";
  const std::string& first = options.binaries.front();
  return first.substr(first.find('=') == std::string::npos ? 0 : first.find('=') + 1);
}

// `input`: of a file, what was opened of it.
Result<OriginPtr> origin_of(const std::string& path, const OpenOptions& open, const Origins& origins,
                            const std::string& binary, std::optional<OpenInput>& input) {
  if (is_uri(path)) {
    auto made = origins.make(path, open);
    if (!made) return named(path, made.error());
    return made;
  }
  auto opened = open_input(path, open.limits.input_bytes);
  if (!opened) return named(path, opened.error());
  if (!binary.empty()) {
    auto program = open_input(binary, open.limits.input_bytes);
    if (!program) return named(binary, program.error());
    opened->program = std::move(program->file);
  }
  if (opened->file.bytes().size() < kSmallFile) expect_a_full_heap();
  input = *opened;
  return input_origin(path, std::move(*opened), open);
}

// `after` beside its further runs, and what they are compared with.
Result<OriginPtr> composed_of(OriginPtr after, const ProfileOptions& options, const OpenOptions& open,
                              const Origins& origins) {
  ComposeSpec spec;
  spec.kind = options.together.value_or(Composed::diff);
  spec.scale = options.scale;
  if (spec.kind == Composed::diff) spec.match = options.match;
  spec.derive = formulas_named(options);
  for (const std::string& pair : options.metric_pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos) throw CLI::ValidationError("--match-metric takes BEFORE=AFTER");
    spec.metrics[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  spec.parts.push_back({std::move(after), options.profile, false, nullptr});
  const auto add = [&](const std::vector<std::string>& files, bool before) -> Result<void> {
    for (const std::string& file : files) {
      std::optional<OpenInput> input;
      PROFD_TRY(OriginPtr origin,
                origin_of(file == "-" ? "/dev/stdin" : file, open, origins, program_of(options), input));
      spec.parts.push_back({std::move(origin), options.profile, before, nullptr});
    }
    return {};
  };
  PROFD_CHECK(add(options.runs, false));
  PROFD_CHECK(add(options.base, true));
  return composed_origin(std::move(spec));
}

// How functions are matched, of what is compared.
void add_match_options(CLI::App& app, ProfileOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--rename",
         [&options](const std::vector<std::string>& rules) {
           for (const std::string& rule : rules) options.match.renames.push_back(checked(parse_rename(rule)));
         },
         "What is called otherwise after: 'old/pkg=new/pkg', '/^old_(.*)/=new_$1'; may be given again")
      ->type_name("OLD=NEW")
      ->allow_extra_args(false);
  Choices<MatchMode> modes;
  for (const std::string_view word : kMatchWords) modes.emplace_back(word, *parse_match(word));
  add_choice(
      app, "--match", "--match", options.match.mode, modes,
      "What makes two functions one: name and file, what is perhaps renamed, or the name alone; otherwise "
      "exact");
}

}  // namespace

std::string shown_file(const ProfileOptions& options) {
  const std::string file = options.file == "-" ? "stdin" : options.file;
  if (options.together) return fmt::format("{} and {} more", base_name(file), options.runs.size());
  if (options.base.empty()) return file;
  return sides_title(profile_title(options.base[0]), profile_title(file));
}

void add_profile_options(CLI::App& app, ProfileOptions& options, bool several) {
  CLI::Option* file =
      several ? app.add_option("FILE", options.files, "Profiles, or folders of them; - reads stdin")
              : app.add_option("FILE", options.file, "The profile, or a folder of them; - reads stdin");
  file->option_text(several ? "..." : " ");
  if (stdin_is_given()) {
    options.file = "-";
    options.files = {"-"};
  } else {
    file->required();
  }
  app.add_option(
         "--base", options.base,
         "Compare with this profile: metrics are then 'cpu' after, 'cpu before', 'cpu change', 'cpu larger'")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_match_options(app, options);
  add_view_options(app, options);
}

void add_compare_options(CLI::App& app, ProfileOptions& options) {
  Choices<std::optional<Scaling>> scales{{"automatic", std::nullopt}};
  for (const char* word : {"raw", "duration", "totals", "bulk"}) scales.emplace_back(word, parse_scale(word));
  add_choice(app, "--scale", "--scale", options.scale, scales,
             "What values before are multiplied with; otherwise raw, unless the durations differ");
  app.add_option("--match-metric", options.metric_pairs, "A metric before that is another one after")
      ->type_name("BEFORE=AFTER")
      ->allow_extra_args(false);
  add_match_options(app, options);
}

void add_code_options(CLI::App& app, ProfileOptions& options) {
  app.add_flag("--no-symbols", options.no_symbols,
               "Look for no names in binaries, and for no callers in copied stacks");
  app.add_flag("--debuginfod", options.debuginfod,
               "Fetch debug information that is not here from the servers that DEBUGINFOD_URLS names");
  app.add_option("--debug-dir", options.debug_dirs,
                 "A folder with binaries or their debug information; may be given again")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--binary", options.binaries,
                 "What ran, where the profile has no build id: PATH, or MODULE=PATH; may be given again")
      ->type_name("PATH")
      ->allow_extra_args(false);
  app.add_flag("--no-source-maps", options.no_source_maps,
               "Show scripts as they ran, not by the sources that their source maps name");
}

void add_view_options(CLI::App& app, ProfileOptions& options) {
  add_format_option(app, options.format);
  app.add_flag("--partial", options.partial, "Read what is there of a file that ends early");
  app.add_flag("--gc-on-stack", options.gc_on_stack,
               "Show V8's garbage collector on the stack that ran before it, not by itself");
  app.add_flag("--no-cache", options.no_cache, "Neither use nor write the cache of big files");
  add_code_options(app, options);
  app.add_option("--profile", options.profile, "Which one, in a file of several")->type_name("N|NAME");
  app.add_option("--role", options.role,
                 "Of records of several contexts one role: `profd correlate` lists them")
      ->type_name("ROLE");
  app.add_option("--metric", options.metric, "The metric shown; default: the profile's own")
      ->type_name("NAME");
  Choices<std::optional<Granularity>> granularities;
  for (const std::string_view word : kGranularityWords)
    granularities.emplace_back(word, meant_by<Granularity>(kGranularityWords, word));
  add_choice(app, "--granularity", "--granularity", options.granularity, granularities,
             "What makes two frames one; otherwise function");
  add_choice(
      app, "--paths", "--paths", options.proven,
      Choices<bool>{{kPathsWords[0], false}, {kPathsWords[1], true}},
      "Of a file that has calls and no stacks: a function below each of its callers, as without it, or only "
      "where the calls prove it to be");
  app.add_option("--filter", options.filters,
                 "Keep, drop, hide or collapse: 'drop module libc.so.6'; may be given again")
      ->type_name("FILTER")
      ->allow_extra_args(false)
      ->check([](const std::string& text) { return check_filters(checked(parse_filters(text))); });
  app.add_option("--kind", options.kinds,
                 "Only stacks through a kind of work: gc, allocation, locking, io …; may be given again")
      ->type_name("KIND")
      ->allow_extra_args(false);
  app.add_flag("--mine", options.mine,
               "Your own code only: what is not of the project here becomes one frame (.profd.toml: mine)");
  app.add_option("--spec,--view", options.spec,
                 "A whole view in its text form: 'bottom-up by file | thread main'")
      ->type_name("SPEC")
      ->check(check_view);
}

void add_shape(CLI::App& app, std::string& shape) {
  app.add_option("--shape", shape, "top-down, bottom-up, 'callers of NAME' or 'callees of NAME'")
      ->type_name("SHAPE")
      ->check(check_view);
}

int FileTurn::end(int file_code) const {
  const int worst = std::max(code, file_code);
  return number + 1 == n ? end_process(worst) : file_code;
}

int for_each_file(const ProfileOptions& options, const Console& console, bool headings,
                  const std::function<int(const ProfileOptions&, const FileTurn&)>& one) {
  ProfileOptions file = options;
  FileTurn turn;
  turn.n = options.files.size();
  for (; turn.number < turn.n; ++turn.number) {
    file.file = options.files[turn.number];
    if (headings && turn.n > 1) {
      const std::string heading = console.out.bold(sanitize_text(shown_file(file)));
      if (const int code = console.print((turn.first() ? "" : "\n") + heading + "\n"); code != kExitOk)
        return code;
    }
    turn.code = std::max(turn.code, one(file, turn));
  }
  return turn.code;
}

// The project of the folder that the command is used in, else that folder.
std::shared_ptr<const FrameRule> mine_here() {
  std::error_code failed;
  const std::string here = std::filesystem::current_path(failed).string();
  ProjectFound project = find_project({here});
  WorkspaceSnapshot workspace;
  workspace.key = project.file ? project.file->root : here;
  if (project.file) workspace.mappings = project.file->settings.mappings;
  const std::vector<std::string> named =
      project.file ? project.file->settings.mine : std::vector<std::string>();
  if (named.empty()) workspace.files = files_of({workspace.key});
  return mine_rule(std::move(workspace), named);
}

Result<ViewSpec> spec_of(const ProfileOptions& options, std::string_view otherwise) {
  PROFD_TRY(ViewSpec spec, parse_view_spec(options.spec.empty() ? otherwise : options.spec));
  for (const std::string& text : options.filters) {
    PROFD_TRY(const std::vector<Filter> filters, parse_filters(text));
    spec.filters.insert(spec.filters.end(), filters.begin(), filters.end());
  }
  for (const std::string& kind : options.kinds) {
    Filter keep;
    keep.by = FilterBy::kind;
    keep.pattern = kind;
    spec.filters.push_back(std::move(keep));
  }
  if (options.mine) {
    Filter mine;
    mine.op = FilterOp::collapse;
    mine.by = FilterBy::mine;
    spec.filters.push_back(std::move(mine));
  }
  decide_mine(spec.filters, &mine_here);
  decide_sets(spec.filters, [] { return sets_here(true); });
  if (!options.metric.empty()) spec.metric = options.metric;
  spec.proven = spec.proven || options.proven;
  if (options.granularity) spec.granularity = *options.granularity;
  return spec;
}

// Then names are found for the parts, before they are put together.
static bool is_made_of_others(const ProfileOptions& options) {
  return !options.base.empty() || options.together || options.role;
}

ScriptRoots script_roots(const ProfileOptions& options) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (options.no_source_maps || error) return {};
  return {{here.string()}, {}, true};
}

Result<Load> load_of(const ProfileOptions& options, const Console& console, Executor& executor,
                     std::vector<ModuleLookup>* lookups) {
  OpenOptions open;
  open.format = options.format;
  open.partial = options.partial;
  open.gc_on_stack = options.gc_on_stack;
  const std::string path = options.file == "-" ? "/dev/stdin" : options.file;
  const std::string name = shown_file(options);
  const Origins origins;
  std::optional<OpenInput> input;
  PROFD_TRY(OriginPtr origin, origin_of(path, open, origins, program_of(options), input));
  if (options.base.empty() && options.match != MatchRules())
    return fail(ErrorCode::invalid, "--rename and --match are of a comparison, with --base FILE");
  if (!options.base.empty() || options.together) {
    PROFD_TRY(origin, composed_of(std::move(origin), options, open, origins));
  }
  Load loaded;
  std::vector<ModuleLookup> found;
  if (options.role) origin = role_origin(std::move(origin), options.profile, options.records, *options.role);
  const bool composed = is_made_of_others(options);
  const Result<void> done = read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
    ProgressLine progress(console, name);
    const ProfileCache cache(options.no_cache ? CacheOptions{} : cache_options_from_environment());
    const auto endpoint = parse_endpoint(origin->uri());
    LoadContext context{cache, executor, stop, [&](std::uint64_t read, std::uint64_t total) {
                          const std::string words =
                              endpoint ? recording_text(*endpoint, read, total) : std::string();
                          if (words.empty())
                            progress.update(read, total);
                          else
                            progress.update(words);
                        }};
    context.scripts = script_roots(options);
    context.unwinder = [&](const std::string& place) {
      return unwinder_here(place == "/dev/stdin" ? "-" : place, options, stop);
    };
    // Names decide what is one in all of the parts, and so come first.
    if (composed && wants_symbols(options))
      context.named = [&](ProfilePtr profile, const std::string& place) {
        return named_here(std::move(profile), place, options, console, stop, found);
      };
    PROFD_TRY(loaded, origin->load(context));
    return {};
  });
  if (done && !composed && wants_symbols(options)) {
    const Result<void> named_now =
        read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
          return name_picked(*loaded.profiles, options, console, stop, found);
        });
    if (!named_now) return named(name, named_now.error());
  }
  if (lookups != nullptr) *lookups = std::move(found);
  if (done) return loaded;
  const Error& error = done.error();
  if (error.code == ErrorCode::truncated && !options.partial && input) {
    if (const std::string offer = partial_offer(*input, open, executor); !offer.empty()) {
      return fail(error.code, file_error_text(name, error) + ". " + offer);
    }
    return fail(error.code, file_error_text(name, error) + ". Nothing before it can be read.");
  }
  return named(name, error);
}

void note_losses_of(const ImportReport& report, const ProfileOptions& options, const Console& console) {
  for (const std::string& text : loss_texts(report))
    console.note(fmt::format("{}: {}", shown_file(options), text));
}

Result<OpenView> open_view(const ProfileOptions& options, const Console& console, Executor& executor,
                           bool say_losses) {
  // A wrong view is told before a big file is read for it.
  PROFD_TRY(ViewSpec spec, spec_of(options));
  std::vector<ModuleLookup> lookups;
  PROFD_TRY(Load load, load_of(options, console, executor, &lookups));
  const std::shared_ptr<const LoadedProfiles> loaded = std::move(load.profiles);
  const bool compared = is_made_of_others(options);  // then --profile is of the parts
  const auto picked = pick_profile(loaded->profiles, compared ? "" : options.profile);
  const std::string name = shown_file(options);
  if (!picked) return named(name, picked.error());
  auto open = std::make_shared<OpenProfile>();
  open->handle = options.file;
  // An address and what stands for stdin have no folder, and what is made of several has its sides.
  const bool one_file = options.base.empty() && !options.together && options.file != "-";
  open->name = one_file ? profile_title(options.file) : std::string(base_name(name));
  open->number = static_cast<std::uint32_t>(*picked + 1);
  open->profile = loaded->profiles[*picked];
  open->metric = open->profile->default_metric();
  open->origin = file_origin(options.file, {});
  if (options.role)
    open->uri =
        pairs_uri(is_uri(options.file) ? options.file : open->origin->uri(), options.records, *options.role);
  open->loaded = loaded;
  const auto formulas = formulas_of_view(options, *open->profile);
  if (!formulas) return named(name, formulas.error());
  set_formulas(*open, *formulas);
  OpenView view{std::move(open),      std::make_unique<Views>(kViewBudget, executor),
                std::move(spec),      {},
                std::move(load.keep), std::move(lookups)};
  auto prepared = prepare_view(*view.views, *view.open, view.spec, StopToken{});
  if (!prepared) return named(name, prepared.error());
  view.prepared = std::move(*prepared);
  if (say_losses) {
    note_losses_of(view.loaded().report, options, console);
    if (const auto unnamed = unnamed_text(view.selection(), StopToken{}); unnamed && !unnamed->empty())
      console.note(fmt::format("{}: {}", name, *unnamed));
  }
  for (const std::string& warning : view.selection().warnings())
    console.note(fmt::format("{}: {}", name, warning));
  if (const std::string note = granularity_note(view.selection(), view.spec.granularity); !note.empty())
    console.note(fmt::format("{}: {}", name, note));
  return view;
}

int refuse_trees(const ProfileOptions& options, const Console& console) {
  const auto spec = spec_of(options);
  // What cannot be parsed is told where the file is opened.
  if (!spec || spec->shape == Shape::flat || spec->shape == Shape::top_down) return kExitOk;
  return console.fail(fmt::format("a view of shape {} is a tree, and this is a list; `profd tree` shows it",
                                  to_text(spec->shape)),
                      kExitUsage);
}

Result<bool> takes_paths(ProfileOptions& options, const std::string& shape) {
  if (options.spec.empty()) options.spec = shape;
  PROFD_TRY(const ViewSpec spec, spec_of(options));
  // A view that says nothing of a shape is top-down, and a list where lists are what is printed.
  return spec.shape != Shape::flat && (!shape.empty() || spec.shape != Shape::top_down);
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
  if (view.keep) (void)view.keep(StopToken{});
}

}  // namespace profd

// profd check: can each file be read, and what was lost.
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "server/cli/check_code.h"
#include "server/cli/file_error.h"
#include "server/cli/formats.h"
#include "server/cli/json_writer.h"
#include "server/cli/profile_options.h"
#include "server/cli/read_within.h"
#include "server/cli/report_text.h"
#include "server/cli/symbols_here.h"
#include "server/engine/endpoint_origin.h"
#include "server/feature/escape.h"
#include "server/feature/text.h"

namespace profd {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  ProfileOptions profile;
  bool json = false;
  bool formats = false;
};

// refused: no reader takes it, or it asks for more than a limit allows; failed: one took it and it is broken.
std::string_view outcome_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::unsupported:
    case ErrorCode::limit:
    case ErrorCode::not_found:
    case ErrorCode::io:
    case ErrorCode::invalid:
      return "refused";
    case ErrorCode::malformed:
    case ErrorCode::truncated:
    case ErrorCode::cancelled:
    case ErrorCode::internal:
      return "failed";
  }
  return "failed";
}

// `states` are those of the profiles, one of each.
std::string ok_json(const std::string& file, const OpenedFile& opened,
                    const std::vector<CodeStates>& states) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("file", file);
  json.field("format", opened.decision.format);
  json.field("outcome", opened.report.has_losses() ? "ok with losses" : "ok");
  json.key("profiles");
  json.begin_array();
  for (std::size_t row = 0; row < opened.profiles.size(); ++row) {
    const ProfilePtr& profile = opened.profiles[row];
    json.begin_object();
    json.field("name", profile->info().name);
    json.field("records", profile->n_samples());
    json.field("contexts", profile->tree().size() - 1);
    json.key("metrics");
    json.begin_array();
    for (std::size_t i = 0; i < profile->metrics().size(); ++i) {
      json.begin_object();
      json.field("name", profile->metrics()[i].name);
      json.field("unit", unit_name(profile->metrics()[i].unit));
      json.field("total", profile->total(MetricId{i}));
      json.end_object();
    }
    json.end_array();
    write_code_states(states[row], json);
    json.end_object();
  }
  json.end_array();
  json.key("containers");
  json.begin_array();
  for (const std::string& container : opened.decision.containers) json.value(container);
  json.end_array();
  json.key("alsoPlausible");
  json.begin_array();
  for (const std::string& format : opened.decision.also_plausible) json.value(format);
  json.end_array();
  json.key("report");
  write_report(opened.report.rows(), json);
  json.end_object();
  out += '\n';
  return out;
}

std::string error_json(const std::string& file, const Error& error) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.field("file", file);
  if (error.format.empty()) {
    json.key("format");
    json.null();
  } else {
    json.field("format", error.format);
  }
  json.field("outcome", outcome_of(error));
  json.key("error");
  json.begin_object();
  json.field("code", to_string(error.code));
  json.field("message", error.message);
  if (error.offset) json.field("offset", *error.offset);
  if (!error.where.empty()) {
    json.key("where");
    json.begin_array();
    for (const std::string& where : error.where) json.value(where);
    json.end_array();
  }
  json.end_object();
  json.end_object();
  out += '\n';
  return out;
}

std::string ok_text(const Console& console, const std::string& file, const OpenedFile& opened,
                    const std::vector<CodeStates>& states) {
  const bool losses = opened.report.has_losses();
  const Profile& profile = *opened.profiles.front();
  std::string what = fmt::format("{}, {}, {} contexts", opened.decision.format,
                                 count_of(profile.n_samples(), "record", "records"),
                                 format_count(std::uint64_t{profile.tree().size() - 1}));
  if (opened.profiles.size() > 1) what += fmt::format(", {} profiles", opened.profiles.size());
  std::string out = losses ? console.out.warning("ok with losses") : console.out.success("ok");
  out += fmt::format("  {}: {}", sanitize_text(file), sanitize_text(what));
  for (const ReportRow& row : opened.report.rows()) {
    out += fmt::format("; {}: {}", to_string(row.severity), sanitize_text(row.message));
    if (row.count > 1) out += " (" + format_count(row.count) + " times)";
  }
  out += "\n";
  for (const CodeStates& of_profile : states) out += code_states_text(console, of_profile);
  return out;
}

Result<std::vector<CodeStates>> states_of(const OpenedFile& opened, const std::string& file,
                                          const ProfileOptions& options, const Console& console) {
  std::vector<CodeStates> all;
  PROFD_CHECK(read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
    for (const ProfilePtr& profile : opened.profiles) {
      PROFD_TRY(CodeStates states, code_states(profile, file, options, console, stop));
      all.push_back(std::move(states));
    }
    return {};
  }));
  return all;
}

Result<OpenInput> input_of(const std::string& file, const OpenOptions& open, const StopToken& stop) {
  if (!file.starts_with("http://") && !file.starts_with("https://"))
    return open_input(file == "-" ? "/dev/stdin" : file, open.limits.input_bytes);
  PROFD_TRY(const Endpoint endpoint, parse_endpoint(file));
  return fetch_endpoint(endpoint, open.limits.input_bytes, stop, {});
}

Result<OpenedFile> open_plain(const std::string& file, const ProfileOptions& options, Executor& executor) {
  OpenOptions open;
  open.format = options.format;
  open.partial = options.partial;
  OpenedFile opened;
  PROFD_CHECK(read_within(half_of_the_machine(), [&](const StopToken& stop) -> Result<void> {
    PROFD_TRY(const OpenInput input, input_of(file, open, stop));
    open.unwind = unwinder_here(file, options, stop);
    PROFD_TRY(opened, open_profiles(input, open, executor, stop));
    return {};
  }));
  return opened;
}

int check(const CheckOptions& options, const Console& console) {
  if (options.formats) return list_formats(console);
  ThreadExecutor executor;
  bool all_fine = true;
  for (const std::string& file : options.files) {
    const auto opened = open_plain(file, options.profile, executor);
    std::string line;
    if (opened) {
      const auto states = states_of(*opened, file, options.profile, console);
      if (!states) return console.fail(file_error_text(file, states.error()));
      line = options.json ? ok_json(file, *opened, *states) : ok_text(console, file, *opened, *states);
    } else {
      all_fine = false;
      line = options.json ? error_json(file, opened.error())
                          : fmt::format("{}  {}\n", console.out.failure(outcome_of(opened.error())),
                                        sanitize_text(file_error_text(file, opened.error())));
    }
    if (const int code = console.print(line); code != kExitOk) return code;
  }
  return all_fine ? kExitOk : kExitInput;
}

}  // namespace

void add_check(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* app =
      root.add_subcommand("check", "Can these files be read, what is lost, and what is known of their code");
  app->add_option("FILE", options->files, "Files to try; - reads stdin");
  add_format_option(*app, options->profile.format);
  app->add_flag("--partial", options->profile.partial, "Read what is there of files that end early");
  app->add_flag("--no-cache", options->profile.no_cache,
                "As without it: check never uses nor writes the cache");
  add_code_options(*app, options->profile);
  app->add_flag("--json", options->json, "One JSON object a line, see docs/cli.md");
  app->add_flag("--formats", options->formats, "The same as `profd formats`");
  app->footer("Examples:\n  profd check *.pprof\n  profd check --json trace.json.gz | jq .outcome");
  app->callback([&commands, options] {
    if (options->files.empty() && !options->formats) throw CLI::RequiredError("FILE");
    commands.action = [options](const Console& console) { return check(*options, console); };
  });
}

}  // namespace profd

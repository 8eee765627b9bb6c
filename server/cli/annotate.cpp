// profd annotate: a function as machine code, with what each instruction costs.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "core/view/code_place.h"
#include "server/cli/arguments.h"
#include "server/cli/code_listing.h"
#include "server/cli/metric_options.h"
#include "server/cli/print_answer.h"
#include "server/cli/profile_options.h"
#include "server/cli/project_here.h"
#include "server/cli/symbols_here.h"
#include "server/dialect/psp/convert_code.h"
#include "server/engine/source_text.h"
#include "server/engine/symbolizing.h"

namespace profd {
namespace {

struct AnnotateOptions {
  ProfileOptions profile;
  std::string place;
  ListingOptions listing;
  bool assembly = false, source = false, mixed = false;
  bool att = false;
  std::size_t piece = 1;
  bool json = false;
};

// "libx.so+0x1234", "a.cc:17", or a function.
CodePlace place_of(const std::string& text, const Profile& profile) {
  CodePlace place;
  if (const auto code = parse_code_place(text)) {
    place.module = code->module;
    place.address = code->address;
    return place;
  }
  char* end = nullptr;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && colon > 0 && text[colon - 1] != ':' && colon + 1 < text.size()) {
    const unsigned long line = std::strtoul(text.c_str() + colon + 1, &end, 10);
    if (*end == 0 && line > 0 && line < ~std::uint32_t{0}) {
      const std::string file = text.substr(0, colon);
      const FrameTable& frames = profile.frames();
      std::set<std::uint32_t> files;
      for (std::size_t frame = 0; frame < frames.size(); ++frame) {
        const StringId of = file_of_frame(profile, frame);
        const std::string_view path = profile.strings()[of];
        const bool ends_so =
            path.ends_with(file) && path.size() > file.size() &&
            (path[path.size() - file.size() - 1] == '/' || path[path.size() - file.size() - 1] == '\\');
        if (!path.empty() && (path == file || ends_so)) files.insert(of.v);
      }
      for (const std::uint32_t of : files) place.files.emplace_back(of);
      if (!place.files.empty()) {
        place.line = static_cast<std::uint32_t>(line);
        return place;
      }
    }
  }
  place.function = text;
  return place;
}

// Lines of files, each of which is read when the first one is asked for.
class LinesOfFiles {
 public:
  std::optional<std::string> line(const std::string& path, std::uint32_t number) {
    if (path.empty()) return std::nullopt;
    const auto [found, is_new] = lines_.try_emplace(path);
    if (is_new) found->second = read(path);
    if (number == 0 || number > found->second.size()) return std::nullopt;
    return found->second[number - 1];
  }

 private:
  static std::vector<std::string> read(const std::string& path) {
    std::vector<std::string> lines;
    const auto text = read_source(path);
    if (!text) return lines;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      lines.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  std::map<std::string, std::vector<std::string>> lines_;
};

int annotate(const AnnotateOptions& options, const Console& console) {
  if (const int code = refuse_trees(options.profile, console); code != kExitOk) return code;
  ThreadExecutor executor;
  auto view = open_view(options.profile, console, executor);
  if (!view) return console.fail(view.error().message);
  const std::vector<std::string> columns = column_metrics(options.profile);
  if (const int code = check_metrics(options.profile, *view, columns, console); code != kExitOk) return code;
  DisassemblyRequest request;
  request.open = view->open;
  // Instructions alone have no sources.
  if (options.json || options.listing.mode != CodeMode::assembly) {
    request.workspace = sources_here({}, console).workspace;
  }
  request.spec = view->spec;
  request.place = place_of(options.place, view->profile());
  request.metrics = columns;
  request.att = options.att;
  request.piece = static_cast<std::uint32_t>(options.piece - 1);
  request.source_lines = options.listing.mode == CodeMode::source && !options.json;
  const SymbolOptions how = symbol_options_from_environment();
  SymbolPlaces places = places_here(options.profile.file, options.profile);
  add_identities(view->profile(), places.identities);
  auto answer = disassembly_answer(
      *view->views, request,
      [&](const CodeQuestion& question) {
        return look_up_code(question, {places, how.program, how.limits, how.patience}, StopToken{});
      },
      StopToken{});
  if (options.json || !answer) {
    return print_answer<psp::SourceDisassemblyRequest>(std::move(answer), shown_file(options.profile),
                                                       console);
  }
  if (!answer->problem.empty()) {
    const std::string what = answer->pieces.empty() ? options.place : answer->pieces[answer->piece].name;
    return console.fail(fmt::format("{}{}{}", what, what.empty() ? "" : ": ", answer->problem));
  }
  LinesOfFiles lines;
  const auto line_of = [&](const std::string& path, std::uint32_t line) { return lines.line(path, line); };
  const int code = console.print(code_listing(*answer, options.listing, line_of, console));
  keep_in_cache(*view);
  return code;
}

}  // namespace

void add_annotate(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<AnnotateOptions>();
  CLI::App* app =
      root.add_subcommand("annotate", "A function as machine code, with what each instruction costs");
  add_profile_options(*app, options->profile);
  app->add_option("place", options->place,
                  "FUNCTION, FILE:LINE or MODULE+0xADDRESS; otherwise the hottest code")
      ->option_text("PLACE");
  auto* assembly = app->add_flag("--asm", options->assembly, "Instructions alone");
  auto* source = app->add_flag("--source", options->source, "Source lines alone");
  auto* mixed =
      app->add_flag("--mixed", options->mixed, "Instructions below the source lines that they are of; usual");
  assembly->excludes(source)->excludes(mixed);
  source->excludes(mixed);
  add_choice(*app, "--syntax", "--syntax", options->att, Choices<bool>{{"intel", false}, {"att", true}},
             "How instructions of x86 are written; otherwise intel");
  add_real(*app, "--min-share", "--min-share", options->listing.min_share, 0, 100,
           "Rows below this share of the view, in percent, are left out; otherwise 1")
      ->type_name("PERCENT");
  add_number(*app, "--piece", "--piece", options->piece, 1, kMostRows,
             "Which code, where the function has several pieces; otherwise the hottest");
  app->add_flag("--bytes", options->listing.bytes, "With the bytes of every instruction");
  add_derive_option(*app, options->profile);
  add_column_option(*app, options->profile);
  app->add_flag("--json", options->json, "The answer of source/disassembly, see docs/protocol.md");
  app->footer(
      "Examples:\n  profd annotate perf.data\n  profd annotate perf.data 'fill(std::vector<int>&)' --asm\n"
      "  profd annotate perf.data libz.so.1+0x4c20 --syntax att\n  profd annotate perf.data a.cc:17 "
      "--source");
  app->callback([&commands, options] {
    options->listing.mode = options->assembly ? CodeMode::assembly
                            : options->source ? CodeMode::source
                                              : CodeMode::mixed;
    commands.action = [options](const Console& console) { return annotate(*options, console); };
  });
}

}  // namespace profd

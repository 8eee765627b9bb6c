#include "server/cli/page_output.h"

#include "server/cli/arguments.h"
#include "server/cli/file_error.h"

namespace profd {

void add_over_time_options(CLI::App& app, OverTimeOptions& options, const std::string& answer) {
  add_profile_options(app, options.profile);
  app.add_option("-o,--output", options.output.path, "Write a self-contained page; - is stdout")
      ->type_name("FILE.svg");
  add_force(app, options.output);
  app.add_flag("--json", options.json, "The answer of " + answer + ", see docs/protocol.md")
      ->excludes("--output");
  app.add_option("--time", options.time, "The part that is looked at: 10ms..2s, 1.5s.. or ..300us")
      ->type_name("FROM..TO");
}

int print_page(const OutputFile& output, const std::string& page, const Console& console) {
  if (output.path == "-") return console.print(page);
  if (const auto written = write_file(output, page); !written)
    return console.fail(file_error_text(output.path, written.error()));
  if (console.err.is_terminal) console.note("Wrote " + output.path + "; open it in a browser.");
  return kExitOk;
}

}  // namespace profd

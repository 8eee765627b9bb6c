// docs/formats/README.md lists the registry.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/open.h"
#include "formats/writer.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

std::string format_table() {
  std::string table =
      "| format | what | written by | usual names | writer |\n| --- | --- | --- | --- | --- |\n";
  for (const FormatReader* reader : all_readers()) {
    const ReaderInfo& info = reader->info();
    std::vector<std::string> names;
    for (std::string_view extension : info.extensions) names.push_back(fmt::format("`*{}`", extension));
    const FormatWriter* writer = find_writer(info.id);
    table += fmt::format("| {} | {} | {} | {} | {} |\n", fmt::format("[{0}]({0}.md)", info.id), info.title,
                         info.producer, fmt::join(names, " "), writer ? writer->info().holds : "");
  }
  return table;
}

std::string written_only() {
  std::string out;
  for (const FormatWriter* writer : all_writers()) {
    const auto readers = all_readers();
    if (std::any_of(readers.begin(), readers.end(),
                    [&](const FormatReader* reader) { return reader->info().id == writer->info().id; }))
      continue;
    out += fmt::format("{}{} (`*{}`; {})", out.empty() ? "" : ", ", writer->info().title,
                       writer->info().extensions.front(), writer->info().holds);
  }
  return out.empty() ? "nothing" : out;
}

std::string page() {
  return "# Formats\n\n"
         "What `profd` opens. The table is written from the registry by a test (`PROFD_BLESS=1`); "
         "[add-a-format.md](../add-a-format.md)\nsays how a format is added.\n\n" +
         format_table() +
         "\nThe last column says what `profd convert` writes in the format holds; what it cannot hold is "
         "listed "
         "when it is written.\n"
         "Written and not read: " +
         written_only() + ".\n" +
         "\nAny of them may lie in gzip, zstd, bzip2, xz, zip or tar, one inside another. An archive or "
         "folder with several "
         "profiles gives several\n"
         "profiles. A file is known by its content; its name decides only where the content does not.\n";
}

}  // namespace

TEST_CASE("the table of formats in the documentation is that of the registry") {
  const std::string path = PROFD_SOURCE_DIR "/docs/formats/README.md";
  if (std::getenv("PROFD_BLESS")) std::ofstream(path, std::ios::binary) << page();
  std::ifstream in(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == page());
}

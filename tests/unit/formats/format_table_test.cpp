// docs/formats/README.md lists the registry.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/open.h"
#include "formats/writer.h"
#include "tests/support/catch.h"

using namespace profd;

namespace {

const std::filesystem::path kFolder = PROFD_SOURCE_DIR "/docs/formats";

std::vector<const ReaderInfo*> readers_by_id() {
  std::vector<const ReaderInfo*> out;
  for (const FormatReader* reader : all_readers()) out.push_back(&reader->info());
  std::sort(out.begin(), out.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
  return out;
}

// A bar would end the cell, in code too.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

// Names in a text that Markdown would take for markup.
std::string words(std::string_view text) {
  std::string out;
  for (const char c : cell(text)) {
    if (c == '*' || c == '_' || c == '<') out += '\\';
    out += c;
  }
  return out;
}

// What is done in a program's window or a script is no command.
std::string command(std::string_view text) {
  return text.starts_with("in ") ? words(text) : fmt::format("`{}`", cell(text));
}

std::string names(std::span<const std::string_view> extensions) {
  std::vector<std::string> out;
  for (const std::string_view extension : extensions) out.push_back(fmt::format("`*{}`", extension));
  return fmt::format("{}", fmt::join(out, " "));
}

std::string link(std::string_view id) {
  return fmt::format("[{0}]({0}.md)", id);
}

std::string overview() {
  std::string table =
      "| format | what | written by | usual names | writer |\n| --- | --- | --- | --- | --- |\n";
  for (const ReaderInfo* info : readers_by_id())
    table += fmt::format("| {} | {} | {} | {} | {} |\n", link(info->id), words(info->title),
                         words(info->producer), names(info->extensions), find_writer(info->id) ? "yes" : "");
  return table;
}

std::string what_is_read() {
  std::string table = "| format | versions | what is kept |\n| --- | --- | --- |\n";
  for (const ReaderInfo* info : readers_by_id())
    table += fmt::format("| {} | {} | {} |\n", link(info->id), words(info->notes.versions),
                         words(info->notes.keeps));
  return table;
}

std::string how_verified() {
  std::string table = "| format | how to record | verified with |\n| --- | --- | --- |\n";
  for (const ReaderInfo* info : readers_by_id())
    table += fmt::format("| {} | {} | {} |\n", link(info->id), command(info->notes.recording),
                         words(info->notes.verified));
  return table;
}

std::string what_is_written() {
  std::string table = "| format | usual names | holds |\n| --- | --- | --- |\n";
  for (const FormatWriter* writer : all_writers()) {
    const WriterInfo& info = writer->info();
    table +=
        fmt::format("| {} | {} | {} |\n",
                    std::filesystem::exists(kFolder / fmt::format("{}.md", info.id)) ? link(info.id)
                                                                                     : std::string(info.id),
                    names(info.extensions), words(info.holds));
  }
  return table;
}

std::string page() {
  return "# Formats\n\n"
         "What `profd` opens and writes. The tables are written from the registry by a test "
         "(`PROFD_BLESS=1`); `profd formats` shows\nthem in a terminal, `profd formats ID` one format. "
         "[add-a-format.md](../add-a-format.md) says how a format is added.\n\n"
         "Any of them may lie in gzip, zstd, bzip2, xz, LZ4, zip or tar, one inside another; text may be "
         "UTF-8, "
         "or "
         "UTF-16 with a byte order mark.\nA tar header with a wrong checksum is taken as it stands, and the "
         "report says so. An archive or folder with several profiles gives\nseveral profiles; what cannot be "
         "read of it is named in the report (`member-broken`), the rest opens. A file is known by "
         "its\ncontent; "
         "its name decides only where the content does not.\n\n" +
         overview() +
         "\n## What is read\n\n"
         "What a file holds beyond this is counted in the import report or named on the format's page.\n\n" +
         what_is_read() +
         "\n## How to record, how it was verified\n\n"
         "Corpus files are real files of others, kept outside of this repository. Nothing was compared "
         "where only hand-made files are\nnamed.\n\n" +
         how_verified() +
         "\n## What is written\n\n"
         "`profd convert` lists what a format cannot hold when it writes it.\n\n" +
         what_is_written();
}

}  // namespace

TEST_CASE("the table of formats in the documentation is that of the registry") {
  const auto path = kFolder / "README.md";
  if (std::getenv("PROFD_BLESS")) std::ofstream(path, std::ios::binary) << page();
  std::ifstream in(path, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(in), {}) == page());
}

TEST_CASE("every format has notes of half a line") {
  for (const ReaderInfo* info : readers_by_id()) {
    INFO(info->id);
    const ReaderNotes& notes = info->notes;
    for (const std::string_view note : {notes.versions, notes.keeps, notes.recording, notes.verified}) {
      INFO(note);
      CHECK_FALSE(note.empty());
      CHECK(note.size() <= 140);
      CHECK(note.find_first_of("\n\t`") == std::string_view::npos);
      CHECK_FALSE(note.ends_with('.'));
    }
  }
}

TEST_CASE("every format has a page, and every page is of a format") {
  std::set<std::string> pages, formats;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".md" && entry.path().filename() != "README.md")
      pages.insert(entry.path().stem().string());
  }
  for (const ReaderInfo* info : readers_by_id()) formats.insert(std::string(info->id));
  CHECK(pages == formats);
}

// What VS Code opens unasked is what readers call their own, but for endings that other files have more
// often, or that another editor shows (.cpuprofile).
TEST_CASE("VS Code opens the endings that the readers know") {
  std::ifstream in(PROFD_SOURCE_DIR "/clients/vscode/package.json");
  const std::string manifest{std::istreambuf_iterator<char>(in), {}};
  const std::string_view mark = "\"filenamePattern\": \"";
  std::set<std::string, std::less<>> opened;
  for (std::size_t at = manifest.find(mark); at != std::string::npos; at = manifest.find(mark, at)) {
    at += mark.size();
    opened.insert(manifest.substr(at, manifest.find('"', at) - at));
  }
  const std::set<std::string_view> others_have{"-recording.json",
                                               ".0.0.0",
                                               ".axe",
                                               ".bin",
                                               ".bpftrace",
                                               ".bt",
                                               ".bt.out",
                                               ".contention",
                                               ".cpu",
                                               ".cpuprofile",
                                               ".csv",
                                               ".data",
                                               ".db",
                                               ".dump",
                                               ".er/log.xml",
                                               ".eu-stack",
                                               ".gdb",
                                               ".heap",
                                               ".heapprofile",
                                               ".heapsnapshot",
                                               ".hprof",
                                               ".htm",
                                               ".html",
                                               ".json",
                                               ".jsonl",
                                               ".map",
                                               ".mdb",
                                               ".metric-db",
                                               ".mojo",
                                               ".pb",
                                               ".perfetto",
                                               ".pmc",
                                               ".proto",
                                               ".pstack",
                                               ".raw.gz",
                                               ".sample.txt",
                                               ".stacks",
                                               ".stacks.txt",
                                               ".svg",
                                               ".trace",
                                               ".tree.json",
                                               ".txt",
                                               ".xt",
                                               "experiment.xml",
                                               "profile.0.0.0",
                                               "v8.log"};
  std::set<std::string> known{
      "*", "perf.data", "gmon.out", "callgrind.out.*", "cachegrind.out.*", "massif.out.*", "dhat.out.*"};
  for (const FormatReader* reader : all_readers())
    for (const std::string_view ending : reader->info().extensions) {
      known.insert(fmt::format("*{}", ending));
      INFO(reader->info().id << " " << ending);
      CHECK(opened.contains(fmt::format("*{}", ending)) != others_have.contains(ending));
    }
  for (const std::string& pattern : opened) {
    INFO(pattern);
    CHECK(known.contains(pattern));
  }
}

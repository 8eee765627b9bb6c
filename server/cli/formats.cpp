// profd formats: what is read and written, and what is known of each format.
#include "server/cli/formats.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/support/near_miss.h"
#include "formats/open.h"
#include "formats/writer.h"
#include "server/cli/align.h"
#include "server/cli/command.h"
#include "server/cli/json_writer.h"

namespace profd {
namespace {

struct Format {
  const ReaderInfo* reader = nullptr;  // null: is written only
  const WriterInfo* writer = nullptr;  // null: is read only

  std::string_view id() const { return reader ? reader->id : writer->id; }
  std::string_view title() const { return reader ? reader->title : writer->title; }
  std::span<const std::string_view> extensions() const {
    return reader ? reader->extensions : writer->extensions;
  }
};

std::vector<Format> formats_by_id() {
  std::vector<Format> out;
  for (const FormatReader* reader : all_readers()) {
    const FormatWriter* writer = find_writer(reader->info().id);
    out.push_back({&reader->info(), writer ? &writer->info() : nullptr});
  }
  for (const FormatWriter* writer : all_writers()) {
    const auto is_read = [&](const Format& format) { return format.id() == writer->info().id; };
    if (std::none_of(out.begin(), out.end(), is_read)) out.push_back({nullptr, &writer->info()});
  }
  std::sort(out.begin(), out.end(), [](const Format& a, const Format& b) { return a.id() < b.id(); });
  return out;
}

// As many whole names as fit, then "…".
std::string names_within(std::span<const std::string_view> extensions, std::size_t columns) {
  std::string out;
  for (const std::string_view& extension : extensions) {
    const std::string name = fmt::format("{}*{}", out.empty() ? "" : " ", extension);
    const std::size_t more = &extension == &extensions.back() ? 0 : 2;
    if (display_width(out) + display_width(name) + more > columns)
      return out.empty() ? cut_to_width(name, columns) : out + " …";
    out += name;
  }
  return out;
}

std::string table_text(const std::vector<Format>& formats, const Terminal& terminal) {
  constexpr std::size_t kGap = 2, kLeastTitle = 16, kLeastNames = 22, kNames = 32, kLeastProducer = 24;
  std::size_t id_width = 0, title_width = 0;
  for (const Format& format : formats) {
    id_width = std::max(id_width, display_width(format.id()));
    title_width = std::max(title_width, display_width(format.title()));
  }
  const auto columns = static_cast<std::size_t>(std::max(terminal.columns, 60));
  const std::size_t before_title = id_width + kGap + 1 + kGap;  // the letter w
  title_width = std::min(title_width, std::max(kLeastTitle, columns - before_title - kGap - kLeastNames));
  const std::size_t room = columns - before_title - title_width - kGap;
  const bool with_producer = room >= kNames + kGap + kLeastProducer;
  const std::size_t names_width = with_producer ? kNames : room;

  std::string head = left_aligned("format", before_title) + left_aligned("what", title_width + kGap);
  head += with_producer ? left_aligned("usual names", names_width + kGap) + "written by" : "usual names";
  std::string out = terminal.dim(head) + "\n";
  std::size_t n_read = 0, n_written = 0;
  for (const Format& format : formats) {
    n_read += format.reader != nullptr;
    n_written += format.writer != nullptr;
    const std::string names = names_within(format.extensions(), names_width);
    out += terminal.bold(format.id()) + std::string(id_width - display_width(format.id()) + kGap, ' ');
    out += format.writer ? "w" : " ";
    out += "  " + left_aligned(cut_to_width(format.title(), title_width), title_width + kGap);
    if (with_producer && format.reader)
      out += left_aligned(names, names_width + kGap) +
             terminal.dim(cut_to_width(format.reader->producer, room - kNames - kGap));
    else
      out += names;
    out += '\n';
  }
  return out + fmt::format(
                   "\n{} are read; the {} marked w are written too, by `profd convert`.\n"
                   "`profd formats ID` says what is kept of one, how to record it and how it was "
                   "verified.\n",
                   n_read, n_written);
}

// Text in lines of at most `columns`, those after the first indented.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (used > 0 && used + 1 + display_width(word) > columns) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += display_width(word) + (used > 0 ? 1 : 0);
  }
  return out;
}

std::string format_text(const Format& format, const Terminal& terminal) {
  constexpr std::size_t kLabel = 15;
  const auto columns = static_cast<std::size_t>(std::max(terminal.columns, 40));
  std::string out = fmt::format("{}  {}\n", terminal.bold(format.id()), format.title());
  const auto row = [&](std::string_view label, std::string_view text) {
    out += "  " + terminal.dim(left_aligned(label, kLabel)) +
           wrapped(text, kLabel + 2, columns - kLabel - 2) + "\n";
  };
  std::vector<std::string> names;
  for (const std::string_view extension : format.extensions()) names.push_back(fmt::format("*{}", extension));
  if (format.reader) {
    const ReaderNotes& notes = format.reader->notes;
    row("written by", format.reader->producer);
    row("usual names", fmt::format("{}", fmt::join(names, " ")));
    row("versions", notes.versions);
    row("what is kept", notes.keeps);
    // Not wrapped: to be copied.
    out += "  " + terminal.dim(left_aligned("how to record", kLabel)) + std::string(notes.recording) + "\n";
    row("verified with", notes.verified);
  } else {
    row("usual names", fmt::format("{}", fmt::join(names, " ")));
    row("profd reads", "no");
  }
  row("profd writes", format.writer ? format.writer->holds : "no");
  return out;
}

void write_json(const Format& format, JsonWriter& json) {
  const auto extensions = [&](std::span<const std::string_view> all) {
    json.key("extensions");
    json.begin_array();
    for (const std::string_view extension : all) json.value(extension);
    json.end_array();
  };
  const ReaderNotes notes = format.reader ? format.reader->notes : ReaderNotes{};
  json.begin_object();
  json.field("id", format.id());
  json.field("title", format.title());
  extensions(format.extensions());
  json.field("read", format.reader != nullptr);
  json.field("producer", format.reader ? format.reader->producer : std::string_view{});
  json.field("versions", notes.versions);
  json.field("keeps", notes.keeps);
  json.field("recording", notes.recording);
  json.field("verified", notes.verified);
  json.key("writer");
  if (format.writer) {
    json.begin_object();
    extensions(format.writer->extensions);
    json.field("holds", format.writer->holds);
    json.end_object();
  } else {
    json.null();
  }
  json.end_object();
}

std::string formats_json(const std::vector<Format>& formats) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.key("formats");
  json.begin_array();
  for (const Format& format : formats) write_json(format, json);
  json.end_array();
  json.end_object();
  out += '\n';
  return out;
}

bool mentions(std::string_view text, std::string_view word) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), same) != text.end();
}

// "perf" is no format, but perf-data and perf-script are.
std::string unknown_format(const std::vector<Format>& formats, const std::string& id) {
  std::vector<std::string_view> near;
  for (const Format& format : formats) {
    const auto extensions = format.extensions();
    if (mentions(format.id(), id) || mentions(format.title(), id) ||
        (format.reader && mentions(format.reader->producer, id)) ||
        std::find(extensions.begin(), extensions.end(), id) != extensions.end())
      near.push_back(format.id());
  }
  if (id.empty() || near.empty()) {
    std::vector<std::string_view> ids;
    for (const Format& format : formats) ids.push_back(format.id());
    return fmt::format("no format is called {}{}; `profd formats` lists them", id, did_you_mean(id, ids));
  }
  return fmt::format("no format is called {}; these mention it: {}", id, fmt::join(near, ", "));
}

struct FormatsOptions {
  std::string id;
  bool one = false, json = false;
};

int show_formats(const FormatsOptions& options, const Console& console) {
  std::vector<Format> formats = formats_by_id();
  if (options.one) {
    const auto found = std::find_if(formats.begin(), formats.end(),
                                    [&](const Format& format) { return format.id() == options.id; });
    if (found == formats.end()) return console.fail(unknown_format(formats, options.id), kExitUsage);
    formats = {*found};
  }
  if (options.json) return console.print(formats_json(formats));
  return console.print(options.one ? format_text(formats.front(), console.out)
                                   : table_text(formats, console.out));
}

}  // namespace

void add_format_option(CLI::App& app, std::string& format) {
  app.add_option("--format", format, "Read it as this format instead of looking; see profd formats")
      ->type_name("ID")
      ->check([](const std::string& id) {
        const std::vector<Format> formats = formats_by_id();
        const auto is_meant = [&](const Format& known) { return known.reader && known.id() == id; };
        if (std::none_of(formats.begin(), formats.end(), is_meant))
          throw CLI::ValidationError(unknown_format(formats, id));
        return std::string();
      });
}

int list_formats(const Console& console) {
  return console.print(table_text(formats_by_id(), console.out));
}

void add_formats(CLI::App& root, Commands& commands) {
  const auto options = std::make_shared<FormatsOptions>();
  CLI::App* app = root.add_subcommand("formats", "What is read and written, and how to record it");
  CLI::Option* id = app->add_option("ID", options->id, "All that is known of this one");
  app->add_flag("--json", options->json, "The same for programs, see docs/cli.md");
  app->footer("Examples:\n  profd formats\n  profd formats perf-data");
  app->callback([&commands, options, id] {
    options->one = id->count() > 0;
    commands.action = [options](const Console& console) { return show_formats(*options, console); };
  });
}

}  // namespace profd

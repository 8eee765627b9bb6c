// The forms pprof wrote and read before its protocol buffer, docs/formats/pprof-legacy.md.
#include "formats/reader.h"

#include <array>
#include <memory>

#include "formats/pprof_legacy/text.h"

namespace profd {
namespace {

using namespace pprof_legacy;

constexpr std::array<std::string_view, 4> kExtensions{".prof", ".heap", ".contention", ".cpu"};
constexpr ReaderNotes kNotes{
    .versions =
        "gperftools CPU, heap, growth and contention, Go's debug=1 texts, threadz, Java; 32 and 64 bits",
    .keeps = "stacks, addresses, modules, block sizes as labels, symbols where the file has them",
    .recording = "CPUPROFILE=cpu.prof ./app",
    .verified = "goldens of pprof's own tests; go tool pprof, flat and cum of every address",
};

enum class Form : std::uint8_t { none, cpu, heap, jemalloc, contention, count, threads, java, symbols };

// `goroutine profile: total 12`
bool is_count_header(std::string_view line) {
  const std::size_t end = line.find(" profile: total ");
  if (end == std::string_view::npos || end == 0 ||
      line.substr(0, end).find_first_of(" \t") != std::string_view::npos)
    return false;
  const std::string_view n = line.substr(end + 16);
  return !n.empty() && n.find_first_not_of("0123456789") == std::string_view::npos;
}

// Java says so in one of the first lines.
bool is_java(std::string_view text) {
  LineReader lines(text);
  std::string_view line;
  lines.next(line);
  for (int i = 0; i < 8 && lines.next(line) && line.find('@') == std::string_view::npos; ++i) {
    if (line.starts_with("format") || line.starts_with("resolution")) return true;
  }
  return false;
}

Form form_of(std::string_view text) {
  if (cpu_header(text)) return Form::cpu;
  LineReader lines(text);
  std::string_view line;
  if (!lines.next(line)) return Form::none;
  if (line.substr(0, 200).find("heap profile: ") < 100) return Form::heap;
  if (is_jemalloc_header(line)) return Form::jemalloc;
  if (line == "--- symbol") return Form::symbols;
  if (line == "--- heapz 1 ---") return Form::java;
  if (line.starts_with("--- contentionz ")) return is_java(text) ? Form::java : Form::contention;
  if (line.starts_with("--- mutex:") || line.starts_with("--- contention:")) return Form::contention;
  for (int i = 0; i < 100 && is_blank_or_comment(line); ++i)
    if (!lines.next(line)) return Form::none;
  if (line.starts_with("--- threadz ") || (line.starts_with("--- Thread ") && line.ends_with(") stack: ---")))
    return Form::threads;
  return is_count_header(line) ? Form::count : Form::none;
}

Result<void> read_form(std::string_view text, std::size_t& at, ReadContext& context, Records& records) {
  switch (form_of(text.substr(at))) {
    case Form::cpu:
      return read_cpu(text, at, context, records);
    case Form::heap:
      return read_heap(text, at, context, records);
    case Form::jemalloc:
      return read_jemalloc(text, at, context, records);
    case Form::contention:
      return read_contention(text, at, context, records);
    case Form::count:
      return read_count(text, at, context, records);
    case Form::threads:
      return read_threads(text, at, context, records);
    case Form::java:
      return read_java(text, at, context, records);
    case Form::symbols:
    case Form::none:
      break;
  }
  return fail(ErrorCode::malformed, "there is no profile of a kind that pprof wrote", at);
}

class PprofLegacyReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "pprof-legacy",
        "pprof before protocol buffers",
        kExtensions,
        50,
        "gperftools (CPU, heap, growth, contention), jemalloc, Go debug=1 texts, old Java agents",
        3,
        kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text(reinterpret_cast<const char*>(prefix.data()), prefix.size());
    return form_of(text) == Form::none ? Confidence::no : Confidence::certain;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const std::string_view text = source.text();
    Records records;
    std::size_t at = 0;
    if (form_of(text) == Form::symbols) PROFD_CHECK(read_symbols(text, at, context, records));
    const bool binary = cpu_header(text.substr(at)).has_value();
    PROFD_CHECK(read_form(text, at, context, records));
    if (!records.ids_only) read_memory_map(text, at, !binary, records);
    // A number that lost its last digits still reads as a number.
    if (!binary && !text.ends_with('\n'))
      context.report.add("no-final-newline", Severity::loss,
                         "the last line has no end: it may have been cut off", text.size());
    return add_profile(std::move(records), context, profiles.emplace_back());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_pprof_legacy_reader() {
  return std::make_unique<PprofLegacyReader>();
}

}  // namespace profd

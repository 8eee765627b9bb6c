// Very Sleepy: a zip archive of text files. Callstacks.txt has a time and the names of symbols, innermost
// first; Symbols.txt says what they are.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/code_symbol.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".sleepy"};
constexpr ReaderNotes kNotes{
    .versions = "archives with Symbols.txt and Callstacks.txt, with and without addresses",
    .keeps = "seconds by stack, modules, files and lines",
    .recording = "in Very Sleepy: profile, stop, save the results",
    .verified = "gprof2dot's shares of the top functions of one corpus file",
};
constexpr std::string_view kSymbols = "Symbols.txt", kStacks = "Callstacks.txt", kStats = "Stats.txt";
constexpr std::string_view kUnknown = "[unknown]";

// Words, and texts in quotes with \" inside.
class Words {
 public:
  explicit Words(std::string_view line) : line_(line) {}
  bool next(std::string_view& word) {
    while (at_ < line_.size() && line_[at_] == ' ') ++at_;
    if (at_ >= line_.size()) return false;
    if (line_[at_] != '"') {
      const std::size_t end = std::min(line_.find(' ', at_), line_.size());
      word = line_.substr(at_, end - at_);
      at_ = end;
      return true;
    }
    std::size_t end = at_ + 1;
    while (end < line_.size() && line_[end] != '"')
      end += line_[end] == '\\' && end + 1 < line_.size() ? 2 : 1;
    word = line_.substr(at_ + 1, std::min(end, line_.size()) - at_ - 1);
    at_ = std::min(end + 1, line_.size());
    return true;
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0;
};

class Reading {
 public:
  Reading(const Folder& folder, ReadContext& context, ProfileBuilder& builder)
      : folder_(folder), context_(context), builder_(builder) {}

  Result<void> run() {
    const MetricId time = builder_.add_metric("time", "seconds", true);
    PROFD_TRY(const std::string_view symbols, open(kSymbols));
    read_symbols(symbols);
    PROFD_TRY(const std::string_view stacks, open(kStacks));
    if (folder_.has(kStats)) {
      PROFD_TRY(const std::string_view stats, open(kStats));
      read_stats(stats);
    }
    LineReader lines(stacks);
    std::vector<FrameId> stack;
    std::uint64_t n_stacks = 0;
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      if (trim(line).empty()) continue;
      Words words(line);
      std::string_view word;
      double seconds = 0;
      if (!words.next(word) || !parse_double(word, seconds) || seconds < 0) {
        context_.report.add("malformed-line", Severity::loss,
                            "lines that are no stack with its time were not read", lines.offset());
        continue;
      }
      stack.clear();
      while (words.next(word)) {
        if (stack.size() >= context_.limits.stack_depth)
          return fail(ErrorCode::limit, fmt::format("a stack has more than {} frames (limit stack_depth)",
                                                    context_.limits.stack_depth));
        stack.push_back(frame(word));
      }
      std::reverse(stack.begin(), stack.end());
      builder_.add_self(builder_.context_of(stack), time, seconds);
      ++n_stacks;
    }
    if (n_stacks == 0) return fail(ErrorCode::malformed, "Callstacks.txt has no stack");
    if (n_samples_) builder_.set_n_samples(*n_samples_);
    builder_.info().producer = "Very Sleepy";
    return {};
  }

 private:
  Result<std::string_view> open(std::string_view file) {
    auto source = folder_.open(file);
    if (!source) return tl::unexpected<Error>(std::move(source.error()).in(std::string(file)));
    texts_.push_back(decode_text(*source));
    return texts_.back().text;
  }

  // sym152 "GDI32" "D3DKMTRender" "[unknown]" 0; newer versions begin with an address.
  void read_symbols(std::string_view text) {
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      if (trim(line).empty()) continue;
      Words words(line);
      std::string_view id, module, name, file, number;
      if (!words.next(id) || !words.next(module) || !words.next(name)) {
        context_.report.add("malformed-symbol", Severity::loss, "lines of Symbols.txt that are no symbol",
                            lines.offset());
        continue;
      }
      const bool has_file = words.next(file) && file != kUnknown;
      FrameSpec spec;
      if (words.next(number)) parse_uint(number, spec.line);
      std::uint64_t address = 0;
      const bool unresolved =
          name.empty() || name == kUnknown || (name.starts_with("0x") && parse_hex(name, address));
      if (id.starts_with("0x")) parse_hex(id, spec.address);
      if (spec.address == 0) spec.address = address;
      const bool module_known = !module.empty() && module != kUnknown;
      const std::string shown =
          unresolved ? unresolved_name(module_known ? module : std::string_view{}) : std::string(name);
      spec.function =
          builder_.function(FunctionSpec{.name = builder_.string(shown),
                                         .file = builder_.string(has_file ? file : std::string_view{}),
                                         .unresolved = unresolved});
      if (module_known) spec.module = builder_.module({.name = module});
      symbols_.insert_or_assign(std::string(id), builder_.frame(spec));
    }
  }

  void read_stats(std::string_view text) {
    LineReader lines(text);
    for (std::string_view line; lines.next(line);) {
      const std::size_t colon = line.find(": ");
      if (colon == std::string_view::npos) continue;
      const std::string_view key = line.substr(0, colon), value = trim(line.substr(colon + 2));
      double seconds = 0;
      std::uint64_t samples = 0;
      if (key == "Filename") builder_.info().program = repair_utf8(value);
      if (key == "Date") builder_.info().properties.emplace_back("date", repair_utf8(value));
      if (key == "Duration" && parse_double(value, seconds) && seconds >= 0 && seconds < 9e9)
        builder_.info().duration_ns = static_cast<std::int64_t>(seconds * 1e9);
      if (key == "Samples" && parse_uint(value, samples)) n_samples_ = samples;
    }
  }

  FrameId frame(std::string_view id) {
    key_ = id;
    const auto [at, is_new] = symbols_.try_emplace(key_);
    if (is_new) {
      context_.report.add("unknown-symbol", Severity::loss,
                          "frames of symbols that Symbols.txt does not list");
      FrameSpec spec;
      spec.function =
          builder_.function(FunctionSpec{.name = builder_.string("[unknown]"), .unresolved = true});
      if (id.starts_with("0x")) parse_hex(id, spec.address);
      at->second = builder_.frame(spec);
    }
    return at->second;
  }

  const Folder& folder_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::deque<DecodedText> texts_;
  std::unordered_map<std::string, FrameId> symbols_;
  std::string key_;
  std::optional<std::uint64_t> n_samples_;
};

class SleepyReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"sleepy", "Very Sleepy capture", kExtensions, 585, "Very Sleepy", 1, kNotes};
    return info;
  }

  // Its unit is the archive.
  Confidence sniff(std::span<const std::byte>, bool) const override { return Confidence::no; }
  Result<void> read(const ByteSource&, ReadContext&, std::vector<ProfileBuilder>&) const override {
    return fail(ErrorCode::malformed, "not an archive with Callstacks.txt and Symbols.txt", 0);
  }

  Confidence sniff_folder(const Folder& folder) const override {
    return folder.has(kSymbols) && folder.has(kStacks) ? Confidence::certain : Confidence::no;
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    return Reading(folder, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_sleepy_reader() {
  return std::make_unique<SleepyReader>();
}

}  // namespace profd

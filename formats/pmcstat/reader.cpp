// FreeBSD's pmcstat -G: for every event the functions that ran, and below each, indented, who called it.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/support/text.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".pmcstat", ".pmc"};
constexpr ReaderNotes kNotes{
    .versions = "the text of pmcstat -G",
    .keeps = "samples of every event by call path, modules; paths whose callers were not listed stand apart",
    .recording = "pmcstat -R samples.out -G out.txt",
    .verified = "speedscope and FlameGraph on one corpus file, for the stacks that are whole",
};
constexpr std::string_view kHidden = "[callers not shown]";
constexpr std::size_t kMaxEvents = 64;

// "20.86%  [7447]     zfs_lz4_compress @ /boot/kernel/zfs.ko", indented by a blank for each caller.
struct Line {
  std::size_t depth = 0;
  std::int64_t count = 0;
  std::string_view function, module;  // module "" as in the line before
};

bool parse_line(std::string_view text, Line& out) {
  out.depth = std::min(text.find_first_not_of(' '), text.size());
  text = trim(text);
  const std::size_t percent = text.find('%');
  double share = 0;
  if (percent == std::string_view::npos || !parse_double(text.substr(0, percent), share)) return false;
  text = trim(text.substr(percent + 1));
  const std::size_t close = text.find(']');
  if (!text.starts_with('[') || close == std::string_view::npos) return false;
  if (!parse_int(text.substr(1, close - 1), out.count) || out.count < 0) return false;
  text = trim(text.substr(close + 1));
  const std::size_t at = text.rfind(" @ ");
  out.module = at == std::string_view::npos ? std::string_view{} : trim(text.substr(at + 3));
  out.function = trim(text.substr(0, at));
  return !out.function.empty();
}

// "@ inst_retired.any [35705 samples]".
bool parse_event(std::string_view text, std::string_view& name, std::int64_t& samples) {
  constexpr std::string_view kSamples = " samples]";
  if (!text.starts_with("@ ") || !text.ends_with(kSamples)) return false;
  const std::size_t open = text.rfind('[');
  if (open == std::string_view::npos ||
      !parse_int(text.substr(open + 1, text.size() - kSamples.size() - open - 1), samples))
    return false;
  name = trim(text.substr(2, open - 2));
  return !name.empty() && samples >= 0;
}

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    // Metrics come first.
    LineReader headers(text_.text);
    for (std::string_view line; headers.next(line);) {
      Event event;
      if (!parse_event(trim(line), event.name, event.samples)) continue;
      if (events_.size() == kMaxEvents)
        return fail(ErrorCode::limit, fmt::format("more than {} events", kMaxEvents), headers.offset());
      event.metric = builder_.add_metric(repair_utf8(event.name), "samples");
      events_.push_back(event);
    }
    if (events_.empty()) return fail(ErrorCode::malformed, "no line reads `@ event [n samples]`", 0);
    std::size_t event = events_.size();
    LineReader lines(text_.text);
    for (std::string_view line; lines.next(line);) {
      if (context_.stop.check()) return context_.stop.status();
      offset_ = text_.offset + lines.offset();
      std::string_view name;
      std::int64_t samples = 0;
      if (parse_event(trim(line), name, samples)) {
        flush();
        event = event == events_.size() ? 0 : event + 1;
        current_ = &events_[event];
        continue;
      }
      if (trim(line).empty()) {
        flush();
        continue;
      }
      PROFD_CHECK(read_line(line));
    }
    flush();
    return finish();
  }

 private:
  struct Event {
    std::string_view name;
    std::int64_t samples = 0;
    std::int64_t listed = 0;
    MetricId metric;
  };
  struct Node {
    FrameId frame;
    std::int64_t rest = 0;  // not passed on to callers that are listed
    bool has_callers = false;
  };

  void malformed() {
    if (n_malformed_++ == 0) first_malformed_ = offset_;
  }

  Result<void> read_line(std::string_view text) {
    Line line;
    if (!current_ || !parse_line(text, line) || line.depth > chain_.size()) {
      malformed();
      return {};
    }
    if (line.depth >= context_.limits.stack_depth)
      return fail(
          ErrorCode::limit,
          fmt::format("a stack has more than {} frames (limit stack_depth)", context_.limits.stack_depth),
          offset_);
    close(line.depth);
    if (!line.module.empty()) module_ = builder_.module({.name = line.module});
    FrameSpec spec;
    spec.function = builder_.function(line.function);
    spec.module = module_;
    if (line.depth > 0) {
      Node& callee = chain_.back();
      callee.has_callers = true;
      if (line.count > callee.rest) n_excess_ += static_cast<std::uint64_t>(line.count - callee.rest);
      line.count = std::min(line.count, callee.rest);
      callee.rest -= line.count;
    } else {
      current_->listed += line.count;
    }
    chain_.push_back({builder_.frame(spec), line.count});
    return {};
  }

  // Samples that no caller took end here: their stack begins here, or its callers were too few to be printed.
  void close(std::size_t depth) {
    while (chain_.size() > depth) {
      const Node& node = chain_.back();
      if (node.rest > 0) {
        ContextId at = kRootContext;
        if (node.has_callers) {
          if (!hidden_.valid())
            hidden_ = builder_.frame({.function = builder_.function(FunctionSpec{
                                          .name = builder_.string(kHidden), .unresolved = true})});
          at = builder_.context(at, hidden_);
          n_hidden_ += static_cast<std::uint64_t>(node.rest);
        }
        for (std::size_t i = chain_.size(); i-- > 0;) at = builder_.context(at, chain_[i].frame);
        builder_.add_self(at, current_->metric, node.rest);
      }
      chain_.pop_back();
    }
  }
  void flush() { close(0); }

  Result<void> finish() {
    std::uint64_t n = 0, n_unlisted = 0;
    for (const Event& event : events_) {
      n += static_cast<std::uint64_t>(event.listed);
      if (event.samples > event.listed)
        n_unlisted += static_cast<std::uint64_t>(event.samples - event.listed);
    }
    if (n == 0) return fail(ErrorCode::malformed, "no function has samples", 0);
    builder_.set_n_samples(n);
    builder_.info().producer = "pmcstat";
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t count) {
      context_.report.add(kind, severity, message, std::nullopt, count);
    };
    context_.report.add("malformed-line", Severity::loss,
                        "lines that are no function with its count were not read", first_malformed_,
                        n_malformed_);
    row("unlisted-samples", Severity::loss, "samples of functions that the file does not list", n_unlisted);
    row("hidden-callers", Severity::info, "samples whose callers were too few to be listed", n_hidden_);
    row("count-too-large", Severity::loss, "samples that callers have more than what they called", n_excess_);
    return {};
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<Event> events_;
  Event* current_ = nullptr;
  ModuleId module_;
  FrameId hidden_;
  std::vector<Node> chain_;  // from the function that ran up to its caller's caller
  std::uint64_t offset_ = 0, n_malformed_ = 0, first_malformed_ = 0, n_hidden_ = 0, n_excess_ = 0;
};

class PmcstatReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"pmcstat", "pmcstat call graph", kExtensions, 584, "FreeBSD pmcstat -G", 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    LineReader lines(sniff_text(prefix));
    for (std::string_view line; lines.next(line);) {
      if (trim(line).empty()) continue;
      std::string_view name;
      std::int64_t samples = 0;
      return parse_event(trim(line), name, samples) ? Confidence::certain : Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_pmcstat_reader() {
  return std::make_unique<PmcstatReader>();
}

}  // namespace profd

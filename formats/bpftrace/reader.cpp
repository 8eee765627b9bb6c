// bpftrace's maps keyed by stacks, as it prints them at exit: `@name[`, frames one a line, leaf first, `]:
// value`; or with `-f json` one JSON object a line. Each map is a metric. A key may hold a kernel and a user
// stack and scalars (comm, pid, …), which become labels.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>

#include "core/support/text.h"
#include "formats/support/each_line.h"
#include "formats/support/json_cursor.h"
#include "formats/support/line_reader.h"
#include "formats/support/stack_text.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".bt.out", ".bpftrace"};
constexpr ReaderNotes kNotes{
    .versions = "maps printed as text or with -f json, keyed by kstack, ustack or both",
    .keeps = "counts by stack, a metric for each map, other keys as labels; no histograms",
    .recording = "bpftrace -e 'profile:hz:99 { @[kstack, ustack, comm] = count(); }' > out.bpftrace",
    .verified = "recorded with bpftrace 0.17, sums of all maps; sums over three corpus files",
};

bool is_frame(std::string_view line) {
  return line.size() > 4 && (line.starts_with("    ") || line[0] == '\t') && !trim(line).empty();
}

// "@", "@name", "@name[": where the name ends.
std::size_t name_end(std::string_view line) {
  std::size_t at = 1;
  while (at < line.size() && (line[at] == '_' || (line[at] >= '0' && line[at] <= '9') ||
                              (line[at] >= 'a' && line[at] <= 'z') || (line[at] >= 'A' && line[at] <= 'Z')))
    ++at;
  return at;
}

bool opens_stack(std::string_view line) {
  if (line.empty() || line[0] != '@') return false;
  const std::size_t end = name_end(line);
  if (end >= line.size() || line[end] != '[') return false;
  // The key ends on another line.
  return line.find("]: ") == std::string_view::npos && !line.ends_with("]:");
}

// "0x7f12" without a symbol, "ffffffff81012345" and "401136" of stacks in raw mode: no name of a function
// begins with a digit, nor is one of sixteen hexadecimal digits.
bool is_address(std::string_view text) {
  if (text.starts_with("0x")) return true;
  const bool all_hex = text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return all_hex && !text.empty() && ((text[0] >= '0' && text[0] <= '9') || text.size() == 16);
}

// Of what a script calls by its unit, as "@usecs" and "@offcpu_ns" are; all others are counts.
std::string_view unit_of(std::string_view map) {
  const std::string_view word = map.substr(map.find_last_of("@_") + 1);
  if (word == "ns" || word == "nsecs") return "nanoseconds";
  if (word == "us" || word == "usecs") return "microseconds";
  if (word == "ms" || word == "msecs") return "milliseconds";
  return word == "bytes" ? "bytes" : "count";
}

class Reading {
 public:
  Reading(ReadContext& context, ProfileBuilder& builder)
      : context_(context), builder_(builder), stack_(context, builder) {}

  Result<void> read_text(const DecodedText& text, bool truncated) {
    LineReader lines(text.text);
    PROFD_CHECK(each_line(lines, context_, {.cut_off = truncated}, [&](std::string_view line) {
      return read_line(line, text.offset + lines.offset());
    }));
    if (open_) cut_.count(text.text.size());
    return build();
  }

  Result<void> read_json(const DecodedText& text, bool truncated) {
    LineReader lines(text.text);
    for (std::string_view line; lines.next(line);) {
      if (!lines.ended() && truncated) break;
      if (trim(line).empty()) continue;
      PROFD_CHECK(context_.stop.status());
      const std::uint64_t offset = text.offset + lines.offset();
      JsonCursor in(line, std::min<std::uint32_t>(context_.limits.nesting, 64), offset);
      std::string_view key;
      bool is_map = false;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "type" && in.kind() == JsonKind::string) {
          const std::string_view type = in.string();
          is_map = type == "map";
          if (type == "hist") histograms_.count(offset);
        } else if (key == "data" && is_map && in.kind() == JsonKind::object) {
          PROFD_CHECK(read_maps(in, offset));
        } else {
          in.skip();
        }
      }
      PROFD_CHECK(in.finish());
    }
    return build();
  }

 private:
  struct Entry {
    ContextId context;
    LabelSetId labels{0u};
    std::uint32_t map = 0;
    std::int64_t value = 0;
  };
  struct Piece {
    std::string_view text;
    std::uint64_t offset = 0;
  };

  Result<void> read_maps(JsonCursor& in, std::uint64_t offset) {
    std::string_view name;
    for (in.begin_object(); in.next_key(name);) {
      map_ = map_of(keep(name));
      if (in.kind() != JsonKind::object) {
        scalars_.count(offset);
        in.skip();
        continue;
      }
      std::string_view key;
      for (in.begin_object(); in.next_key(key);) {
        if (in.kind() != JsonKind::number) {
          other_values_.count(in.offset());
          in.skip();
          continue;
        }
        // The key is a stack in one string, other parts before and behind it.
        const std::string_view kept = keep(key);
        const std::int64_t value = in.integer();
        if (kept.find('\n') == std::string_view::npos) {
          if (kept.empty() || kept[0] == ',')
            PROFD_CHECK(add_without_stack(kept.substr(kept.empty() ? 0 : 1), value, offset));
          else
            scalars_.count(offset);
          continue;
        }
        LineReader lines(kept);
        for (std::string_view line; lines.next(line);)
          if (is_frame(line))
            PROFD_CHECK(add_frame(line, offset));
          else
            read_scalars(line);
        PROFD_CHECK(end_entry(value));
      }
    }
    return {};
  }

  std::string_view keep(std::string_view text) { return kept_.emplace_back(text); }

  Result<void> read_line(std::string_view line, std::uint64_t offset) {
    if (open_) {
      if (is_frame(line)) return add_frame(line, offset);
      const std::size_t close = closing(line);
      if (close == std::string_view::npos) {
        if (opens_stack(line)) {  // the entry before was cut
          cut_.count(offset);
          drop();
          return begin_entry(line);
        }
        read_scalars(line);
        return {};
      }
      read_scalars(line.substr(0, close));
      open_ = false;
      return read_value(trim(line.substr(close + 2)), offset);
    }
    if (opens_stack(line)) return begin_entry(line);
    if (!line.empty() && line[0] == '@') {
      const std::size_t end = name_end(line), close = closing(line);
      const std::string_view key = line.substr(std::min(end + 1, line.size()));
      std::int64_t value;
      // A kernel thread has no user stack: @[, kworker/0:1]: 3
      if (close != std::string_view::npos && close > end && line[end] == '[' &&
          (key.starts_with(']') || key.starts_with(", ")) && parse_int(trim(line.substr(close + 2)), value)) {
        map_ = map_of(line.substr(0, end));
        return add_without_stack(line.substr(end + 1, close - end - 1), value, offset);
      }
      scalars_.count(offset);
    } else if (!trim(line).empty() && !(in_histogram_ && (line[0] == '[' || line[0] == '('))) {
      others_.count(offset);
    }
    return {};
  }

  // Where "]:" ends the key.
  static std::size_t closing(std::string_view line) {
    const std::size_t at = line.rfind("]: ");
    if (at != std::string_view::npos) return at;
    return line.ends_with("]:") ? line.size() - 2 : std::string_view::npos;
  }

  Result<void> begin_entry(std::string_view line) {
    const std::size_t end = name_end(line);
    map_ = map_of(line.substr(0, end));
    open_ = true;
    in_histogram_ = false;
    read_scalars(line.substr(end + 1));
    return {};
  }

  // What stands between the stacks of a key: "comm, 12, ".
  void read_scalars(std::string_view text) {
    if (!group_.empty()) groups_.push_back(std::move(group_)), group_.clear();
    while (!text.empty()) {
      const std::size_t comma = text.find(", ");
      const std::string_view part = trim(text.substr(0, comma));
      if (!part.empty() && part != ",")
        keys_.push_back(part.ends_with(',') ? part.substr(0, part.size() - 1) : part);
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 2);
    }
  }

  Result<void> add_frame(std::string_view line, std::uint64_t offset) {
    if (group_.size() >= context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
    group_.push_back({trim(line), offset});
    return {};
  }

  Result<void> read_value(std::string_view text, std::uint64_t offset) {
    std::int64_t value;
    if (parse_int(text, value)) return end_entry(value);
    if (text.empty()) {
      histograms_.count(offset);
      in_histogram_ = true;
    } else {
      other_values_.count(offset);
    }
    drop();
    return {};
  }

  void drop() {
    groups_.clear();
    group_.clear();
    keys_.clear();
    open_ = false;
  }

  Result<void> end_entry(std::int64_t value) {
    if (!group_.empty()) groups_.push_back(std::move(group_)), group_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      // Of two stacks the first is the kernel's: that is how keys are written, and how stacks run.
      const bool kernel = groups_.size() > 1 && g == 0;
      for (const Piece& piece : groups_[g]) {
        const bool is_return = &piece != &groups_[g].front();
        const auto kind = static_cast<std::uint8_t>((kernel ? 1 : 0) + (is_return ? 2 : 0));
        PROFD_CHECK(stack_.push(piece.text, kind, piece.offset,
                                [&](std::string_view text, std::vector<FrameId>& frames) {
                                  frames.push_back(make(text, kernel, is_return, piece.offset));
                                }));
      }
    }
    Entry entry;
    entry.map = map_;
    entry.value = value;
    entry.context = stack_.take();
    std::vector<Label> labels;
    for (std::size_t k = 0; k < keys_.size(); ++k)
      labels.push_back({.key = builder_.string(keys_.size() == 1 ? "key" : fmt::format("key{}", k + 1)),
                        .text = builder_.string(keys_[k])});
    entry.labels = builder_.label_set(labels);
    entries_.push_back(entry);
    drop();
    return {};
  }

  // Counted when the map turns out to be one of stacks.
  Result<void> add_without_stack(std::string_view key, std::int64_t value, std::uint64_t offset) {
    read_scalars(key);
    without_stack_.push_back({entries_.size(), offset});
    return end_entry(value);
  }

  void settle_without_stack() {
    std::vector<std::uint8_t> has_stacks(maps_.size(), 0);
    std::size_t next = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const bool without = next < without_stack_.size() && without_stack_[next].first == e;
      next += without;
      if (!without) has_stacks[entries_[e].map] = 1;
    }
    std::vector<Entry> kept;
    kept.reserve(entries_.size());
    next = 0;
    for (std::size_t e = 0; e < entries_.size(); ++e) {
      const bool without = next < without_stack_.size() && without_stack_[next].first == e;
      const std::uint64_t offset = without ? without_stack_[next++].second : 0;
      if (without && has_stacks[entries_[e].map] == 0) {
        scalars_.count(offset);
        continue;
      }
      kept.push_back(entries_[e]);
      if (!without) continue;
      const FrameId frame = builder_.frame({.function = builder_.function(FunctionSpec{
                                                .name = builder_.string("[no stack]"), .unresolved = true})});
      kept.back().context = builder_.context_of(std::span(&frame, 1));
      empty_stacks_.count(offset);
    }
    entries_ = std::move(kept);
  }

  FrameId make(std::string_view text, bool kernel, bool is_return, std::uint64_t offset) {
    if (!is_valid_utf8(text)) invalid_utf8_.count(offset);
    FrameSpec spec;
    if (kernel) spec.kind = FrameKind::kernel;
    // perf mode: "ffffffff8101 name+12 (module)".
    if (text.ends_with(')')) {
      const std::size_t open = text.rfind(" (");
      std::uint64_t address;
      const std::size_t blank = text.find(' ');
      if (open != std::string_view::npos && blank < open && parse_hex(text.substr(0, blank), address)) {
        spec.module = builder_.module(
            {.name = text.substr(open + 2, text.size() - open - 3), .addresses = AddressKind::loaded});
        text = text.substr(blank + 1, open - blank - 1);
        spec.address = address;
      }
    }
    std::uint64_t address;
    if (is_address(text) && parse_hex(text, address)) {
      spec.address = address;
      spec.is_return = is_return;
      spec.function = builder_.function(FunctionSpec{.name = builder_.string(text), .unresolved = true});
      return builder_.frame(spec);
    }
    const NameAndOffset parts = split_offset(text);
    if (spec.address == 0) spec.address = parts.offset;
    spec.is_return = is_return && spec.address != 0;
    spec.function = builder_.function(parts.name);
    return builder_.frame(spec);
  }

  std::uint32_t map_of(std::string_view name) {
    const auto found = std::find(maps_.begin(), maps_.end(), name);
    if (found != maps_.end()) return static_cast<std::uint32_t>(found - maps_.begin());
    maps_.push_back(name);
    return static_cast<std::uint32_t>(maps_.size() - 1);
  }

  Result<void> build() {
    if (!without_stack_.empty()) settle_without_stack();
    builder_.info().producer = "bpftrace";
    histograms_.report(context_.report, "histogram", Severity::loss, "stacks with a histogram were not read");
    other_values_.report(context_.report, "other-value", Severity::loss,
                         "stacks whose value is no whole number were not read");
    scalars_.report(context_.report, "no-stack", Severity::info,
                    "maps without a stack in their key were not read");
    empty_stacks_.report(context_.report, "empty-stack", Severity::info,
                         "keys whose stack is empty stand under [no stack]");
    others_.report(context_.report, "other-line", Severity::info, "lines that belong to no map were skipped");
    cut_.report(context_.report, "cut-entry", Severity::loss, "stacks without a value were not read");
    invalid_utf8_.report(context_.report, "invalid-utf8", Severity::info,
                         "frames with bytes that are no UTF-8 were repaired with U+FFFD");
    if (entries_.empty())
      return fail(histograms_.n + other_values_.n > 0 ? ErrorCode::unsupported : ErrorCode::malformed,
                  histograms_.n + other_values_.n > 0
                      ? "no stack has a whole number as value; histograms are not read"
                      : "there is no map whose key is a stack",
                  0);
    std::vector<std::uint32_t> column(maps_.size(), kNone);
    std::uint32_t n = 0;
    for (const Entry& entry : entries_)
      if (column[entry.map] == kNone) column[entry.map] = n++;
    if (n > 256) return fail(ErrorCode::limit, "more than 256 maps with stacks in one file");
    std::vector<std::string> names(n);
    for (std::size_t m = 0; m < maps_.size(); ++m)
      if (column[m] != kNone) names[column[m]] = maps_[m] == "@" ? "samples" : repair_utf8(maps_[m]);
    for (const std::string& name : names) builder_.add_metric(name, unit_of(name));
    std::vector<std::int64_t> values(n);
    for (const Entry& entry : entries_) {
      std::fill(values.begin(), values.end(), 0);
      values[column[entry.map]] = entry.value;
      SampleContext where;
      where.labels = entry.labels;
      builder_.add_sample(entry.context, values, where);
    }
    return {};
  }

  ReadContext& context_;
  ProfileBuilder& builder_;
  LeafFirstStack stack_;
  std::deque<std::string> kept_;  // JSON keys, unescaped
  std::vector<std::string_view> maps_;
  std::uint32_t map_ = 0;
  bool open_ = false, in_histogram_ = false;
  std::vector<Piece> group_;
  std::vector<std::vector<Piece>> groups_;
  std::vector<std::string_view> keys_;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::size_t, std::uint64_t>> without_stack_;  // rows of entries_, and where
  OddLines histograms_, other_values_, scalars_, empty_stacks_, others_, cut_, invalid_utf8_;
};

bool is_json(std::string_view text) {
  const std::string_view head = trim(text.substr(0, 64));
  return head.starts_with("{\"type\"");
}

class BpftraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"bpftrace", "bpftrace maps", kExtensions, 630, "bpftrace", 3, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const std::string_view text = sniff_text(prefix);
    if (text.find('\0') != std::string_view::npos) return Confidence::no;
    if (is_json(text)) {
      if (text.find("{\"type\": \"map\", \"data\": {\"@") != std::string_view::npos ||
          text.find("{\"type\": \"hist\", \"data\": {\"@") != std::string_view::npos)
        return Confidence::certain;
      return text.starts_with("{\"type\": \"attached_probes\"") ? Confidence::maybe : Confidence::no;
    }
    LineReader lines(text);
    bool opened = false;
    for (std::string_view line; lines.next(line);) {
      if (opened && is_frame(line)) return Confidence::certain;
      opened = opens_stack(line);
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    Reading reading(context, profiles.emplace_back());
    return is_json(text.text) ? reading.read_json(text, source.truncated())
                              : reading.read_text(text, source.truncated());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_bpftrace_reader() {
  return std::make_unique<BpftraceReader>();
}

}  // namespace profd

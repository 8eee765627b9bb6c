// V8's own sampling log: `node --prof`, `d8 --prof`, `chrome --js-flags=--prof`.
// docs/formats/v8log.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"
#include "formats/v8log/code_map.h"
#include "formats/v8log/fields.h"
#include "formats/v8log/names.h"
#include "formats/v8log/preprocessed.h"

namespace profd {
namespace {

using namespace v8log;

constexpr std::array<std::string_view, 2> kExtensions{"-v8.log", "v8.log"};
constexpr ReaderNotes kNotes{
    .versions = "logs of V8 from before version 5 to Node.js 20, the JSON of --prof-process --preprocess",
    .keeps =
        "ticks with time and state of the VM, functions with line and column, JIT and interpreted code, "
        "modules",
    .recording = "node --prof app.js",
    .verified =
        "node --prof-process: compiled functions and GC ticks exactly, ticks in libraries as a lower bound",
};

class LogReading {
 public:
  LogReading(std::string_view text, std::size_t base, ReadContext& context)
      : text_(text), base_(base), context_(context) {}

  Result<void> read(bool truncated, std::vector<ProfileBuilder>& profiles) {
    builder_.add_metric("samples", "count");
    // The interval stands before the first tick, in a line of its own.
    timed_ = text_.find("\nprofiler,") != std::string_view::npos;
    if (timed_) builder_.set_default_metric(builder_.add_metric("time", "nanoseconds"));
    LineReader lines(text_);
    PROFD_CHECK(each_line(lines, context_, {.step = 1u << 20}, [&](std::string_view line) -> Result<void> {
      if (line.empty() || this->line(line)) return {};
      if (!lines.ended())
        context_.report.add("truncated", Severity::loss, "The log ends inside a line; that line is dropped.",
                            base_ + lines.offset());
      else
        context_.report.add("malformed-line", Severity::loss, "Lines that cannot be read were dropped.",
                            base_ + lines.offset());
      return {};
    }));
    if (n_ticks_ == 0)
      return fail(truncated ? ErrorCode::truncated : ErrorCode::malformed,
                  "the log has no tick lines: nothing was sampled");
    report();
    ProfileInfo& info = builder_.info();
    info.format = "v8log";
    info.producer = "V8";
    if (interval_ns_ > 0) {
      info.period = interval_ns_;
      info.period_type = "time";
      info.period_unit = "nanoseconds";
    }
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  // False when the line cannot be read.
  bool line(std::string_view text) {
    Fields fields(text);
    std::string_view kind;
    fields.next(kind);
    if (kind == "tick") return tick(fields);
    if (kind == "code-creation") return code_creation(fields);
    if (kind == "code-source-info") return source_info(fields);
    if (kind == "script-source") return script_source(fields);
    if (kind == "code-move") {
      std::uint64_t from = 0, to = 0;
      if (!address(fields, from) || !address(fields, to)) return false;
      n_unknown_codes_ += code_.move(from, to) ? 0 : 1;
      forget_frames();
      return true;
    }
    if (kind == "code-delete") {
      std::uint64_t at = 0;
      if (!address(fields, at)) return false;
      n_unknown_codes_ += code_.remove(at) ? 0 : 1;
      forget_frames();
      return true;
    }
    if (kind == "shared-library") return library(fields);
    if (kind == "profiler") return profiler(fields);
    if (kind == "v8-version") {
      std::string version;
      for (std::string_view part; fields.next(part);)
        version += (version.empty() ? "" : ".") + unescaped(part);
      std::int64_t major = 0;
      if (parse_int(std::string_view(version).substr(0, version.find('.')), major))
        named_states_ = major >= 5;
      builder_.info().properties.emplace_back("v8_version", version);
      return true;
    }
    return true;  // other events of the log: counted by none, measured by none
  }

  static bool address(Fields& fields, std::uint64_t& out) {
    std::string_view field;
    return fields.next(field) && parse_address(field, out);
  }

  bool profiler(Fields& fields) {
    std::string_view what, interval;
    std::int64_t us = 0;
    if (!fields.next(what)) return false;
    if (what == "begin" && fields.next(interval) && parse_int(interval, us) && us > 0 && us < 1'000'000'000)
      interval_ns_ = us * 1000;
    return true;
  }

  bool library(Fields& fields) {
    std::string_view path;
    CodeMap::Library library{};
    if (!fields.next(path) || !address(fields, library.start) || !address(fields, library.end)) return false;
    const std::string name = unescaped(path);
    ModuleSpec module;
    module.name = name;
    module.start = library.start;
    module.limit = library.end;
    library.module = builder_.module(module);
    library.function = library_function(builder_, name);
    code_.add_library(library);
    forget_frames();
    return true;
  }

  // code-creation,TYPE,kind[,timestamp],address,size,name[,function,state]
  bool code_creation(Fields& fields) {
    std::string_view type, field, name, owner, state;
    std::uint64_t start = 0, size = 0;
    if (!fields.next(type) || !fields.next(field) || !fields.next(field)) return false;
    // Old logs have no time here.
    if (!field.starts_with("0x") && !fields.next(field)) return false;
    if (!parse_address(field, start) || !address(fields, size) || !fields.next(name)) return false;
    Code code;
    if (fields.next(owner)) {
      fields.next(state);
      code.is_function = true;
    }
    if (!fields.ok()) return false;
    if (code.is_function) {
      code.function = script_function(builder_, unescaped(name));
      code.kind = state == "~" ? FrameKind::interpreted : FrameKind::jit;
    } else {
      code.function = stub_function(builder_, type, unescaped(name));
      code.kind = stub_kind(type);
    }
    code_.add(start, size, code);
    forget_frames();
    return true;
  }

  // code-source-info,address,script,start,end,positions,inlining positions,inlined functions
  bool source_info(Fields& fields) {
    std::uint64_t start = 0, script = 0;
    std::string_view from, to, positions;
    if (!address(fields, start) || !address(fields, script) || !fields.next(from) || !fields.next(to) ||
        !fields.next(positions) || script >= kNone)
      return false;
    if (Code* code = code_.at(start); code != nullptr) {
      code->positions = positions;
      code->script = static_cast<std::uint32_t>(script);
      forget_frames();
    }
    return true;
  }

  bool script_source(Fields& fields) {
    std::uint64_t id = 0;
    std::string_view url, source;
    if (!address(fields, id) || !fields.next(url) || id >= kNone) return false;
    if (fields.next(source)) scripts_.add(static_cast<std::uint32_t>(id), source);
    return fields.ok();
  }

  // tick,pc,time,is external callback,top of stack or callback,state[,stack innermost first]
  bool tick(Fields& fields) {
    std::uint64_t pc = 0, top = 0;
    std::string_view time_text, external_text, state_text, field;
    std::int64_t time_us = 0, external = 0;
    std::uint32_t state = 0;
    if (!address(fields, pc) || !fields.next(time_text) || !parse_int(time_text, time_us) ||
        !fields.next(external_text) || !parse_int(external_text, external) || !address(fields, top) ||
        !fields.next(state_text) || !parse_uint(state_text, state))
      return false;
    // In a callback the pc can lie inside what the callback calls. As V8's own tick processor: the callback
    // is the leaf. Otherwise the top of the stack tells of a function that has no frame yet.
    if (external != 0) {
      pc = top;
      top = 0;
    } else if (top != 0) {
      const Found found = code_.find(top);
      if (found.code == kNone || !code_.code(found.code).is_function) top = 0;
    }
    leaf_first_.clear();
    leaf_first_.push_back(frame(pc, true));
    const Found at = code_.find(pc);
    if (at.code == kNone && at.library == kNone) ++n_unknown_leaves_;
    if (top != 0) leaf_first_.push_back(frame(top, false));
    std::uint64_t before = pc;
    bool first = true;
    while (fields.next(field)) {
      std::uint64_t value = 0;
      const char sign = field.empty() ? '\0' : field.front();
      if (sign == 'o') {  // "overflow"
        ++n_cut_stacks_;
        continue;
      }
      if (!parse_address(sign == '+' || sign == '-' ? field.substr(1) : field, value)) return false;
      value = sign == '+' ? before + value : sign == '-' ? before - value : value;
      before = value;
      // The innermost entry can repeat the leaf.
      const bool repeated = first && value == pc;
      first = false;
      if (repeated) continue;
      const FrameId caller = frame(value, false);
      if (!caller.valid())
        ++n_unknown_callers_;
      else
        leaf_first_.push_back(caller);
      if (leaf_first_.size() > context_.limits.stack_depth) return false;
    }
    SampleContext where;
    where.labels = states_.label(builder_, state, named_states_);
    std::int64_t time_ns = 0;
    if (!__builtin_mul_overflow(time_us, std::int64_t{1000}, &time_ns)) where.time = time_ns;
    const std::array<std::int64_t, 2> values{1, interval_ns_};
    root_first_.assign(leaf_first_.rbegin(), leaf_first_.rend());
    builder_.add_sample(root_first_, std::span(values).first(timed_ ? 2 : 1), where);
    ++n_ticks_;
    return true;
  }

  void forget_frames() {
    if (!frames_.empty()) frames_.clear();
  }

  // None for a caller that lies in no code that is known.
  FrameId frame(std::uint64_t pc, bool leaf) {
    const auto [known, is_new] = frames_.try_emplace(pc * 2 + (leaf ? 1 : 0));
    if (!is_new) return known->second;
    FrameSpec spec;
    const Found found = code_.find(pc);
    if (found.code != kNone) {
      const Code& code = code_.code(found.code);
      spec.function = code.function;
      spec.kind = code.kind;
      // The offset in the code, not the address: code moves. One more, as 0 means unknown.
      spec.address = code.is_function ? found.offset + 1 : 0;
      std::uint32_t source = 0;
      // A caller in compiled code stands behind its call.
      const bool behind = !leaf && code.kind == FrameKind::jit && found.offset > 0;
      if (!code.positions.empty() && source_offset(code.positions, found.offset - (behind ? 1 : 0), source))
        scripts_.place(code.script, source, spec.line, spec.column);
    } else if (found.library != kNone) {
      const CodeMap::Library& library = code_.library(found.library);
      spec.function = library.function;
      spec.module = library.module;
      spec.address = found.offset;  // the log does not say where in the file the library's range begins
    } else if (leaf) {
      FunctionSpec function;
      function.name = builder_.string("[unknown]");
      function.unresolved = true;
      spec.function = builder_.function(function);
      spec.address = pc;
    } else {
      return {};
    }
    return known->second = builder_.frame(spec);
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view sentence,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, sentence, std::nullopt, n);
    };
    row("unknown-address", Severity::loss,
        "Addresses at the top of stacks lie in no code that the log names.", n_unknown_leaves_);
    row("unknown-caller", Severity::loss, "Callers that lie in no code that the log names were left out.",
        n_unknown_callers_);
    row("cut-stack", Severity::loss, "Stacks were cut by V8: they were too deep.", n_cut_stacks_);
    row("unknown-code", Severity::info, "Code that the log does not name was moved or deleted.",
        n_unknown_codes_);
    if (timed_ && interval_ns_ == 0)
      context_.report.add("no-interval", Severity::loss, "The log does not say how long a tick is.");
  }

  std::string_view text_;
  std::size_t base_;
  ReadContext& context_;
  ProfileBuilder builder_;
  CodeMap code_;
  Scripts scripts_;
  std::unordered_map<std::uint64_t, FrameId> frames_;  // by pc, as long as no code changes
  std::vector<FrameId> leaf_first_, root_first_;
  StateLabels states_;
  std::int64_t interval_ns_ = 0;
  bool timed_ = false, named_states_ = true;
  std::uint64_t n_ticks_ = 0, n_unknown_leaves_ = 0, n_unknown_callers_ = 0, n_cut_stacks_ = 0,
                n_unknown_codes_ = 0;
};

class V8logReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"v8log", "V8 log (--prof)", kExtensions, 550, "node --prof, d8, Chrome", 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    if (is_preprocessed(prefix)) return Confidence::certain;
    const std::string_view text = sniff_text(prefix);
    if (text.starts_with("v8-version,")) return Confidence::certain;
    // Logs before V8 5 begin with what they find first.
    for (const std::string_view begin : {"shared-library,", "code-creation,", "v8-platform,"}) {
      if (!text.starts_with(begin)) continue;
      const std::string_view line = first_line(text);
      return line.find(",0x") != std::string_view::npos ? Confidence::certain : Confidence::maybe;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    if (trim(decoded.text.substr(0, 64)).starts_with('{'))
      return read_preprocessed(decoded.text, decoded.offset, context, profiles);
    return LogReading(decoded.text, decoded.offset, context).read(source.truncated(), profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_v8log_reader() {
  return std::make_unique<V8logReader>();
}

}  // namespace profd

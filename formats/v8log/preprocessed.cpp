#include "formats/v8log/preprocessed.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/v8log/code_map.h"
#include "formats/v8log/names.h"

namespace profd::v8log {
namespace {

// Where the lines of a script begin, in UTF-16 units.
std::vector<std::uint32_t> line_starts(std::string_view utf8) {
  std::vector<std::uint32_t> starts{0};
  std::uint32_t unit = 0;
  for (const char c : utf8) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // of a character that was counted
    unit += byte >= 0xF0 ? 2 : 1;
    if (c == '\n') starts.push_back(unit);
  }
  return starts;
}

// A code that ticks lie in. The list names every symbol of every library; few of them are met.
struct Met {
  FunctionId function;
  ModuleId module;
  FrameKind kind = FrameKind::native;
  bool is_function = false;  // of a script
  std::string positions;
  std::uint32_t script = kNone;
};

class Preprocessed {
 public:
  Preprocessed(std::string_view text, std::size_t base, ReadContext& context)
      : in_(text, context.limits.nesting, base), context_(context) {}

  Result<void> read(std::vector<ProfileBuilder>& profiles) {
    builder_.add_metric("samples", "count");
    std::optional<std::uint64_t> ticks;
    std::uint32_t ticks_depth = 0;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "code") {
        read_code_places();
      } else if (key == "scripts") {
        read_scripts();
      } else {
        // Ticks need the scripts, which come last.
        if (key == "ticks") ticks = in_.offset(), ticks_depth = in_.depth();
        in_.skip();
      }
      PROFD_CHECK(context_.stop.status());
    }
    PROFD_CHECK(in_.finish());
    if (!ticks) return fail(ErrorCode::malformed, "the log has no list of ticks", in_.offset());
    in_.seek(*ticks, ticks_depth);
    PROFD_CHECK(read_ticks());
    if (n_ticks_ == 0) return fail(ErrorCode::malformed, "the log has no ticks: nothing was sampled", *ticks);
    report();
    builder_.info().producer = "V8";
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  void read_code_places() {
    codes_.clear();
    for (in_.begin_array(); in_.next_element();) {
      codes_.push_back(in_.offset());
      in_.skip();
      code_depth_ = in_.depth();
    }
    met_.assign(codes_.size(), {});
  }

  void read_scripts() {
    std::size_t id = 0;
    std::string_view key;
    for (in_.begin_array(); in_.next_element(); ++id) {
      if (in_.kind() != JsonKind::object) {
        in_.skip();
        continue;
      }
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "source" && in_.kind() == JsonKind::string)
          scripts_[id] = line_starts(in_.string());
        else
          in_.skip();
      }
      if (context_.stop.check()) return;
    }
  }

  Result<void> read_ticks() {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      if ((++n_ticks_ & 0xFFF) == 0) PROFD_CHECK(context_.stop.status());
      std::int64_t time_us = 0;
      std::int64_t state = -1;
      stack_.clear();
      const std::uint64_t at = in_.offset();
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "tm") {
          time_us = in_.integer();
        } else if (key == "vm") {
          state = in_.integer();
        } else if (key == "s") {
          for (in_.begin_array(); in_.next_element();) stack_.push_back(in_.integer());
        } else {
          in_.skip();
        }
      }
      PROFD_CHECK(in_.status());
      PROFD_CHECK(add_tick(time_us, state, at));
    }
    return in_.status();
  }

  // Pairs of a code, or -1, and the offset in it; innermost first.
  Result<void> add_tick(std::int64_t time_us, std::int64_t state, std::uint64_t at) {
    if (stack_.size() % 2 != 0 || stack_.empty())
      return fail(ErrorCode::malformed, "the stack of a tick is no list of pairs", at);
    if (stack_.size() / 2 > context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", at);
    leaf_first_.clear();
    for (std::size_t i = 0; i < stack_.size(); i += 2) {
      // The innermost entry of the stack can repeat the leaf.
      if (i == 2 && stack_[2] == stack_[0] && stack_[3] == stack_[1]) continue;
      if (stack_[i] < 0) {
        if (i > 0) {
          ++n_unknown_callers_;
          continue;
        }
        ++n_unknown_leaves_;
        leaf_first_.push_back(unknown(stack_[1]));
        continue;
      }
      if (static_cast<std::uint64_t>(stack_[i]) >= codes_.size())
        return fail(ErrorCode::malformed, "a tick lies in a code that is not in the list", at);
      PROFD_TRY(const FrameId frame, frame_of(static_cast<std::size_t>(stack_[i]), stack_[i + 1], i == 0));
      leaf_first_.push_back(frame);
    }
    SampleContext where;
    if (state >= 0) where.labels = states_.label(builder_, static_cast<std::uint64_t>(state), true);
    std::int64_t time_ns = 0;
    if (!__builtin_mul_overflow(time_us, std::int64_t{1000}, &time_ns)) where.time = time_ns;
    std::reverse(leaf_first_.begin(), leaf_first_.end());
    const std::int64_t one = 1;
    builder_.add_sample(leaf_first_, std::span(&one, 1), where);
    return {};
  }

  FrameId unknown(std::int64_t address) {
    FunctionSpec function;
    function.name = builder_.string("[unknown]");
    function.unresolved = true;
    FrameSpec spec;
    spec.function = builder_.function(function);
    spec.address = static_cast<std::uint64_t>(address);
    return builder_.frame(spec);
  }

  Result<FrameId> frame_of(std::size_t code, std::int64_t offset, bool leaf) {
    if (!met_[code].function.valid()) PROFD_CHECK(meet(code));
    const Met& met = met_[code];
    FrameSpec spec;
    spec.function = met.function;
    spec.module = met.module;
    spec.kind = met.kind;
    if (met.is_function && offset >= 0) {
      const auto at = static_cast<std::uint64_t>(offset);
      spec.address = at + 1;  // as in a log: of the code, and 0 means unknown
      // A caller in compiled code stands behind its call.
      const bool behind = !leaf && met.kind == FrameKind::jit && at > 0;
      std::uint32_t source = 0;
      const auto script = scripts_.find(met.script);
      if (script != scripts_.end() && source_offset(met.positions, at - (behind ? 1 : 0), source)) {
        const std::vector<std::uint32_t>& starts = script->second;
        const auto next = std::upper_bound(starts.begin(), starts.end(), source);
        spec.line = static_cast<std::uint32_t>(next - starts.begin());
        spec.column = source - *std::prev(next) + 1;
      }
    }
    return builder_.frame(spec);
  }

  Result<void> meet(std::size_t code) {
    JsonCursor in = in_;
    in.seek(codes_[code], code_depth_);
    Met& met = met_[code];
    std::string name, type, kind;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "name")
        name = in.string();
      else if (key == "type")
        type = in.string();
      else if (key == "kind")
        kind = in.string();
      else if (key == "source" && in.kind() == JsonKind::object)
        read_source(in, met);
      else
        in.skip();
    }
    PROFD_CHECK(in.status());
    if (type == "JS") {
      met.function = script_function(builder_, name);
      met.is_function = true;
      // Of V8's tiers only the first is interpreted.
      met.kind = kind == "Unopt" ? FrameKind::interpreted : FrameKind::jit;
    } else if (type == "SHARED_LIB") {
      met.module = builder_.module({.name = name});
      met.function = library_function(builder_, name);
    } else if (type == "CPP") {
      met.function = builder_.function(name.empty() ? std::string_view("[unknown]") : std::string_view(name));
    } else {
      met.function = stub_function(builder_, kind.empty() ? type : kind, name);
      met.kind = stub_kind(kind);
    }
    return {};
  }

  static void read_source(JsonCursor& in, Met& met) {
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "script") {
        const std::int64_t script = in.integer();
        if (script >= 0 && script < std::int64_t{kNone}) met.script = static_cast<std::uint32_t>(script);
      } else if (key == "positions" && in.kind() == JsonKind::string) {
        met.positions = in.string();
      } else {
        in.skip();
      }
    }
  }

  void report() {
    context_.report.add("unknown-address", Severity::loss,
                        "Addresses at the top of stacks lie in no code that the log names.", std::nullopt,
                        n_unknown_leaves_);
    context_.report.add("unknown-caller", Severity::loss,
                        "Callers that lie in no code that the log names were left out.", std::nullopt,
                        n_unknown_callers_);
    context_.report.add(
        "no-interval", Severity::info,
        "The JSON of --preprocess does not say how long a tick is: there is no metric of time.");
  }

  JsonCursor in_;
  ReadContext& context_;
  ProfileBuilder builder_;
  std::vector<std::uint64_t> codes_;  // places in the text
  std::uint32_t code_depth_ = 0;
  std::vector<Met> met_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> scripts_;
  StateLabels states_;
  std::vector<std::int64_t> stack_;
  std::vector<FrameId> leaf_first_;
  std::uint64_t n_ticks_ = 0, n_unknown_leaves_ = 0, n_unknown_callers_ = 0;
};

}  // namespace

bool is_preprocessed(std::span<const std::byte> prefix) {
  const JsonPrefix json(prefix);
  const JsonKeys outer = json_keys(json.text());
  if (outer.keys().empty() || !outer.keys().front().is_named("code") || !outer.has("code", JsonKind::array))
    return false;
  const JsonKeys first = json_keys(outer.keys().front().value);
  const JsonKey* const type = first.find("type");
  if (!type || !first.has("name", JsonKind::string)) return false;
  for (const std::string_view known : {"SHARED_LIB", "CODE", "CPP", "JS"})
    if (type->value_is(known)) return true;
  return false;
}

Result<void> read_preprocessed(std::string_view text, std::size_t base, ReadContext& context,
                               std::vector<ProfileBuilder>& profiles) {
  return Preprocessed(text, base, context).read(profiles);
}

}  // namespace profd::v8log

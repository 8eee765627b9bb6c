// cProfile and profile: what pstats.Stats dumps, a marshalled dictionary of functions and their callers.
// docs/formats/pstats.md says what is read; docs/decisions/0042-call-graphs.md what a call graph becomes.
#include "formats/reader.h"

#include <array>
#include <cmath>
#include <deque>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "core/support/hash.h"
#include "core/support/interner.h"
#include "formats/pstats/functions.h"
#include "formats/pstats/marshal.h"
#include "formats/pstats/sampled.h"
#include "formats/support/call_graph.h"

namespace profd {
namespace {

using pstats::Edge;
using pstats::Function;
using pstats::kBuiltinFile;
using pstats::Kind;
using pstats::kSampledMark;
using pstats::Marshal;
using pstats::Numbers;
using pstats::read_marshal;
using PyValue = pstats::Value;

constexpr std::array<std::string_view, 4> kExtensions{".pstats", ".pstat", ".cprof", ".prof"};
constexpr ReaderNotes kNotes{
    .versions = "marshal 0 to 4: cProfile and profile of Python 2 and 3; profiling.sampling of Python 3.15",
    .keeps =
        "time, calls and primitive calls by function and caller; cumulative times as stated; no stacks; "
        "of sampled files time and samples by line",
    .recording = "python -m cProfile -o out.pstats app.py",
    .verified = "CPython 3.11's own reading of the files: times, calls, number of functions, top functions",
};
// Seconds as whole nanoseconds; false when they are finer than that.
bool to_nanoseconds(double seconds, std::int64_t& out) {
  const double scaled = seconds * 1e9;
  if (!(std::abs(scaled) < 9e18)) return false;
  const double whole = std::round(scaled);
  // What a double of this size cannot tell apart is rounding of the clock's own arithmetic.
  if (std::abs(scaled - whole) > std::max(1e-3, std::abs(scaled) * 0x1p-50)) return false;
  out = static_cast<std::int64_t>(whole);
  return true;
}

class Reading {
 public:
  Reading(const Marshal& data, ReadContext& context) : data_(data), context_(context) {}

  Result<void> run(ProfileBuilder& builder) {
    PROFD_CHECK(collect());
    builder.info().format = "pstats";
    if (sampled_) return pstats::build_sampled(functions_, edges_, context_, builder);
    integral_ = true;
    std::int64_t unused;
    for (const Function& function : functions_)
      integral_ = integral_ && to_nanoseconds(function.numbers.self, unused) &&
                  to_nanoseconds(function.numbers.cumulative, unused);
    for (const Edge& edge : edges_)
      integral_ = integral_ && to_nanoseconds(edge.numbers.self, unused) &&
                  to_nanoseconds(edge.numbers.cumulative, unused);
    build(builder);
    report();
    return {};
  }

 private:
  // -- From Python's values to functions and edges ---------------------------------------------------

  Result<void> collect() {
    const PyValue& root = data_.values[data_.root];
    const auto entries = data_.of(root);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      if (i % 8192 == 0) PROFD_CHECK(context_.stop.status());
      const PyValue& value = data_.values[entries[i + 1]];
      if (is_mark(entries[i])) {
        if (value.kind != Kind::boolean)
          return fail(ErrorCode::malformed, "the mark of sampled statistics is neither true nor false");
        sampled_ = value.integer != 0;
        continue;
      }
      PROFD_TRY(const std::uint32_t function, function_of(entries[i]));
      if (value.kind != Kind::sequence || value.n != 5)
        return fail(ErrorCode::malformed, "a function's entry is no tuple of five values");
      const auto fields = data_.of(value);
      // (primitive calls, calls, self, cumulative, callers)
      Numbers numbers;
      if (!call_numbers(fields[0], fields[1], numbers.primitive_calls, numbers.calls, numbers.counted) ||
          !seconds(fields[2], numbers.self) || !seconds(fields[3], numbers.cumulative))
        return fail(ErrorCode::malformed, "a function's calls or times are no numbers");
      if (functions_[function].listed && !functions_[function].addressed)
        return fail(ErrorCode::malformed, "a function has two entries in the dictionary");
      n_alike_ += functions_[function].listed;
      functions_[function].numbers =
          functions_[function].listed ? sum(functions_[function].numbers, numbers) : numbers;
      functions_[function].listed = true;
      PROFD_CHECK(collect_callers(fields[4], function));
    }
    if (functions_.empty()) return fail(ErrorCode::malformed, "the dictionary has no functions");
    if (any_addressed_) unite_edges();
    return {};
  }

  Result<void> collect_callers(std::uint32_t id, std::uint32_t callee) {
    const PyValue& callers = data_.values[id];
    if (callers.kind != Kind::dict)
      return fail(ErrorCode::malformed, "a function's callers are no dictionary");
    const auto entries = data_.of(callers);
    for (std::size_t i = 0; i + 1 < entries.size(); i += 2) {
      PROFD_TRY(const std::uint32_t caller, function_of(entries[i]));
      const PyValue& value = data_.values[entries[i + 1]];
      Numbers numbers;
      bool good = true;
      if (value.kind == Kind::sequence && value.n == 4) {
        // (calls, primitive calls, self, cumulative): not the order of the function's own entry
        const auto fields = data_.of(value);
        good = call_numbers(fields[0], fields[1], numbers.calls, numbers.primitive_calls, numbers.counted) &&
               seconds(fields[2], numbers.self) && seconds(fields[3], numbers.cumulative);
      } else {
        numbers.timed = false;
        good = whole(entries[i + 1], numbers.calls);
      }
      if (!good) return fail(ErrorCode::malformed, "the calls or times of a caller are no numbers");
      // A dictionary that is referred to many times would be read as many times.
      if (edges_.size() > data_.items.size())
        return fail(ErrorCode::malformed, "the same callers are referred to again and again");
      edges_.push_back({caller, callee, numbers});
    }
    return {};
  }

  static Numbers sum(Numbers out, const Numbers& more) {
    add_saturating(out.calls, more.calls);
    add_saturating(out.primitive_calls, more.primitive_calls);
    out.self += more.self;
    out.cumulative += more.cumulative;
    out.timed = out.timed && more.timed;
    out.counted = out.counted && more.counted;
    return out;
  }

  // Between functions that became one, calls are one edge, too.
  void unite_edges() {
    std::unordered_map<std::uint64_t, std::size_t> known;
    std::vector<Edge> united;
    for (const Edge& edge : edges_) {
      const auto [at, fresh] =
          known.try_emplace(std::uint64_t{edge.caller} << 32 | edge.callee, united.size());
      if (fresh)
        united.push_back(edge);
      else
        united[at->second].numbers = sum(united[at->second].numbers, edge.numbers);
    }
    edges_ = std::move(united);
  }

  bool is_mark(std::uint32_t id) const {
    const PyValue& key = data_.values[id];
    return key.kind == Kind::sequence && key.n == 1 && data_.values[data_.of(key)[0]].kind == Kind::text &&
           data_.values[data_.of(key)[0]].text == kSampledMark;
  }

  // (file, line, name)
  Result<std::uint32_t> function_of(std::uint32_t id) {
    const auto known = by_value_.find(id);
    if (known != by_value_.end()) return known->second;
    const PyValue& key = data_.values[id];
    const auto fields = data_.of(key);
    if (key.kind != Kind::sequence || key.n != 3 || data_.values[fields[0]].kind != Kind::text ||
        data_.values[fields[1]].kind != Kind::integer ||
        (data_.values[fields[2]].kind != Kind::text && data_.values[fields[2]].kind != Kind::code))
      return fail(ErrorCode::malformed, "a function is not named by a file, a line and a name");
    Function function;
    function.file = data_.values[fields[0]].text;
    function.line = data_.values[fields[1]].integer;
    function.name = data_.values[fields[2]].text;
    if (std::string plain = pstats::without_addresses(function.name); !plain.empty()) {
      function.name = names_.emplace_back(std::move(plain));
      function.addressed = any_addressed_ = true;
    }
    // Equal names are equal functions, however often they are written.
    std::uint64_t hash = hash_combine(hash_bytes(function.file), hash_bytes(function.name));
    hash = hash_combine(hash, static_cast<std::uint64_t>(function.line));
    const auto next = static_cast<std::uint32_t>(functions_.size());
    const std::uint32_t row = rows_.find_or_add(hash, next, [&](std::uint32_t r) {
      return functions_[r].line == function.line && functions_[r].name == function.name &&
             functions_[r].file == function.file;
    });
    if (row == next) functions_.push_back(function);
    by_value_.emplace(id, row);
    return row;
  }

  bool whole(std::uint32_t id, std::int64_t& out) const {
    const PyValue& value = data_.values[id];
    if ((value.kind != Kind::integer && value.kind != Kind::boolean) || value.integer < 0) return false;
    out = value.integer;
    return true;
  }
  bool call_numbers(std::uint32_t first_id, std::uint32_t second_id, std::int64_t& first,
                    std::int64_t& second, bool& counted) const {
    const PyValue &a = data_.values[first_id], &b = data_.values[second_id];
    counted = !(a.kind == Kind::integer && a.integer == -1 && b.kind == Kind::integer && b.integer == -1);
    return !counted || (whole(first_id, first) && whole(second_id, second));
  }
  // Times of a clock that ran backwards are negative and stay so.
  bool seconds(std::uint32_t id, double& out) const {
    const PyValue& value = data_.values[id];
    if (value.kind == Kind::real)
      out = value.real;
    else if (value.kind == Kind::integer || value.kind == Kind::boolean)
      out = static_cast<double>(value.integer);
    else
      return false;
    return std::isfinite(out) && std::abs(out) < 1e300;
  }

  // -- From functions and edges to a profile ---------------------------------------------------------

  FrameId frame_of(const Function& function, ProfileBuilder& builder) {
    const bool builtin = function.file == kBuiltinFile;
    FunctionSpec spec;
    spec.name = builder.string(function.name.empty() ? "(unnamed)" : function.name);
    if (!builtin) spec.file = builder.string(function.file);
    if (function.line > 0 && function.line < kNone)
      spec.start_line = static_cast<std::uint32_t>(function.line);
    else if (function.line != 0)
      ++n_odd_lines_;
    return builder.frame(
        {.function = builder.function(spec), .kind = builtin ? FrameKind::native : FrameKind::interpreted});
  }

  Value time(double seconds) const {
    std::int64_t ns = 0;
    if (integral_ && to_nanoseconds(seconds, ns)) return ns;
    return seconds * 1e9;
  }

  void add_self(ProfileBuilder& builder, ContextId context, const Value& time, std::int64_t calls,
                std::int64_t primitive_calls) const {
    std::visit([&](auto value) { builder.add_self(context, time_, value); }, time);
    if (!any_counted_) return;
    builder.add_self(context, calls_, calls);
    builder.add_self(context, primitive_, primitive_calls);
  }

  void build(ProfileBuilder& builder) {
    builder.info().producer = "cProfile";
    time_ = builder.add_metric("time", "nanoseconds", !integral_);
    for (const Function& function : functions_) {
      any_counted_ |= function.listed && function.numbers.counted;
      n_uncounted_ += !function.numbers.counted;
    }
    if (any_counted_) {
      calls_ = builder.add_metric("calls", "count");
      primitive_ = builder.add_metric("primitive_calls", "count");
    }
    builder.set_default_metric(time_);

    std::vector<FrameId> frames;
    frames.reserve(functions_.size());
    for (const Function& function : functions_) frames.push_back(frame_of(function, builder));
    state(builder, frames);
    CallGraph graph(std::move(frames));
    std::vector<std::int64_t> calls_seen(functions_.size(), 0);
    for (const Edge& edge : edges_) {
      graph.add_edge(edge.caller, edge.callee);
      add_saturating(calls_seen[edge.callee], edge.numbers.calls);
    }
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      if (calls_seen[f] < functions_[f].numbers.calls) graph.mark_entry(f);
      if (!functions_[f].listed) ++n_unlisted_;
    }
    graph.place(builder);
    n_several_ = graph.n_several_callers();

    // What the edges say of a function is taken from what it says itself, so the sum stays its own.
    std::vector<Numbers> rest;
    for (const Function& function : functions_) rest.push_back(function.numbers);
    std::vector<std::int64_t> rest_ns(functions_.size(), 0);
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      if (integral_) to_nanoseconds(functions_[f].numbers.self, rest_ns[f]);
    }
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      Numbers& left = rest[edge.callee];
      const Value self = time(edge.numbers.self);
      add_self(builder, graph.edge_context(e), self, edge.numbers.calls, edge.numbers.primitive_calls);
      left.self -= edge.numbers.self;
      if (const auto* ns = std::get_if<std::int64_t>(&self)) add_saturating(rest_ns[edge.callee], -*ns);
      add_saturating(left.calls, -edge.numbers.calls);
      add_saturating(left.primitive_calls, -edge.numbers.primitive_calls);
    }
    for (std::uint32_t f = 0; f < functions_.size(); ++f) {
      // Known as a caller only: neither calls nor times of its own.
      if (!functions_[f].listed) continue;
      const Value self = integral_ ? Value(rest_ns[f]) : Value(rest[f].self * 1e9);
      if (rest[f].calls < 0) ++n_more_by_edges_;
      add_self(builder, graph.context(f), self, rest[f].calls, rest[f].primitive_calls);
    }
    add_associations(builder, graph);
  }

  ValueColumn times(const std::vector<double>& seconds) const {
    if (!integral_) {
      std::vector<double> out;
      out.reserve(seconds.size());
      for (const double s : seconds) out.push_back(s * 1e9);
      return Column<double>(std::move(out));
    }
    std::vector<std::int64_t> out;
    for (const double s : seconds) {
      std::int64_t ns = 0;
      to_nanoseconds(s, ns);
      out.push_back(ns);
    }
    return Column<std::int64_t>(std::move(out));
  }

  void state(ProfileBuilder& builder, const std::vector<FrameId>& frames) const {
    builder.state_costs({time_});
    const auto row = [&](const Numbers& numbers, bool known, Value& value) {
      value = time(numbers.cumulative);
      return known ? std::span<const Value>(&value, 1) : std::span<const Value>();
    };
    Value value;
    for (std::size_t f = 0; f < functions_.size(); ++f)
      builder.state_function(frames[f], row(functions_[f].numbers, functions_[f].listed, value));
    for (const Edge& edge : edges_)
      builder.state_call(frames[edge.caller], frames[edge.callee],
                         row(edge.numbers, edge.numbers.timed, value));
  }

  void add_associations(ProfileBuilder& builder, CallGraph& graph) const {
    std::vector<std::uint32_t> callers, callees;
    std::vector<std::int64_t> calls, primitive;
    std::vector<double> self, cumulative;
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      const Edge& edge = edges_[e];
      callers.push_back(graph.context(edge.caller).v);
      callees.push_back(graph.edge_context(e).v);
      calls.push_back(edge.numbers.calls);
      primitive.push_back(edge.numbers.primitive_calls);
      self.push_back(edge.numbers.self);
      cumulative.push_back(edge.numbers.cumulative);
    }
    AssociationTable table;
    table.name = "calls";
    table.roles = {"caller", "callee"};
    table.contexts.emplace_back(std::move(callers));
    table.contexts.emplace_back(std::move(callees));
    if (any_counted_) {
      table.metrics = {{"calls", "count"}, {"primitive_calls", "count"}};
      table.values.emplace_back(Column<std::int64_t>(std::move(calls)));
      table.values.emplace_back(Column<std::int64_t>(std::move(primitive)));
    }
    table.metrics.push_back({"time", "nanoseconds"});
    table.metrics.push_back({"cumulative_time", "nanoseconds"});
    table.values.push_back(times(self));
    table.values.push_back(times(cumulative));
    if (!edges_.empty()) builder.add_association(std::move(table));
  }

  void report() {
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) {
      if (n > 0) context_.report.add(kind, severity, message, std::nullopt, n);
    };
    row("call-graph", Severity::info,
        "The file holds a call graph and no stacks. These functions have several callers: what they call "
        "stands under [several callers], and sums over paths are lower bounds.",
        n_several_);
    row("unlisted-caller", Severity::info, "Functions stand in the file as callers only, without times.",
        n_unlisted_);
    row("calls-disagree", Severity::loss, "Callers called a function more often than it says it was called.",
        n_more_by_edges_);
    row("uncounted-calls", Severity::info,
        "The calls of functions were not counted, as by pyinstrument, which samples.", n_uncounted_);
    row("alike-functions", Severity::info,
        "Functions whose names differ in the address of an object alone are one: their calls and times are "
        "added up, cumulative times too.",
        n_alike_);
    row("odd-line", Severity::loss, "Lines that are no line numbers were dropped.", n_odd_lines_);
    std::uint64_t n_untimed = 0;
    for (const Edge& edge : edges_) n_untimed += !edge.numbers.timed;
    row("untimed-callers", Severity::info,
        "The callers have numbers of calls and no times, as the pure Python profile module writes them.",
        n_untimed);
  }

  const Marshal& data_;
  ReadContext& context_;
  std::vector<Function> functions_;
  std::vector<Edge> edges_;
  RowSet rows_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_value_;
  std::deque<std::string> names_;  // of functions whose name is not in the file as it is shown
  bool integral_ = true, any_counted_ = false, sampled_ = false, any_addressed_ = false;
  MetricId time_, calls_, primitive_;
  std::uint64_t n_several_ = 0, n_unlisted_ = 0, n_odd_lines_ = 0, n_more_by_edges_ = 0, n_uncounted_ = 0,
                n_alike_ = 0;
};

class PstatsReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "pstats",
        "Python cProfile statistics",
        kExtensions,
        60,
        "cProfile, profile, profiling.sampling --pstats, pyinstrument -r pstats, yappi",
        4,
        kNotes};
    return info;
  }

  // A dictionary whose first key is a tuple of three, the first of which is a text; or the mark.
  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const auto at = [&](std::size_t i) {
      return i < prefix.size() ? std::to_integer<unsigned>(prefix[i]) : 0u;
    };
    if ((at(0) & 0x7F) != '{') return Confidence::no;
    std::size_t text = 0;
    const bool mark = (at(1) & 0x7F) == ')' && at(2) == 1 && prefix.size() > 4 + kSampledMark.size() + 1;
    if (mark) {
      const auto* const name = reinterpret_cast<const char*>(prefix.data()) + 5;
      return std::string_view(name, kSampledMark.size()) == kSampledMark ? Confidence::certain
                                                                         : Confidence::no;
    }
    if ((at(1) & 0x7F) == ')' && at(2) == 3) text = 3;
    if ((at(1) & 0x7F) == '(' && at(2) == 3 && at(3) == 0 && at(4) == 0 && at(5) == 0) text = 6;
    if (text == 0) return Confidence::no;
    const auto code = static_cast<char>(at(text) & 0x7F);
    const bool is_text = std::string_view("zZaAuts").find(code) != std::string_view::npos;
    static_cast<void>(at_end);
    return is_text ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const Marshal data, read_marshal(source.bytes(), context.limits.nesting));
    if (data.values[data.root].kind != Kind::dict)
      return fail(ErrorCode::malformed, "the statistics are no dictionary", 0);
    if (data.end < source.bytes().size())
      context.report.add("trailing-bytes", Severity::loss, "Bytes behind the statistics were not read.",
                         data.end, source.bytes().size() - data.end);
    return Reading(data, context).run(profiles.emplace_back());
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_pstats_reader() {
  return std::make_unique<PstatsReader>();
}

}  // namespace profd

// From a dump to a profile: the samples themselves where the dump has them, else the call graph.
#include <array>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/stackprof/dump.h"
#include "formats/support/call_graph.h"

namespace profd::stackprof {
namespace {

constexpr std::uint64_t kIdBits = 0xFFFFFFFFFFFFull;  // above them newer versions keep the line

std::uint32_t line_number(std::int64_t line) {
  return line > 0 && line < kNone ? static_cast<std::uint32_t>(line) : 0;
}

class Building {
 public:
  Building(const Dump& dump, ReadContext& context, ProfileBuilder& builder)
      : dump_(dump), context_(context), builder_(builder) {}

  Result<void> run() {
    for (std::uint32_t i = 0; i < dump_.frames.size(); ++i) {
      if (!rows_.emplace(dump_.frames[i].id, i).second)
        return fail(ErrorCode::malformed, fmt::format("the frame {} stands twice", dump_.frames[i].id));
      frames_.push_back(make_frame(dump_.frames[i], 0));
    }
    describe();
    samples_ = builder_.add_metric("samples", "count");
    if (dump_.has_raw && (!dump_.raw.empty() || dump_.n_samples == 0))
      PROFD_CHECK(add_samples());
    else
      PROFD_CHECK(add_graph());
    return {};
  }

 private:
  FrameId make_frame(const DumpFrame& frame, std::uint32_t line) {
    const bool native = frame.file == "<cfunc>" || frame.file.empty();
    const bool gc =
        frame.name == "(garbage collection)" || frame.name == "(marking)" || frame.name == "(sweeping)";
    FunctionSpec function;
    function.name = builder_.string(frame.name.empty() ? "(unnamed)" : std::string_view(frame.name));
    if (!native) function.file = builder_.string(frame.file);
    function.start_line = line_number(frame.line);
    return builder_.frame({.function = builder_.function(function),
                           .line = line,
                           .kind = gc       ? FrameKind::gc
                                   : native ? FrameKind::native
                                            : FrameKind::interpreted});
  }

  void describe() {
    ProfileInfo& info = builder_.info();
    info.format = "stackprof";
    info.producer = "stackprof";
    info.properties.emplace_back("mode", dump_.mode);
    if (dump_.interval > 0) {
      const bool time = dump_.mode == "wall" || dump_.mode == "cpu";
      info.period = dump_.interval;
      info.period_type = dump_.mode;
      info.period_unit = time ? "microseconds" : "count";
    }
    if (dump_.n_gc > 0) info.properties.emplace_back("gc_samples", std::to_string(dump_.n_gc));
    if (dump_.n_missed > 0)
      context_.report.add("missed-samples", Severity::info, "stackprof missed samples while it recorded.",
                          std::nullopt, static_cast<std::uint64_t>(dump_.n_missed));
  }

  // -- Samples -----------------------------------------------------------------------------------------

  // A frame and the line it executed, when the sample says it.
  Result<FrameId> frame_of(std::int64_t id, std::int64_t line, bool leaf) {
    auto found = rows_.find(id);
    if (found == rows_.end()) {
      const auto bits = static_cast<std::uint64_t>(id);
      found = rows_.find(static_cast<std::int64_t>(bits & kIdBits));
      if (found == rows_.end())
        return fail(ErrorCode::malformed,
                    fmt::format("a sample refers to the frame {}, which is not there", id));
      line = static_cast<std::int64_t>(bits >> 48);
    }
    const DumpFrame& frame = dump_.frames[found->second];
    if (line <= 0 && leaf) line = sole_line(frame);
    if (line_number(line) == 0) return frames_[found->second];
    const std::uint64_t key = (std::uint64_t{found->second} << 32) | line_number(line);
    const auto [known, added] = with_line_.try_emplace(key, FrameId{});
    if (added) known->second = make_frame(frame, line_number(line));
    return known->second;
  }

  // The only line that a function's own samples were on.
  static std::int64_t sole_line(const DumpFrame& frame) {
    for (const DumpFrame::Line& line : frame.lines) {
      if (line.self != 0) return line.self == frame.self ? line.line : 0;
    }
    return 0;
  }

  Result<void> add_samples() {
    const std::vector<std::int64_t>& raw = dump_.raw;
    const bool lines = dump_.raw_lines.size() == raw.size();
    const bool timed = !dump_.deltas_us.empty();
    const bool wall = timed && dump_.mode == "wall";
    if (wall) time_ = builder_.add_metric("time", "nanoseconds");
    std::size_t n_counted = 0;
    std::vector<FrameId> stack;
    std::size_t i = 0;
    PROFD_TRY(const std::uint64_t n_total, count_samples());
    const bool deltas = timed && dump_.deltas_us.size() == n_total;
    const bool times = dump_.times_us.size() == n_total && n_total > 0;
    if (timed && !deltas)
      context_.report.add("times-disagree", Severity::loss,
                          "There are not as many times as samples; samples have none.");
    std::int64_t now_us = 0;
    while (i < raw.size()) {
      if (n_counted % 1024 == 0) PROFD_CHECK(context_.stop.status());
      const auto height = static_cast<std::size_t>(raw[i]);
      stack.clear();
      for (std::size_t f = 0; f < height; ++f) {
        PROFD_TRY(const FrameId frame,
                  frame_of(raw[i + 1 + f], lines ? dump_.raw_lines[i + 1 + f] : 0, f + 1 == height));
        stack.push_back(frame);
      }
      const ContextId context = builder_.context_of(stack);
      const std::int64_t count = raw[i + 1 + height];
      i += height + 2;
      if (!deltas && !times) {
        add_one(context, count, 0, std::nullopt);
        n_counted += static_cast<std::size_t>(count);
        continue;
      }
      for (std::int64_t c = 0; c < count; ++c, ++n_counted) {
        const std::int64_t delta = deltas ? dump_.deltas_us[n_counted] : 0;
        add_saturating(now_us, delta);
        std::int64_t at = times ? dump_.times_us[n_counted] : now_us;
        if (times && __builtin_sub_overflow(at, dump_.times_us.front(), &at)) at = 0;
        add_one(context, 1, nanoseconds(delta), nanoseconds(at));
      }
    }
    if (static_cast<std::int64_t>(n_counted) != dump_.n_samples)
      context_.report.add(
          "samples-disagree", Severity::loss,
          fmt::format("The dump says that it has {} samples and holds {}.", dump_.n_samples, n_counted));
    builder_.set_n_samples(n_counted);
    return {};
  }

  Result<std::uint64_t> count_samples() const {
    const std::vector<std::int64_t>& raw = dump_.raw;
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < raw.size();) {
      const std::int64_t height = raw[i];
      if (height < 0 || static_cast<std::uint64_t>(height) >= raw.size() - i - 1)
        return fail(ErrorCode::malformed, "a raw sample is longer than the list");
      if (static_cast<std::uint64_t>(height) > context_.limits.stack_depth)
        return fail(ErrorCode::limit, fmt::format("a stack has more than {} frames (limit stack_depth)",
                                                  context_.limits.stack_depth));
      const std::int64_t count = raw[i + 1 + static_cast<std::size_t>(height)];
      if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
        return fail(ErrorCode::malformed, "a raw sample has an impossible count");
      n += static_cast<std::uint64_t>(count);
      i += static_cast<std::size_t>(height) + 2;
    }
    return n;
  }

  static std::int64_t nanoseconds(std::int64_t us) {
    std::int64_t ns;
    if (__builtin_mul_overflow(us, std::int64_t{1000}, &ns)) ns = std::numeric_limits<std::int64_t>::max();
    return ns;
  }

  void add_one(ContextId context, std::int64_t count, std::int64_t ns, std::optional<std::int64_t> at) {
    const std::array<std::int64_t, 2> values{count, ns};
    SampleContext where;
    where.time = at;
    builder_.add_sample(context, std::span<const std::int64_t>(values).first(time_.valid() ? 2 : 1), where);
  }

  // -- Call graph --------------------------------------------------------------------------------------

  void state(const std::vector<std::uint32_t>& callers, const std::vector<std::uint32_t>& callees,
             const std::vector<std::int64_t>& counts) {
    builder_.state_costs({samples_});
    const auto one = [](const Value& value) { return std::span<const Value>(&value, 1); };
    for (std::uint32_t f = 0; f < dump_.frames.size(); ++f) {
      const DumpFrame& frame = dump_.frames[f];
      const Value total = frame.total;
      builder_.state_function(frames_[f], one(total));
      // What is below a line is known, and not which function that is.
      for (const DumpFrame::Line& line : frame.lines) {
        const Value below = line.total - line.self;
        if (line_number(line.line) == 0 || line.self < 0 || line.total < line.self) continue;
        builder_.state_call(make_frame(frame, line_number(line.line)), {}, one(below));
      }
    }
    for (std::size_t e = 0; e < counts.size(); ++e) {
      const Value count = counts[e];
      builder_.state_call(frames_[callers[e]], frames_[callees[e]], one(count));
    }
  }

  Result<void> add_graph() {
    CallGraph graph(frames_);
    std::vector<std::int64_t> counts;
    std::vector<std::uint32_t> callers, callees;
    for (std::uint32_t caller = 0; caller < dump_.frames.size(); ++caller) {
      for (const auto& [id, count] : dump_.frames[caller].edges) {
        const auto callee = rows_.find(id);
        if (callee == rows_.end())
          return fail(ErrorCode::malformed,
                      fmt::format("an edge leads to the frame {}, which is not there", id));
        graph.add_edge(caller, callee->second);
        callers.push_back(caller);
        callees.push_back(callee->second);
        counts.push_back(count);
      }
    }
    graph.place(builder_);
    state(callers, callees, counts);
    for (std::uint32_t f = 0; f < dump_.frames.size(); ++f) {
      const DumpFrame& frame = dump_.frames[f];
      std::int64_t rest = frame.self;
      // Lines of a function stand beside it: what it called is not divided among them.
      for (const DumpFrame::Line& line : frame.lines) {
        if (line.self <= 0 || line.self > rest || line_number(line.line) == 0) continue;
        const FrameId at = make_frame(frame, line_number(line.line));
        builder_.add_self(builder_.context(graph.parent(f), at), samples_, line.self);
        rest -= line.self;
      }
      builder_.add_self(graph.context(f), samples_, rest);
    }
    AssociationTable table;
    table.name = "calls";
    table.roles = {"caller", "callee"};
    std::vector<std::uint32_t> from, to;
    for (std::uint32_t e = 0; e < counts.size(); ++e) {
      from.push_back(graph.context(callers[e]).v);
      to.push_back(graph.edge_context(e).v);
    }
    table.contexts.emplace_back(std::move(from));
    table.contexts.emplace_back(std::move(to));
    table.metrics = {{"samples", "count"}};
    table.values.emplace_back(Column<std::int64_t>(std::move(counts)));
    if (table.size() > 0) builder_.add_association(std::move(table));
    context_.report.add(
        "call-graph", Severity::info,
        "The file holds a call graph and no stacks. These functions have several callers: what they "
        "call stands under [several callers], and sums over paths are lower bounds.",
        std::nullopt, std::max<std::uint64_t>(1, graph.n_several_callers()));
    if (dump_.n_samples >= 0) builder_.set_n_samples(static_cast<std::uint64_t>(dump_.n_samples));
    return {};
  }

  const Dump& dump_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::unordered_map<std::int64_t, std::uint32_t> rows_;
  std::unordered_map<std::uint64_t, FrameId> with_line_;
  std::vector<FrameId> frames_;
  MetricId samples_, time_;
};

}  // namespace

Result<void> build(const Dump& dump, ReadContext& context, ProfileBuilder& builder) {
  return Building(dump, context, builder).run();
}

}  // namespace profd::stackprof

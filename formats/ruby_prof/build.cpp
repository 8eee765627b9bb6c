// Sections as a profile: docs/decisions/0042-call-graphs.md says what a call graph becomes.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include <fmt/format.h>

#include "core/support/checked.h"
#include "formats/ruby_prof/report.h"
#include "formats/support/call_graph.h"

namespace profd::ruby_prof {
namespace {

struct Associations {
  std::vector<std::uint32_t> callers, callees;
  std::vector<std::int64_t> calls, self, total;
};

class Building {
 public:
  Building(const std::vector<const Section*>& sections, ProfileBuilder& builder, ReadContext& context)
      : sections_(sections), builder_(builder), context_(context), mode_(*sections.front()->mode) {}

  Result<void> run() {
    builder_.info().producer = "ruby-prof";
    builder_.set_default_metric(builder_.add_metric(mode_.name, mode_.unit));
    for (const Section* section : sections_)
      for (const Method& method : section->methods) waits_ |= method.wait != 0;
    if (waits_) builder_.add_metric("wait", mode_.unit);
    builder_.add_metric("calls", "count");
    builder_.state_costs({MetricId{0u}});
    // Times are measured at every call, not sampled.
    builder_.set_n_samples(0);
    for (const Section* section : sections_) {
      PROFD_CHECK(context_.stop.status());
      add(*section);
    }
    add_associations();
    return {};
  }

 private:
  FrameId frame_of(const Method& method) {
    const FunctionId function = builder_.function({.name = builder_.string(method.name),
                                                   .file = builder_.string(method.file),
                                                   .start_line = method.line});
    // What is written in C has no location; but a callee without a row of its own has none either.
    return builder_.frame(
        {.function = function, .kind = method.file.empty() ? FrameKind::native : FrameKind::interpreted});
  }

  // The total may be printed with fewer digits than the self.
  void state(FrameId frame, const Method& method) {
    const Value value = std::max(method.total, method.self);
    builder_.state_function(frame, std::span(&value, 1));
  }

  void put(ContextId context, std::int64_t self, std::int64_t wait, std::int64_t calls) {
    if (self == 0 && wait == 0 && calls == 0) return;
    const std::array<std::int64_t, 3> waiting{self, wait, calls};
    const std::array<std::int64_t, 2> plain{self, calls};
    builder_.add_sample(
        context, waits_ ? std::span<const std::int64_t>(waiting) : std::span<const std::int64_t>(plain),
        where_);
  }

  void add(const Section& section) {
    where_ = {};
    if (section.thread >= 0) {
      const std::string fiber =
          section.fiber >= 0 && section.fiber != section.thread ? fmt::format("fiber {}", section.fiber) : "";
      where_.thread = builder_.thread({.name = fiber, .tid = section.thread});
    }
    std::vector<FrameId> frames;
    frames.reserve(section.methods.size());
    for (const Method& method : section.methods) frames.push_back(frame_of(method));
    if (!section.is_graph) {
      for (std::size_t m = 0; m < frames.size(); ++m) {
        const Method& method = section.methods[m];
        const ContextId context = builder_.context(kRootContext, frames[m]);
        put(context, method.self, method.wait, method.calls);
        state(frames[m], method);
      }
      return;
    }
    add_graph(section, frames);
  }

  void add_graph(const Section& section, const std::vector<FrameId>& frames) {
    const std::size_t n = frames.size();
    CallGraph graph(frames);
    // Of each method, what its edges say together.
    struct Sum {
      std::int64_t calls = 0, self = 0, wait = 0;
    };
    std::vector<Sum> sums(n);
    for (const Edge& edge : section.edges) {
      graph.add_edge(edge.caller, edge.callee);
      add_saturating(sums[edge.callee].calls, edge.calls);
      add_saturating(sums[edge.callee].self, edge.self);
      add_saturating(sums[edge.callee].wait, edge.wait);
    }
    std::uint64_t n_more_calls = 0, n_rounded = 0;
    for (std::uint32_t m = 0; m < n; ++m) {
      const Method& method = section.methods[m];
      if (method.listed && sums[m].calls < method.calls) graph.mark_entry(m);
      n_more_calls += method.listed && sums[m].calls > method.calls;
    }
    graph.place(builder_);
    // The edges of a method are rounded on their own: together they can say more than the method does.
    const auto fits = [&](std::uint32_t m) {
      const Method& method = section.methods[m];
      return !method.listed || (sums[m].self <= method.self && sums[m].wait <= method.wait);
    };
    for (std::uint32_t e = 0; e < section.edges.size(); ++e) {
      const Edge& edge = section.edges[e];
      const ContextId callee = graph.edge_context(e);
      if (fits(edge.callee))
        put(callee, edge.self, edge.wait, edge.calls);
      else
        put(callee, 0, 0, edge.calls);
      const Value total = edge.total;
      builder_.state_call(frames[edge.caller], frames[edge.callee], std::span(&total, 1));
      rows_.callers.push_back(graph.context(edge.caller).v);
      rows_.callees.push_back(callee.v);
      rows_.calls.push_back(edge.calls);
      rows_.self.push_back(edge.self);
      rows_.total.push_back(edge.total);
    }
    for (std::uint32_t m = 0; m < n; ++m) {
      const Method& method = section.methods[m];
      if (!method.listed) {
        builder_.state_function(frames[m], {});
        continue;
      }
      state(frames[m], method);
      const bool taken = fits(m);
      n_rounded += !taken;
      put(graph.context(m), method.self - (taken ? sums[m].self : 0),
          method.wait - (taken ? sums[m].wait : 0), std::max<std::int64_t>(method.calls - sums[m].calls, 0));
    }
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t count) {
      if (count > 0) context_.report.add(kind, severity, message, section.offset, count);
    };
    row("call-graph", Severity::info,
        "the format knows calls, not stacks: methods with several callers stand under [several callers]",
        graph.n_several_callers());
    row("caller-times-rounded", Severity::info,
        "the times of a method by caller are rounded to more than the method's own: it stands undivided",
        n_rounded);
    row("calls-disagree", Severity::loss, "callers called a method more often than it says it was called",
        n_more_calls);
  }

  void add_associations() {
    const std::string inclusive = std::string(mode_.name) + " inclusive";
    if (!rows_.callees.empty()) {
      AssociationTable table;
      table.name = "calls";
      table.roles = {"caller", "callee"};
      table.contexts.emplace_back(std::move(rows_.callers));
      table.contexts.emplace_back(std::move(rows_.callees));
      table.metrics = {{"calls", "count"},
                       {std::string(mode_.name), std::string(mode_.unit)},
                       {inclusive, std::string(mode_.unit)}};
      table.values.emplace_back(Column<std::int64_t>(std::move(rows_.calls)));
      table.values.emplace_back(Column<std::int64_t>(std::move(rows_.self)));
      table.values.emplace_back(Column<std::int64_t>(std::move(rows_.total)));
      builder_.add_association(std::move(table));
    }
  }

  const std::vector<const Section*>& sections_;
  ProfileBuilder& builder_;
  ReadContext& context_;
  const Mode& mode_;
  SampleContext where_;
  bool waits_ = false;
  Associations rows_;
};

}  // namespace

Result<void> build(const std::vector<const Section*>& sections, ProfileBuilder& builder,
                   ReadContext& context) {
  return Building(sections, builder, context).run();
}

}  // namespace profd::ruby_prof

#include "core/live/live_profile.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/support/base_name.h"

namespace profd::live {
namespace {

ContextSums without_rows(const Session& session) {
  ContextSums sums;
  sums.sampled = session.sampling().has_value();
  sums.nodes = session.meter().contexts().nodes();
  for (const Lane& lane : session.meter().lanes())
    sums.lanes.push_back(
        {lane.mixed ? "(several threads)" : lane.name,
         lane.mixed || lane.os_id > 0x7FFFFFFF ? -1 : static_cast<std::int64_t>(lane.os_id)});
  return sums;
}

// Methods of a session as frames of a profile.
class Frames {
 public:
  // `whole_names`: the signature is what the function is called where it was sampled.
  Frames(ProfileBuilder& builder, const Hello& hello, const Methods& methods, bool whole_names)
      : builder_(builder),
        methods_(methods),
        kind_(kind_of(hello.language)),
        whole_names_(whole_names),
        frames_(kMethodIds) {}

  FrameId of(MethodId method) {
    FrameId& frame = frames_[method];
    if (!frame.valid()) frame = make(method);
    return frame;
  }

 private:
  static FrameKind kind_of(std::string_view language) {
    if (language == "python") return FrameKind::interpreted;
    return language == "java" ? FrameKind::jit : FrameKind::native;
  }

  FrameId make(MethodId method) {
    const bool told = method < methods_.size() && methods_[method].told;
    if (!told) {
      const std::string name = whole_names_ && method == kNotKnown ? "[not sampled]" : methods_.name(method);
      return builder_.frame(
          {.function = builder_.function(FunctionSpec{.name = builder_.string(name), .unresolved = true})});
    }
    const Method& row = methods_[method];
    FunctionSpec function;
    const std::string_view own = methods_.text(row.method);
    const std::string_view whole = whole_names_ ? methods_.text(row.signature) : std::string_view();
    function.name = builder_.string(whole.empty() ? methods_.name(method) : std::string(whole));
    if (own.empty()) function.unresolved = true;
    function.file = builder_.string(methods_.text(row.file));
    function.start_line = row.line;
    FrameSpec frame;
    if (row.module != 0 && row.module < methods_.modules().size()) {
      const Module& module = methods_.modules()[row.module];
      frame.module = builder_.module({.name = methods_.text(module.path),
                                      .build_id = methods_.text(module.build_id),
                                      .addresses = AddressKind::vaddr});
      frame.address = row.address;
      if (own.empty()) function.name = StringId{0u};
    }
    frame.function = builder_.function(function);
    frame.line = row.line;
    frame.kind = kind_;
    return builder_.frame(frame);
  }

  ProfileBuilder& builder_;
  const Methods& methods_;
  FrameKind kind_;
  bool whole_names_;
  std::vector<FrameId> frames_;
};

}  // namespace

ContextSums sums_since_begin(const Session& session) {
  ContextSums sums = without_rows(session);
  sums.end = session.meter().closed();
  const auto& totals = session.meter().totals();
  for (ContextNumber i = 0; i < totals.size(); ++i)
    if (totals[i].ns != 0 || totals[i].calls != 0) sums.rows.push_back({i, totals[i].ns, totals[i].calls});
  return sums;
}

ContextSums sums_of(const Session& session, std::span<const BucketPtr> buckets) {
  ContextSums sums = without_rows(session);
  if (buckets.empty()) return sums;
  sums.begin = buckets.front()->begin;
  sums.end = buckets.back()->end;
  PartSum whole;
  for (const BucketPtr& bucket : buckets) whole.add(bucket->contexts);
  for (const PartSum::Row& row : whole.rows()) sums.rows.push_back({row.key, row.ns, row.calls});
  std::sort(sums.rows.begin(), sums.rows.end(),
            [](const auto& a, const auto& b) { return a.context < b.context; });
  return sums;
}

Result<ProfileBuilder> live_profile(const ContextSums& sums, const Hello& hello, const Methods& methods) {
  ProfileBuilder builder;
  const MetricId wall = builder.add_metric("wall", "ns");
  builder.add_metric(sums.sampled ? "samples" : "calls", "count");
  builder.set_default_metric(wall, true);
  builder.info().program = hello.program;
  builder.info().producer = hello.agent;
  builder.info().duration_ns = sums.end - sums.begin;
  if (hello.unix_ns < (std::uint64_t{1} << 62))
    builder.info().time_ns = static_cast<std::int64_t>(hello.unix_ns) + sums.begin;
  Frames frames(builder, hello, methods, sums.sampled);
  std::vector<ThreadId> threads;
  for (const ContextSums::Lane& lane : sums.lanes)
    threads.push_back(
        builder.thread({.name = lane.name,
                        .process_name = hello.program,
                        .tid = lane.os_id > 0 ? lane.os_id : -1,
                        .pid = static_cast<std::int64_t>(std::min<std::uint64_t>(hello.pid, 0x7FFFFFFF))}));
  // A parent has a smaller number, save where it is a lane's.
  std::vector<ContextId> made(sums.nodes.size());
  std::vector<ContextNumber> path;
  for (const ContextSums::Row& row : sums.rows) {
    path.clear();
    ContextNumber at = row.context;
    for (; at != 0 && !made[at].valid(); at = sums.nodes[at].parent) path.push_back(at);
    for (; !path.empty(); path.pop_back()) {
      const Contexts::Node& node = sums.nodes[path.back()];
      const ContextId parent = node.parent == 0 ? kRootContext : made[node.parent];
      // What runs where nothing is open is the root itself.
      made[path.back()] =
          node.method == kNothingOpen ? kRootContext : builder.context(parent, frames.of(node.method));
    }
    const std::int64_t values[] = {static_cast<std::int64_t>(row.ns), static_cast<std::int64_t>(row.calls)};
    SampleContext where;
    where.thread = threads[sums.nodes[row.context].lane];
    builder.add_sample(made[row.context], values, where);
  }
  return builder;
}

}  // namespace profd::live

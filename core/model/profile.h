// Profile: one immutable set of measurements. Made by ProfileBuilder or by the native reader only.
// Shared as std::shared_ptr<const Profile>; every member function is const and safe from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/composition.h"
#include "core/model/context_tree.h"
#include "core/model/metric.h"
#include "core/model/sample_table.h"
#include "core/model/stated_costs.h"
#include "core/model/string_table.h"
#include "core/model/tables.h"
#include "core/model/timeline.h"

namespace profd {

struct BranchStacks;  // core/model/branches.h
struct Matching;      // core/model/matching.h

// What the file says about itself.
struct ProfileInfo {
  std::string name;                     // of the profile inside its file, "" when it has none
  std::string format;                   // reader id: "pprof"
  std::string producer;                 // the profiler, when the file names it
  std::string program;                  // main binary or script, when known
  std::optional<std::int64_t> time_ns;  // start, since the Unix epoch, UTC
  std::optional<std::int64_t> duration_ns;
  std::optional<std::int64_t> period;  // of the sampling, in period_unit
  std::string period_type, period_unit;
  std::vector<std::string> comments;
  std::vector<std::pair<std::string, std::string>>
      properties;  // whatever else the format holds: drop_frames, doc_url, …
};

struct ProfileData {
  ProfileInfo info;
  StringTable strings;
  ModuleTable modules;
  FunctionTable functions;
  FrameTable frames;
  PieceTable pieces;
  ThreadTable threads;
  LabelTable labels;
  std::vector<MetricInfo> metrics;
  MetricId default_metric{0u};
  std::vector<Value> totals;    // by metric: the sum of all self values
  std::uint64_t n_samples = 0;  // measurements the source counts, even when no sample table is kept
  ContextTree tree;
  SelfTable self;
  std::optional<SampleTable> samples;
  std::vector<AssociationTable> associations;
  std::optional<StatedCosts> stated;  // present when the tree is an estimate
  // Present where samples have times or states, or where there is a span, marker, counter or task.
  std::optional<Timeline> timeline;
  std::shared_ptr<const BranchStacks> branches;    // null where none were recorded
  std::shared_ptr<const Composition> composition;  // null where it is of one source
  std::shared_ptr<const Matching> matching;        // null where names and files say all
  // Of a diff: what is_by_path() has the values of paths of functions, see core/view/by_path.h.
  bool functions_by_path = false;
};

class Profile {
 public:
  explicit Profile(ProfileData data) : d_(std::move(data)) {}

  const ProfileInfo& info() const { return d_.info; }
  const StringTable& strings() const { return d_.strings; }
  const ModuleTable& modules() const { return d_.modules; }
  const FunctionTable& functions() const { return d_.functions; }
  const FrameTable& frames() const { return d_.frames; }
  const PieceTable& pieces() const { return d_.pieces; }
  const ThreadTable& threads() const { return d_.threads; }
  const LabelTable& labels() const { return d_.labels; }
  const std::vector<MetricInfo>& metrics() const { return d_.metrics; }
  MetricId default_metric() const { return d_.default_metric; }
  std::optional<MetricId> find_metric(std::string_view name) const;
  const Value& total(MetricId metric) const { return d_.totals[metric.v]; }
  std::uint64_t n_samples() const { return d_.n_samples; }
  const ContextTree& tree() const { return d_.tree; }
  const SelfTable& self() const { return d_.self; }
  // Null when the source has no more than totals.
  const SampleTable* samples() const { return d_.samples ? &*d_.samples : nullptr; }
  const std::vector<AssociationTable>& associations() const { return d_.associations; }
  // The source has functions and calls and no stacks: self values are exact, paths and sums over them are
  // not.
  bool contexts_estimated() const {
    return d_.stated.has_value() || (d_.composition && d_.composition->estimated);
  }
  // What it states of functions and calls as a whole; null when contexts are measured.
  const StatedCosts* stated() const { return d_.stated ? &*d_.stated : nullptr; }
  // Null where the source tells no times.
  const Timeline* timeline() const { return d_.timeline ? &*d_.timeline : nullptr; }
  // Null where the source has no branch stacks.
  const BranchStacks* branches() const { return d_.branches.get(); }

  std::string_view function_name(FunctionId function) const {
    return d_.strings[d_.functions.name[function.v]];
  }
  // Null where it was put together of no others.
  const Composition* composition() const { return d_.composition.get(); }
  // How the functions of those are matched; null where by their names and files alone.
  const Matching* matching() const { return d_.matching.get(); }
  bool functions_by_path() const { return d_.functions_by_path; }
  const ProfileData& data() const { return d_; }
  // Bytes held by all columns, mapped ones included.
  std::size_t memory() const;

 private:
  ProfileData d_;
};

using ProfilePtr = std::shared_ptr<const Profile>;

}  // namespace profd

#include "core/view/filtered_profile.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/model/profile_builder.h"
#include "core/view/filters.h"
#include "core/view/unsampled.h"

namespace profd {
namespace {

bool is_of_samples(const Filter& filter) {
  return filter.by == FilterBy::thread || filter.by == FilterBy::label || filter.by == FilterBy::time;
}

class Filtering {
 public:
  Filtering(const Selection& selection, const ViewSpec& spec)
      : in_(*selection.profile), selection_(selection), spec_(spec) {}

  Result<ProfilePtr> run(StopToken stop) && {
    out_.info() = in_.info();
    out_.info().properties.emplace_back("view", to_text(spec_));
    for (std::size_t m = 0; m < in_.metrics().size(); ++m) {
      const bool fractional = std::holds_alternative<double>(in_.total(MetricId{m}));
      out_.add_metric(in_.metrics()[m].name, in_.metrics()[m].unit, fractional);
    }
    out_.set_default_metric(selection_.metric);
    const bool drops = !selection_.row_filters.empty();
    if (in_.samples() != nullptr) {
      PROFD_CHECK(keep_samples(stop));
    } else {
      PROFD_CHECK(map_contexts(selection_.self.contexts, stop));
      add_values(selection_.self.contexts, [&](std::size_t row, std::size_t m) {
        return std::visit([&](const auto& column) { return Value(column[row]); }, selection_.self.values[m]);
      });
      n_kept_ = selection_.self.contexts.size();
    }
    out_.set_n_samples(drops ? n_kept_ : in_.n_samples());
    SerialExecutor executor;
    return std::move(out_).finish(executor, std::move(stop));
  }

 private:
  // 1 by context: its stack passes the filters of functions, modules, files and fragments.
  Result<std::vector<std::uint8_t>> stacks_that_pass(StopToken& stop) const {
    std::vector<std::uint8_t> passes(in_.tree().size(), 1);
    for (const Filter& filter : selection_.row_filters) {
      if (is_of_samples(filter)) continue;
      PROFD_CHECK(stop.status());
      ContextRanges ranges;
      if (filter.by == FilterBy::fragment) {
        PROFD_TRY(ranges, subtrees_of_fragment(in_, filter.names, stop));
      } else {
        PROFD_TRY(const std::vector<std::uint8_t> match, match_frames(in_, filter));
        PROFD_TRY(ranges, subtrees_of(in_.tree(), match, stop));
      }
      std::vector<std::uint8_t> inside(passes.size(), 0);
      for (std::size_t r = 0; r < ranges.size(); ++r)
        std::fill(inside.begin() + ranges.begin[r], inside.begin() + ranges.end[r], 1);
      const std::uint8_t wanted = filter.op == FilterOp::keep ? 1 : 0;
      for (std::size_t c = 0; c < passes.size(); ++c) passes[c] &= inside[c] == wanted;
    }
    return passes;
  }

  Result<void> keep_samples(StopToken& stop) {
    const SampleTable& samples = *in_.samples();
    PROFD_TRY(const std::vector<std::uint8_t> stack_passes, stacks_that_pass(stop));
    std::vector<std::uint8_t> passed(samples.size(), 1), undecided(samples.size(), 0);
    bool by_sample = false;
    for (const Filter& filter : selection_.row_filters) {
      if (!is_of_samples(filter)) continue;
      PROFD_TRY([[maybe_unused]] const bool any, filter_samples(in_, filter, passed, undecided));
      by_sample = true;
    }
    UnsampledValues rest;
    // No filter of samples can say yes to what belongs to none.
    if (!by_sample) rest = unsampled_values(in_);
    std::vector<std::uint32_t> contexts, rows, rest_rows;
    for (std::uint32_t i = 0; i < samples.size(); ++i) {
      if (passed[i] == 0 || undecided[i] != 0 || stack_passes[samples.context[i]] == 0) continue;
      rows.push_back(i);
      contexts.push_back(samples.context[i]);
    }
    n_kept_ = rows.size();
    for (std::uint32_t i = 0; i < rest.contexts.size(); ++i) {
      if (stack_passes[rest.contexts[i]] == 0) continue;
      rest_rows.push_back(i);
      contexts.push_back(rest.contexts[i]);
    }
    PROFD_CHECK(map_contexts(contexts, stop));
    std::vector<Value> values(in_.metrics().size());
    for (const std::uint32_t i : rows) {
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      for (std::size_t m = 0; m < values.size(); ++m)
        std::visit([&](const auto& column) { values[m] = column[i]; }, samples.values[m]);
      SampleContext where;
      if (!samples.thread.empty() && samples.thread[i] != kNone) where.thread = thread_of(samples.thread[i]);
      if (!samples.label_set.empty()) where.labels = labels_of(samples.label_set[i]);
      if (!samples.time.empty() && samples.time[i] != kNoTime) where.time = samples.time[i];
      out_.add_sample(new_context_[samples.context[i]], std::span<const Value>(values), where);
    }
    std::vector<std::uint32_t> rest_contexts;
    rest_contexts.reserve(rest_rows.size());
    for (const std::uint32_t i : rest_rows) rest_contexts.push_back(rest.contexts[i]);
    add_values(rest_contexts, [&](std::size_t row, std::size_t m) { return rest.values[m][rest_rows[row]]; });
    return {};
  }

  template <class Contexts, class ValueOf>
  void add_values(const Contexts& contexts, ValueOf value_of) {
    for (std::size_t row = 0; row < contexts.size(); ++row)
      for (std::size_t m = 0; m < in_.metrics().size(); ++m)
        std::visit([&](auto value) { out_.add_self(new_context_[contexts[row]], MetricId{m}, value); },
                   value_of(row, m));
  }

  // Contexts of the new profile for those that have values, and all above them.
  template <class Contexts>
  Result<void> map_contexts(const Contexts& contexts, StopToken& stop) {
    const ContextTree& tree = in_.tree();
    new_context_.assign(tree.size(), ContextId{});
    std::vector<std::uint8_t> needed(tree.size(), 0);
    needed[0] = 1;
    for (std::uint32_t context : contexts)
      for (; needed[context] == 0; context = tree.parent[context]) needed[context] = 1;
    new_context_[0] = kRootContext;
    for (std::uint32_t c = 1; c < tree.size(); ++c) {
      if (needed[c] == 0) continue;
      if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
      const std::uint32_t owner = selection_.owner_of(c);
      const std::uint32_t parent = tree.parent[c];
      new_context_[c] = owner != c ? new_context_[owner]
                                   : out_.context(new_context_[parent], frame_of(tree.frame[c], parent));
    }
    return {};
  }

  // `parent`: the context above. What was inlined into a frame that is gone is inlined no more.
  FrameId frame_of(std::uint32_t frame, std::uint32_t parent) {
    const FrameTable& frames = in_.frames();
    const bool inlined = frames.inlined[frame] != 0 && parent != 0 && selection_.owner_of(parent) == parent &&
                         selection_.keys->of_frame[in_.tree().frame[parent]] < selection_.keys->first_group();
    if (new_frame_.empty()) new_frame_.resize(frames.size() * 2);
    FrameId& known = new_frame_[frame * 2 + (inlined ? 1 : 0)];
    if (!known.valid()) known = make_frame(frame, inlined);
    return known;
  }

  FrameId make_frame(std::uint32_t frame, bool inlined) {
    const FrameTable& frames = in_.frames();
    const FunctionTable& functions = in_.functions();
    const KeyTable& keys = *selection_.keys;
    const Key key = keys.of_frame[frame];
    FrameSpec spec;
    spec.kind = frames.kind[frame];
    if (key >= keys.first_group()) return out_.frame({.function = out_.function(key_name(in_, keys, key))});
    if (frames.module[frame].valid()) spec.module = module_of(frames.module[frame].v);
    if (keys.granularity == Granularity::file || keys.granularity == Granularity::module) {
      const KeyPlace place = key_place(in_, keys, key);
      spec.function = out_.function(key_name(in_, keys, key), place.file);
      spec.file = string(frames.file[frame], keys.granularity == Granularity::file);
      return out_.frame(spec);
    }
    const std::uint32_t function = frames.function[frame].v;
    FunctionSpec of_frame;
    of_frame.name = string(functions.name[function]);
    of_frame.system_name = string(functions.system_name[function]);
    of_frame.file = string(functions.file[function]);
    of_frame.start_line = functions.start_line[function];
    of_frame.unresolved = functions.unresolved[function] != 0;
    spec.function = out_.function(of_frame);
    spec.file = string(frames.file[frame]);
    spec.line = frames.line[frame];
    spec.column = frames.column[frame];
    spec.address = frames.address[frame];
    spec.inlined = inlined;
    return out_.frame(spec);
  }

  StringId string(StringId id, bool wanted = true) {
    return out_.string(wanted ? in_.strings()[id] : std::string_view());
  }

  ModuleId module_of(std::uint32_t module) {
    const ModuleTable& modules = in_.modules();
    return out_.module({.name = in_.strings()[modules.name[module]],
                        .build_id = in_.strings()[modules.build_id[module]],
                        .start = modules.start[module],
                        .limit = modules.limit[module],
                        .offset = modules.offset[module]});
  }

  ThreadId thread_of(std::uint32_t thread) {
    if (new_thread_.empty()) new_thread_.resize(in_.threads().size());
    const ThreadTable& threads = in_.threads();
    if (!new_thread_[thread].valid())
      new_thread_[thread] = out_.thread({.name = in_.strings()[threads.name[thread]],
                                         .process_name = in_.strings()[threads.process_name[thread]],
                                         .tid = threads.tid[thread],
                                         .pid = threads.pid[thread]});
    return new_thread_[thread];
  }

  LabelSetId labels_of(std::uint32_t set) {
    const LabelTable& table = in_.labels();
    if (set == 0 || set >= table.n_sets()) return LabelSetId{0u};
    if (new_labels_.empty()) new_labels_.resize(table.n_sets());
    if (new_labels_[set].valid()) return new_labels_[set];
    std::vector<Label> labels;
    for (std::uint32_t l = table.first[set]; l < table.first[set + 1]; ++l)
      labels.push_back({.key = string(table.key[l]),
                        .is_number = table.is_number[l] != 0,
                        .text = string(table.text[l]),
                        .number = table.number[l],
                        .unit = string(table.unit[l])});
    return new_labels_[set] = out_.label_set(labels);
  }

  const Profile& in_;
  const Selection& selection_;
  const ViewSpec& spec_;
  ProfileBuilder out_;
  std::uint64_t n_kept_ = 0;
  std::vector<ContextId> new_context_;
  std::vector<FrameId> new_frame_;  // by frame, twice: not inlined, inlined
  std::vector<ThreadId> new_thread_;
  std::vector<LabelSetId> new_labels_;
};

}  // namespace

Result<ProfilePtr> filtered_profile(const Selection& selection, const ViewSpec& spec, StopToken stop) {
  if (spec.shape != Shape::top_down)
    return fail(ErrorCode::unsupported,
                fmt::format("the format holds stacks, which a {} view has not; a top-down view can be "
                            "written, and csv and json hold every shape",
                            to_text(spec.shape)));
  return Filtering(selection, spec).run(std::move(stop));
}

}  // namespace profd

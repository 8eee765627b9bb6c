// From records to the builder.
#include "core/support/base_name.h"
#include "formats/pprof_legacy/records.h"
#include "formats/support/loaded_modules.h"

namespace profd::pprof_legacy {
namespace {

class Frames {
 public:
  Frames(Records& records, ProfileBuilder& builder)
      : r_(records), builder_(builder), modules_(builder), mapping_of_(map_addresses(records)) {
    for (const Mapping& m : r_.mappings) {
      modules_.add({m.file, m.build_id, m.start, m.limit, m.offset});
      unknown_.push_back(unresolved(m.file.empty()          ? "[unknown]"
                                    : m.file.front() == '[' ? m.file
                                                            : '[' + std::string(base_name(m.file)) + ']'));
    }
    first_.push_back(0);
    for (std::uint32_t a = 0; a < r_.addresses.size(); ++a) {
      add(a);
      first_.push_back(frames_.size());
    }
  }
  // Of an address, root first.
  std::span<const FrameId> of(std::uint32_t address) const {
    return std::span(frames_).subspan(first_[address], first_[address + 1] - first_[address]);
  }

 private:
  FunctionId unresolved(std::string_view name) {
    FunctionSpec spec;
    spec.name = builder_.string(name);
    spec.unresolved = true;
    return builder_.function(spec);
  }

  const std::vector<Line>* symbol(std::uint64_t address) const {
    auto found = r_.symbols.find(address);
    // Perl's pprof keeps the leaf of a heap profile as it stands in the file.
    if (found == r_.symbols.end() && !r_.ids_only) found = r_.symbols.find(address + 1);
    return found == r_.symbols.end() ? nullptr : &found->second;
  }

  void add(std::uint32_t a) {
    FrameSpec spec;
    spec.address = r_.addresses[a];
    spec.kind = r_.kind;
    const std::uint32_t mapping = mapping_of_[a];
    const std::vector<Line>* lines = symbol(spec.address);
    if (mapping != kNone) {
      const LoadedModules::Place place = modules_.at(mapping, spec.address);
      spec.module = place.module;
      spec.address = place.address;
    }
    if (r_.ids_only) spec.address = 0;
    if (!lines) {
      spec.function = mapping != kNone ? unknown_[mapping] : unresolved("[unknown]");
      // An id that no line explains is all there is to tell two of them apart.
      if (r_.ids_only) spec.address = r_.addresses[a];
      frames_.push_back(builder_.frame(spec));
      return;
    }
    for (std::size_t l = lines->size(); l-- > 0;) {
      const Line& line = (*lines)[l];
      const StringId name = builder_.string(line.name), file = builder_.string(line.file);
      spec.function = builder_.function({.name = name, .file = file});
      spec.line = line.line;
      spec.inlined = l + 1 < lines->size();
      frames_.push_back(builder_.frame(spec));
    }
  }

  Records& r_;
  ProfileBuilder& builder_;
  LoadedModules modules_;  // by row of mappings
  std::vector<std::uint32_t> mapping_of_;
  std::vector<FunctionId> unknown_;
  std::vector<FrameId> frames_;
  std::vector<std::size_t> first_;
};

LabelSetId labels_of(const Records& records, std::size_t sample, ProfileBuilder& builder) {
  std::vector<profd::Label> labels;
  if (const auto found = records.labels.find(sample); found != records.labels.end()) {
    for (const auto& label : found->second)
      labels.push_back({.key = builder.string(label.key), .text = builder.string(label.text)});
  }
  if (!records.block_size.empty() && records.block_size[sample] != 0)
    labels.push_back({.key = builder.string("bytes"),
                      .is_number = true,
                      .number = records.block_size[sample],
                      .unit = builder.string("bytes")});
  return builder.label_set(labels);
}

}  // namespace

Result<void> add_profile(Records records, ReadContext& context, ProfileBuilder& builder) {
  const std::size_t n_metrics = records.metrics.size();
  for (const auto& [name, unit] : records.metrics) builder.set_default_metric(builder.add_metric(name, unit));
  ProfileInfo& info = builder.info();
  info.duration_ns = records.duration_ns;
  if (records.period != 0) info.period = records.period;
  info.period_type = records.period_type;
  info.period_unit = records.period_unit;
  info.properties = std::move(records.properties);
  info.program = !records.program.empty()   ? records.program
                 : records.mappings.empty() ? std::string()
                                            : records.mappings.front().file;
  if (records.n_samples() == 0)
    context.report.add("no-samples", Severity::info, "The profile has no samples.");
  const Frames frames(records, builder);
  std::vector<FrameId> stack;
  std::size_t begin = 0;
  for (std::size_t s = 0; s < records.n_samples(); ++s) {
    if (s % 65536 == 0) PROFD_CHECK(context.stop.status());
    const std::size_t end = records.stack_end[s];
    stack.clear();
    for (std::size_t i = end; i-- > begin;) {
      const auto some = frames.of(records.frames[i]);
      stack.insert(stack.end(), some.begin(), some.end());
    }
    begin = end;
    SampleContext where;
    where.labels = labels_of(records, s, builder);
    if (!records.threads.empty())
      where.thread = builder.thread({.name = records.threads[s].name, .tid = records.threads[s].tid});
    builder.add_sample(stack, std::span(records.values).subspan(s * n_metrics, n_metrics), where);
  }
  return {};
}

}  // namespace profd::pprof_legacy

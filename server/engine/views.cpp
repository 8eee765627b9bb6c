#include "server/engine/views.h"

namespace profd {

std::string Views::selection_key(const OpenProfile& open, const ViewSpec& spec, const char* kind) {
  ViewSpec plain = spec;  // shape and focus do not change what is selected
  plain.shape = Shape::flat;
  plain.focus.clear();
  if (plain.metric.empty()) plain.metric = open.metric_info().name;
  return open.cache_prefix() + kind + to_text(plain);
}

Result<SelectionPtr> Views::selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop) {
  const auto compute = [&](const StopToken& token) -> Result<SelectionPtr> {
    ViewSpec full = spec;
    if (full.metric.empty()) full.metric = open.metric_info().name;
    SelectionPtr similar;
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = latest_.find(open.cache_prefix()); found != latest_.end()) similar = found->second.lock();
    }
    PROFD_TRY(SelectionPtr made, select(open.profile, full, token, similar));
    const std::lock_guard lock(mutex_);
    latest_[open.cache_prefix()] = made;
    return made;
  };
  return cache_.get<Selection>(selection_key(open, spec, "select "), stop, compute,
                               [](const Selection& made) { return made.memory(); });
}

Result<std::shared_ptr<const FlatView>> Views::flat(const OpenProfile& open, const ViewSpec& spec,
                                                    const StopToken& stop) {
  const auto compute = [&](const StopToken& token) -> Result<std::shared_ptr<const FlatView>> {
    PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
    PROFD_TRY(FlatView made, flat_view(*selected, token));
    return std::make_shared<const FlatView>(std::move(made));
  };
  return cache_.get<FlatView>(selection_key(open, spec, "flat "), stop, compute, [](const FlatView& view) {
    return view.key.size() * (sizeof(Key) + 2 * sizeof(Value));
  });
}

Result<std::shared_ptr<const LineValues>> Views::lines(const OpenProfile& open, const std::vector<StringId>& files,
                                                       const StopToken& stop) {
  std::string key = open.cache_prefix() + "lines";
  for (const StringId file : files) key += " " + std::to_string(file.v);
  const auto compute = [&](const StopToken& token) -> Result<std::shared_ptr<const LineValues>> {
    PROFD_TRY(LineValues made, annotate_lines(*open.profile, files, token));
    return std::make_shared<const LineValues>(std::move(made));
  };
  return cache_.get<LineValues>(key, stop, compute, [](const LineValues& values) {
    return values.line.size() * (sizeof(std::uint32_t) + 2 * sizeof(Value) * values.self.size());
  });
}

Result<std::shared_ptr<const SourceMap>> Views::sources(const OpenProfile& open, const WorkspaceSnapshot& workspace,
                                                        const StopToken& stop) {
  return cache_.get<SourceMap>(
      open.cache_prefix() + "sources " + workspace.key, stop,
      [&](const StopToken& token) { return make_source_map(open.profile, workspace, token); },
      [](const SourceMap& map) { return map.memory(); });
}

bool Views::is_small(const OpenProfile& open) {
  constexpr std::size_t kSmall = 200'000;
  const SampleTable* samples = open.profile->samples();
  return open.profile->tree().size() + (samples != nullptr ? samples->size() : 0) < kSmall;
}

bool Views::is_quick(const OpenProfile& open, const ViewSpec& spec) const {
  return is_small(open) || cache_.has(selection_key(open, spec, "select "));
}

void Views::drop(const std::string& cache_prefix) {
  cache_.drop(cache_prefix);
  const std::lock_guard lock(mutex_);
  latest_.erase(cache_prefix);
}

}  // namespace profd

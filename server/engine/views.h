// Views: selections, tables, line values and source maps of open profiles, computed once and shared.
// Safe from any thread; a request's own StopToken bounds how long it waits.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/source/annotations.h"
#include "core/view/selection.h"
#include "core/view/table.h"
#include "server/engine/open_profile.h"
#include "server/engine/result_cache.h"
#include "server/engine/source_map.h"

namespace profd {

class Views {
 public:
  explicit Views(std::size_t budget_bytes) : cache_(budget_bytes) {}

  // `spec.metric` "" is the open profile's default.
  Result<SelectionPtr> selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop);
  Result<std::shared_ptr<const FlatView>> flat(const OpenProfile& open, const ViewSpec& spec,
                                               const StopToken& stop);
  Result<std::shared_ptr<const LineValues>> lines(const OpenProfile& open, const std::vector<StringId>& files,
                                                  const StopToken& stop);
  Result<std::shared_ptr<const SourceMap>> sources(const OpenProfile& open, const WorkspaceSnapshot& workspace,
                                                   const StopToken& stop);

  // Whether a view is at hand, or so small that computing it keeps nobody waiting.
  [[nodiscard]] bool is_quick(const OpenProfile& open, const ViewSpec& spec) const;
  [[nodiscard]] static bool is_small(const OpenProfile& open);

  void drop(const std::string& cache_prefix);
  [[nodiscard]] std::size_t memory() const { return cache_.bytes(); }
  [[nodiscard]] const ResultCache& cache() const { return cache_; }

 private:
  static std::string selection_key(const OpenProfile& open, const ViewSpec& spec, const char* kind);

  ResultCache cache_;
  std::mutex mutex_;  // guards latest_
  std::map<std::string, std::weak_ptr<const Selection>> latest_;  // by cache prefix: shares work with the next
};

}  // namespace profd

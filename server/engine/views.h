// Views: selections, tables, line values and source maps of open profiles, computed once and shared.
// Safe from any thread; a request's own StopToken bounds how long it waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/source/annotations.h"
#include "core/view/cache.h"
#include "core/view/search.h"
#include "core/view/selection.h"
#include "core/view/table.h"
#include "server/engine/open_profile.h"
#include "server/engine/source_map.h"

namespace profd {

class Views {
 public:
  explicit Views(std::size_t budget_bytes) : cache_(budget_bytes) {}

  // `spec.metric` "" is the open profile's default. Shape and focus do not matter here.
  Result<SelectionPtr> selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop);
  Result<std::shared_ptr<const FlatView>> flat(const OpenProfile& open, const ViewSpec& spec,
                                               const StopToken& stop);
  Result<std::shared_ptr<const SearchResult>> search(const OpenProfile& open, const ViewSpec& spec,
                                                     const std::string& pattern, const StopToken& stop);
  // All metrics of the lines of a file, of what passes the filters of `spec`.
  Result<std::shared_ptr<const LineValues>> lines(const OpenProfile& open, const ViewSpec& spec,
                                                  const std::vector<StringId>& files, const StopToken& stop);
  Result<std::shared_ptr<const SourceMap>> sources(const OpenProfile& open,
                                                   const WorkspaceSnapshot& workspace, const StopToken& stop);

  // Whether a view is at hand, or so small that computing it keeps nobody waiting.
  [[nodiscard]] bool is_quick(const OpenProfile& open, const ViewSpec& spec) const;
  // The same for the lines of files.
  [[nodiscard]] bool lines_are_quick(const OpenProfile& open, const ViewSpec& spec) const;
  [[nodiscard]] static bool is_small(const OpenProfile& open);

  void drop(const OpenProfile& open);
  [[nodiscard]] std::size_t memory() const { return cache_.bytes(); }
  [[nodiscard]] const ViewCache& cache() const { return cache_; }

 private:
  static std::string key_text(const OpenProfile& open, const ViewSpec& spec, const char* kind);
  [[nodiscard]] bool at_hand(const OpenProfile& open, const std::string& text) const;
  void remember(const OpenProfile& open, const std::string& text, const std::shared_ptr<const void>& made);

  ViewCache cache_;
  mutable std::mutex mutex_;  // guards what follows
  struct Known {
    std::weak_ptr<const Selection> latest;                  // shares work with the next selection
    std::map<std::string, std::weak_ptr<const void>> made;  // what has been computed, by key
  };
  std::map<std::uint64_t, Known> known_;  // by OpenProfile::view_id
};

}  // namespace profd

// Views: selections, tables, line values and source maps of open profiles, computed once and shared. All of
// it is in one ViewCache; docs/caches.md says under which keys, and what else is kept where. Safe from any
// thread; a request's own StopToken bounds how long it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/compare/moved_cost.h"
#include "core/compare/noise.h"
#include "core/source/annotations.h"
#include "core/support/executor.h"
#include "core/view/cache.h"
#include "core/view/neighbour_table.h"
#include "core/view/search.h"
#include "core/view/selection.h"
#include "core/view/table.h"
#include "core/view/values.h"
#include "server/engine/need.h"
#include "server/engine/node_table.h"
#include "server/engine/open_profile.h"
#include "server/engine/source_file.h"
#include "server/engine/source_map.h"

namespace profd {

struct MatchMarks;

class Views {
 public:
  // The executor outlives the views' last use. `pool` and `on_freed` as of a ViewCache.
  Views(std::size_t budget_bytes, Executor& executor, std::shared_ptr<MemoryPool> pool = nullptr,
        std::function<void(std::size_t)> on_freed = {})
      : executor_(executor), cache_(budget_bytes, std::move(pool), std::move(on_freed)) {}

  // `spec.metric` "" is the open profile's default. Shape and focus do not matter here.
  Result<SelectionPtr> selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop);
  Result<std::shared_ptr<const FlatView>> flat(const OpenProfile& open, const ViewSpec& spec,
                                               const StopToken& stop);
  // Of some keys alone: what a page of a flat view shows of a further metric. From the table where it is at
  // hand or costs no more than the keys' own contexts.
  Result<KeyValues> key_values(const OpenProfile& open, const ViewSpec& spec, std::span<const Key> keys,
                               const StopToken& stop);
  Result<std::shared_ptr<const SearchResult>> search(const OpenProfile& open, const ViewSpec& spec,
                                                     const std::string& pattern, const StopToken& stop);
  // The same when it is kept, else null.
  std::shared_ptr<const SearchResult> kept_search(const OpenProfile& open, const ViewSpec& spec,
                                                  const std::string& pattern);
  // Where the boxes of a view that match lie: for what a layout hides, and for steps.
  Result<std::shared_ptr<const MatchMarks>> match_marks(const OpenProfile& open, const ViewSpec& spec,
                                                        const std::string& pattern, const StopToken& stop);
  // Values of every line of every file; what lines() looks them up in.
  Result<std::shared_ptr<const LineIndex>> line_index(const OpenProfile& open, const ViewSpec& spec,
                                                      const StopToken& stop);
  // All metrics of the lines of a file, of what passes the filters of `spec`; functions without lines stand
  // on those they begin on.
  Result<std::shared_ptr<const LineValues>> lines(const OpenProfile& open, const ViewSpec& spec,
                                                  const std::vector<StringId>& files, const StopToken& stop);
  // Those of all functions, and of one: from the table where it is at hand.
  Result<std::shared_ptr<const NeighbourTable>> neighbour_table(const OpenProfile& open, const ViewSpec& spec,
                                                                const StopToken& stop);
  Result<Neighbours> neighbours(const OpenProfile& open, const ViewSpec& spec, Key key, std::size_t n,
                                const StopToken& stop);
  // Which changes of a diff stand out from noise.
  Result<std::shared_ptr<const Noise>> noise(const OpenProfile& open, const ViewSpec& spec,
                                             const StopToken& stop);
  // Of those, what only moved from one function to another.
  Result<std::shared_ptr<const MovedCosts>> moved(const OpenProfile& open, const ViewSpec& spec,
                                                  const StopToken& stop);
  // Numbers for the boxes of a view, whatever its metric; they go when the cache drops them.
  Result<std::shared_ptr<const NodeTable>> nodes(const OpenProfile& open, const ViewSpec& spec);
  Result<std::shared_ptr<const SourceMap>> sources(const OpenProfile& open,
                                                   const WorkspaceSnapshot& workspace, const StopToken& stop);

  // Which paths of the profile mean a workspace file, and how far its lines are those measured. `document`:
  // the file as it is open; may be null.
  Result<std::shared_ptr<const SourceFile>> source_file(const OpenProfile& open,
                                                        const WorkspaceSnapshot& workspace,
                                                        const std::string& path, const Document* document,
                                                        const StopToken& stop, LinesOf side = LinesOf::after);
  // What a feature makes of a view and is asked for piece by piece: made once and shared. `what` says all
  // that it depends on beside the view; T is as ViewCache::get() has it.
  template <class T, class Compute>
  Result<std::shared_ptr<const T>> kept(const OpenProfile& open, const ViewSpec& spec,
                                        const std::string& what, const StopToken& stop, Compute compute) {
    return cache_.get<T>(key_of(open, spec, "kept ", "\n" + what), stop, std::move(compute));
  }
  // What each frame has itself of the metric of `spec`, where views by function have it: of hidden ones their
  // caller. By FrameId.
  Result<std::shared_ptr<const FrameSelfs>> frame_selfs(const OpenProfile& open, const ViewSpec& spec,
                                                        const StopToken& stop);

  // Whether all of it is at hand, or the profile so small that computing it keeps nobody waiting.
  [[nodiscard]] bool has(const OpenProfile& open, std::span<const Need> needs) const;
  // Makes what is not at hand, where nobody waits for it.
  Result<void> make(const OpenProfile& open, const Need& need, const StopToken& stop);
  // Whether the lines of a workspace file are: those of one that the profile spells in several ways can need
  // a sweep of their own, and one that changed since the recording is asked of version control.
  [[nodiscard]] bool file_is_quick(const OpenProfile& open, const ViewSpec& spec,
                                   const WorkspaceSnapshot& workspace, const std::string& path,
                                   const Document* document) const;
  [[nodiscard]] static bool is_small(const OpenProfile& open);

  // Where a request can do two things at once.
  [[nodiscard]] Executor& executor() const { return executor_; }

  void drop(std::uint64_t view_id);
  void set_budget(std::size_t bytes) { cache_.set_budget(bytes); }
  [[nodiscard]] const std::shared_ptr<MemoryPool>& pool() const { return cache_.pool(); }
  // To be called after views were used, which grow with that.
  void measure_again() { cache_.measure_again(); }
  [[nodiscard]] std::size_t memory() const { return cache_.bytes(); }
  [[nodiscard]] std::size_t budget() const { return cache_.budget(); }
  [[nodiscard]] const ViewCache& cache() const { return cache_; }

 private:
  static ViewKey key_of(const OpenProfile& open, const ViewSpec& spec, const char* kind,
                        const std::string& more = {});
  static ViewKey search_key(const OpenProfile& open, const ViewSpec& spec, const std::string& pattern);
  static ViewKey lines_key(const OpenProfile& open, const ViewSpec& spec, const std::vector<StringId>& files);
  static ViewKey sources_key(const OpenProfile& open, const WorkspaceSnapshot& workspace);
  static ViewKey file_key(const OpenProfile& open, const WorkspaceSnapshot& workspace,
                          const std::string& path, const Document* document, LinesOf side);
  // Functions without lines, on the lines they begin on.
  Result<void> add_functions(LineValues& lines, const OpenProfile& open, const ViewSpec& spec,
                             const Selection& selected, const std::vector<StringId>& files,
                             const StopToken& stop);

  Executor& executor_;
  ViewCache cache_;
  std::atomic<std::int64_t> next_node_{1};
};

}  // namespace profd

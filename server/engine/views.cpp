#include "server/engine/views.h"

#include "core/view/key_memo.h"

namespace profd {

std::string Views::key_text(const OpenProfile& open, const ViewSpec& spec, const char* kind) {
  ViewSpec plain = spec;
  plain.shape = Shape::flat;
  plain.focus.clear();
  if (plain.metric.empty()) plain.metric = open.metric_info().name;
  return kind + to_text(plain);
}

Result<SelectionPtr> Views::selection(const OpenProfile& open, const ViewSpec& spec, const StopToken& stop) {
  const std::string text = key_text(open, spec, "select ");
  auto made =
      cache_.get<Selection>({open.view_id, text}, stop, [&](const StopToken& token) -> Result<SelectionPtr> {
        ViewSpec full = spec;
        if (full.metric.empty()) full.metric = open.metric_info().name;
        SelectionPtr similar;
        {
          const std::lock_guard lock(mutex_);
          similar = known_[open.view_id].latest.lock();
        }
        return select(open.profile, full, token, similar, executor_);
      });
  if (!made) return made;
  remember(open, text, *made);
  const std::lock_guard lock(mutex_);
  known_[open.view_id].latest = *made;
  return made;
}

Result<std::shared_ptr<const FlatView>> Views::flat(const OpenProfile& open, const ViewSpec& spec,
                                                    const StopToken& stop) {
  const std::string text = key_text(open, spec, "flat ");
  auto made = cache_.get<FlatView>({open.view_id, text}, stop,
                                   [&](const StopToken& token) -> Result<std::shared_ptr<const FlatView>> {
                                     PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                     return shared(flat_view(*selected, token));
                                   });
  if (made) remember(open, text, *made);
  return made;
}

Result<std::shared_ptr<const SearchResult>> Views::search(const OpenProfile& open, const ViewSpec& spec,
                                                          const std::string& pattern, const StopToken& stop) {
  return cache_.get<SearchResult>({open.view_id, key_text(open, spec, "search ") + "\n" + pattern}, stop,
                                  [&](const StopToken& token) -> Result<std::shared_ptr<const SearchResult>> {
                                    PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                    return shared(profd::search(*selected, pattern, token, executor_));
                                  });
}

Result<std::shared_ptr<const LineIndex>> Views::line_index(const OpenProfile& open, const ViewSpec& spec,
                                                           const StopToken& stop) {
  const std::string text = key_text(open, spec, "line index ");
  auto made = cache_.get<LineIndex>({open.view_id, text}, stop,
                                    [&](const StopToken& token) -> Result<std::shared_ptr<const LineIndex>> {
                                      PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
                                      return shared(make_line_index(*open.profile, selected->self, token));
                                    });
  if (made) remember(open, text, *made);
  return made;
}

Result<std::shared_ptr<const LineValues>> Views::lines(const OpenProfile& open, const ViewSpec& spec,
                                                       const std::vector<StringId>& files,
                                                       const StopToken& stop) {
  const std::string text = lines_text(open, spec, files);
  auto made = cache_.get<LineValues>(
      {open.view_id, text}, stop, [&](const StopToken& token) -> Result<std::shared_ptr<const LineValues>> {
        PROFD_TRY(const auto index, line_index(open, spec, token));
        PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
        return shared(annotate_lines(*open.profile, *index, selected->self, files, token));
      });
  if (made) remember(open, text, *made);
  return made;
}

Result<std::shared_ptr<const SourceMap>> Views::sources(const OpenProfile& open,
                                                        const WorkspaceSnapshot& workspace,
                                                        const StopToken& stop) {
  const std::string text = "sources " + workspace.key;
  auto made = cache_.get<SourceMap>({open.view_id, text}, stop, [&](const StopToken& token) {
    return make_source_map(open.profile, workspace, token);
  });
  if (made) remember(open, text, *made);
  return made;
}

std::string Views::file_text(const OpenProfile& open, const WorkspaceSnapshot& workspace,
                             const std::string& path, const Document* document) {
  const std::int64_t written = written_at(open, path, document).value_or(0);
  return "file " + workspace.key + " " + std::to_string(written) + (document != nullptr ? " open " : " ") +
         path;
}

Result<std::shared_ptr<const SourceFile>> Views::source_file(const OpenProfile& open,
                                                             const WorkspaceSnapshot& workspace,
                                                             const std::string& path,
                                                             const Document* document,
                                                             const StopToken& stop) {
  const std::string text = file_text(open, workspace, path, document);
  PROFD_TRY(const auto map, sources(open, workspace, stop));
  auto made = cache_.get<SourceFile>({open.view_id, text}, stop, [&](const StopToken& token) {
    return make_source_file(open, *map, path, document, token);
  });
  if (made) remember(open, text, *made);
  return made;
}

bool Views::is_small(const OpenProfile& open) {
  constexpr std::size_t kSmall = 200'000;
  const SampleTable* samples = open.profile->samples();
  return open.profile->tree().size() + (samples != nullptr ? samples->size() : 0) < kSmall;
}

std::string Views::lines_text(const OpenProfile& open, const ViewSpec& spec,
                              const std::vector<StringId>& files) {
  std::string text = key_text(open, spec, "lines ") + "\n";
  for (const StringId file : files) text += " " + std::to_string(file.v);
  return text;
}

bool Views::file_is_quick(const OpenProfile& open, const ViewSpec& spec, const WorkspaceSnapshot& workspace,
                          const std::string& path, const Document* document) const {
  if (changed_since(open, written_at(open, path, document)) &&
      !at_hand(open, file_text(open, workspace, path, document)))
    return false;
  if (is_small(open)) return true;
  const auto made = at_hand(open, "sources " + workspace.key);
  if (!made) return true;  // not known yet; one spelling is what most files have
  const auto& by_path = std::static_pointer_cast<const SourceMap>(made)->by_path;
  const auto found = by_path.find(path);
  if (found == by_path.end() || found->second.size() < 2) return true;
  return at_hand(open, lines_text(open, spec, found->second)) != nullptr;
}

Result<std::shared_ptr<const NeighbourTable>> Views::neighbour_table(const OpenProfile& open,
                                                                     const ViewSpec& spec,
                                                                     const StopToken& stop) {
  const std::string text = key_text(open, spec, "neighbours ");
  auto made = cache_.get<NeighbourTable>(
      {open.view_id, text}, stop,
      [&](const StopToken& token) -> Result<std::shared_ptr<const NeighbourTable>> {
        PROFD_TRY(const SelectionPtr selected, selection(open, spec, token));
        return shared(make_neighbour_table(*selected, token));
      });
  if (made) remember(open, text, *made);
  return made;
}

Result<Neighbours> Views::neighbours(const OpenProfile& open, const ViewSpec& spec, Key key, std::size_t n,
                                     const StopToken& stop) {
  if (const auto made = at_hand(open, key_text(open, spec, "neighbours ")))
    if (const auto table = std::static_pointer_cast<const NeighbourTable>(made); table->usable)
      return neighbours_in(*table, key, n);
  PROFD_TRY(const SelectionPtr selected, selection(open, spec, stop));
  return neighbours_of(*selected, key, n, stop);
}

Result<std::shared_ptr<const NodeTable>> Views::nodes(const OpenProfile& open, const ViewSpec& spec) {
  ViewSpec of_shape = spec;
  of_shape.metric = open.profile->metrics().front().name;  // zooming survives another metric
  const ViewKey key{open.view_id, "nodes " + to_text(of_shape)};
  const auto make = [&](const StopToken&) -> Result<std::shared_ptr<const NodeTable>> {
    return std::make_shared<const NodeTable>(next_node_);
  };
  return cache_.get<NodeTable>(key, StopToken{}, make);
}

unsigned Views::needs_of(Shape shape) {
  if (shape == Shape::flat) return kSelection | kFlat;
  return shape == Shape::top_down ? unsigned{kSelection} : kSelection | kOneFunction;
}

bool Views::is_quick(const OpenProfile& open, const ViewSpec& spec, unsigned needs) const {
  if (is_small(open)) return true;
  if ((needs & kFlat) != 0 && !at_hand(open, key_text(open, spec, "flat "))) return false;
  if ((needs & kLines) != 0 && !at_hand(open, key_text(open, spec, "line index "))) return false;
  if ((needs & kNeighbours) != 0 && !at_hand(open, key_text(open, spec, "neighbours "))) return false;
  if ((needs & (kSelection | kOneFunction)) == 0) return true;
  const auto made = at_hand(open, key_text(open, spec, "select "));
  return made != nullptr && ((needs & kOneFunction) == 0 ||
                             std::static_pointer_cast<const Selection>(made)->key_memo->has_key_index());
}

std::shared_ptr<const void> Views::at_hand(const OpenProfile& open, const std::string& text) const {
  const std::lock_guard lock(mutex_);
  const auto known = known_.find(open.view_id);
  if (known == known_.end()) return nullptr;
  const auto made = known->second.made.find(text);
  return made == known->second.made.end() ? nullptr : made->second.lock();
}

void Views::remember(const OpenProfile& open, const std::string& text,
                     const std::shared_ptr<const void>& made) {
  const std::lock_guard lock(mutex_);
  auto& by_text = known_[open.view_id].made;
  if (by_text.size() > 256) std::erase_if(by_text, [](const auto& item) { return item.second.expired(); });
  by_text[text] = made;
}

void Views::drop(const OpenProfile& open) {
  cache_.drop(open.view_id);
  const std::lock_guard lock(mutex_);
  known_.erase(open.view_id);
}

}  // namespace profd

#include "server/feature/name_table.h"

#include "core/view/name_cuts.h"
#include "server/feature/names.h"

namespace profd {

std::uint32_t NameTable::row_of(Key key) {
  const auto [found, fresh] = row_of_key_.try_emplace(key, static_cast<std::uint32_t>(names_.size()));
  if (fresh) {
    keys_.push_back(key);
    names_.push_back(key_name(*selection_.profile, *selection_.boxes->keys, key));
    const KeyPlace place = key_place(*selection_.profile, *selection_.boxes->keys, key);
    places_.push_back(place.file.empty() ? place.module : place.file);
  }
  return found->second;
}

std::uint32_t NameTable::row_of_text(std::string text) {
  keys_.push_back(kNone);
  names_.push_back(std::move(text));
  places_.emplace_back();
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void NameTable::finish(std::vector<std::string>& names, std::vector<std::string>& labels,
                       std::vector<std::vector<std::uint32_t>>& cuts) && {
  std::vector<NameAndPlace> frames;
  frames.reserve(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) frames.push_back({names_[i], places_[i]});
  labels = distinct_short_names(frames);
  cuts.reserve(labels.size());
  for (const std::string& label : labels) cuts.push_back(name_cuts(label));
  names = std::move(names_);
}

}  // namespace profd

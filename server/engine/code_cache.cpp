#include "server/engine/code_cache.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "server/engine/code_lookup.h"

namespace profd {

std::string CodeCache::key_of(const CodeQuestion& question, const SymbolPlaces& places) {
  std::string key = fmt::format("{}\n{}\n{:x} {:x} {}", question.name, question.build_id, question.start,
                                question.size, question.att);
  const auto add = [&](char kind, std::string_view a, std::string_view b) {
    key += fmt::format("\n{} {} {}", kind, a, b);
  };
  for (const ModuleFile& file : places.files) add('f', file.module, file.path);
  for (const std::string& folder : places.directories) add('d', folder, "");
  for (const std::string& root : places.roots) add('r', root, "");
  for (const PathMapping& mapping : places.mappings) add('m', mapping.from, mapping.to);
  add('p', places.recording, places.home);
  if (const auto identity = places.identities.by_name.find(question.name);
      question.build_id.empty() && identity != places.identities.by_name.end())
    add('i', identity_text(identity->second), fmt::format("{}", places.identities.recorded_ns));
  return key;
}

std::shared_ptr<const CodeAnswer> CodeCache::find(const std::string& key) {
  Entry found;
  {
    const std::lock_guard lock(mutex_);
    const auto at =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    if (at == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, at);
    found = entries_.front();
  }
  const bool same = std::all_of(found.used.begin(), found.used.end(), [](const SymbolSearch::Used& used) {
    const auto stamp = stamp_of(used.path);
    return stamp && *stamp == used.stamp;
  });
  return same ? found.answer : nullptr;
}

void CodeCache::keep(std::string key, std::shared_ptr<const CodeAnswer> answer,
                     std::vector<SymbolSearch::Used> used) {
  const std::vector<std::uint32_t>& lines = answer->code.symbols.links.line;
  const bool has_lines =
      std::any_of(lines.begin(), lines.end(), [](std::uint32_t line) { return line != 0; });
  if (!has_lines || answer->code.rows.size() > kMostInstructions) return;
  Entry entry{std::move(key), std::move(answer), std::move(used)};
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& other) { return other.key == entry.key; });
  entries_.push_front(std::move(entry));
  std::size_t n = 0;
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    n += at->answer->code.rows.size();
    if (n <= kMostInstructions) continue;
    entries_.erase(at, entries_.end());
    return;
  }
}

}  // namespace profd

#include "core/live/city_versions.h"

#include <string_view>
#include <unordered_map>

#include "core/support/hash.h"

namespace profd {
namespace {

struct SameMethod {
  bool operator()(const CityMethod* a, const CityMethod* b) const {
    return a->name == b->name && a->signature == b->signature && a->type == b->type &&
           a->package == b->package;
  }
};

struct HashMethod {
  std::size_t operator()(const CityMethod* method) const {
    const auto of = [](std::string_view text) { return hash_bytes(text); };
    return hash_combine(hash_combine(of(method->package), of(method->type)),
                        hash_combine(of(method->name), of(method->signature)));
  }
};

}  // namespace

CityVersions unite_versions(std::span<const CityMethod> before, std::span<const CityMethod> after) {
  CityVersions out;
  // Of methods that are the same: the first row that has no partner yet, and from each the next.
  std::unordered_map<const CityMethod*, std::uint32_t, HashMethod, SameMethod> first;
  first.reserve(before.size());
  std::vector<std::uint32_t> next(before.size(), kNoCityRow);
  for (auto row = static_cast<std::uint32_t>(before.size()); row-- > 0;) {
    const auto [found, fresh] = first.try_emplace(&before[row], row);
    if (!fresh) {
      next[row] = found->second;
      found->second = row;
    }
  }
  for (std::uint32_t row = 0; row < before.size(); ++row) {
    out.methods.push_back(before[row]);
    out.before.push_back(row);
    out.after.push_back(kNoCityRow);
  }
  for (std::uint32_t row = 0; row < after.size(); ++row) {
    const auto found = first.find(&after[row]);
    if (found != first.end() && found->second != kNoCityRow) {
      out.after[found->second] = row;
      found->second = next[found->second];
      continue;
    }
    out.methods.push_back(after[row]);
    out.before.push_back(kNoCityRow);
    out.after.push_back(row);
  }
  return out;
}

}  // namespace profd

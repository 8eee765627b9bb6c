// Parts of views that other views have in common, each kept under a text of its own that says all that it
// depends on: whoever needs the same part finds it, whatever else it is made for.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/view/cache.h"

namespace profd {

class PartsOf {
 public:
  PartsOf() = default;  // nothing is kept: each part is made anew
  // Of the profile that the cache knows by this number. `metrics` tells apart profiles that differ in these
  // alone.
  PartsOf(ViewCache& cache, std::uint64_t profile, std::string metrics = "")
      : cache_(&cache), profile_(profile), metrics_(std::move(metrics)) {}

  [[nodiscard]] ViewKey key(std::string text) const { return {profile_, std::move(text)}; }
  // Of a part that has the values of metrics.
  [[nodiscard]] ViewKey key_of_values(const std::string& text) const { return {profile_, metrics_ + text}; }
  template <class T, class Make>
  Result<std::shared_ptr<const T>> get(const ViewKey& key, const StopToken& stop, Make make) const {
    return cache_ == nullptr ? make(stop) : cache_->get<T>(key, stop, make);
  }

 private:
  ViewCache* cache_ = nullptr;
  std::uint64_t profile_ = 0;
  std::string metrics_;
};

}  // namespace profd

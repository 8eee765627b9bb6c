// Origins: where profiles may come from, by the scheme of their URIs. The daemon and the command line open
// through the same.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "server/engine/origin.h"

namespace profd {

class Origins {
 public:
  // `uri` is of the factory's scheme. On the strand: it looks at the text of the URI alone.
  using Factory = std::function<Result<OriginPtr>(std::string_view uri, const OpenOptions& options)>;

  // With files, what is at an address (endpoint_origin.h), what is put together of other profiles
  // (composed_origin.h) and what scripts make of them (script_origin.h).
  Origins();
  Origins(const Origins&) = delete;  // what is put together asks this one for its parts
  Origins& operator=(const Origins&) = delete;
  void add(std::string scheme, Factory make);
  // `invalid` for a scheme that is not known; the sentence lists those that are. An absolute path is a
  // file's.
  [[nodiscard]] Result<OriginPtr> make(const std::string& uri, const OpenOptions& options) const;

 private:
  std::map<std::string, Factory> by_scheme_;
};

// "file" of "file:///a/b"; "" where the text does not begin with a scheme.
std::string scheme_of(std::string_view text);

}  // namespace profd

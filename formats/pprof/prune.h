// drop_frames and keep_frames: which functions a profile asks not to show.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/support/result.h"

namespace profd::pprof {

class PruneRule {
 public:
  // Both are RE2 expressions that must match a whole simplified name. An empty `drop` never prunes.
  static Result<PruneRule> make(std::string_view drop, std::string_view keep);
  bool drops(std::string_view function_name) const;
  bool active() const { return rule_ != nullptr; }

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> rule_;
};

// A leading "." goes, and so does an argument list: the name ends at the first "(" that does not belong to
// "(anonymous namespace)" or "operator()".
std::string simplified_name(std::string_view name);

}  // namespace profd::pprof

#include "core/model/matching.h"

namespace profd {

std::size_t Matching::memory() const {
  std::size_t bytes = sizeof(Matching) + same.capacity() * sizeof(same[0]);
  for (const RenameRule& rule : rules.renames) bytes += sizeof(rule) + rule.pattern.size() + rule.name.size();
  for (const Suggestion& one : suggested)
    bytes += sizeof(one) + one.before_name.size() + one.after_name.size();
  return bytes;
}

}  // namespace profd

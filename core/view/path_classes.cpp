#include "core/view/path_classes.h"

#include "core/support/hash.h"
#include "core/support/interner.h"

namespace profd {

Result<PathClasses> classes_of(const Boxes& boxes, StopToken stop) {
  const ContextTree& tree = boxes.profile->tree();
  PathClasses out;
  out.of_context.resize(tree.size());
  out.of_context[0] = 0;
  out.first.push_back(0);
  std::vector<std::uint32_t> parent{kNone};  // by class, as `key`
  std::vector<Key> key{kNone};
  RowSet known;
  known.reserve(tree.size() / 2);
  for (std::uint32_t c = 1; c < out.of_context.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (const std::uint32_t owner = boxes.owner_of(c); owner != c) {
      out.of_context[c] = out.of_context[owner];
      continue;
    }
    // Contexts between this one and the box above it are parts of that box, and of its class.
    const std::uint32_t above = out.of_context[tree.parent[c]];
    const Key own = boxes.keys->of_frame[tree.frame[c]];
    const auto next = static_cast<std::uint32_t>(out.first.size());
    const std::uint64_t hash = mix64(hash_combine(above, own));
    const std::uint32_t found = known.find_or_add(
        hash, next, [&](std::uint32_t row) { return parent[row] == above && key[row] == own; });
    if (found == next) {
      out.first.push_back(c);
      parent.push_back(above);
      key.push_back(own);
    }
    out.of_context[c] = found;
  }
  return out;
}

}  // namespace profd

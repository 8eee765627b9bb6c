#include "core/view/path_classes.h"

#include "core/model/context_rows.h"

namespace profd {
namespace {

template <class OwnerOf>
Result<PathClasses> classes(const ContextTree& tree, const KeyTable& keys, StopToken& stop,
                            OwnerOf owner_of) {
  PathClasses out;
  out.of_context.resize(tree.size());
  out.of_context[0] = 0;
  out.first.push_back(0);
  out.parent.push_back(kNone);
  out.key.push_back(kNone);
  ContextRows known;
  for (std::uint32_t c = 1; c < out.of_context.size(); ++c) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    if (const std::uint32_t owner = owner_of(c); owner != c) {
      out.of_context[c] = out.of_context[owner];
      continue;
    }
    // Contexts between this one and the box above it are parts of that box, and of its class.
    const std::uint32_t above = out.of_context[tree.parent[c]];
    const Key own = keys.of_frame[tree.frame[c]];
    out.of_context[c] = known.find_or_add(above, own, out.parent, out.key);
    if (out.of_context[c] < out.size()) continue;
    out.first.push_back(c);
    out.parent.push_back(above);
    out.key.push_back(own);
  }
  return out;
}

}  // namespace

Result<PathClasses> classes_of(const Boxes& boxes, StopToken stop) {
  return classes(boxes.profile->tree(), *boxes.keys, stop,
                 [&](std::uint32_t context) { return boxes.owner_of(context); });
}

Result<PathClasses> classes_of(const ContextTree& tree, const KeyTable& keys, StopToken stop) {
  return classes(tree, keys, stop, [](std::uint32_t context) { return context; });
}

}  // namespace profd

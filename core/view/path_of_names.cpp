#include "core/view/path_of_names.h"

#include <array>

#include "core/view/memo.h"
#include "core/view/selection.h"

namespace profd {
namespace {

// Hashes code points as their UTF-16 code units; names are well-formed UTF-8.
class NameHash {
 public:
  void add(std::string_view name) {
    for (std::size_t i = 0; i < name.size();) {
      const auto lead = static_cast<unsigned char>(name[i]);
      const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
      std::uint32_t point = n == 1 ? lead : lead & (0xFFu >> (n + 1));
      for (std::size_t k = 1; k < n && i + k < name.size(); ++k)
        point = (point << 6) | (static_cast<unsigned char>(name[i + k]) & 0x3F);
      i += n;
      if (point < 0x10000) {
        unit(point);
      } else {
        unit(0xD800 + ((point - 0x10000) >> 10));
        unit(0xDC00 + ((point - 0x10000) & 0x3FF));
      }
    }
  }
  std::uint32_t value() const { return hash_; }

 private:
  void unit(std::uint32_t u) {
    hash_ = (hash_ ^ (u & 0xFF)) * kPrime;
    hash_ = (hash_ ^ (u >> 8)) * kPrime;
  }
  static constexpr std::uint32_t kPrime = 0x01000193;
  std::uint32_t hash_ = 0x811C9DC5;
};

template <class T>
T magnitude(T width) {
  return width < 0 ? -width : width;
}

template <class T>
Result<std::vector<Key>> walk(UnfoldedTree<T>& tree, const NamePath& path, StopToken& stop) {
  std::vector<Key> found;
  std::uint32_t at = 0;
  for (const std::string& wanted : path.names) {
    PROFD_CHECK(tree.expand(at, stop));
    const auto node = tree.node(at);
    std::uint32_t best = kNone;
    for (std::uint32_t i = node.first_child; i < node.first_child + node.n_children; ++i) {
      if (stop.check()) return tl::unexpected<Error>(stop.status().error());
      const std::string name = key_name(tree.profile(), tree.keys(), tree.node(i).key);
      if ((path.hashed ? name_hash(name) : name) != wanted) continue;
      if (best == kNone || magnitude(tree.node(i).width) > magnitude(tree.node(best).width)) best = i;
    }
    if (best == kNone) break;
    found.push_back(tree.node(best).key);
    at = best;
  }
  return found;
}

}  // namespace

std::string name_hash(std::string_view name) {
  NameHash hash;
  hash.add(name);
  std::array<char, 7> digits;
  std::size_t at = digits.size();
  for (std::uint32_t left = hash.value(); at == digits.size() || left > 0; left /= 36)
    digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[left % 36];
  return {digits.data() + at, digits.size() - at};
}

Result<std::vector<Key>> path_of_names(const Selection& selection, Shape shape, const std::vector<Key>& focus,
                                       const NamePath& path, const StopToken& stop) {
  return selection.memo->with_tree(
      selection, shape, focus, stop,
      [&]<class T>(UnfoldedTree<T>& tree, StopToken& while_held) { return walk(tree, path, while_held); });
}

}  // namespace profd

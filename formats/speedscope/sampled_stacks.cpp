#include "formats/speedscope/sampled_stacks.h"

#include "formats/support/json_cursor.h"

namespace profd::speedscope {
namespace {

// Calls visit(index) for the numbers of the array at `begin` while it returns true. The array was checked
// before; numbers that are not plain digits ("1e1") take the careful way.
template <class Visit>
void for_each_index(std::string_view text, std::uint64_t begin, Visit visit) {
  const char* p = text.data() + begin + 1;
  for (;;) {
    while (*p == ' ' || *p == ',' || *p == '\n' || *p == '\r' || *p == '\t') ++p;
    if (*p == ']') return;
    const char* const number = p;
    std::uint32_t index = 0;
    for (; *p >= '0' && *p <= '9'; ++p) index = index * 10 + static_cast<std::uint32_t>(*p - '0');
    if (*p == '.' || *p == 'e' || *p == 'E' || *number == '-') {
      JsonCursor in(text.substr(static_cast<std::size_t>(number - text.data())));
      index = static_cast<std::uint32_t>(in.integer());
      p = number + in.offset();
    }
    if (!visit(index)) return;
  }
}

}  // namespace

std::size_t SampledStacks::prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const {
  std::size_t n = 0;
  if (max == 0) return 0;
  for_each_index(text_, begins_[i], [&](std::uint32_t index) {
    frames[n++] = frames_[index].v;
    return n < max;
  });
  return n;
}

// Weights are kept apart, by the builder.
LabelSetId SampledStacks::read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t*) const {
  for_each_index(text_, begins_[i], [&](std::uint32_t index) {
    frames.push_back(frames_[index].v);
    return true;
  });
  return LabelSetId{0u};
}

}  // namespace profd::speedscope

#include "formats/otlp/layout.h"

namespace profd::otlp {
namespace {

bool fits(Cursor sample, const SampleLayout& layout, const Dictionary& dictionary) {
  Field field;
  std::vector<std::uint64_t> values, indices;
  std::size_t n_times = 0;
  while (!sample.done() && read_field(sample, field)) {
    if (field.number == schema::sample::stack_index && field.wire != Wire::varint) return false;
    if (field.number == layout.values) append_integers(field, values);
    if (field.number == layout.attributes) append_integers(field, indices);
    if (field.number == layout.link &&
        (field.wire != Wire::varint || (field.value != 0 && field.value >= dictionary.links.size())))
      return false;
    if (field.number == schema::sample::timestamps_unix_nano)
      n_times += field.wire == Wire::length ? field.bytes.left() / 8 : 1;
  }
  for (const std::uint64_t index : indices)
    if (index >= dictionary.attributes.size()) return false;
  if (values.empty()) return n_times > 0;
  return n_times == 0 || n_times == values.size();
}

}  // namespace

void LayoutVotes::see_sample(Cursor sample, const Dictionary& dictionary) {
  wrong_110_ += !fits(sample, kLayout110, dictionary);
  wrong_18_ += !fits(sample, kLayout18, dictionary);
  // With timestamps and nothing else both are the same.
  Field field;
  bool differs = false;
  while (!sample.done() && read_field(sample, field))
    differs |= field.number >= schema::sample::attribute_indices && field.number <= schema::sample::values;
  seen_ += differs;
}

}  // namespace profd::otlp

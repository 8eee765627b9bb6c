#include "formats/pprof/stacks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "formats/support/varint_list.h"

namespace profd::pprof {
namespace {

constexpr std::uint64_t kMaxFramesPerByte = 64;

// Calls visit(value) for every element of a repeated integer, packed or not.
template <class Visit>
bool each_integer(const Field& field, Visit visit) {
  if (field.wire == Wire::varint) {
    visit(field.value);
    return true;
  }
  if (field.wire != Wire::length) return false;
  Cursor packed = field.bytes;
  while (!packed.done()) {
    std::uint64_t value;
    if (!read_varint(packed, value)) return false;
    visit(value);
  }
  return true;
}

// The root is at the end. What stands before these bytes must not go on with their first varint.
bool begins_with(const Cursor& packed, std::span<const std::uint8_t> encoded) {
  const std::size_t n = encoded.size();
  return n <= packed.left() &&
         (n == packed.left() || packed.end[-static_cast<std::ptrdiff_t>(n) - 1] < 0x80) &&
         std::equal(encoded.begin(), encoded.end(), packed.end - n);
}

}  // namespace

std::uint64_t SampleStacks::depth_of(std::size_t i) const {
  std::uint64_t depth = 0;
  Field field;
  for (Cursor body = records_.sample(i); !body.done() && read_field(body, field);)
    if (field.number == schema::sample::location_id)
      each_integer(field, [&](std::uint64_t id) { depth += frames_of(id).size(); });
  return depth;
}

Result<void> SampleStacks::too_deep(std::size_t i) const {
  return fail(ErrorCode::limit, "sample[" + std::to_string(i) + "] has too many frames (limit stack_depth)",
              records_.samples[i]);
}

// A location of many lines is named by a byte, so that few bytes could make stacks that no memory holds.
Result<void> SampleStacks::check_wide_locations(const ReadContext& context) const {
  const std::vector<std::uint32_t>& first = dictionary_.first_frame;
  std::uint32_t widest = 0;
  for (std::size_t row = 0; row + 1 < first.size(); ++row)
    widest = std::max(widest, first[row + 1] - first[row]);
  if (widest <= kWideLocation) return {};
  std::uint64_t left = kMaxFramesPerByte * records_.bytes.size() + (1u << 24);
  for (std::size_t i = 0; i < size(); ++i) {
    if (i % 4096 == 0) PROFD_CHECK(context.stop.status());
    const std::uint64_t depth = depth_of(i);
    if (depth > context.limits.stack_depth) return too_deep(i);
    if (depth > left)
      return fail(
          ErrorCode::limit,
          "stacks have more than " + std::to_string(kMaxFramesPerByte) + " frames for a byte of the file",
          records_.samples[i]);
    left -= depth;
  }
  return {};
}

Result<void> SampleStacks::prepare(ProfileBuilder& builder, ReadContext& context) {
  PROFD_CHECK(check_wide_locations(context));
  bool any_labels = false;
  for (const SampleSlice& slice : slices_) {
    PROFD_CHECK(slice.result);
    for (const std::uint32_t i : slice.long_samples)
      if (depth_of(i) > context.limits.stack_depth) return too_deep(i);
    all_packed_ &= slice.all_packed;
    any_labels |= !slice.texts.empty();
  }
  PROFD_CHECK(context.stop.status());
  if (any_labels) PROFD_CHECK(intern_labels(builder, context));
  slices_ = {};
  // All that is named has its id now.
  records_.strings = {};
  records_.locations = {};
  records_.lines = {};
  records_.functions = {};
  return {};
}

Result<void> SampleStacks::intern_labels(ProfileBuilder& builder, ReadContext& context) {
  std::vector<std::vector<std::uint32_t>> sets(slices_.size());  // by note
  for (std::size_t s = 0; s < slices_.size(); ++s) {
    sets[s].push_back(0);
    for (std::uint32_t example : slices_[s].examples) {
      PROFD_TRY(const LabelSetId set, read_labels(example, builder, context));
      sets[s].push_back(set.v);
    }
  }
  context.executor.run(slices_.size(), [&](std::size_t s) {
    for (std::size_t i = slices_[s].begin; i < slices_[s].end; ++i)
      records_.samples.set_note(i, sets[s][records_.samples.note(i)]);
  });
  return {};
}

Result<LabelSetId> SampleStacks::read_labels(std::size_t sample, ProfileBuilder& builder,
                                             ReadContext& context) const {
  std::vector<Label> labels;
  // A file may have a set of labels for every sample: places are put together for errors only.
  const auto string_of = [&](std::uint64_t index, const char* field) -> Result<std::string_view> {
    if (index < records_.strings.size()) return records_.strings[static_cast<std::size_t>(index)];
    return records_.string(index, sample_place(sample, field));
  };
  Cursor body = records_.sample(sample);
  Field field;
  while (!body.done() && read_field(body, field)) {
    if (field.number != schema::sample::label) continue;
    std::uint64_t key = 0, text = 0, unit = 0, number = 0;
    Field part;
    Cursor message = field.bytes;
    while (!message.done()) {
      if (!read_field(message, part) || (part.number <= schema::label::num_unit && part.wire != Wire::varint))
        return fail(ErrorCode::malformed, "broken field in " + sample_place(sample, "label"),
                    records_.samples[sample]);
      if (part.number == schema::label::key) key = part.value;
      if (part.number == schema::label::str) text = part.value;
      if (part.number == schema::label::num) number = part.value;
      if (part.number == schema::label::num_unit) unit = part.value;
    }
    PROFD_TRY(const std::string_view key_text, string_of(key, "label.key"));
    PROFD_TRY(const std::string_view value_text, string_of(text, "label.str"));
    PROFD_TRY(const std::string_view unit_text, string_of(unit, "label.num_unit"));
    if (text == 0 && number == 0 && unit == 0) {
      context.report.add("empty-label", Severity::info,
                         "A label has neither a text nor a number; it is left out.");
      continue;
    }
    Label label;
    label.key = builder.string(key_text);
    label.is_number = text == 0;
    if (label.is_number) {
      label.number = static_cast<std::int64_t>(number);
      label.unit = builder.string(unit_text);
    } else {
      label.text = builder.string(value_text);
    }
    labels.push_back(label);
  }
  return builder.label_set(labels);
}

// Root first; empty and noted when the location is unknown.
std::span<const std::uint32_t> SampleStacks::frames_of(std::uint64_t location_id) const {
  if (location_id < dictionary_.quick.size()) {
    const FewFrames few = dictionary_.quick[static_cast<std::size_t>(location_id)];
    if (few.n() <= FewFrames::kMost) return {dictionary_.frames.data() + few.first(), few.n()};
  }
  const std::uint32_t row = dictionary_.location_row[location_id];
  if (row == kNone) {
    bad_sample_.store(true, std::memory_order_relaxed);
    return {};
  }
  const std::uint32_t first = dictionary_.first_frame[row];
  return {dictionary_.frames.data() + first, dictionary_.first_frame[row + 1] - first};
}

// The file has the leaf first. False, and nothing is read, when that takes another way.
bool SampleStacks::read_few(Cursor packed, RawVector<std::uint32_t>& frames) const {
  constexpr std::size_t kMost = FewFrames::kMost;
  const std::size_t before = frames.size(), n_bytes = packed.left();
  // The ids go behind where their frames, at most so many, can get to.
  frames.resize(before + n_bytes * (kMost + 1));
  std::uint32_t* const ids = frames.data() + before + n_bytes * kMost;
  const auto* const readable =
      reinterpret_cast<const std::uint8_t*>(records_.bytes.data()) + records_.bytes.size();
  const std::optional<std::size_t> n = protobuf::read_short_varints(packed, readable, ids);
  const std::uint32_t* const from = dictionary_.frames.data();
  const FewFrames* const quick = dictionary_.quick.data();
  const std::size_t n_quick = dictionary_.quick.size();
  std::uint32_t* to = frames.data() + before;
  for (std::size_t i = n.value_or(0); i-- > 0;) {
    const FewFrames few = ids[i] < n_quick ? quick[ids[i]] : FewFrames{};
    if (few.n() > kMost) {
      frames.resize(before);
      return false;
    }
    // Always as many: how many there are could not be foreseen, and a wrong guess costs more than the copy.
    std::memcpy(to, from + few.first(), kMost * sizeof *to);
    to += few.n();
  }
  frames.resize(n ? static_cast<std::size_t>(to - frames.data()) : before);
  return n.has_value();
}

// Reading backwards gives the root first.
void SampleStacks::read_packed(Cursor packed, RawVector<std::uint32_t>& frames) const {
  if (read_few(packed, frames)) return;
  const std::uint8_t* p = packed.end;
  std::uint64_t id;
  while (p != packed.p) {
    if (!read_varint_backwards(packed.p, p, id)) {
      bad_sample_.store(true, std::memory_order_relaxed);
      break;
    }
    const auto some = frames_of(id);
    frames.insert(frames.end(), some.begin(), some.end());
  }
}

// Samples with unpacked or scattered locations, and those that drop_frames shortens. The rule of pprof: from
// the root, the first location to prune after one that stays ends the stack there.
void SampleStacks::read_slowly(std::size_t i, RawVector<std::uint32_t>& frames) const {
  Cursor body = records_.sample(i);
  Field field;
  const auto each_location = [&](auto visit) {
    while (!body.done() && read_field(body, field)) {
      if (field.number == schema::sample::location_id && !each_integer(field, visit))
        bad_sample_.store(true, std::memory_order_relaxed);
    }
  };
  if (dictionary_.prune.empty()) {
    const auto begin = static_cast<std::ptrdiff_t>(frames.size());
    each_location([&](std::uint64_t id) {
      const auto some = frames_of(id);
      frames.insert(frames.end(), some.rbegin(), some.rend());
    });
    std::reverse(frames.begin() + begin, frames.end());
    return;
  }
  std::vector<std::uint64_t> ids;
  each_location([&](std::uint64_t id) { ids.push_back(id); });
  bool found_user = false;
  for (std::size_t l = ids.size(); l-- > 0;) {
    const std::uint32_t row = dictionary_.location_row[ids[l]];
    const Prune prune = row == kNone || dictionary_.prune.empty() ? Prune::no : dictionary_.prune[row];
    const bool ends_here = prune != Prune::no && found_user;
    if (prune == Prune::no) found_user = true;
    if (ends_here && prune == Prune::whole) break;
    const auto some = frames_of(ids[l]);
    frames.insert(frames.end(), some.begin(), some.end());
    if (ends_here) break;
  }
}

std::size_t SampleStacks::prefix(std::size_t i, std::uint32_t* frames, std::size_t max) const {
  if (!all_packed_ || !dictionary_.prune.empty()) {
    RawVector<std::uint32_t> whole;
    read_slowly(i, whole);
    const std::size_t n = std::min(max, whole.size());
    std::copy_n(whole.begin(), n, frames);
    return n;
  }
  return read_begin(packed_locations(i), frames, max);
}

// The first frames of a packed list.
std::size_t SampleStacks::read_begin(Cursor packed, std::uint32_t* frames, std::size_t max) const {
  const std::uint8_t* p = packed.end;
  std::size_t n = 0;
  std::uint64_t id;
  while (n < max && read_varint_backwards(packed.p, p, id)) {
    for (std::uint32_t frame : frames_of(id)) {
      if (n < max) frames[n++] = frame;
    }
  }
  return n;
}

// Of a sample when all are packed.
Cursor SampleStacks::packed_locations(std::size_t i) const {
  Cursor body = records_.sample(i);
  Field field;
  if (body.done() || *body.p != kLocationTag || !read_field(body, field)) return {body.p, body.p};
  return field.bytes;
}

std::span<const std::uint8_t> SampleStacks::encoded(std::size_t i) const {
  if (!quick()) return {};
  const Cursor packed = packed_locations(i);
  return {packed.p, packed.end};
}

std::size_t SampleStacks::begin_of(std::span<const std::uint8_t> end, bool whole, std::uint32_t* frames,
                                   std::size_t max) const {
  Cursor sure(end.data(), end.data() + end.size());
  // The first varint may go on before the bytes at hand.
  if (!whole) {
    while (!sure.done() && *sure.p >= 0x80) ++sure.p;
    if (!sure.done()) ++sure.p;
  }
  return read_begin(sure, frames, max);
}

// Whole locations only: bytes that end within the lines of one would stand for too many frames.
SharedFrames SampleStacks::shared_frames(std::size_t i, std::uint32_t n) const {
  SharedFrames shared{n, {}, 0};
  if (!quick()) return shared;
  const Cursor packed = packed_locations(i);
  const std::uint8_t* p = packed.end;
  std::uint64_t id;
  while (shared.n_encoded < n && p != packed.p) {
    const std::uint8_t* const before = p;
    if (!read_varint_backwards(packed.p, p, id)) break;
    const std::size_t more = frames_of(id).size();
    if (shared.n_encoded + more > n) {
      p = before;
      break;
    }
    shared.n_encoded += static_cast<std::uint32_t>(more);
  }
  shared.encoded = {p, packed.end};
  return shared;
}

LabelSetId SampleStacks::read(std::size_t i, RawVector<std::uint32_t>& frames, std::int64_t* values) const {
  return read_rest(i, {}, frames, values);
}

LabelSetId SampleStacks::read_rest(std::size_t i, const SharedFrames& shared,
                                   RawVector<std::uint32_t>& frames, std::int64_t* values) const {
  const std::size_t before = frames.size();
  const bool quick = this->quick();
  std::uint32_t to_drop = shared.n;
  if (!quick) read_slowly(i, frames);
  Cursor body = records_.sample(i);
  Field field;
  std::size_t n = 0;
  const std::size_t n_values = values ? records_.sample_types.size() : 0;
  while (!body.done() && read_field(body, field)) {
    if (field.number == schema::sample::location_id && quick) {
      if (begins_with(field.bytes, shared.encoded)) {
        field.bytes.end -= shared.encoded.size();
        to_drop -= shared.n_encoded;
      }
      read_packed(field.bytes, frames);
      if (n_values == 0) break;
    } else if (field.number == schema::sample::value && values) {
      each_integer(field, [&](std::uint64_t value) {
        if (n < n_values) values[n++] = static_cast<std::int64_t>(value);
      });
      if (n == n_values && quick) break;
    }
  }
  if (n < n_values) {
    bad_sample_.store(true, std::memory_order_relaxed);
    std::fill(values + n, values + n_values, 0);
  }
  if (to_drop > 0)
    frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(before),
                 frames.begin() + static_cast<std::ptrdiff_t>(
                                      before + std::min<std::size_t>(to_drop, frames.size() - before)));
  return LabelSetId{records_.samples.note(i)};
}

void SampleStacks::release() {
  records_ = {};
  dictionary_ = {};
  owner_.reset();
}

// Something was wrong somewhere: read again, one by one, to say where.
Result<void> SampleStacks::status() const {
  if (!bad_sample_) return {};
  for (std::size_t i = 0; i < size(); ++i) {
    Cursor body = records_.sample(i);
    Field field;
    std::size_t n = 0, n_values = 0;
    while (!body.done() && read_field(body, field)) {
      std::uint64_t unknown = 0;
      bool found = false;
      std::size_t unknown_at = 0;
      if (field.number == schema::sample::value && each_integer(field, [&](std::uint64_t) { ++n_values; }))
        continue;
      if (field.number == schema::sample::value)
        return fail(ErrorCode::malformed, "broken varint in " + sample_place(i, "value"),
                    records_.samples[i]);
      if (field.number != schema::sample::location_id) continue;
      const bool whole = each_integer(field, [&](std::uint64_t id) {
        if (!found && dictionary_.location_row[id] == kNone) {
          found = true;
          unknown = id;
          unknown_at = n;
        }
        ++n;
      });
      if (found) {
        return fail(ErrorCode::malformed,
                    sample_place(i, "location_id[") + std::to_string(unknown_at) + "] is " +
                        std::to_string(unknown) + ", which is not in the file",
                    records_.samples[i]);
      }
      if (!whole)
        return fail(ErrorCode::malformed, "broken varint in " + sample_place(i, "location_id"),
                    records_.samples[i]);
    }
  }
  return fail(ErrorCode::internal, "a sample could not be read");
}

}  // namespace profd::pprof

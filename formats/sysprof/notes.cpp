#include "formats/sysprof/notes.h"

#include <array>
#include <bit>

#include <fmt/format.h>

namespace profd::sysprof {
namespace {

constexpr std::size_t kCategory = 32, kName = 32, kDescription = 52, kGroup = 24, kMarkName = 40;
constexpr std::size_t kValuesInGroup = 8;
constexpr std::uint32_t kRealType = 1;
constexpr std::array<std::string_view, 8> kSeverities{"",        "",        "error", "critical",
                                                      "warning", "message", "info",  "debug"};

std::string_view text_in(ByteCursor& in, std::size_t n) {
  const auto bytes = in.bytes(n);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

std::string_view rest_of(ByteCursor& in) {
  const auto rest = in.rest();
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return text.substr(0, text.find('\0'));
}

std::int64_t since(std::int64_t time, std::int64_t origin) {
  std::int64_t out = 0;
  return __builtin_sub_overflow(time, origin, &out) ? 0 : out;
}

}  // namespace

bool Notes::take(NoteKind kind, std::int64_t time, std::int32_t pid, ByteCursor& in) {
  switch (kind) {
    case NoteKind::mark:
      return take_mark(time, pid, in);
    case NoteKind::log:
      return take_log(time, pid, in);
    case NoteKind::counter_define:
      return define(in);
    case NoteKind::counter_set:
      return set(time, in);
  }
  return true;
}

bool Notes::take_mark(std::int64_t time, std::int32_t pid, ByteCursor& in) {
  Mark mark{.time = time, .duration = in.i64(), .pid = pid};
  mark.category = text_in(in, kGroup);
  mark.name = text_in(in, kMarkName);
  if (!in.ok()) return false;
  mark.message = rest_of(in);
  marks_.push_back(mark);
  return true;
}

bool Notes::take_log(std::int64_t time, std::int32_t pid, ByteCursor& in) {
  Mark mark{.time = time, .pid = pid};
  const std::uint16_t severity = in.u16();
  in.skip(6);
  mark.category = text_in(in, kName);
  if (!in.ok()) return false;
  // GLib's levels are bits, from 1 << 2 for an error.
  const auto level = static_cast<std::size_t>(std::countr_zero(severity));
  mark.name = level < kSeverities.size() && !kSeverities[level].empty() ? kSeverities[level] : "log";
  mark.message = rest_of(in);
  marks_.push_back(mark);
  return true;
}

bool Notes::define(ByteCursor& in) {
  const std::uint16_t n = in.u16();
  in.skip(6);
  for (std::uint16_t i = 0; i < n; ++i) {
    const std::string_view category = text_in(in, kCategory), name = text_in(in, kName);
    in.skip(kDescription);
    const std::uint32_t id_and_type = in.u32();
    in.skip(8);
    if (!in.ok()) return false;
    counters_[id_and_type & 0xFFFFFF] = {
        category.empty() ? std::string(name) : fmt::format("{}: {}", category, name),
        id_and_type >> 24 == kRealType};
  }
  return true;
}

bool Notes::set(std::int64_t time, ByteCursor& in) {
  const std::uint16_t n = in.u16();
  in.skip(6);
  for (std::uint16_t i = 0; i < n; ++i) {
    std::array<std::uint32_t, kValuesInGroup> ids{};
    for (std::uint32_t& id : ids) id = in.u32();
    for (const std::uint32_t id : ids) {
      const std::uint64_t bits = in.u64();
      if (!in.ok()) return false;
      if (id != 0) points_.push_back({time, id, bits});
    }
  }
  return true;
}

void Notes::add_to(ProfileBuilder& builder, std::int64_t origin, ReadContext& context) const {
  TimelineBuilder& out = builder.timeline();
  const StringId message = builder.string("message"), process = builder.string("pid");
  for (const Mark& mark : marks_) {
    std::vector<Label> fields;
    if (!mark.message.empty()) fields.push_back({.key = message, .text = builder.string(mark.message)});
    fields.push_back({.key = process, .is_number = true, .number = mark.pid});
    const std::int64_t begin = since(mark.time, origin);
    std::int64_t end = begin;
    if (mark.duration > 0 && __builtin_add_overflow(begin, mark.duration, &end)) end = kNoTime;
    out.add_marker({.begin = begin,
                    .end = end,
                    .name = builder.string(mark.name),
                    .category = builder.string(mark.category),
                    .fields = builder.label_set(fields)});
  }
  std::unordered_map<std::uint32_t, CounterId> ids;
  std::uint64_t n_unknown = 0;
  for (const Point& point : points_) {
    const auto counter = counters_.find(point.counter);
    if (counter == counters_.end()) {
      ++n_unknown;
      continue;
    }
    CounterId& id = ids[point.counter];
    if (!id.valid()) id = out.counter({.name = builder.string(counter->second.name)});
    const double value = counter->second.real ? std::bit_cast<double>(point.bits)
                                              : static_cast<double>(static_cast<std::int64_t>(point.bits));
    out.add_point(id, since(point.time, origin), value);
  }
  if (n_unknown > 0)
    context.report.add("unknown-counter", Severity::loss,
                       "values of counters that the capture does not define were not read", std::nullopt,
                       n_unknown);
}

}  // namespace profd::sysprof

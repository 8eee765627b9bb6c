#include "core/source/function_ranges.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/model/bytecode_index.h"
#include "core/model/module_address.h"
#include "core/source/annotations.h"
#include "core/source/running_sum.h"
#include "core/support/hash.h"
#include "core/support/interner.h"

namespace profd {
namespace {

// A range as a sample says it. Equal for all samples of a frame, else nothing is known.
struct BytecodeEnd {
  std::uint64_t to = 0;
  bool open_ended = false, stated = false, differs = false;
};

// "26->29", of a range that begins at `from`.
BytecodeEnd parse_bytecodes(std::string_view text, std::uint64_t from) {
  const std::size_t arrow = text.find("->");
  if (arrow == text.npos || text.substr(0, arrow) != std::to_string(from)) return {};
  text.remove_prefix(arrow + 2);
  BytecodeEnd end;
  end.stated = true;
  end.open_ended = text.empty();
  if (end.open_ended) return end;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), end.to);
  if (error != std::errc() || last != text.data() + text.size() || end.to <= from) return {};
  return end;
}

// By frame; empty where no sample says a range.
Result<std::unordered_map<std::uint32_t, BytecodeEnd>> bytecode_ends(const Profile& profile,
                                                                     std::uint64_t base, StopToken& stop) {
  std::unordered_map<std::uint32_t, BytecodeEnd> ends;
  const SampleTable* const samples = profile.samples();
  const LabelTable& labels = profile.labels();
  if (samples == nullptr || samples->label_set.size() != samples->size()) return ends;
  std::vector<std::string_view> said(labels.n_sets());
  bool any = false;
  for (std::size_t set = 0; set < said.size(); ++set) {
    for (std::uint32_t entry = labels.first[set]; entry < labels.first[set + 1]; ++entry) {
      if (profile.strings()[labels.key[entry]] != kBytecodeLabel || labels.is_number[entry] != 0) continue;
      said[set] = profile.strings()[labels.text[entry]];
      any = true;
    }
  }
  if (!any) return ends;
  for (std::size_t sample = 0; sample < samples->size(); ++sample) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t set = samples->label_set[sample];
    if (set >= said.size() || said[set].empty()) continue;
    const std::uint32_t frame = profile.tree().frame[samples->context[sample]];
    if (frame == kNone || !has_bytecode_index(profile.frames(), frame)) continue;
    const BytecodeEnd end = parse_bytecodes(said[set], profile.frames().address[frame] - base);
    BytecodeEnd& known = ends[frame];
    if (!known.stated) {
      known.differs |= !end.stated;
      const bool differs = known.differs;
      known = end;
      known.differs = differs;
    } else if (!end.stated || end.to != known.to || end.open_ended != known.open_ended) {
      known.differs = true;
    }
  }
  return ends;
}

// What two frames of a function must share to be in one row.
struct Place {
  std::uint32_t function = 0;  // index of it
  bool known = false;
  std::uint32_t file = 0;      // text of the file or module
  std::uint32_t build_id = 0;  // of the module
  AddressKind kind = AddressKind::unknown;
  std::uint64_t from = 0, to = 0;
  bool open_ended = false;
  bool operator==(const Place&) const = default;
  [[nodiscard]] std::uint64_t hash() const {
    std::uint64_t h = hash_combine(from, to);
    h = hash_combine(h, (std::uint64_t{file} << 32) | build_id);
    return mix64(
        hash_combine(h, (std::uint64_t{function} << 2) | (known ? 2U : 0U) | (open_ended ? 1U : 0U)));
  }
};

class RangeFinder {
 public:
  RangeFinder(const Selection& selection, std::vector<std::uint32_t> function_of_frame,
              std::size_t n_functions, RangeUnit unit)
      : selection_(selection),
        profile_(*selection.profile),
        n_functions_(n_functions),
        unit_(unit),
        function_of_frame_(std::move(function_of_frame)) {}

  // The rows; what they come to is left to be said.
  Result<void> find_rows(StopToken& stop) {
    for (std::uint32_t frame = 0; frame < function_of_frame_.size(); ++frame)
      if (!selection_.boxes->shows(frame)) function_of_frame_[frame] = kNone;
    base_ = bytecode_base(profile_);
    decide_units();
    const bool by_bytecode =
        std::find(out_.unit.begin(), out_.unit.end(), RangeUnit::bytecode) != out_.unit.end();
    if (by_bytecode && base_) {
      PROFD_TRY(ends_, bytecode_ends(profile_, *base_, stop));
    }
    make_rows();
    sort_rows();
    return {};
  }
  [[nodiscard]] std::size_t n_rows() const { return out_.rows.size(); }
  // By frame its row, or kNone.
  std::vector<std::uint32_t> take_slots() { return std::move(slot_of_frame_); }
  FunctionRanges take(SlotSums sums) {
    out_.sums = std::move(sums);
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_bytecode(std::uint32_t frame) const {
    return base_ && has_bytecode_index(profile_.frames(), frame);
  }

  void decide_units() {
    out_.known.resize(n_functions_);
    for (std::uint32_t frame = 0; frame < function_of_frame_.size(); ++frame) {
      if (function_of_frame_[frame] == kNone) continue;
      RangesKnown& known = out_.known[function_of_frame_[frame]];
      known.lines |= profile_.frames().line[frame] != 0;
      known.bytecodes |= is_bytecode(frame);
      known.addresses |= profile_.frames().address[frame] != 0 && !is_bytecode(frame);
    }
    for (const RangesKnown& known : out_.known) {
      RangeUnit unit = unit_;
      if (unit == RangeUnit::automatic)
        unit = known.lines || (!known.bytecodes && !known.addresses) ? RangeUnit::line
               : known.bytecodes                                     ? RangeUnit::bytecode
                                                                     : RangeUnit::address;
      out_.unit.push_back(unit);
    }
  }

  [[nodiscard]] Place place_of(std::uint32_t frame) const {
    const FrameTable& frames = profile_.frames();
    Place place;
    place.function = function_of_frame_[frame];
    const ModuleId module = frames.module[frame];
    switch (out_.unit[place.function]) {
      case RangeUnit::automatic:
      case RangeUnit::line:
        if (frames.line[frame] == 0) return place;
        place.file = file_of_frame(profile_, frame).v;
        place.from = frames.line[frame];
        place.to = place.from + 1;
        break;
      case RangeUnit::address:
        if (frames.address[frame] == 0 || is_bytecode(frame)) return place;
        if (module.valid()) {
          place.file = profile_.modules().name[module.v].v;
          place.build_id = profile_.modules().build_id[module.v].v;
        }
        place.kind = address_kind(profile_.modules(), module);
        place.from = lookup_address(frames, frame);
        break;
      case RangeUnit::bytecode: {
        if (!is_bytecode(frame)) return place;
        place.from = frames.address[frame] - *base_;
        const auto end = ends_.find(frame);
        if (end != ends_.end() && end->second.stated && !end->second.differs) {
          place.to = end->second.to;
          place.open_ended = end->second.open_ended;
        }
        break;
      }
    }
    place.known = true;
    return place;
  }

  void make_rows() {
    const FrameTable& frames = profile_.frames();
    slot_of_frame_.assign(frames.size(), kNone);
    RowSet found;
    for (std::uint32_t frame = 0; frame < frames.size(); ++frame) {
      if (function_of_frame_[frame] == kNone) continue;
      const Place place = place_of(frame);
      const auto next = static_cast<std::uint32_t>(places_.size());
      const std::uint32_t row =
          found.find_or_add(place.hash(), next, [&](std::uint32_t other) { return places_[other] == place; });
      slot_of_frame_[frame] = row;
      const StringId file = file_of_frame(profile_, frame);
      if (row == next) {
        places_.push_back(place);
        FunctionRange range;
        range.known = place.known;
        range.from = place.from;
        range.to = place.to;
        range.open_ended = place.open_ended;
        if (place.known) {
          range.module = frames.module[frame];
          range.line = frames.line[frame];
          range.file = range.line == 0 ? StringId{0U} : file;
        }
        out_.rows.push_back(range);
      } else if (out_.rows[row].line != frames.line[frame] || out_.rows[row].file != file) {
        out_.rows[row].line = 0;
        out_.rows[row].file = StringId{0U};
      }
    }
  }

  void sort_rows() {
    // The file of the definition.
    std::vector<std::uint32_t> home(n_functions_, 0);
    for (std::uint32_t frame = 0; frame < function_of_frame_.size(); ++frame) {
      const std::uint32_t function = function_of_frame_[frame];
      if (function == kNone || home[function] != 0) continue;
      home[function] = profile_.functions().file[profile_.frames().function[frame].v].v;
    }
    std::vector<std::uint32_t> order(places_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto rank = [&](std::uint32_t row) {
        const Place& place = places_[row];
        const bool away = out_.unit[place.function] == RangeUnit::line && place.file != home[place.function];
        return std::tuple(place.function, !place.known, away, profile_.strings()[StringId{place.file}],
                          place.from, place.to, place.build_id, place.kind, place.open_ended);
      };
      return rank(a) < rank(b);
    });
    std::vector<std::uint32_t> now(order.size());
    std::vector<FunctionRange> sorted;
    sorted.reserve(order.size());
    out_.first.assign(n_functions_ + 1, 0);
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      now[order[i]] = i;
      sorted.push_back(out_.rows[order[i]]);
      ++out_.first[places_[order[i]].function + 1];
    }
    std::partial_sum(out_.first.begin(), out_.first.end(), out_.first.begin());
    out_.rows = std::move(sorted);
    for (std::uint32_t& slot : slot_of_frame_)
      if (slot != kNone) slot = now[slot];
  }

  const Selection& selection_;
  const Profile& profile_;
  const std::size_t n_functions_;
  const RangeUnit unit_;
  std::optional<std::uint64_t> base_;
  std::vector<std::uint32_t> function_of_frame_, slot_of_frame_;
  std::unordered_map<std::uint32_t, BytecodeEnd> ends_;
  std::vector<Place> places_;  // by row, unsorted
  FunctionRanges out_;
};

// What contexts of one function have by slot. In `contexts` ascending, so that those within another come
// behind it.
template <class T>
Result<void> sum_contexts(const Selection& selection, const Column<T>& values,
                          std::span<const std::uint32_t> contexts, const std::vector<std::uint32_t>& slots,
                          std::size_t n_slots, std::vector<Value>& self, std::vector<Value>& total,
                          StopToken& stop) {
  const ContextTree& tree = selection.profile->tree();
  const auto rows = selection.rows->self.contexts.span();
  const auto& totals = std::get<Column<T>>(selection.sums->totals);
  std::vector<Running<T>> selfs(n_slots), sums(n_slots);
  std::vector<std::uint32_t> inside_until(n_slots, 0);
  auto row = rows.begin();
  for (const std::uint32_t context : contexts) {
    if (stop.check()) return fail(ErrorCode::cancelled, "cancelled");
    const std::uint32_t slot = slots[tree.frame[context]];
    if (slot == kNone) continue;
    if (context >= inside_until[slot]) {
      inside_until[slot] = tree.subtree_end[context];
      sums[slot] += totals[context];
    }
    row = std::lower_bound(row, rows.end(), context);
    for (; row != rows.end() && *row == context; ++row) {
      const T value = values[static_cast<std::size_t>(row - rows.begin())];
      if constexpr (std::is_same_v<T, double>) {
        if (!std::isfinite(value)) continue;
      }
      selfs[slot] += value;
    }
  }
  for (std::size_t slot = 0; slot < n_slots; ++slot) {
    self.emplace_back(narrowed(selfs[slot]));
    total.emplace_back(narrowed(sums[slot]));
  }
  return {};
}

}  // namespace

std::size_t FunctionRanges::memory() const {
  std::size_t bytes = sizeof(*this) + rows.size() * sizeof(FunctionRange) + first.size() * sizeof(first[0]) +
                      known.size() * (sizeof(RangesKnown) + sizeof(RangeUnit));
  for (const auto* columns : {&sums.self, &sums.total})
    for (const std::vector<Value>& column : *columns) bytes += column.size() * sizeof(Value);
  return bytes;
}

Result<FunctionRanges> function_ranges(const Selection& selection,
                                       std::vector<std::uint32_t> function_of_frame, std::size_t n_functions,
                                       RangeUnit unit, StopToken stop, Executor& executor) {
  RangeFinder finder(selection, std::move(function_of_frame), n_functions, unit);
  PROFD_CHECK(finder.find_rows(stop));
  const std::size_t n_rows = finder.n_rows();
  PROFD_TRY(SlotSums sums, sum_slots(selection, finder.take_slots(), n_rows, stop, executor));
  return finder.take(std::move(sums));
}

bool ranges_are_in_index(const Selection& selection) {
  const Profile& profile = *selection.profile;
  return selection.boxes->plain() && selection.boxes->keys->groups.empty() && !selection.sums->saturated &&
         profile.stated() == nullptr && profile.composition() == nullptr && !profile.contexts_estimated();
}

Result<FunctionRanges> function_ranges(const Selection& selection, const KeyIndex& index, Key key,
                                       RangeUnit unit, StopToken stop) {
  RangeFinder finder(selection, frames_of_key(selection, key), 1, unit);
  PROFD_CHECK(finder.find_rows(stop));
  const std::size_t n_metrics = selection.rows->self.values.size(), metric = selection.metric().v;
  SlotSums sums;
  sums.self.resize(n_metrics);
  sums.total.resize(n_metrics);
  sums.estimated.assign(n_metrics, 0);
  const std::vector<std::uint32_t> slots = finder.take_slots();
  PROFD_CHECK(std::visit(
      [&](const auto& values) {
        return sum_contexts(selection, values, index.of(key), slots, finder.n_rows(), sums.self[metric],
                            sums.total[metric], stop);
      },
      selection.rows->self.values[metric]));
  return finder.take(std::move(sums));
}

std::vector<std::uint32_t> frames_of_key(const Selection& selection, Key key) {
  std::vector<std::uint32_t> out;
  for (const Key of : selection.boxes->keys->of_frame) out.push_back(of == key ? 0U : kNone);
  return out;
}

}  // namespace profd

#include "formats/profd/validate.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <string>

#include <fmt/format.h>
#include <simdjson.h>

#include "core/model/timeline_order.h"
#include "core/support/checked.h"
#include "core/support/hash.h"
#include "formats/profd/decode_tables.h"

namespace profd::profd_format {
namespace {

constexpr std::size_t kBlock = 1u << 18;  // rows of one task: large enough to start, small enough to share

// A law that holds for a column when it holds for every row.
struct Law {
  std::string name, complaint;
  std::size_t n_rows;
  std::function<bool(std::size_t begin, std::size_t end)> holds;
};

class Laws {
 public:
  template <class T>
  void below(const char* name, const Column<T>& ids, std::size_t limit, bool or_none = false) {
    static_assert(sizeof(T) == 4);
    const auto* values = reinterpret_cast<const std::uint32_t*>(ids.data());
    // A none is all ones: plus one it is 0, which is within any limit.
    const std::uint32_t shift = or_none ? 1 : 0;
    add(name, "refers to something that is not there", ids.size(), [=](std::size_t begin, std::size_t end) {
      std::uint32_t highest = 0;
      for (std::size_t i = begin; i < end; ++i) highest = std::max(highest, values[i] + shift);
      return begin == end || highest < limit + shift;
    });
  }
  void bytes_below(const char* name, std::span<const std::uint8_t> values, std::uint8_t limit) {
    add(name, "has a value that does not exist", values.size(), [=](std::size_t begin, std::size_t end) {
      std::uint8_t highest = 0;
      for (std::size_t i = begin; i < end; ++i) highest = std::max(highest, values[i]);
      return highest < limit;
    });
  }
  template <class T>
  void ascending(const char* name, const Column<T>& column) {
    add(name, "does not ascend", column.size(), [values = column.data()](std::size_t begin, std::size_t end) {
      bool wrong = false;
      for (std::size_t i = std::max<std::size_t>(begin, 1); i < end; ++i) wrong |= values[i] < values[i - 1];
      return !wrong;
    });
  }
  void add(std::string name, std::string complaint, std::size_t n_rows,
           std::function<bool(std::size_t, std::size_t)> holds) {
    if (n_rows > 0) laws_.push_back({std::move(name), std::move(complaint), n_rows, std::move(holds)});
  }

  Result<void> check(Executor& executor, const StopToken& stop) const {
    struct Task {
      std::size_t law, begin, end;
    };
    std::vector<Task> tasks;
    for (std::size_t l = 0; l < laws_.size(); ++l) {
      for (std::size_t at = 0; at < laws_[l].n_rows; at += kBlock)
        tasks.push_back({l, at, std::min(laws_[l].n_rows, at + kBlock)});
    }
    std::atomic<std::size_t> first_bad = tasks.size();
    executor.run(tasks.size(), [&](std::size_t t) {
      if (t > first_bad.load(std::memory_order_relaxed) || stop.stop_requested()) return;
      const Task& task = tasks[t];
      if (laws_[task.law].holds(task.begin, task.end)) return;
      std::size_t seen = first_bad.load();
      while (t < seen && !first_bad.compare_exchange_weak(seen, t)) {
      }
    });
    PROFD_CHECK(stop.status());
    if (first_bad == tasks.size()) return {};
    const Task& bad = tasks[first_bad];
    const Law& law = laws_[bad.law];
    std::size_t begin = bad.begin, end = bad.end;
    while (end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (law.holds(begin, middle))
        begin = middle;
      else
        end = middle;
    }
    return fail(ErrorCode::malformed, fmt::format("{}[{}] {}", law.name, begin, law.complaint));
  }

 private:
  std::vector<Law> laws_;
};

// Offsets start at 0, ascend and end at the length of the blob; every text is UTF-8. The blob is checked as
// one: then a text is well-formed when it starts at the start of a character.
Result<void> check_strings(const StringTable& strings, bool must_be_utf8, Laws& laws) {
  const auto& offsets = strings.offsets();
  const auto& blob = strings.bytes();
  if (offsets.size() < 2 || offsets[0] != 0 || offsets[1] != 0)
    return fail(ErrorCode::malformed, "text 0 must be empty");
  // Until they are known to ascend nothing may be read through offsets; this pass is short enough to be
  // first.
  std::uint64_t before = 0;
  bool wrong = false;
  for (std::uint64_t offset : offsets) {
    wrong |= offset < before;
    before = offset;
  }
  if (wrong || before != blob.size())
    return fail(ErrorCode::malformed, "the offsets of the texts do not ascend to the end of the blob");
  if (!must_be_utf8) return {};
  if (!blob.empty() && !simdjson::validate_utf8(blob.data(), blob.size()))
    return fail(ErrorCode::malformed, "the texts are not UTF-8");
  laws.add(
      "strings", "starts inside a character", strings.size(),
      [starts = offsets.data(), text = blob.data(), n = blob.size()](std::size_t begin, std::size_t end) {
        bool inside = false;
        for (std::size_t i = begin; i < end; ++i)
          inside |= starts[i] < n && (static_cast<unsigned char>(text[starts[i]]) & 0xC0) == 0x80;
        return !inside;
      });
  return {};
}

Result<void> check_tables(const ProfileData& d, Laws& laws) {
  const std::size_t n_strings = d.strings.size();
  laws.below("modules.name", d.modules.name, n_strings);
  laws.below("modules.build_id", d.modules.build_id, n_strings);
  laws.bytes_below("modules.addresses",
                   {reinterpret_cast<const std::uint8_t*>(d.modules.addresses.data()), d.modules.size()},
                   kNAddressKinds);
  laws.below("functions.name", d.functions.name, n_strings);
  laws.below("functions.system_name", d.functions.system_name, n_strings);
  laws.below("functions.file", d.functions.file, n_strings);
  laws.bytes_below("functions.unresolved", d.functions.unresolved.span(), 2);
  laws.below("frames.function", d.frames.function, d.functions.size());
  laws.below("frames.module", d.frames.module, d.modules.size(), true);
  laws.below("frames.file", d.frames.file, n_strings);
  laws.bytes_below("frames.kind",
                   {reinterpret_cast<const std::uint8_t*>(d.frames.kind.data()), d.frames.kind.size()},
                   kNFrameKinds);
  laws.bytes_below("frames.inlined", d.frames.inlined.span(), 2);
  laws.bytes_below("frames.is_return", d.frames.is_return.span(), 2);
  laws.below("frames.piece", d.frames.piece, d.pieces.size(), true);
  laws.below("pieces.module", d.pieces.module, d.modules.size(), true);
  laws.below("pieces.name", d.pieces.name, n_strings);
  laws.below("pieces.function", d.pieces.function, d.functions.size(), true);
  laws.below("threads.name", d.threads.name, n_strings);
  laws.below("threads.process_name", d.threads.process_name, n_strings);
  const auto& first = d.labels.first;
  if (first.size() < 2 || first[0] != 0 || first[1] != 0)
    return fail(ErrorCode::malformed, "label set 0 must be empty");
  if (first[first.size() - 1] != d.labels.key.size())
    return fail(ErrorCode::malformed, "the label sets do not end where their entries end");
  laws.ascending("labels.first", first);
  laws.below("labels.key", d.labels.key, n_strings);
  laws.below("labels.text", d.labels.text, n_strings);
  laws.below("labels.unit", d.labels.unit, n_strings);
  laws.bytes_below("labels.is_number", d.labels.is_number.span(), 2);
  if (d.default_metric.v != 0 && d.default_metric.v >= d.metrics.size())
    return fail(ErrorCode::malformed, "the default metric does not exist");
  return {};
}

void check_ends(const char* name, const Column<std::int64_t>& begin, const Column<std::int64_t>& end,
                Laws& laws) {
  laws.add(name, "is before its begin", std::min(begin.size(), end.size()),
           [b = begin.data(), e = end.data()](std::size_t from, std::size_t to) {
             bool wrong = false;
             for (std::size_t i = from; i < to; ++i) wrong |= e[i] != kNoTime && e[i] < b[i];
             return !wrong;
           });
}

void check_times(const char* name, const Column<std::int64_t>& times, Laws& laws) {
  laws.add(name, "has no time", times.size(), [t = times.data()](std::size_t from, std::size_t to) {
    return std::find(t + from, t + to, kNoTime) == t + to;
  });
}

// Ids of a timeline, and ends after their begins. `n`: contexts, the root included.
void check_timeline(const ProfileData& d, std::size_t n, Laws& laws) {
  const Timeline& t = *d.timeline;
  const std::size_t n_strings = d.strings.size(), n_threads = d.threads.size(), n_tasks = t.tasks.size();
  laws.bytes_below("timeline.sample_state",
                   {reinterpret_cast<const std::uint8_t*>(t.samples.state.data()), t.samples.state.size()},
                   kNThreadStates);
  check_times("spans.begin", t.spans.begin, laws);
  check_ends("spans.end", t.spans.begin, t.spans.end, laws);
  laws.below("spans.context", t.spans.context, n, true);
  laws.below("spans.name", t.spans.name, n_strings);
  laws.below("spans.thread", t.spans.thread, n_threads, true);
  laws.below("spans.task", t.spans.task, n_tasks, true);
  check_times("markers.begin", t.markers.begin, laws);
  check_ends("markers.end", t.markers.begin, t.markers.end, laws);
  laws.below("markers.name", t.markers.name, n_strings);
  laws.below("markers.category", t.markers.category, n_strings);
  laws.below("markers.thread", t.markers.thread, n_threads, true);
  laws.below("markers.context", t.markers.context, n, true);
  laws.below("markers.label_set", t.markers.label_set, d.labels.n_sets());
  laws.below("counters.name", t.counters.name, n_strings);
  laws.below("counters.unit", t.counters.unit, n_strings);
  laws.below("counters.process", t.counters.process, n_strings);
  laws.below("counters.thread", t.counters.thread, n_threads, true);
  laws.bytes_below("counters.changes", t.counters.changes.span(), 2);
  laws.ascending("counters.first", t.counters.first);
  check_times("counters.time", t.counters.time, laws);
  laws.below("tasks.name", t.tasks.name, n_strings);
  laws.add("tasks.parent", "comes after its child", t.tasks.parent.size(),
           [parents = t.tasks.parent.data()](std::size_t begin, std::size_t end) {
             bool wrong = false;
             for (std::size_t i = begin; i < end; ++i) wrong |= parents[i] != kNone && parents[i] >= i;
             return !wrong;
           });
  laws.below("tasks.awaits", t.tasks.awaits, n_tasks, true);
  laws.below("tasks.thread", t.tasks.thread, n_threads, true);
  laws.below("tasks.context", t.tasks.context, n, true);
  check_ends("tasks.end", t.tasks.begin, t.tasks.end, laws);
}

// Contexts that values stand at; `n` of them, the root included.
void check_values(const ProfileData& d, std::size_t n, Laws& laws) {
  laws.below("self.context", d.self.contexts, n);
  if (d.samples) {
    const bool shared = d.samples->context.data() == d.self.contexts.data();
    if (!shared) laws.below("samples.context", d.samples->context, n);
    laws.below("samples.label_set", d.samples->label_set, d.labels.n_sets());
    laws.below("samples.thread", d.samples->thread, d.threads.size(), true);
  }
  for (const AssociationTable& table : d.associations) {
    for (const auto& column : table.contexts) laws.below("association.contexts", column, n, true);
    for (const auto& column : table.threads)
      laws.below("association.threads", column, d.threads.size(), true);
  }
  if (d.timeline) check_timeline(d, n, laws);
  if (!d.stated) return;
  laws.below("stated.function", d.stated->functions.frame, d.frames.size());
  laws.bytes_below("stated.known", d.stated->functions.known.span(), 2);
  laws.below("stated.caller", d.stated->calls.caller, d.frames.size(), true);
  laws.below("stated.callee", d.stated->calls.callee, d.frames.size(), true);
  laws.bytes_below("stated.call_known", d.stated->calls.known.span(), 2);
}

// The orders that a frozen timeline has. Its ids are in range.
void check_orders(const ProfileData& d, Laws& laws) {
  const Timeline& t = *d.timeline;
  if (d.samples)
    laws.add("timeline.sample_row", "is not in order of thread and time", d.samples->size(),
             [&](std::size_t begin, std::size_t end) { return in_order(t.samples, *d.samples, begin, end); });
  laws.add("spans", "is not in order", t.spans.size(),
           [&](std::size_t begin, std::size_t end) { return in_order(t.spans, begin, end); });
  laws.add("markers", "is not in order", t.markers.size(),
           [&](std::size_t begin, std::size_t end) { return in_order(t.markers, begin, end); });
  laws.add("counters", "has points that do not stand by time", t.counters.size(),
           [&](std::size_t begin, std::size_t end) {
             const auto* const time = t.counters.time.begin();
             bool right = true;
             for (std::size_t i = begin; i < end; ++i)
               right = right && std::is_sorted(time + t.counters.first[i], time + t.counters.first[i + 1]);
             return right;
           });
}

// Sums of blocks, which may be put together in any order as long as nothing saturates.
struct BlockSum {
  Wide sum = 0, magnitude = 0;  // sum in two's complement
};

std::vector<BlockSum> block_sums(std::span<const std::int64_t> values, Executor& executor) {
  std::vector<BlockSum> sums((values.size() + kBlock - 1) / kBlock);
  executor.run(sums.size(), [&](std::size_t b) {
    const auto block = values.subspan(b * kBlock, std::min(kBlock, values.size() - b * kBlock));
    // 2^18 values below 2^45 fit a word; the or of all magnitudes tells whether that is so.
    std::uint64_t sum = 0, magnitude = 0, bits = 0;
    for (std::int64_t v : block) {
      const auto m = v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v);
      sum += static_cast<std::uint64_t>(v);
      magnitude += m;
      bits |= m;
    }
    if ((bits >> 45) == 0) {
      const auto exact = static_cast<std::int64_t>(sum);
      sums[b] = {exact < 0 ? Wide{0} - (0 - sum) : Wide{sum}, magnitude};
      return;
    }
    BlockSum exact;
    for (std::int64_t v : block) {
      const Wide m = v < 0 ? Wide{0 - static_cast<std::uint64_t>(v)} : Wide{static_cast<std::uint64_t>(v)};
      exact.sum += v < 0 ? Wide{0} - m : m;
      exact.magnitude += m;
    }
    sums[b] = exact;
  });
  return sums;
}

bool total_is(std::span<const std::int64_t> values, std::int64_t stated, bool saturated, Executor& executor) {
  Wide sum = 0, magnitude = 0;
  for (const BlockSum& block : block_sums(values, executor)) {
    sum += block.sum;
    magnitude += block.magnitude;
  }
  constexpr auto kMax = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
  if (saturated != (magnitude > kMax)) return false;
  if (!saturated) return static_cast<std::int64_t>(static_cast<std::uint64_t>(sum)) == stated;
  // Clamping depends on the order: the sum is made again as the builder made it.
  std::int64_t total = 0;
  for (std::int64_t v : values) add_saturating(total, v);
  return total == stated;
}

bool total_is(std::span<const double> values, double stated, bool, Executor&) {
  double total = 0;
  for (double v : values) total += v;
  return total == stated || (total != total && stated != stated);
}

Result<void> check_totals(const ProfileData& d, Executor& executor, const StopToken& stop) {
  for (std::size_t m = 0; m < d.metrics.size(); ++m) {
    PROFD_CHECK(stop.status());
    const bool right = std::visit(
        [&](const auto& column) {
          using T = std::remove_cvref_t<decltype(column[0])>;
          return total_is(column.span(), std::get<T>(d.totals[m]), d.metrics[m].saturated, executor);
        },
        d.self.values[m]);
    if (!right)
      return fail(
          ErrorCode::malformed,
          fmt::format("the total of metric {} ({}) is not the sum of its values", m, d.metrics[m].name));
  }
  return {};
}

}  // namespace

Result<void> validate(const DecodedProfile& profile, Executor& executor, const StopToken& stop) {
  const ProfileData& d = profile.data;
  Laws laws;
  PROFD_CHECK(check_strings(d.strings, !profile.loose, laws));
  PROFD_CHECK(check_tables(d, laws));
  if (d.branches) PROFD_CHECK(check_branches(d, profile.loose));
  const ContextTree& tree = d.tree;
  const ContextTree& contexts = profile.contexts;
  const std::size_t n_frames = d.frames.size();
  if (profile.loose) {
    check_values(d, contexts.parent.size() + 1, laws);
    laws.below("contexts.frame", contexts.frame, n_frames);
    laws.add("contexts.parent", "comes after its child", contexts.parent.size(),
             [parents = contexts.parent.data()](std::size_t begin, std::size_t end) {
               bool wrong = false;
               for (std::size_t i = begin; i < end; ++i) wrong |= parents[i] > i;
               return !wrong;
             });
    return laws.check(executor, stop);
  }
  if (tree.size() == 0 || tree.frame.size() != tree.size() || tree.subtree_end.size() != tree.size())
    return fail(ErrorCode::malformed, "the columns of the tree are empty or of different length");
  laws.add("tree", "is not a tree in preorder", tree.size(),
           [&](std::size_t begin, std::size_t end) { return is_well_formed(tree, n_frames, begin, end); });
  check_values(d, tree.size(), laws);
  laws.ascending("self.context", d.self.contexts);
  if (d.timeline && d.samples) laws.below("timeline.sample_row", d.timeline->samples.row, d.samples->size());
  PROFD_CHECK(laws.check(executor, stop));
  if (d.timeline) {
    Laws orders;
    check_orders(d, orders);
    PROFD_CHECK(orders.check(executor, stop));
  }
  return check_totals(d, executor, stop);
}

}  // namespace profd::profd_format

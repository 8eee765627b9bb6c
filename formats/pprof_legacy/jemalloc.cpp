// jemalloc's own form of heap profiles: heap_v2/524288, then `@ 0x1 0x2` with the counts of that stack below
// it.
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

struct JemallocCounts {
  std::int64_t inuse_objects = 0, inuse_bytes = 0, alloc_objects = 0, alloc_bytes = 0;
};

// `  t*: 4: 103083 [0: 0]`, `  t12: 1: 14382 [0: 0] name of the thread`
bool take_counts(std::string_view line, bool& all_threads, JemallocCounts& out) {
  if (!take(line, "t")) return false;
  all_threads = take(line, "*");
  std::int64_t thread;
  return (all_threads || take_number(line, thread)) && take(line, ":") &&
         take_number(line, out.inuse_objects) && take(line, ":") && take_number(line, out.inuse_bytes) &&
         take(line, "[") && take_number(line, out.alloc_objects) && take(line, ":") &&
         take_number(line, out.alloc_bytes) && take(line, "]");
}

}  // namespace

bool is_jemalloc_header(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("heap_v2/")) return false;
  line.remove_prefix(8);
  return !line.empty() && line.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<void> read_jemalloc(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  lines.next(line);
  if (!parse_int(trim(line).substr(8), out.period))
    return fail(ErrorCode::malformed, "the sampling rate is no number", at);
  out.period_type = "space";
  out.period_unit = "bytes";
  out.properties.emplace_back("heap_profile_kind", "jemalloc");

  bool has_alloc = false, in_stack = false, counted = false;
  std::uint64_t n_by_thread = 0;
  std::size_t begin = 0;
  std::uint64_t stack_offset = 0;
  const auto declare = [&] {
    if (!out.metrics.empty()) return;
    if (has_alloc) out.metrics = {{"alloc_objects", "count"}, {"alloc_space", "bytes"}};
    out.metrics.push_back({"inuse_objects", "count"});
    out.metrics.push_back({"inuse_space", "bytes"});
  };
  const auto finish_stack = [&]() -> Result<void> {
    if (!in_stack || counted) return {};
    out.frames.resize(begin);
    return bad_line(context, "a stack has no line of counts for all threads", stack_offset);
  };
  while (lines.next(line)) {
    if (is_blank_or_comment(line)) continue;
    if (is_memory_map_sentinel(line)) {
      at = lines.offset();
      break;
    }
    at = text.size();
    if (std::string_view stack = trim(line); stack.starts_with('@')) {
      PROFD_CHECK(finish_stack());
      declare();
      begin = out.frames.size();
      stack_offset = lines.offset();
      in_stack = true;
      counted = false;
      if (!add_addresses(stack, 1, out, context.limits.stack_depth, begin)) {
        out.frames.resize(begin);
        in_stack = false;
        PROFD_CHECK(bad_line(context, "an address is no number, or there are too many", lines.offset()));
      }
      continue;
    }
    bool all_threads = false;
    JemallocCounts counts;
    if (!take_counts(line, all_threads, counts)) {
      PROFD_CHECK(
          bad_line(context, "a line is no stack and no counts of a jemalloc profile", lines.offset()));
      continue;
    }
    if (!all_threads) {
      ++n_by_thread;
      continue;
    }
    // What stands in front of the first stack is the sum of the file; it tells whether allocations were kept.
    if (out.metrics.empty()) {
      has_alloc = counts.alloc_objects != 0 || counts.alloc_bytes != 0;
      continue;
    }
    if (!in_stack || counted) {
      PROFD_CHECK(bad_line(context, "counts belong to no stack", lines.offset()));
      continue;
    }
    if ((counts.inuse_objects == 0 && counts.inuse_bytes != 0) ||
        (counts.alloc_objects == 0 && counts.alloc_bytes != 0)) {
      PROFD_CHECK(bad_line(context, "a sample has bytes and no objects", lines.offset()));
      continue;
    }
    std::int64_t block = 0;
    const auto add = [&](std::int64_t count, std::int64_t size) {
      if (count > 0) block = size / count;
      unsample_heap(count, size, out.period);
      out.values.push_back(count);
      out.values.push_back(size);
    };
    if (has_alloc) add(counts.alloc_objects, counts.alloc_bytes);
    add(counts.inuse_objects, counts.inuse_bytes);
    out.block_size.push_back(block);
    out.stack_end.push_back(out.frames.size());
    counted = true;
  }
  PROFD_CHECK(finish_stack());
  declare();
  context.report.add("by-thread", Severity::info,
                     "counts of single threads were not read; those of all threads were", std::nullopt,
                     n_by_thread);
  return {};
}

}  // namespace profd::pprof_legacy

// heap profile:    144:  8498176 [   144:  8498176] @ heapz_v2/524288
#include <cmath>
#include <limits>

#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

struct Counts {
  std::int64_t inuse_objects = 0, inuse_bytes = 0, alloc_objects = 0, alloc_bytes = 0;
};

// `1: 9216 [1: 9216] @`; `text` is then what follows.
bool take_counts(std::string_view& text, Counts& out) {
  return take_number(text, out.inuse_objects) && take(text, ":") && take_number(text, out.inuse_bytes) &&
         take(text, "[") && take_number(text, out.alloc_objects) && take(text, ":") &&
         take_number(text, out.alloc_bytes) && take(text, "]") && take(text, "@");
}

// A block of s bytes is sampled with the probability 1 - exp(-s / rate): what was seen stands for more.
void unsample(std::int64_t& count, std::int64_t& size, std::int64_t rate) {
  if (count == 0 || size == 0) {
    count = size = 0;
    return;
  }
  if (rate <= 1) return;
  const double average = static_cast<double>(size) / static_cast<double>(count);
  const double scale = 1 / (1 - std::exp(-average / static_cast<double>(rate)));
  count = truncated(static_cast<double>(count) * scale);
  size = truncated(static_cast<double>(size) * scale);
}

}  // namespace

void unsample_heap(std::int64_t& count, std::int64_t& size, std::int64_t rate) {
  unsample(count, size, rate);
}

Result<void> read_heap(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  if (!lines.next(line)) return fail(ErrorCode::truncated, "the file has no first line", at);
  const std::size_t word = line.find("heap profile:");
  std::string_view header = word == std::string_view::npos ? line : line.substr(word + 13);
  Counts total;
  if (word == std::string_view::npos || !take_counts(header, total))
    return fail(ErrorCode::malformed, "the first line is no header of a heap profile", at);
  take(header, "");
  std::string_view kind = header.substr(0, header.find_first_of("/ \t"));
  std::string_view rate = header.substr(kind.size());
  if (rate.starts_with('/')) rate.remove_prefix(1);
  rate = rate.substr(0, rate.find_first_not_of("0123456789"));
  bool scaled = false;
  out.period = 0;
  if (!rate.empty() && !parse_int(rate, out.period))
    return fail(ErrorCode::malformed, "the sampling rate is no number", at);
  if (kind == "heapz_v2" || kind == "heap_v2") {
    scaled = true;
  } else if (kind == "heap") {
    scaled = true;
    out.period /= 2;
  } else if (kind == "heapprofile" || kind == "growthz" || kind == "growth" || kind == "fragmentationz" ||
             kind == "fragmentation") {
    out.period = 1;
  } else {
    return fail(ErrorCode::unsupported, "the heap profile is of an unknown kind: " + std::string(kind), at);
  }
  out.properties.emplace_back("heap_profile_kind", std::string(kind));
  const bool counted_by_kind = kind.starts_with("growth") || kind.starts_with("fragmentation");
  const bool has_alloc =
      !counted_by_kind && ((total.alloc_objects != total.inuse_objects && total.alloc_objects != 0) ||
                           (total.alloc_bytes != total.inuse_bytes && total.alloc_bytes != 0));
  out.period_type = "space";
  out.period_unit = "bytes";
  if (has_alloc)
    out.metrics = {{"alloc_objects", "count"},
                   {"alloc_space", "bytes"},
                   {"inuse_objects", "count"},
                   {"inuse_space", "bytes"}};
  else
    out.metrics = {{"objects", "count"}, {"space", "bytes"}};

  GoComments comments(out);
  while (lines.next(line)) {
    if (comments.read(line, context)) continue;
    line = trim(line);
    if (line.starts_with("# ") && line.find(" = ") != std::string_view::npos) {
      const std::size_t equals = line.find(" = ");
      out.properties.emplace_back("runtime.MemStats." + std::string(trim(line.substr(2, equals - 2))),
                                  std::string(trim(line.substr(equals + 3))));
      continue;
    }
    if (is_blank_or_comment(line)) continue;
    if (is_memory_map_sentinel(line)) {
      at = lines.offset();
      return {};
    }
    Counts counts;
    if (!take_counts(line, counts)) {
      PROFD_CHECK(bad_line(context, "a line is no sample of a heap profile", lines.offset()));
      continue;
    }
    if ((counts.inuse_objects == 0 && counts.inuse_bytes != 0) ||
        (has_alloc && counts.alloc_objects == 0 && counts.alloc_bytes != 0)) {
      PROFD_CHECK(bad_line(context, "a sample has bytes and no objects", lines.offset()));
      continue;
    }
    const std::size_t begin = out.frames.size();
    if (!add_addresses(line, 1, out, context.limits.stack_depth, begin)) {
      out.frames.resize(begin);
      PROFD_CHECK(bad_line(context, "an address is no number, or there are too many", lines.offset()));
      continue;
    }
    std::int64_t block = 0;
    const auto add = [&](std::int64_t count, std::int64_t size) {
      // -(-2^63) does not fit.
      if (count != 0)
        block = count == -1 ? -std::max(size, -std::numeric_limits<std::int64_t>::max()) : size / count;
      if (scaled && count != 0) unsample(count, size, out.period);
      out.values.push_back(count);
      out.values.push_back(size);
    };
    if (has_alloc) add(counts.alloc_objects, counts.alloc_bytes);
    add(counts.inuse_objects, counts.inuse_bytes);
    out.block_size.push_back(block);
    out.stack_end.push_back(out.frames.size());
    comments.next_sample();
  }
  at = text.size();
  return {};
}

}  // namespace profd::pprof_legacy

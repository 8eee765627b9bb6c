// --- threadz 1 ---
#include "formats/pprof_legacy/text.h"
#include "formats/support/text_number.h"

namespace profd::pprof_legacy {
namespace {

// --- Thread 7f794ab90940 (name: main/14748) stack: ---
bool parse_thread(std::string_view line, Thread& out) {
  constexpr std::string_view kBegin = "--- Thread ", kName = "(name: ", kEnd = ") stack: ---";
  const std::size_t begin = line.find(kBegin), name = line.find(kName), end = line.rfind(kEnd);
  if (begin == std::string_view::npos || name == std::string_view::npos || end == std::string_view::npos ||
      name + kName.size() > end)
    return false;
  std::string_view text = line.substr(name + kName.size(), end - name - kName.size());
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || !parse_int(text.substr(slash + 1), out.tid)) return false;
  out.name = text.substr(0, slash);
  return true;
}

// "  PC:  0x00bc8f1c: helper(arg *)": the name behind the address.
void add_symbol(std::string_view line, Records& out, std::size_t begin) {
  const std::size_t at = line.find("0x");
  if (at == std::string_view::npos || out.frames.size() != begin + 1) return;
  const std::size_t colon = line.find(": ", at);
  if (colon == std::string_view::npos) return;
  const std::string_view name = trim(line.substr(colon + 2));
  if (!name.empty())
    out.symbols.try_emplace(out.addresses[out.frames.back()]).first->second = {{name, {}, 0}};
}

}  // namespace

Result<void> read_threads(std::string_view text, std::size_t& at, ReadContext& context, Records& out) {
  LineReader lines(text, at);
  std::string_view line;
  bool more = lines.next(line);
  while (more && is_blank_or_comment(line)) more = lines.next(line);
  if (line.starts_with("--- threadz ")) {
    more = lines.next(line);
    while (more && !line.starts_with("-") && !is_memory_map_sentinel(line)) more = lines.next(line);
  }
  out.metrics = {{"thread", "count"}};
  out.period_type = "thread";
  out.period_unit = "count";
  out.period = 1;
  while (more && !is_memory_map_sentinel(line)) {
    if (line.starts_with("---- no stack trace for")) {
      context.report.add("thread-without-stack", Severity::loss,
                         "from here on the profiler has no stacks of threads", lines.offset());
      break;
    }
    Thread thread;
    if (!parse_thread(line, thread))
      return fail(ErrorCode::malformed, "a block does not begin with the name of a thread", lines.offset());
    const std::size_t block = lines.offset();
    const std::size_t begin = out.frames.size();
    bool same = false;
    while ((more = lines.next(line))) {
      const std::string_view part = trim(line);
      if (part.empty()) continue;
      if (part.starts_with("---")) {
        line = part;
        break;
      }
      if (part.find("same as previous thread") != std::string_view::npos) {
        same = true;
        continue;
      }
      const std::size_t before = out.frames.size();
      // The innermost address is no call.
      if (!add_addresses(part, before == begin ? 0 : 1, out, context.limits.stack_depth, begin))
        return fail(ErrorCode::malformed, "an address is no number, or there are too many", lines.offset());
      // Several in the first line: all but the first are calls.
      if (before == begin)
        for (std::size_t i = begin + 1; i < out.frames.size(); ++i)
          out.frames[i] = out.address_row(out.addresses[out.frames[i]] - 1);
      add_symbol(part, out, before);
    }
    if (same || out.frames.size() == begin) {
      out.frames.resize(begin);
      if (out.n_samples() == 0) {
        context.report.add("thread-without-stack", Severity::loss, "threads without a stack are left out",
                           block);
        continue;
      }
      const std::size_t from = out.n_samples() > 1 ? out.stack_end[out.n_samples() - 2] : 0;
      for (std::size_t i = from; i < begin; ++i) out.frames.push_back(std::uint32_t{out.frames[i]});
    }
    out.values.push_back(1);
    out.threads.push_back(thread);
    out.stack_end.push_back(out.frames.size());
  }
  at = more ? lines.offset() : text.size();
  return {};
}

}  // namespace profd::pprof_legacy

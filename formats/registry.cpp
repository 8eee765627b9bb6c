// The one list of readers. A format adds its line here, in sniff_rank order: exact magic first, guesses last.
#include <memory>
#include <vector>

#include "formats/open.h"

// clang-format off
#define PROFD_READERS(reader) \
  reader(profd)               \
  reader(jfr)                 \
  reader(perf_data)           \
  reader(jitdump)             \
  reader(simpleperf)          \
  reader(android_art_trace)   \
  reader(rbspy)               \
  reader(sysprof)             \
  reader(plive)               \
  reader(tachyon)             \
  reader(memray)              \
  reader(pprof_legacy)        \
  reader(gmon)                \
  reader(pstats)              \
  reader(austin)              \
  reader(stackprof)           \
  reader(hpctoolkit_v4)       \
  reader(gprofng)             \
  reader(nettrace)            \
  reader(xray)                \
  reader(pprof)               \
  reader(otlp)                \
  reader(xplane)              \
  reader(perfetto)            \
  reader(easyview)            \
  reader(speedscope)          \
  reader(cpuprofile)          \
  reader(chrome_trace)        \
  reader(heapprofile)         \
  reader(firefox)             \
  reader(safari)              \
  reader(heapsnapshot)        \
  reader(dhat)                \
  reader(gprof2dot_json)      \
  reader(proton)              \
  reader(pyinstrument)        \
  reader(scalene)             \
  reader(caliper)             \
  reader(timemory)            \
  reader(d3_flamegraph)       \
  reader(perf_script)         \
  reader(flamegraph_svg)      \
  reader(async_profiler_html) \
  reader(async_profiler_text) \
  reader(hprof)               \
  reader(jstack)              \
  reader(rprof)               \
  reader(v8log)               \
  reader(perf_map)            \
  reader(vtune_csv)           \
  reader(visualstudio_csv)    \
  reader(xperf)               \
  reader(pmcstat)             \
  reader(sleepy)              \
  reader(vtune_gprofcc)       \
  reader(heaptrack)           \
  reader(macos_sample)        \
  reader(instruments)         \
  reader(ghc_prof)            \
  reader(papyrus)             \
  reader(xctrace)             \
  reader(bpftrace)            \
  reader(dtrace)              \
  reader(systemtap)           \
  reader(gdb)                 \
  reader(stack_dump)          \
  reader(callgrind)           \
  reader(cachegrind)          \
  reader(massif)              \
  reader(gprof_text)          \
  reader(xdebug_trace)        \
  reader(ruby_prof)           \
  reader(hpctoolkit_v3)       \
  reader(tau)                 \
  reader(cubex)               \
  reader(vm_profiler)         \
  reader(folded)
// clang-format on

namespace profd {

// formats/<id>/reader.cpp defines make_<id>_reader().
#define PROFD_DECLARE_READER(id) std::unique_ptr<FormatReader> make_##id##_reader();
PROFD_READERS(PROFD_DECLARE_READER)
#undef PROFD_DECLARE_READER

std::span<const FormatReader* const> all_readers() {
  static const auto owned = [] {
    std::vector<std::unique_ptr<const FormatReader>> readers;
#define PROFD_MAKE_READER(id) readers.push_back(make_##id##_reader());
    PROFD_READERS(PROFD_MAKE_READER)
#undef PROFD_MAKE_READER
    return readers;
  }();
  static const auto list = [] {
    std::vector<const FormatReader*> readers;
    readers.reserve(owned.size());
    for (const auto& reader : owned) readers.push_back(reader.get());
    return readers;
  }();
  return list;
}

}  // namespace profd

// The one list of writers. A writer adds its line here; formats/writers/<id>.cpp defines make_<id>_writer().
#include <algorithm>
#include <memory>
#include <vector>

#include "formats/writer.h"

// clang-format off
#define PROFD_WRITERS(writer) \
  writer(profd)               \
  writer(pprof)               \
  writer(otlp)                \
  writer(folded)              \
  writer(speedscope)          \
  writer(cpuprofile)          \
  writer(callgrind)           \
  writer(chrome_trace)        \
  writer(firefox)             \
  writer(d3)                  \
  writer(csv)                 \
  writer(json)
// clang-format on

namespace profd {

#define PROFD_DECLARE_WRITER(id) std::unique_ptr<FormatWriter> make_##id##_writer();
PROFD_WRITERS(PROFD_DECLARE_WRITER)
#undef PROFD_DECLARE_WRITER

std::span<const FormatWriter* const> all_writers() {
  static const auto owned = [] {
    std::vector<std::unique_ptr<const FormatWriter>> writers;
#define PROFD_MAKE_WRITER(id) writers.push_back(make_##id##_writer());
    PROFD_WRITERS(PROFD_MAKE_WRITER)
#undef PROFD_MAKE_WRITER
    return writers;
  }();
  static const auto list = [] {
    std::vector<const FormatWriter*> writers;
    writers.reserve(owned.size());
    for (const auto& writer : owned) writers.push_back(writer.get());
    return writers;
  }();
  return list;
}

const FormatWriter* find_writer(std::string_view id, std::span<const FormatWriter* const> among) {
  const auto found =
      std::find_if(among.begin(), among.end(), [&](const FormatWriter* w) { return w->info().id == id; });
  return found == among.end() ? nullptr : *found;
}

const FormatWriter* writer_for_path(std::string_view path, std::span<const FormatWriter* const> among) {
  const FormatWriter* best = nullptr;
  std::size_t length = 0;
  for (const FormatWriter* writer : among) {
    for (const std::string_view extension : writer->info().extensions) {
      if (extension.size() <= length || !path.ends_with(extension)) continue;
      best = writer;
      length = extension.size();
    }
  }
  return best;
}

std::string writer_names(std::span<const FormatWriter* const> among) {
  std::string out;
  for (const FormatWriter* writer : among) {
    if (!out.empty()) out += ", ";
    out += writer->info().id;
  }
  return out;
}

}  // namespace profd

// FormatReader: one profiler's format. Stateless and re-entrant; registered in registry.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/profile_builder.h"
#include "core/support/executor.h"
#include "core/support/result.h"
#include "core/support/stack_copies.h"
#include "core/support/stop.h"
#include "formats/folder.h"
#include "formats/import_report.h"
#include "formats/source.h"

namespace profd {

// For people, in half a line each: the columns of docs/formats/README.md and of `profd formats`. Plain text.
struct ReaderNotes {
  std::string_view versions;  // "2.0 to 2.2": which versions or dialects are read
  std::string_view keeps;     // "threads, times, lines, modules": what of the format reaches the profile
  std::string_view
      recording;  // "perf record -g -o perf.data ./app": the shortest command that makes such a file
  std::string_view verified;  // "against perf report": what its numbers were compared with
};

struct ReaderInfo {
  std::string_view id;                           // "pprof"
  std::string_view title;                        // "pprof protocol buffers"
  std::span<const std::string_view> extensions;  // ".pb.gz", with the dot
  int sniff_rank = 0;                            // unique; lower is asked first
  std::string_view producer;                     // who writes it: "Go, gperftools, Rust pprof-rs, …"
  int version = 1;  // raised when the same bytes give another profile than before: cached imports are dropped
  ReaderNotes notes = {};
};

enum class Confidence : std::uint8_t { no, need_more, maybe, certain };

// Every bound a hostile file can meet. A breach is ErrorCode::limit naming the limit.
struct ReadLimits {
  std::uint64_t input_bytes = 64ull << 30;
  std::uint64_t expanded_bytes = 64ull << 30;  // after decompression
  std::uint64_t expansion_ratio = 1100;        // deflate cannot exceed 1032
  std::uint32_t container_depth = 4;
  std::uint32_t nesting = 512;            // JSON, XML
  std::uint32_t stack_depth = 1'000'000;  // frames of one stack
};

struct ReadContext {
  ReadLimits limits;
  Executor& executor;
  StopToken stop;
  ImportReport& report;
  bool partial = false;      // read what can be read of a truncated file
  bool gc_on_stack = false;  // see OpenOptions
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = nullptr;  // bytes; may be empty
  // The folder or archive that the file lies in; null when there is none (a pipe, a socket, bytes in memory).
  const Folder* beside = nullptr;
  // What its user says that ran, goes before what lies beside; null: nobody says.
  const ByteSource* program = nullptr;
  // Finds the callers in copies of stacks; null: nobody does.
  const UnwindStacks* unwind = nullptr;
  // Set where the same bytes may give something else another time, as other files took part that may come or
  // go.
  bool looked_around = false;
};

class FormatReader {
 public:
  virtual ~FormatReader() = default;
  virtual const ReaderInfo& info() const = 0;
  // Pure; looks at no more than 64 KiB. `at_end`: the prefix is the whole file.
  virtual Confidence sniff(std::span<const std::byte> prefix, bool at_end) const = 0;
  // Adds one builder per profile in the file (most formats: exactly one). An error means "mine and broken".
  virtual Result<void> read(const ByteSource& source, ReadContext& context,
                            std::vector<ProfileBuilder>& profiles) const = 0;

  // Formats whose unit is a folder. Looks at names, and into files as little as it can. `certain` claims the
  // whole folder; everything else leaves its files to be opened one by one.
  virtual Confidence sniff_folder(const Folder& folder) const {
    static_cast<void>(folder);
    return Confidence::no;
  }
  // Asked only after sniff_folder() said `certain`.
  virtual Result<void> read_folder(const Folder& folder, ReadContext& context,
                                   std::vector<ProfileBuilder>& profiles) const {
    static_cast<void>(folder), static_cast<void>(context), static_cast<void>(profiles);
    return fail(ErrorCode::unsupported, "a folder is not read");
  }
};

}  // namespace profd

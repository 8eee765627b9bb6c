// FormatWriter: one format that profiles are written in. Stateless and re-entrant; listed in
// formats/writers/registry.cpp.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/profile.h"
#include "core/support/stop.h"
#include "core/view/spec.h"
#include "formats/byte_sink.h"
#include "formats/import_report.h"
#include "formats/open.h"

namespace profd {

struct WriterInfo {
  std::string_view id;                           // that of the reader which reads it back, where there is one
  std::string_view title;                        // "pprof protocol buffers"
  std::span<const std::string_view> extensions;  // with the dot; the first is the one to suggest
  std::string_view mime_type;
  bool is_text = false;    // UTF-8
  std::string_view holds;  // what it can hold, in words: "all metrics, labels, lines"
  // Formats of a view rather than of a profile: what is written when WriteOptions has no spec. They hold
  // every shape and apply the spec themselves.
  std::string_view default_view = {};
};

// What of a profile a format cannot hold, by stable names with counts: the same rows as when reading.
using LossReport = ImportReport;

struct WriteOptions {
  std::string metric;            // of formats that hold one; "" = that of `spec`, else the profile's default
  std::optional<ViewSpec> spec;  // what is written of the first profile; nothing = all there is
  // What tells two frames apart, for formats that can say less or more: write_profiles() takes it from
  // `spec`.
  Granularity granularity = Granularity::function;
  std::string title;  // what people call it, where a format shows that
  // How the profiles were read; null when they were not.
  const FormatDecision* decision = nullptr;
  const ImportReport* report = nullptr;
  StopToken stop;
};

class FormatWriter {
 public:
  virtual ~FormatWriter() = default;
  virtual const WriterInfo& info() const = 0;
  // `profiles` has at least one. What goes to `sink` is worth nothing when the result is an error:
  // `unsupported` when the format can hold nothing of this kind, `not_found` for a metric that is not there.
  // Formats of profiles do not look at options.spec: see write_profiles().
  virtual Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options,
                             const ByteSink& sink, LossReport& losses) const = 0;
};

// Writes what options.spec leaves of the first profile, or all of them without one.
// Fails with `unsupported` for a spec of a shape that the format cannot hold, and as select() does.
Result<void> write_profiles(const FormatWriter& writer, std::span<const ProfilePtr> profiles,
                            const WriteOptions& options, const ByteSink& sink, LossReport& losses);

// The one list of writers.
std::span<const FormatWriter* const> all_writers();
const FormatWriter* find_writer(std::string_view id,
                                std::span<const FormatWriter* const> among = all_writers());
// By the longest extension that fits; null when none does.
const FormatWriter* writer_for_path(std::string_view path,
                                    std::span<const FormatWriter* const> among = all_writers());
// "profd, pprof, folded": for messages.
std::string writer_names(std::span<const FormatWriter* const> among = all_writers());

}  // namespace profd

// Reads a text with the reader of one format, past sniffing, and shows the profile as paths and values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/open.h"

namespace profd::test {

struct ReadOutcome {
  std::vector<ProfilePtr> profiles;
  ImportReport report;
  std::string error;  // describe(), "" when it was read
  ErrorCode code = ErrorCode::internal;
  std::optional<std::uint64_t> offset;
};

inline const FormatReader* reader_of(std::string_view format) {
  for (const FormatReader* reader : all_readers()) {
    if (reader->info().id == format) return reader;
  }
  return nullptr;
}

inline ReadOutcome read_with(std::string_view format, const ByteSource& source,
                             const ReadLimits& limits = {}) {
  ReadOutcome out;
  SerialExecutor executor;
  ReadContext context{limits, executor, {}, out.report};
  std::vector<ProfileBuilder> builders;
  Result<void> read = reader_of(format)->read(source, context, builders);
  for (ProfileBuilder& builder : builders) {
    if (!read) break;
    auto profile = std::move(builder).finish();
    if (profile)
      out.profiles.push_back(std::move(*profile));
    else
      read = tl::unexpected<Error>(profile.error());
  }
  if (!read) {
    out.error = describe(read.error());
    out.code = read.error().code;
    out.offset = read.error().offset;
  }
  return out;
}

inline ReadOutcome read_with(std::string_view format, std::string text, const ReadLimits& limits = {}) {
  return read_with(format, memory_source(std::move(text), "hidden"), limits);
}

inline std::uint64_t n_reported(const ReadOutcome& outcome, std::string_view kind) {
  for (const ReportRow& row : outcome.report.rows()) {
    if (row.kind == kind) return row.count;
  }
  return 0;
}

// "main;work:12": root first; a line only where it is known.
inline std::string path_of(const Profile& profile, std::uint32_t context) {
  std::string out;
  for (; context != 0; context = profile.tree().parent[context]) {
    const std::uint32_t frame = profile.tree().frame[context];
    std::string name(profile.function_name(profile.frames().function[frame]));
    if (profile.frames().line[frame] != 0) name += ':' + std::to_string(profile.frames().line[frame]);
    out = out.empty() ? name : name + ';' + out;
  }
  return out;
}

inline std::map<std::string, double> self_by_path(const Profile& profile, std::string_view metric) {
  std::map<std::string, double> out;
  const MetricId id = profile.find_metric(metric).value();
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    const double value = std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                                    profile.self().values[id.v]);
    if (value != 0) out[path_of(profile, profile.self().contexts[row])] += value;
  }
  return out;
}

inline std::map<std::string, double> self_by_function(const Profile& profile, std::string_view metric) {
  std::map<std::string, double> out;
  const MetricId id = profile.find_metric(metric).value();
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row) {
    const std::uint32_t frame = profile.tree().frame[profile.self().contexts[row]];
    const double value = std::visit([&](const auto& column) { return static_cast<double>(column[row]); },
                                    profile.self().values[id.v]);
    out[frame == kNone ? "" : std::string(profile.function_name(profile.frames().function[frame]))] += value;
  }
  return out;
}

inline double total_of(const Profile& profile, std::string_view metric) {
  return as_double(profile.total(profile.find_metric(metric).value()));
}

}  // namespace profd::test

// Between the engine's types and the protocol's. Nothing else knows both.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/spec.h"
#include "protocol/generated/psp_types.h"
#include "protocol/response_error.h"
#include "server/engine/engine.h"
#include "server/feature/share.h"
#include "server/feature/summary.h"
#include "server/feature/view_answer.h"

namespace profd {

// ---- numbers and units
psp::Number to_psp(const Value& value);
psp::Amount to_psp(const Amount& amount);
psp::Amount to_amount(const Whole& whole, const Value& value);
psp::Measure to_count(std::uint64_t count);
psp::Measure to_bytes(std::uint64_t bytes);

// ---- views
// `where` is the JSON path for the error.
tl::expected<std::vector<Filter>, protocol::ResponseError> from_psp(const std::vector<psp::Filter>& filters,
                                                                    const std::string& where);
struct NamedSpec {
  std::string profile;  // "": the spec names none
  ViewSpec spec;
};
tl::expected<NamedSpec, protocol::ResponseError> from_psp(const psp::ViewSpecLike& spec,
                                                          const std::string& where);
tl::expected<Granularity, protocol::ResponseError> from_psp(
    const psp::OpenEnum<psp::Granularity>& granularity, const std::string& where);
psp::FrameKind to_psp(FrameKind kind);

// ---- profiles
psp::MappingRule to_psp(MappingRule rule);
psp::ReportRow to_psp(const ReportRow& row);
psp::FormatDecision to_psp(const FormatDecision& decision, bool forced);
std::vector<psp::MetricInfo> metrics_to_psp(const OpenProfile& open);
// With its total; `set`: by settings.
psp::DerivedMetric to_psp(const OpenProfile& open, const ProfileMeasure& derived);
// Those of the profile, in order, with those that it lacks metrics for; `set`: which of them are by settings.
std::vector<psp::DerivedMetric> derived_to_psp(const OpenProfile& open,
                                               const std::vector<DerivedMetric>& set);
// `sources` gives the workspace files of the functions.
psp::ProfileSummary to_psp(const OpenProfile& open, const Summary& summary, const SourceMap& sources);
psp::ProfileListEntry to_psp(const ProfileEntry& entry);

// ---- errors
protocol::ResponseError invalid_params(const std::string& path, std::string_view message);
// RequestFailed with the place, or RequestCancelled. `file` "" when the error is about no file.
protocol::ResponseError to_psp(const Error& error, const std::string& file = "");

}  // namespace profd

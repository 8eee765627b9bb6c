// Answers about views as the protocol has them. Nothing is computed here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/generated/psp_types.h"
#include "protocol/response_error.h"
#include "server/feature/flame_answer.h"
#include "server/feature/hot_path_answer.h"
#include "server/feature/match_answer.h"
#include "server/feature/places.h"
#include "server/feature/sample_groups.h"
#include "server/feature/search_answer.h"
#include "server/feature/series_answer.h"
#include "server/feature/sets_answer.h"
#include "server/feature/spread_answer.h"
#include "server/feature/table_answer.h"
#include "server/feature/tips.h"
#include "server/feature/trend_answer.h"

namespace profd {

// Columns are moved where both sides have the same.
psp::FlameGraphResult to_psp(FlameAnswer answer);
psp::HiddenMatchesResult to_psp(HiddenMatches answer);
psp::TableResult to_psp(TableAnswer answer);
// The error to answer with where it is none.
tl::expected<Statistic, protocol::ResponseError> statistic_named(std::string_view name,
                                                                 const std::string& where);
psp::SpreadResult to_psp(SpreadAnswer answer);
psp::SeriesResult to_psp(SeriesAnswer answer);
psp::TrendResult to_psp(TrendAnswer answer);
psp::HotPathResult to_psp(HotPathAnswer answer);
psp::SearchResult to_psp(SearchAnswer answer);
psp::SetsResult to_psp(SetsAnswer answer);
psp::TipsResult to_psp(TipsAnswer answer);
psp::MatchResult to_psp(MatchAnswer answer);
psp::SampleGroup to_psp(SampleGroup group);
psp::HotspotsResult to_psp(const Places& places);
psp::HotFunction to_psp(const Place& place, const Whole& whole);
psp::MetricColumns to_psp(MetricRows rows);
psp::ChangeColumns to_psp(ChangeColumns changes);
std::optional<psp::Exclusion> exclusion_to_psp(const std::optional<Exclusion>& exclusion);
// In their text form.
std::vector<std::string> texts_of(const std::vector<Filter>& filters);

// Where a name may be cut (core/view/name_cuts.h); nothing where it may not.
std::optional<std::vector<std::uint32_t>> cuts_of(const std::string& name);
// Nothing for the empty text.
std::optional<std::string> said(std::string text);

}  // namespace profd

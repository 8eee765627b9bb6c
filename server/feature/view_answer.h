// What answers about views have in common: amounts, the head that says what was asked and of what, the view
// made ready to be looked at. Plain data; dialects and commands only write it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/engine/views.h"
#include "server/feature/share.h"

namespace profd {

// A value as people read it; without a share where the whole is 0.
struct Amount {
  Value value;
  std::string text;
  std::optional<double> share;
  std::string share_text;
};
Amount amount_of(const Whole& whole, const Value& value, bool estimated = false);

// What filters by thread, label or time could not decide on, as a share of the whole profile.
struct Exclusion {
  Amount amount;
  std::string text;
};
// Nothing for most views.
std::optional<Exclusion> exclusion_of(const Selection& selection);

// Rows or boxes that an answer leaves out, with a place to go on from.
struct Remainder {
  std::uint64_t count = 0;
  Amount amount;
  std::uint32_t offset = 0;
  std::string text;
};
Remainder remainder_of(const Whole& whole, std::size_t count, const Value& amount, std::size_t offset);

struct ViewHead {
  std::string profile;  // its handle
  std::uint32_t revision = 1;
  std::string spec;          // in its text form, with the metric named
  std::string metric, unit;  // the unit as clients are told: "ns"
  Amount total;              // of the whole profile
  Amount view_total;         // of what passed the filters
  std::optional<Exclusion> excluded;
  std::string estimated;  // why numbers of the answer are estimates; "" none is
  std::string note;       // what the rows cannot show; "" nothing
  // Filters that match nothing, and the like; after them what was lost in reading the file.
  std::vector<std::string> warnings;
};

// A spec made ready: the selection, the focus as keys.
struct PreparedView {
  SelectionPtr selection;
  std::vector<Key> focus;
  Whole whole, profile_whole;
};
Result<PreparedView> prepare_view(Views& views, const OpenProfile& open, const ViewSpec& spec,
                                  const StopToken& stop);
ViewHead head_of(const OpenProfile& open, const ViewSpec& spec, const PreparedView& view);

// Bits of a box or row; the protocol's BoxFlag has the same.
namespace box_flag {
inline constexpr std::uint32_t kInlined = 1, kHasSource = 2, kRecursive = 4, kMatched = 8, kMore = 16,
                               kCollapsed = 32, kSelfEstimated = 64, kTotalEstimated = 128;
}

// Where the functions of a profile are in a workspace; null when there is no workspace to look in.
Result<std::shared_ptr<const SourceMap>> sources_in(Views& views, const OpenProfile& open,
                                                    const WorkspaceSnapshot& workspace,
                                                    const StopToken& stop);
bool has_source(const SourceMap* sources, const Selection& selection, Key key);

// Fails with `not_found` for a number that is no key of the selection.
Result<std::vector<Key>> to_keys(const std::vector<std::int64_t>& path, const Selection& selection);

}  // namespace profd

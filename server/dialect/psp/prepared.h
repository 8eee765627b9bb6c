// A view spec made ready to be answered: what the answers about views share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/dialect/psp/convert.h"
#include "server/engine/views.h"

namespace profd {

// A spec made ready: the selection, the focus as keys.
struct Prepared {
  SelectionPtr selection;
  std::vector<Key> focus;
  Whole whole, profile_whole;
};
Result<Prepared> prepare_view(Views& views, const OpenProfile& open, const ViewSpec& spec,
                              const StopToken& stop);

Result<std::vector<Key>> to_keys(const std::vector<std::int64_t>& path, const Selection& selection);
bool has_source(const SourceMap& sources, const Selection& selection, Key key);
inline std::int32_t flag(psp::BoxFlag bit) {
  return static_cast<std::int32_t>(bit);
}
// What filters of samples could not decide on; nothing for most views.
std::optional<psp::Exclusion> exclusion_of(const Selection& selection);
// Nothing for the empty text.
std::optional<std::string> said(std::string text);

}  // namespace profd

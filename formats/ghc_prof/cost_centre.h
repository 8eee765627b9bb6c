// Cost centres become frames.
#pragma once

#include <string_view>

#include "core/model/profile_builder.h"

namespace profd::ghc_prof {

// `source`: "src/Lib.hs:(14,1)-(15,41)", "Main.hs:95:11-83", or a text in angle brackets.
FrameId cost_centre_frame(ProfileBuilder& builder, std::string_view label, std::string_view module,
                          std::string_view source);

}  // namespace profd::ghc_prof

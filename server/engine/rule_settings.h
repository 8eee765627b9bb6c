// Sets of frames and rules of tips as they are written in `.profd.toml`, in settings of clients and in the
// data that comes with profd: one form for all.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/view/frame_sets.h"
#include "server/engine/settings.h"
#include "server/engine/tip_rule.h"

namespace profd {

// Told what is wrong with a value, after its name: "must be a text".
using SayProblem = std::function<void(const SettingValue&, std::string)>;

// `[sets.NAME]`. Nothing where it cannot be used; what is wrong in it otherwise is said and left out.
std::optional<FrameSet> frame_set_of(const std::string& name, const SettingValue& value,
                                     const SayProblem& say);
// `[[tips]]`.
std::optional<TipRule> tip_rule_of(const SettingValue& value, const SayProblem& say);

}  // namespace profd

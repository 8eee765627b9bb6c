// One resolver from names that a person saw to what they mean. A function is shown short ("sha256.block" for
// "crypto/sha256.block", "Map<…, Less>::find"), or with its file where that tells it from another ("main
// (a.c)"), in errors in the quotes that a spec needs: all of these can be typed back. The whole name goes
// before a short form; a short form of several is refused with all of them, and so is a number ("main #2")
// that tells apart what nothing else does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/view/keys.h"
#include "core/view/spec.h"

namespace profd {

// Whether `shown` is a way to write `full`: the name itself, its end after a separator, its short form or the
// end of that, or either with "…" for what was left out.
bool is_shown_as(std::string_view full, std::string_view shown);

// By frame, 1: its function is called so. `name` is a whole name, or one with its place: "main (src/a.c)".
std::vector<std::uint8_t> frames_called(const Profile& profile, std::string_view name);

// The same by function, ascending.
std::vector<FunctionId> functions_called(const Profile& profile, std::string_view name);

// The name of the functions that `shown` means, as frames_called() takes it; nothing when there are none.
// `invalid` when it is the short form of several, with the candidates.
Result<std::optional<std::string>> function_shown_as(const Profile& profile, std::string_view shown);

// The filters with whole names of functions in the place of short ones. What nothing is called stays as it
// is.
Result<std::vector<Filter>> with_whole_names(const Profile& profile, const std::vector<Filter>& filters);

// The metric of that name. `not_found` says what the profile has, and what was perhaps meant.
Result<MetricId> resolve_metric(const Profile& profile, std::string_view name);

// The key that `name` means. `not_found` when there is none, `invalid` when there are several: the message
// then has the candidates, each in a form that means it alone where there is one.
Result<Key> resolve_key(const Profile& profile, const KeyTable& keys, std::string_view name);

}  // namespace profd

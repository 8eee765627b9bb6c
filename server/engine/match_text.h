// How the functions of a diff were matched, in sentences for people.
#pragma once

#include <string>
#include <vector>

#include "core/model/matching.h"

namespace profd {

// What was made one beside names and files; that a rule is of no name the views warn of.
std::vector<std::string> match_sentences(const Matching& matching);

// "same callees 0.93", "near line of one file".
std::string reason_of(const Suggestion& suggestion);

// The rule that makes the two one.
std::string rename_of(const Suggestion& suggestion);

}  // namespace profd

// Seeded random profiles and specs, and the loop that checks a law on many of them.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/model/profile.h"
#include "core/view/selection.h"
#include "tests/support/oracle.h"

namespace profd::test {

using Rng = std::mt19937_64;

std::size_t below(Rng& rng, std::size_t n);  // 0 when n is 0
bool chance(Rng& rng, double probability);

struct Case {
  std::uint64_t seed = 0;
  std::vector<PlainStack> stacks;
  ViewSpec spec;
  bool fractional = false;    // values are quarters in the profile, so that doubles stay exact
  bool with_samples = false;  // threads and times are kept
  bool as_contexts = false;   // built context by context instead of stack by stack
};

// Few names, so that recursion, shared prefixes and repeated fragments are common; empty stacks, zero and
// negative values, inlined frames, several lines a function.
Case random_case(std::uint64_t seed);
// Another run of the same program, asked the same: other stacks, other ids, about half of the first one's.
Case another_run(const Case& c);
ViewSpec random_spec(Rng& rng, bool with_samples);
ProfilePtr build(const Case& c);
// Values of the profile in units of the oracle.
std::int64_t units(const Case& c, const Value& value);
std::string describe(const Case& c);

// The keys of spec.focus; empty when one of them is nowhere in the profile.
std::vector<Key> focus_keys(const Selection& selection, const ViewSpec& spec);
// A name as the oracle writes it.
std::string oracle_name(const Selection& selection, Key key);

// PROFD_PROPERTY_CASES, or 2000.
std::size_t n_cases();

// Runs `law` on random cases; it returns what is wrong, or "". A case that fails is made smaller, halving its
// stacks and filters while it still fails, and reported with its seed (PROFD_PROPERTY_SEED repeats one seed).
using Law = std::function<std::string(const Case&)>;
void check_law(const Law& law, const std::function<void(Case&)>& adjust = {});

}  // namespace profd::test

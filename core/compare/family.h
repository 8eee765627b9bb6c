// Many questions at once: which of a family of changes stand out, so that a family in which nothing changed
// marks anything at all in no more than kLevel of cases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace profd {

struct FamilyTest {
  double p = 1;
  double least_p = 0;  // the smallest that it could have been, as in ChangeTest; 0 where that is not known
};

enum class Standing : std::uint8_t {
  none,
  candidate,   // worth a look: of all candidates about kLevel are false (Benjamini and Hochberg)
  stands_out,  // beyond noise (Holm)
};

struct Family {
  std::vector<Standing> standing;  // by test
  std::size_t n_asked = 0;  // tests that could have reached the level: the others cost nothing (Tarone)
};

// A test whose p or least_p is no number within [0, 1] stands nowhere and is not asked.
Family stand_out(std::span<const FamilyTest> tests);

}  // namespace profd

// How a test says that it cannot run here.
#pragma once

#include <cstdio>
#include <string_view>

namespace profd::test {

// To be followed by `return`: ctest takes the line for a test that was not run, `./dev test` lists it with
// its reason.
inline void not_run(std::string_view reason) {
  std::printf("\nNOT RUN: %.*s\n", static_cast<int>(reason.size()), reason.data());
  std::fflush(stdout);
}

}  // namespace profd::test

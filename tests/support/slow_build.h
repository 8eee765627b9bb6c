// Bounds of processor time that tell one order of growth from another: how much slower this build is.
#pragma once

namespace profd::test {

#if defined(__SANITIZE_THREAD__)
inline constexpr double kSlowBuild = 20;
#elif defined(__SANITIZE_ADDRESS__)
inline constexpr double kSlowBuild = 4;
#else
inline constexpr double kSlowBuild = 1;
#endif

}  // namespace profd::test

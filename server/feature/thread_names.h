// What threads of a profile are called on screen, and the clause of a view that keeps their samples.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/profile.h"

namespace profd {

class ThreadNames {
 public:
  // `profile` must outlive them.
  explicit ThreadNames(const Profile& profile);

  // With its number where it has both, and its process where there are several.
  [[nodiscard]] std::string name(std::uint32_t thread) const;
  // "" where the thread has neither name nor number.
  [[nodiscard]] std::string filter(std::uint32_t thread) const;

 private:
  [[nodiscard]] std::string number(std::uint32_t thread) const;

  const Profile& profile_;
  bool several_ = false;
};

}  // namespace profd

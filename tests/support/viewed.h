// A profile as features get it: open, with views of its own, and neither files nor clients.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "server/engine/views.h"
#include "server/runtime/executor.h"
#include "tests/support/text_profile.h"

namespace profd::test {

struct Viewed {
  SerialExecutor executor;
  Views views{std::size_t{1} << 30, executor};
  OpenProfilePtr open;

  explicit Viewed(std::string_view text) : Viewed(profile_from_text(text)) {}
  explicit Viewed(ProfilePtr profile) {
    auto made = std::make_shared<OpenProfile>();
    made->handle = "p1";
    made->view_id = 1;
    made->name = "test";
    made->metric = profile->default_metric();
    made->profile = std::move(profile);
    open = std::move(made);
  }
};

inline ViewSpec spec_from(std::string_view text) {
  auto spec = parse_view_spec(text);
  return spec ? std::move(*spec) : ViewSpec{};
}

inline std::int64_t whole(const Value& value) {
  return std::get<std::int64_t>(value);
}

}  // namespace profd::test

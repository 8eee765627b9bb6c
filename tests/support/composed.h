// Profiles put together of others.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/compose.h"
#include "tests/support/text_profile.h"

namespace profd::test {

// Inputs are called "1", "2", ...; all are kept. Of a diff the first one is before, the others after.
inline Result<ProfilePtr> composed(Composed kind, std::span<const ProfilePtr> inputs,
                                   std::map<std::string, double> scale = {}) {
  Composing composing(kind);
  const auto add = [&](std::size_t i, bool before) {
    return composing.add(inputs[i], {std::to_string(i + 1), before, true, {}}, {});
  };
  for (std::size_t i = kind == Composed::diff ? 1 : 0; i < inputs.size(); ++i) PROFD_CHECK(add(i, false));
  if (kind == Composed::diff && !inputs.empty()) PROFD_CHECK(add(0, true));
  composing.scale_before(std::move(scale));
  SerialExecutor serial;
  return std::move(composing).finish(serial, {});
}
inline Result<ProfilePtr> composed(Composed kind, std::initializer_list<std::string_view> texts,
                                   std::map<std::string, double> scale = {}) {
  std::vector<ProfilePtr> inputs;
  for (const std::string_view text : texts) inputs.push_back(profile_from_text(text));
  return composed(kind, inputs, std::move(scale));
}

}  // namespace profd::test

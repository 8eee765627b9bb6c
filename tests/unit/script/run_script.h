// Runs scripts as the daemon does.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "server/engine/analyses.h"
#include "server/engine/script_run.h"
#include "tests/support/catch.h"

namespace profd::test {

inline ScriptOutcome run_of(const std::string& text, const std::vector<ProfilePtr>& profiles,
                            const GivenArguments& given = {},
                            std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  const auto head = parse_analysis_head(text);
  REQUIRE(head);
  auto arguments = bind_arguments(*head, given);
  REQUIRE(arguments);
  std::vector<ScriptInput> inputs;
  for (const ProfilePtr& profile : profiles)
    inputs.push_back({"p" + std::to_string(inputs.size() + 1), profile});
  auto outcome = run_script({"test", text, std::move(*arguments)}, inputs, {PROFD_SCRIPT, patience});
  if (!outcome) FAIL(outcome.error().message);
  return std::move(*outcome);
}

}  // namespace profd::test

#include "server/engine/input_profile.h"

#include <memory>

#include "core/model/composition.h"

namespace profd {

OpenProfilePtr open_input(const OpenProfile& open, std::size_t input) {
  const Composition* const composition = open.profile->composition();
  if (composition == nullptr || input >= kMaxKeptInputs) return nullptr;
  const ComposedInput& of = composition->inputs[input];
  if (!of.profile || of.profile->composition() != nullptr) return nullptr;
  auto out = std::make_shared<OpenProfile>(open);
  out->view_id = view_id_of_input(open.view_id, input);
  out->name = of.name;
  out->number = 1;
  out->metric = of.profile->default_metric();
  out->profile = of.profile;
  out->loaded = nullptr;
  out->derived = nullptr;
  out->formulas.clear();
  return out;
}

}  // namespace profd

#include "server/engine/input_profile.h"

#include <memory>
#include <string_view>
#include <vector>

#include "core/model/composition.h"
#include "server/engine/uri.h"
#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

// Inputs of a side after come first; within a side they stand as the URI names them.
std::string uri_of_input(const std::string& uri, std::size_t input) {
  const auto parameters = parameters_of_uri(uri);
  if (!parameters) return {};
  std::vector<std::string> parts;
  for (const bool before : {false, true})
    for (const UriParameter& parameter : *parameters)
      if (before ? parameter.key == "before" : parameter.key == "after" || parameter.key == "of")
        parts.push_back(parameter.value);
  return input < parts.size() ? parts[input] : std::string();
}

}  // namespace

OpenProfilePtr open_input(const OpenProfile& open, std::size_t input) {
  const Composition* const composition = open.profile->composition();
  if (composition == nullptr || input >= kMaxKeptInputs) return nullptr;
  const ComposedInput& of = composition->inputs[input];
  if (!of.profile || of.profile->composition() != nullptr) return nullptr;
  auto out = std::make_shared<OpenProfile>(open);
  out->view_id = view_id_of_input(open.view_id, input);
  out->uri = uri_of_input(open.uri, input);
  out->name = of.name;
  out->number = 1;
  out->metric = of.profile->default_metric();
  out->profile = of.profile;
  out->loaded = nullptr;
  out->derived = nullptr;
  out->formulas.clear();
  return out;
}

std::string file_of_input(const OpenProfile& input) {
  return path_of_uri(input.uri.substr(0, input.uri.rfind('#'))).value_or("");
}

}  // namespace profd

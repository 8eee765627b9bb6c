#include "server/dialect/psp/abilities.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "protocol/capabilities.h"

namespace profd {
namespace {

bool registers(const std::optional<psp::RegistrationClientCapabilities>& of) {
  return of && of->dynamic_registration.value_or(false);
}

// Whether the client asks for a property of a hint when it shows it.
bool resolves(const nlohmann::json& hint, std::string_view property) {
  const auto support = hint.is_object() ? hint.find("resolveSupport") : hint.end();
  if (!hint.is_object() || support == hint.end() || !support->is_object()) return false;
  const auto properties = support->find("properties");
  return properties != support->end() && properties->is_array() &&
         std::any_of(properties->begin(), properties->end(), [&](const nlohmann::json& one) {
           return one.is_string() && one.get_ref<const std::string&>() == property;
         });
}

void add_workspace(const psp::WorkspaceClientCapabilities& workspace, Abilities& can) {
  can.hint_refresh = workspace.inlay_hint && workspace.inlay_hint->refresh_support.value_or(false);
  can.lens_refresh = workspace.code_lens && workspace.code_lens->refresh_support.value_or(false);
  can.text_content = workspace.text_document_content.has_value();
  can.workspace_folders = workspace.workspace_folders.value_or(false);
  can.configuration = workspace.configuration.value_or(false);
  can.registers_configuration = registers(workspace.did_change_configuration);
  can.registers_watched_files = registers(workspace.did_change_watched_files);
}

void add_text_document(const psp::TextDocumentClientCapabilities& text, Abilities& can) {
  can.inlay_hints = text.inlay_hint.has_value();
  can.registers_folds = registers(text.folding_range);
  can.registers_definitions = registers(text.definition);
  can.registers_links = registers(text.document_link);
  can.registers_highlights = registers(text.document_highlight);
  can.call_hierarchy = text.call_hierarchy.has_value();
  can.nested_symbols =
      text.document_symbol && text.document_symbol->hierarchical_document_symbol_support.value_or(false);
  can.action_literals = text.code_action && text.code_action->code_action_literal_support.has_value();
  if (text.inlay_hint) {
    can.hint_tooltips = resolves(**text.inlay_hint, "tooltip");
    can.hint_locations = resolves(**text.inlay_hint, "label.location");
  }
  can.pulls_diagnostics = text.diagnostic.has_value();
  can.registers_diagnostics = text.diagnostic && text.diagnostic->dynamic_registration.value_or(false);
  can.related_information =
      (text.publish_diagnostics && text.publish_diagnostics->related_information.value_or(false)) ||
      (text.diagnostic && text.diagnostic->related_information.value_or(false));
  if (text.hover && text.hover->content_format)
    can.markdown = std::any_of(text.hover->content_format->begin(), text.hover->content_format->end(),
                               [](const auto& kind) { return kind == psp::MarkupKind::markdown; });
}

// Native clients have views of their own for these.
void leave_to_native(Abilities& can) {
  can.native = true;
  can.call_hierarchy = can.document_symbols = can.code_actions = false;
  can.hint_tooltips = can.hint_locations = false;
  can.pulls_diagnostics = can.registers_diagnostics = false;
  can.configuration = can.registers_configuration = can.registers_watched_files = false;
}

}  // namespace

Abilities abilities_of(const psp::ClientCapabilities& capabilities) {
  Abilities can;
  // Some ask for these and do not say that they can (Helix has symbols of documents).
  can.document_symbols = can.code_actions = true;
  if (capabilities.workspace) add_workspace(*capabilities.workspace, can);
  if (capabilities.window) {
    can.progress = capabilities.window->work_done_progress.value_or(false);
    can.show_document = capabilities.window->show_document && capabilities.window->show_document->support;
  }
  if (capabilities.text_document) add_text_document(*capabilities.text_document, can);
  // Without a way to say that there are others, those that were asked for would stay: they are pushed then.
  const auto& workspace = capabilities.workspace;
  if (!workspace || !workspace->diagnostics || !workspace->diagnostics->refresh_support.value_or(false))
    can.pulls_diagnostics = can.registers_diagnostics = false;
  if (const auto own = protocol::profd_capabilities(capabilities)) {
    leave_to_native(can);
    can.profile_changed = own->profile_changed;
    can.selection = own->selection;
    can.status = own->status;
    can.project = own->project;
    can.recorded = own->recorded;
  }
  return can;
}

}  // namespace profd

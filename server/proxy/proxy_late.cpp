// A daemon that answered after the editor had been told what the wrapped server can.
#include <utility>

#include "protocol/json_spans.h"
#include "server/proxy/proxy.h"

namespace profd {
namespace {

using protocol::is_json_object;
using protocol::json_member;
using protocol::with_json_member;

constexpr std::string_view kProvider = "Provider";

// "codeLens" of "codeLensProvider": as the capabilities of editors have it.
std::string_view ability_name(const MergedMethod& method) {
  return method.capability.substr(0, method.capability.size() - kProvider.size());
}

}  // namespace

bool Proxy::takes_registrations(std::string_view where, std::string_view name) const {
  const std::string_view part = json_member(json_member(initialize_, "capabilities"), where);
  return json_member(json_member(part, name), "dynamicRegistration") == "true";
}

void Proxy::register_late(std::string_view method, std::string_view options) {
  ask_editor("client/registerCapability",
             "{\"registrations\":[{\"id\":" + tagged("late " + std::string(method)) + ",\"method\":\"" +
                 std::string(method) + "\",\"registerOptions\":" + std::string(options) + "}]}");
}

// What the wrapped server announced is answered by both from now on; what it did not is registered, where the
// editor takes that.
void Proxy::profd_is_late() {
  const std::string_view capabilities = json_member(profd_initialized_, "capabilities");
  can_ = merge_initialize(json_member(initialize_answer_, "result"), profd_initialized_).abilities;
  can_.sync = {true, true, true};
  std::string missing;
  for (const MergedMethod& one : merged_methods()) {
    if (!can_.profd_alone.contains(one.method)) continue;
    const bool of_workspace = one.method == "workspace/symbol";
    if (takes_registrations(of_workspace ? "workspace" : "textDocument",
                            of_workspace ? "symbol" : ability_name(one))) {
      const std::string_view provider = json_member(capabilities, one.capability);
      std::string options(is_json_object(provider) ? provider : "{}");
      if (!of_workspace) options = with_json_member(options, "documentSelector", R"([{"scheme":"file"}])");
      register_late(one.method, options);
      continue;
    }
    can_.profd_alone.erase(can_.profd_alone.find(one.method));
    if (!missing.empty()) missing += ", ";
    missing += ability_name(one);
  }
  const std::string_view commands = json_member(capabilities, "executeCommandProvider");
  if (is_json_object(commands) && takes_registrations("workspace", "executeCommand"))
    register_late("workspace/executeCommand", commands);
  if (!missing.empty())
    show_message(
        "profd: its daemon was there after the language server had answered, and this editor takes "
        "no more then: it has none of profd's " +
        missing + " until the language server is started again");
}

}  // namespace profd

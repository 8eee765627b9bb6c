// Engine: which profile a client means where it names none.
#include <utility>

#include "server/engine/engine.h"

namespace profd {

// What the client has not open, because it failed or was closed, is passed over.
Engine::Meant Engine::first_of_project(ClientId client, const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    const OriginId id = store_.by_key(key);
    if (id == 0) continue;
    for (const OpenMember& member : store_.at(id).members)
      if (member.clients.count(client) != 0) return {member.current, false};
    if (loading_.waits(id, client)) return {nullptr, true};
  }
  return {};
}

Engine::Meant Engine::look_up(ClientId client) const {
  Meant meant;
  const auto& choices = meant_.choices(client);
  for (auto choice = choices.rbegin(); choice != choices.rend(); ++choice) {
    if (choice->handle.empty()) {
      meant.awaited = meant.awaited || client != kNobody;
    } else if (const OpenMember* member = store_.member(choice->handle)) {
      meant.open = member->current;
      return meant;
    }
  }
  if (client != kNobody) {
    if (const MeantProfiles::Project* project = meant_.project(client)) {
      const Meant first = *project ? first_of_project(client, **project) : Meant{nullptr, true};
      if (first.open || first.awaited) return {first.open, meant.awaited || first.awaited};
    }
    meant.open = look_up(kNobody).open;
    return meant;
  }
  for (const auto& [other, project] : meant_.projects())
    if (project)
      if (const Meant first = first_of_project(other, *project); first.open) return first;
  return {store_.newest(), false};
}

void Engine::set_project(ClientId client, const std::optional<std::vector<std::string>>& paths) {
  MeantProfiles::Project keys;
  if (paths) {
    keys.emplace();
    for (const std::string& path : *paths) keys->push_back(file_origin(path, {})->key());
  }
  meant_.set_project(client, std::move(keys));
}

Result<void> Engine::choose(ClientId client, const std::string& handle) {
  PROFD_TRY(const OpenProfilePtr open, find(handle, client));
  meant_.choose(client, open->handle);
  announce(ProfileChange::default_changed, store_.at(store_.of_handle(open->handle)),
           *store_.member(open->handle), open->name + " is shown");
  return {};
}

bool Engine::chose(ClientId client, const std::string& handle) const {
  const auto& choices = meant_.choices(client);
  return std::any_of(choices.begin(), choices.end(),
                     [&](const MeantProfiles::Choice& choice) { return choice.handle == handle; });
}

}  // namespace profd

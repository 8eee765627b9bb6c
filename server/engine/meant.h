// MeantProfiles: what clients opened and chose themselves, and what their projects list. From these follows
// which profile a client means where it names none; Engine::meant() is the rule. Belongs to the strand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/runtime/scheduler.h"

namespace profd {

class MeantProfiles {
 public:
  struct Choice {
    std::uint64_t ticket = 0;  // of the opening, while `handle` is not known
    std::string handle;        // "" while it is read
  };
  // What a project lists, by keys of origins, the first one first; not known while its globs are looked for.
  using Project = std::optional<std::vector<std::string>>;
  // Older choices of a client are forgotten.
  static constexpr std::size_t kMaxChoices = 64;

  // The client asked for it now: what it asks for later goes before it, whichever is read first.
  void opening(ClientId client, std::uint64_t ticket);
  // How that ended: with the handle that is meant, or "".
  void opened(ClientId client, std::uint64_t ticket, const std::string& handle);
  void choose(ClientId client, const std::string& handle);
  void closed(ClientId client, const std::string& handle);
  void set_project(ClientId client, Project keys) { projects_[client] = std::move(keys); }
  void forget(ClientId client);

  // Newest last; of kNobody: those of all clients, as long as those who made them are there or not.
  [[nodiscard]] const std::deque<Choice>& choices(ClientId client) const;
  // Null: it has none.
  [[nodiscard]] const Project* project(ClientId client) const;
  [[nodiscard]] const std::map<ClientId, Project>& projects() const { return projects_; }

 private:
  void add(ClientId client, Choice choice);

  std::map<ClientId, std::deque<Choice>> choices_;
  std::map<ClientId, Project> projects_;
};

}  // namespace profd

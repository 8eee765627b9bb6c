#include "server/engine/meant.h"

#include <algorithm>
#include <utility>

namespace profd {

void MeantProfiles::add(ClientId client, Choice choice) {
  std::deque<Choice>& choices = choices_[client];
  if (!choice.handle.empty())
    std::erase_if(choices, [&](const Choice& one) { return one.handle == choice.handle; });
  choices.push_back(std::move(choice));
  if (choices.size() > kMaxChoices) choices.pop_front();
}

void MeantProfiles::opening(ClientId client, std::uint64_t ticket) {
  add(client, {ticket, ""});
  if (client != kNobody) add(kNobody, {ticket, ""});
}

void MeantProfiles::opened(ClientId client, std::uint64_t ticket, const std::string& handle) {
  for (const ClientId of : {client, kNobody}) {
    const auto found = choices_.find(of);
    if (found == choices_.end()) continue;
    std::deque<Choice>& choices = found->second;
    const auto choice = std::find_if(choices.begin(), choices.end(), [&](const Choice& one) {
      return one.handle.empty() && one.ticket == ticket;
    });
    if (choice == choices.end()) continue;
    if (handle.empty())
      choices.erase(choice);
    else
      choice->handle = handle;
  }
}

void MeantProfiles::choose(ClientId client, const std::string& handle) {
  add(client, {0, handle});
  if (client != kNobody) add(kNobody, {0, handle});
}

void MeantProfiles::closed(ClientId client, const std::string& handle) {
  if (const auto found = choices_.find(client); found != choices_.end())
    std::erase_if(found->second, [&](const Choice& one) { return one.handle == handle; });
}

void MeantProfiles::forget(ClientId client) {
  // What it was opening is not opened for anybody else.
  if (const auto found = choices_.find(client); found != choices_.end())
    for (const Choice& choice : found->second)
      if (choice.handle.empty())
        std::erase_if(choices_[kNobody],
                      [&](const Choice& one) { return one.handle.empty() && one.ticket == choice.ticket; });
  choices_.erase(client);
  projects_.erase(client);
}

const std::deque<MeantProfiles::Choice>& MeantProfiles::choices(ClientId client) const {
  static const std::deque<Choice> none;
  const auto found = choices_.find(client);
  return found == choices_.end() ? none : found->second;
}

const MeantProfiles::Project* MeantProfiles::project(ClientId client) const {
  const auto found = projects_.find(client);
  return found == projects_.end() ? nullptr : &found->second;
}

}  // namespace profd

#include "server/feature/thread_names.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/view/spec.h"

namespace profd {

ThreadNames::ThreadNames(const Profile& profile) : profile_(profile) {
  std::set<std::string_view> processes;
  for (const StringId name : profile.threads().process_name) processes.insert(profile.strings()[name]);
  several_ = processes.size() > 1;
}

std::string ThreadNames::number(std::uint32_t thread) const {
  const std::int64_t tid = profile_.threads().tid[thread];
  return tid >= 0 ? std::to_string(tid) : std::string();
}

std::string ThreadNames::name(std::uint32_t thread) const {
  const ThreadTable& threads = profile_.threads();
  const std::string_view own = profile_.strings()[threads.name[thread]];
  const std::string with = number(thread);
  std::string out = own.empty()    ? "thread " + with
                    : with.empty() ? std::string(own)
                                   : fmt::format("{} {}", own, with);
  const std::string_view process = profile_.strings()[threads.process_name[thread]];
  return several_ && !process.empty() && process != own ? fmt::format("{}: {}", process, out) : out;
}

std::string ThreadNames::filter(std::uint32_t thread) const {
  Filter filter;
  filter.by = FilterBy::thread;
  filter.pattern = profile_.strings()[profile_.threads().name[thread]];
  if (filter.pattern.empty()) filter.pattern = number(thread);
  return filter.pattern.empty() ? std::string() : to_text(filter);
}

}  // namespace profd

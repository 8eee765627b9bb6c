#include "server/engine/live_origin.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/engine/uri_parameters.h"

namespace profd {
namespace {

using std::chrono::milliseconds;

// A tree of many contexts takes a while to be made; the city and the list do not wait for it.
constexpr milliseconds kTellEvery{500};
constexpr std::size_t kMostFollowed = 1000;

// Origins that change while their session goes on.
struct Followed {
  std::mutex mutex;
  std::set<std::string> keys;
};

class LiveOrigin final : public Origin {
 public:
  LiveOrigin(std::shared_ptr<LiveSession> session, std::optional<live::Nanoseconds> from,
             std::optional<live::Nanoseconds> to)
      : session_(std::move(session)), from_(from), to_(to), key_(session_->uri()) {
    if (from_) key_ += fmt::format("?from={}", *from_);
    if (to_) key_ += fmt::format("{}to={}", from_ ? "&" : "?", *to_);
    const LiveInfo info = session_->info();
    name_ = fmt::format("{} ({})", info.program.empty() ? "live" : info.program, session_->name());
    if (from_ || to_)
      name_ += fmt::format(" from {:.1f} s to {}", static_cast<double>(from_.value_or(0)) * 1e-9,
                           to_ ? fmt::format("{:.1f} s", static_cast<double>(*to_) * 1e-9) : "now");
  }

  const std::string& key() const override { return key_; }
  const std::string& uri() const override { return key_; }
  std::string name() const override { return name_; }
  const std::string& place() const override { return name_; }
  std::optional<std::string> freshness() const override {
    const live::Nanoseconds now = session_->time();
    return fmt::format("{}", to_ ? std::min(*to_, now) : now);
  }
  OriginPolicy policy() const override {
    OriginPolicy policy;
    policy.warm_up = false;
    policy.tell_every = kTellEvery;
    return policy;
  }
  Result<Load> load(const LoadContext& context) const override {
    auto out = std::make_shared<LoadedProfiles>();
    out->freshness = *freshness();
    PROFD_TRY(ProfilePtr profile, session_->profile(from_, to_, context.executor, context.stop));
    out->decision.format = "plive";
    out->decision.certain = true;
    report(*out);
    out->profiles.push_back(std::move(profile));
    out->memory = memory_of(out->profiles);
    Load load;
    load.profiles = std::move(out);
    return load;
  }

 private:
  void report(LoadedProfiles& out) const {
    const LiveTotals totals = session_->info().totals;
    if (totals.counts.lost > 0)
      out.report.add("lost-events", Severity::loss,
                     "The agent dropped events; the time in which it did is [events were lost].",
                     std::nullopt, totals.counts.lost);
    if (totals.more_contexts > 0)
      out.report.add("more-contexts", Severity::loss,
                     "Calls stand in [more calling contexts]: there are more contexts than are kept apart.",
                     std::nullopt, totals.more_contexts);
  }

  std::shared_ptr<LiveSession> session_;
  std::optional<live::Nanoseconds> from_, to_;
  std::string key_, name_;
};

// "live://" itself: no profile, and whose sessions they are.
class LiveRoot final : public Origin {
 public:
  explicit LiveRoot(std::shared_ptr<LiveSessions> with) : sessions(std::move(with)) {}
  const std::string& key() const override { return uri_; }
  const std::string& uri() const override { return uri_; }
  std::string name() const override { return uri_; }
  const std::string& place() const override { return uri_; }
  Result<Load> load(const LoadContext&) const override {
    return fail(ErrorCode::invalid, "live:// names no session: live://live-1");
  }
  std::optional<std::string> freshness() const override { return uri_; }

  const std::shared_ptr<LiveSessions> sessions;

 private:
  std::string uri_ = "live://";
};

Result<live::Nanoseconds> time_of(const std::string& text) {
  live::Nanoseconds time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (error != std::errc() || end != text.data() + text.size() || time < 0)
    return fail(ErrorCode::invalid, fmt::format("`{}` is no time in nanoseconds", text));
  return time;
}

}  // namespace

void add_live_origins(Origins& origins, Post post, std::function<void(const std::string& key)> changed,
                      const SymbolOptions& symbols) {
  auto followed = std::make_shared<Followed>();
  auto sessions = std::make_shared<LiveSessions>(
      [followed, post = std::move(post), changed = std::move(changed)](const std::string& uri) {
        std::vector<std::string> keys;
        {
          const std::lock_guard lock(followed->mutex);
          for (const std::string& key : followed->keys)
            if (key == uri || key.starts_with(uri + "?")) keys.push_back(key);
        }
        // Nobody looks.
        if (keys.empty()) return;
        post([changed, keys = std::move(keys)] {
          for (const std::string& key : keys) changed(key);
        });
      },
      symbols);
  origins.add("live", [sessions, followed](std::string_view uri, const OpenOptions&) -> Result<OriginPtr> {
    std::string_view name =
        uri.substr(uri.find("//") == std::string_view::npos ? uri.size() : uri.find("//") + 2);
    name = name.substr(0, name.find('?'));
    if (name.empty()) return std::make_shared<LiveRoot>(sessions);
    PROFD_TRY(std::shared_ptr<LiveSession> session, sessions->find(std::string(name)));
    std::optional<live::Nanoseconds> from, to;
    PROFD_TRY(const std::vector<UriParameter> parameters, parameters_of_uri(uri));
    for (const auto& [key, value] : parameters) {
      if (key != "from" && key != "to")
        return fail(ErrorCode::invalid, fmt::format("a live URI has no `{}`", key));
      PROFD_TRY((key == "from" ? from : to), time_of(value));
    }
    auto origin = std::make_shared<LiveOrigin>(std::move(session), from, to);
    if (!to) {
      const std::lock_guard lock(followed->mutex);
      if (followed->keys.size() < kMostFollowed) followed->keys.insert(origin->key());
    }
    return origin;
  });
}

std::shared_ptr<LiveSessions> live_sessions(const Origins& origins) {
  const auto root = origins.make("live://", {});
  if (!root) return nullptr;
  const auto* live = dynamic_cast<const LiveRoot*>(root->get());
  return live == nullptr ? nullptr : live->sessions;
}

}  // namespace profd

// Tasks: what a dialect does with a request, whatever its protocol: it finds the profile that is meant,
// refuses what is of another revision, and computes on a worker over snapshots. Belongs to the strand.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "server/engine/engine.h"

namespace profd {

// Why a request is not done. Each protocol has words of its own for these.
struct Refusal {
  enum class Why : std::uint8_t {
    error,     // as `error` says
    busy,      // the client has as many tasks waiting as it may have
    closed,    // the profile was closed to save memory; opening it again helps
    outdated,  // what was named is of another revision than `revision`
    unnamed,   // no revision was named with it
  };
  Why why = Why::error;
  Error error;
  std::uint32_t revision = 0;
};
template <class T>
using OrRefusal = tl::expected<T, Refusal>;

class Tasks {
 public:
  explicit Tasks(Engine& engine) : engine_(engine) {}
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  void set_client(ClientId client) { client_ = client; }

  // The open profile of a handle; of "" the one that the client means.
  [[nodiscard]] OrRefusal<OpenProfilePtr> profile(const std::string& handle) const;
  // Nothing when keys or nodes of an earlier answer are of the profile as it is; `field` has them. They mean
  // other boxes in another revision, so one that is older, or not named, is refused.
  [[nodiscard]] static std::optional<Refusal> outdated(const OpenProfile& open,
                                                       const std::optional<std::uint32_t>& revision,
                                                       std::string_view field);

  struct How {
    Lane lane = Lane::interactive;
    const char* name = "";
    // What the work needs is not at hand: it waits among the long ones.
    bool is_long = false;
    std::string panel = {};  // a newer task of the same panel stops an older one
  };
  // Work on a worker, on an account of its own: one that takes more memory than there is fails.
  using Work = UniqueFunction<Result<void>(const StopToken& stop)>;
  // Runs `work`, which answers when it is done; `refused` is called in its place, or after it has failed, on
  // any thread. `begins` is given what stops it, before anything runs: to be called on the strand, at any
  // time. What no worker has taken by then is refused with `cancelled` at once.
  void run(const How& how, Work work, std::function<void(const Refusal&)> refused,
           const std::function<void(std::function<void()> stop)>& begins);

 private:
  Engine& engine_;
  ClientId client_ = kNobody;
  std::map<std::string, std::function<void()>> panels_;  // what stops the newest task of each
};

}  // namespace profd

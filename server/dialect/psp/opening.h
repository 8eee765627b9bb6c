// Opening files for a client: with progress where it takes some, and a way to cancel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/generated/psp_types.h"
#include "server/engine/engine.h"
#include "server/runtime/progress.h"

namespace profd {

struct SessionContext;

class Opening {
 public:
  explicit Opening(SessionContext& session) : session_(session) {}

  // Opens what `origin` has (null: what `request.uri` names), reports progress to `token` (or to one of ours
  // when the client lets us make one), makes ahead of time what requests will need. `on_cancel` is given what
  // stops it. `opened` is called once.
  void open(OpenRequest request, OriginPtr origin, const std::optional<psp::ProgressToken>& token,
            const std::function<void(std::function<void()>)>& on_cancel, Engine::Opened opened);
  // What the client says it does not want any more; unknown ones are over, or never begun.
  void cancel(const psp::ProgressToken& token);
  // Sends progress to a token of the client, or to one of ours where it lets us make one, as long as
  // `progress` is kept; empty where it does not. `used` is what the token is called.
  Engine::ProgressFn report_to(const std::optional<psp::ProgressToken>& token, const std::string& title,
                               std::shared_ptr<Progress>& progress, std::string& used);

 private:
  SessionContext& session_;
  std::map<std::string, std::uint64_t> tickets_;  // openings by progress token
  std::int32_t next_token_ = 1;
};

// The path of a file URI; anything else as it is.
std::string path_or_uri(const std::string& uri);

}  // namespace profd

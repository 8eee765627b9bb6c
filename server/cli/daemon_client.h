// DaemonClient: a command as a client of the user's daemon: one connection, requests one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "protocol/framing.h"
#include "server/cli/connect.h"

namespace profd {

class DaemonClient {
 public:
  using Told = std::function<void(const std::string& method, const nlohmann::json& params)>;

  // `root`: the folder it works in; "" none. `not_found`: none runs and none may be started; the message says
  // what helps.
  static Result<DaemonClient> open(const ConnectOptions& options, std::string_view name,
                                   const std::string& root);

  // The result. `invalid`: the daemon refused, and goes on. `params`: JSON; "" none. `told`: notifications
  // that come before the answer.
  Result<nlohmann::json> ask(std::string_view method, const std::string& params, const Told& told = {});

  void close();

 private:
  explicit DaemonClient(UniqueFd fd) : fd_(std::move(fd)) {}
  Result<nlohmann::json> answer_to(std::int64_t id, const Told& told);
  UniqueFd fd_;
  protocol::FrameReader frames_;
  std::int64_t next_id_ = 2;
};

}  // namespace profd

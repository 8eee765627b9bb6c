// What a Peer and its outstanding ReplyOnces share. Internal to protocol/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "protocol/peer.h"
#include "protocol/request_id.h"

namespace profd::protocol {

class PeerCore {
 public:
  explicit PeerCore(PeerHooks hooks) : hooks_(std::move(hooks)) {}

  void send(std::string body, Keep keep = Keep::always);
  void log(std::string_view text) const;
  [[nodiscard]] std::optional<ResponseError> why_dropped(std::string_view method) const {
    return hooks_.dropped ? hooks_.dropped(method) : std::nullopt;
  }
  void at_last(const std::function<void()>& say) const { hooks_.at_last ? hooks_.at_last(say) : say(); }

  // Requests of the other side. The serial tells two with one id apart.
  std::optional<std::uint64_t> begin_incoming(const RequestId& id, std::size_t limit);
  // Whether the answer is still wanted.
  bool end_incoming(std::uint64_t serial);
  bool cancelled(std::uint64_t serial) const;
  void set_cancel_hook(std::uint64_t serial, std::function<void()> stop);
  // Whether there was such a request.
  bool cancel_incoming(const RequestId& id);

  // Requests of ours.
  std::int64_t begin_outgoing(Peer::AnyCallback callback, std::size_t limit);
  std::optional<Peer::AnyCallback> end_outgoing(const RequestId& id);

  void close();
  std::size_t n_incoming() const;
  std::size_t n_outgoing() const;

 private:
  struct Incoming {
    RequestId id;
    bool cancelled = false;
    std::function<void()> stop;
  };

  PeerHooks hooks_;
  mutable std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t next_serial_ = 1;
  std::int64_t next_id_ = 1;
  std::map<std::uint64_t, Incoming> incoming_;
  std::map<RequestId, std::uint64_t> serial_of_;        // the newest request of each id
  std::map<std::int64_t, Peer::AnyCallback> outgoing_;  // oldest first
};

}  // namespace profd::protocol

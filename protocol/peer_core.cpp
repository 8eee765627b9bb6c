#include "protocol/peer_core.h"

#include <vector>

namespace profd::protocol {

void PeerCore::send(std::string body, Keep keep) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
  }
  hooks_.send(std::move(body), keep);
}

void PeerCore::log(std::string_view text) const {
  if (hooks_.log) hooks_.log(text);
}

std::optional<std::uint64_t> PeerCore::begin_incoming(const RequestId& id, std::size_t limit) {
  const std::lock_guard lock(mutex_);
  if (closed_ || incoming_.size() >= limit) return std::nullopt;
  const std::uint64_t serial = next_serial_++;
  incoming_.emplace(serial, Incoming{id, false, nullptr});
  serial_of_.insert_or_assign(id, serial);
  return serial;
}

bool PeerCore::end_incoming(std::uint64_t serial) {
  std::function<void()> stop;  // destroyed outside the lock: it may own anything
  const std::lock_guard lock(mutex_);
  const auto found = incoming_.find(serial);
  if (found == incoming_.end()) return false;
  // A reused id must not take the cancel hook of the request that reused it.
  if (auto newest = serial_of_.find(found->second.id); newest != serial_of_.end() && newest->second == serial)
    serial_of_.erase(newest);
  stop = std::move(found->second.stop);
  incoming_.erase(found);
  return !closed_;
}

bool PeerCore::cancelled(std::uint64_t serial) const {
  const std::lock_guard lock(mutex_);
  const auto found = incoming_.find(serial);
  return closed_ || (found != incoming_.end() && found->second.cancelled);
}

void PeerCore::set_cancel_hook(std::uint64_t serial, std::function<void()> stop) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = incoming_.find(serial);
    if (found == incoming_.end() && !closed_) return;  // answered already
    if (found != incoming_.end() && !found->second.cancelled && !closed_) {
      std::swap(found->second.stop, stop);
      return;
    }
  }
  if (stop) stop();
}

bool PeerCore::cancel_incoming(const RequestId& id) {
  std::function<void()> stop;
  {
    const std::lock_guard lock(mutex_);
    const auto serial = serial_of_.find(id);
    if (serial == serial_of_.end()) return false;
    Incoming& request = incoming_.at(serial->second);
    request.cancelled = true;
    stop = std::exchange(request.stop, nullptr);
  }
  if (stop) stop();
  return true;
}

std::int64_t PeerCore::begin_outgoing(Peer::AnyCallback callback, std::size_t limit) {
  Peer::AnyCallback failed;
  const char* why = nullptr;
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = next_id_++;
    if (closed_) {
      failed = std::move(callback);
      why = "the connection is closed";
    } else {
      if (outgoing_.size() >= limit && !outgoing_.empty()) {
        failed = std::move(outgoing_.begin()->second);
        outgoing_.erase(outgoing_.begin());
        why = "given up: too many requests wait for an answer";
      }
      outgoing_.emplace(id, std::move(callback));
    }
  }
  if (failed) failed(tl::make_unexpected(ResponseError(psp::ErrorCodes::request_failed, why)));
  return id;
}

std::optional<Peer::AnyCallback> PeerCore::end_outgoing(const RequestId& id) {
  if (id.number() == nullptr) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto found = outgoing_.find(*id.number());
  if (found == outgoing_.end()) return std::nullopt;
  Peer::AnyCallback callback = std::move(found->second);
  outgoing_.erase(found);
  return callback;
}

void PeerCore::close() {
  std::vector<std::function<void()>> stops;
  std::map<std::int64_t, Peer::AnyCallback> unanswered;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    for (auto& [serial, request] : incoming_) {
      request.cancelled = true;
      if (request.stop) stops.push_back(std::exchange(request.stop, nullptr));
    }
    unanswered.swap(outgoing_);
  }
  for (const auto& stop : stops) stop();
  for (const auto& [id, callback] : unanswered)
    callback(tl::make_unexpected(ResponseError(psp::ErrorCodes::request_failed, "the connection is closed")));
}

std::size_t PeerCore::n_incoming() const {
  const std::lock_guard lock(mutex_);
  return incoming_.size();
}

std::size_t PeerCore::n_outgoing() const {
  const std::lock_guard lock(mutex_);
  return outgoing_.size();
}

}  // namespace profd::protocol

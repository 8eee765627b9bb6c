// Admission: how many connections the daemon holds, and what one may cost before it has shown the token.
//
// Every listener takes a place here for what it accepts: an owner's (a Unix socket, whose other end is the
// same user) or a stranger's (TCP, HTTP: anybody on this machine). Belongs to the strand.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

namespace profd {

struct AdmissionLimits {
  std::size_t connections = 256;
  std::size_t for_owner = 64;  // of them: never given to TCP or HTTP, token or not
  // That have not shown the token yet; the oldest makes room for a new one of its kind. A browser opens
  // several at once for the files of a page, which need no token.
  std::size_t tcp_strangers = 8;
  std::size_t http_strangers = 64;
  std::size_t stranger_bytes = std::size_t{32} << 10;  // of the first message: `initialize` with the token
  std::chrono::milliseconds stranger_time{3000};       // for it to arrive
};
// For a process that may have so many descriptors open: some are kept for the files it reads.
AdmissionLimits admission_limits(std::size_t descriptors);

enum class Stranger : std::uint8_t { tcp, http };

class Admission {
 public:
  // Given back when it goes.
  class Place {
   public:
    virtual ~Place() = default;
    // The token was right.
    virtual void known() = 0;
  };

  explicit Admission(const AdmissionLimits& limits = {});

  // Null: there is no room.
  [[nodiscard]] std::unique_ptr<Place> admit_owner();
  // `leave` is called when a newer stranger needs the place, not after known(); it lets the place go.
  [[nodiscard]] std::unique_ptr<Place> admit_stranger(Stranger kind, std::function<void()> leave);

  [[nodiscard]] const AdmissionLimits& limits() const { return limits_; }
  [[nodiscard]] std::size_t n_connections() const { return counts_->connections; }
  [[nodiscard]] std::size_t n_strangers(Stranger kind) const { return counts_->of(kind).size(); }

 private:
  using Waiting = std::list<std::function<void()>>;  // oldest first
  struct Counts {
    std::size_t connections = 0, from_network = 0;
    std::array<Waiting, 2> strangers;
    Waiting& of(Stranger kind) { return strangers[static_cast<std::size_t>(kind)]; }
  };
  class Taken;

  [[nodiscard]] std::size_t most(Stranger kind) const {
    return kind == Stranger::tcp ? limits_.tcp_strangers : limits_.http_strangers;
  }

  AdmissionLimits limits_;
  std::shared_ptr<Counts> counts_;  // places may outlive this
};

}  // namespace profd

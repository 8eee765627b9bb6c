// Admission: how many connections the daemon holds, and what one may cost before it has shown the token.
//
// Every listener takes a place here for what it accepts: an owner's (a Unix socket, whose other end is the
// same user) or a stranger's (TCP, HTTP: anybody on this machine). Belongs to the strand.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace profd {

struct AdmissionLimits {
  std::size_t connections = 256;
  std::size_t for_owner = 64;  // of them: never given to TCP, token or not
  std::size_t strangers = 8;   // that have not shown the token yet; the oldest makes room for a new one
  std::size_t stranger_bytes = std::size_t{32} << 10;  // of the first message: `initialize` with the token
  std::chrono::milliseconds stranger_time{3000};       // for it to arrive
};
// For a process that may have so many descriptors open: some are kept for the files it reads.
AdmissionLimits admission_limits(std::size_t descriptors);

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
  [[nodiscard]] std::unique_ptr<Place> admit_stranger(std::function<void()> leave);

  [[nodiscard]] const AdmissionLimits& limits() const { return limits_; }
  [[nodiscard]] std::size_t n_connections() const { return counts_->connections; }
  [[nodiscard]] std::size_t n_strangers() const { return counts_->strangers.size(); }

 private:
  struct Counts {
    std::size_t connections = 0, from_network = 0;
    std::list<std::function<void()>> strangers;  // oldest first
  };
  class Taken;

  AdmissionLimits limits_;
  std::shared_ptr<Counts> counts_;  // places may outlive this
};

}  // namespace profd

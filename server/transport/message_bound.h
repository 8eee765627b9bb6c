// MessageBound: what the messages of all clients together may hold, those being read and those not read yet.
// Over it the client that holds most is let go. Safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "server/engine/memory_ledger.h"

namespace profd {

class MessageBound {
 public:
  explicit MessageBound(std::size_t limit, std::shared_ptr<MemoryLedger> ledger)
      : limit_(static_cast<std::int64_t>(limit)), ledger_(std::move(ledger)) {}

  // The messages of one client in one direction.
  class Share {
   public:
    // `let_go` is called once, on any thread, when this holds most of what is too much; it must not come back
    // here, and is over when the share goes.
    Share(std::shared_ptr<MessageBound> bound, Held kind, std::function<void()> let_go);
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // What one thread adds another may have taken away already: for a moment it can be less than nothing.
    void add(std::size_t bytes) { change(static_cast<std::int64_t>(bytes)); }
    void sub(std::size_t bytes) { change(-static_cast<std::int64_t>(bytes)); }
    // For who is the only one to change it.
    void set(std::size_t bytes) { change(static_cast<std::int64_t>(bytes) - bytes_); }

   private:
    friend class MessageBound;
    void change(std::int64_t by);

    std::shared_ptr<MessageBound> bound_;
    std::function<void()> let_go_;  // empty: it was called
    HeldBytes held_;
    std::int64_t bytes_ = 0;
    Share *next_ = nullptr, *before_ = nullptr;
  };

 private:
  std::int64_t limit_;
  std::shared_ptr<MemoryLedger> ledger_;
  std::mutex mutex_;  // guards what follows and the shares
  std::int64_t total_ = 0;
  Share* first_ = nullptr;
};

}  // namespace profd

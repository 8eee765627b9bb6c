// Awaiting: requests that name no profile, while the one that is meant is still being read: they are answered
// of it when it is there, in their order, and not of another one before. Belongs to the strand.
#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "protocol/jsonrpc.h"
#include "server/engine/engine.h"

namespace profd {

class Awaiting {
 public:
  // Of every method that is bound so far and is asked of a profile. What editors ask for a document is
  // answered at once, with nothing: they ask again when they are told to.
  void bind(protocol::Binder& binder, const Engine& engine, const ClientId& client);
  // Runs what need not wait any more.
  void look(const Engine& engine, ClientId client);

 private:
  struct Request {
    std::uint64_t number;
    protocol::Binder::RequestHandler handle;
    protocol::Any params;
    std::shared_ptr<protocol::ReplyOnce> reply;
  };
  void hold(const protocol::Binder::RequestHandler& handle, const protocol::Any& params,
            protocol::ReplyOnce reply);

  std::shared_ptr<std::list<Request>> waiting_ = std::make_shared<std::list<Request>>();
  std::uint64_t next_number_ = 0;
};

}  // namespace profd

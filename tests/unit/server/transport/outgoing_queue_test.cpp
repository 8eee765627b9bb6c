#include "server/transport/outgoing_queue.h"

#include "protocol/framing.h"
#include "tests/support/catch.h"

using namespace profd;
using protocol::Keep;

namespace {

struct Queue {
  asio::io_context io;
  std::shared_ptr<MessageBound> bound;
  int n_over = 0;
  OutgoingQueue queue;

  explicit Queue(std::size_t limit = 1 << 20)
      : bound(std::make_shared<MessageBound>(limit, std::make_shared<MemoryLedger>())),
        queue(
            io, bound, &protocol::frame_header, [] {}, [this] { ++n_over; }) {}

  std::vector<std::string> all() {
    std::vector<std::string> bodies;
    bool last = false;
    while (auto message = queue.take(last)) {
      bodies.push_back(message->body);
      queue.written(*message);
    }
    return bodies;
  }
};

}  // namespace

TEST_CASE("of what only the newest counts one waits at most, where the newest came") {
  Queue made;
  made.queue.send("answer 1", Keep::always);
  made.queue.send("selection 1", Keep::newest);
  made.queue.send("answer 2", Keep::always);
  made.queue.send("selection 2", Keep::newest);
  made.queue.send("answer 3", Keep::always);
  CHECK(made.all() == std::vector<std::string>{"answer 1", "answer 2", "selection 2", "answer 3"});
  CHECK(made.queue.queued_bytes() == 0);
  made.queue.send("selection 3", Keep::newest);
  CHECK(made.all() == std::vector<std::string>{"selection 3"});
}

TEST_CASE("who is told the newest again and again and reads slowly is not cut off for it") {
  Queue slow(std::size_t{1} << 20);
  for (int i = 0; i < 1000; ++i) slow.queue.send(std::string(100'000, 'x'), Keep::newest);
  slow.io.run();
  CHECK(slow.n_over == 0);
  CHECK(slow.all().size() == 1);
}

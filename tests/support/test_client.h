// A client of an in-process daemon: blocking calls over a socket pair, the daemon on a thread of its own.
#pragma once

#include <chrono>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/framing.h"
#include "server/dialect/psp/psp_session.h"
#include "server/transport/daemon.h"

namespace profd::test {

using nlohmann::json;

// Runs a daemon until destroyed.
class TestDaemon {
 public:
  explicit TestDaemon(unsigned n_threads = 3, std::uint64_t memory_budget = 0) {
    DaemonOptions options;
    options.engine.n_threads = n_threads;
    options.engine.memory_budget = memory_budget;
    options.make_session = make_psp_session;
    options.engine.patience = std::chrono::milliseconds(300);
    options.test_mode = true;
    daemon_ = std::make_unique<Daemon>(options);
    thread_ = std::thread([this] { daemon_->run(); });
  }
  ~TestDaemon() {
    daemon_->stop();
    thread_.join();
  }
  // The client's end of a new connection.
  UniqueFd connect() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) throw std::runtime_error("socketpair");
    run_on_strand([this, fd = ends[1]] { daemon_->serve_connected(UniqueFd(fd)); });
    return UniqueFd(ends[0]);
  }
  // Runs it on the strand and waits for it.
  void run_on_strand(const std::function<void()>& task) {
    std::promise<void> done;
    daemon_->engine().post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }
  Engine& engine() { return daemon_->engine(); }

 private:
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
};

// Asks again until it holds: what is waited for has no message of its own, and takes as long as the machine
// makes it take. Gives up after a minute.
template <typename Condition>
bool holds_soon(Condition&& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class TestClient {
 public:
  explicit TestClient(UniqueFd fd) : fd_(std::move(fd)) {}
  explicit TestClient(TestDaemon& daemon, const json& options = json::object()) : fd_(daemon.connect()) {
    initialize(options);
  }

  json initialize(const json& options = json::object(), const std::string& root = "") {
    json params = {{"capabilities",
                    {{"profd", {{"protocolVersion", 1}, {"profileChanged", true}, {"selection", true}}},
                     {"textDocument", {{"hover", {{"contentFormat", {"markdown"}}}}}}}},
                   {"initializationOptions", options}};
    if (!root.empty()) params["rootUri"] = "file://" + root;
    json reply = call("initialize", params);
    notify("initialized", json::object());
    return reply;
  }

  // The whole answer: {"result": ...} or {"error": ...}.
  json call(const std::string& method, const json& params) { return wait(start(method, params)); }
  json result(const std::string& method, const json& params) {
    json reply = call(method, params);
    if (!reply.contains("result")) throw std::runtime_error(method + ": " + reply.dump());
    return reply["result"];
  }
  std::int64_t start(const std::string& method, const json& params) {
    const std::int64_t id = next_id_++;
    write({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
    return id;
  }
  void notify(const std::string& method, const json& params) {
    write({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
  }
  json wait(std::int64_t id) {
    while (answers_.count(id) == 0) read();
    json answer = std::move(answers_[id]);
    answers_.erase(id);
    return answer;
  }
  // The next message of the server with this method.
  json expect(const std::string& method) {
    while (true) {
      for (auto it = others_.begin(); it != others_.end(); ++it)
        if ((*it)["method"] == method) {
          json message = std::move(*it);
          others_.erase(it);
          return message["params"];
        }
      read();
    }
  }
  void write_raw(const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t n = ::write(fd_.get(), bytes.data() + done, bytes.size() - done);
      if (n <= 0) throw std::runtime_error("the server is gone");
      done += static_cast<std::size_t>(n);
    }
  }
  void vanish() { fd_.reset(); }

 private:
  void write(const json& message) { write_raw(protocol::frame(message.dump())); }

  void read() {
    pollfd ready{fd_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 30'000) <= 0) throw std::runtime_error("no message within 30 s");
    char buffer[1 << 16];
    const ssize_t n = ::read(fd_.get(), buffer, sizeof(buffer));
    if (n <= 0) throw std::runtime_error("the server closed the connection");
    frames_.feed({buffer, static_cast<std::size_t>(n)});
    while (auto frame = frames_.next()) {
      json message = json::parse(std::get<std::string>(*frame));
      if (!message.contains("method")) {
        if (!message["id"].is_number()) continue;
        const auto id =
            message["id"].get<std::int64_t>();  // before the move: `=` evaluates its right side first
        answers_[id] = std::move(message);
      } else {
        if (message.contains("id")) write({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", nullptr}});
        others_.push_back(std::move(message));
      }
    }
  }

  UniqueFd fd_;
  protocol::FrameReader frames_;
  std::map<std::int64_t, json> answers_;
  std::deque<json> others_;
  std::int64_t next_id_ = 1;
};

inline std::string go_demo(const std::string& file) {
  return std::string(PROFD_SOURCE_DIR) + "/tests/fixtures/go-demo/" + file;
}

}  // namespace profd::test

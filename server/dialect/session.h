// Session: what a transport talks to. One per connection; belongs to the engine's strand. It takes whole
// messages: where one ends is the transport's business (framed bytes, HTTP, a test).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/support/result.h"
#include "server/transport/channel.h"

namespace profd {

class Engine;

class Session {
 public:
  virtual ~Session() = default;
  // The body of one message. Only while ready(): the order of messages is kept.
  virtual void receive(std::string body) = 0;
  // What came is no message; `why` is for the other side.
  virtual void refuse(const std::string& why) = 0;
  // False while a large message is looked at; `on_ready` is called when it is over.
  [[nodiscard]] virtual bool ready() const = 0;
  virtual void set_on_ready(std::function<void()> on_ready) = 0;
  // Nothing is being answered.
  [[nodiscard]] virtual bool idle() const = 0;
  // The connection is gone: cancels what was asked.
  virtual void close() = 0;
  // After `exit`: the exit code of a server that serves only this client.
  [[nodiscard]] virtual int exit_code() const = 0;
};

// The views in a browser: what they are to show, and where they are.
struct WebPageRequest {
  std::vector<std::string> open;   // URIs
  std::string view;                // "" none
  std::vector<std::string> roots;  // folders of the asker's workspace, which the page may name as its own
};
struct WebPage {
  std::string address;    // with the token
  std::string once;       // with a code that is good once and for a minute
  bool has_page = false;  // the views are part of this program
};

struct SessionSetup {
  bool test_mode = false;          // profd/sync is answered, no clock in texts
  std::string token;               // not "": initialize must carry it in initializationOptions.token
  std::function<void()> on_known;  // the token was right; before receive() returns
  std::function<void()> on_exit;   // `exit`, or a token that is wrong: the transport closes
  std::function<void(std::int64_t pid)> on_process_id;  // the client's process, as `initialize` says
  std::function<Result<WebPage>(const WebPageRequest&)> web_page;  // empty: this client is not told
  // Empty: any folder is its workspace, and it may map paths to any. Else it has those of its folders that
  // this says, and no mapping but those of the project files in them.
  std::function<bool(const std::string& root)> may_have_root;
};

// Makes the dialect that a transport's clients speak.
using SessionFactory = std::function<std::unique_ptr<Session>(Engine& engine, SessionSetup setup,
                                                              std::shared_ptr<Channel> channel)>;

}  // namespace profd

// Proxy: one editor's session with two servers, the wrapped one and profd. Messages in, messages out; pipes
// and sockets are run_proxy's.
//
// What concerns the wrapped server alone is passed on as the bytes that came, in the order in which they
// came. Requests that both may answer are put to both; the wrapped server's answer waits at most `patience`
// for profd's, that to `initialize`, too. The editor's ids reach both servers as they are; requests of profd
// get ids of their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/request_id.h"
#include "server/proxy/abilities.h"
#include "server/proxy/joined_diagnostics.h"
#include "server/proxy/kept_documents.h"
#include "server/proxy/message_head.h"
#include "server/proxy/pulled_diagnostics.h"

namespace profd {

using ProxyClock = std::chrono::steady_clock;

struct ProxyOut {
  std::function<void(std::string body)> to_editor, to_server, to_profd;
};

struct ProxyOptions {
  std::chrono::milliseconds patience{200};
  std::string version;  // of this program; a daemon of another one is said. "": any will do
  std::string tag;      // tells what is this proxy's from what is another's: one proxy may wrap another
};

class Proxy {
 public:
  Proxy(ProxyOptions options, ProxyOut out)
      : options_(std::move(options)), out_(std::move(out)), pulled_(options_.tag + ":diagnostics") {}

  // Bodies of messages.
  void from_editor(std::string body);
  void from_server(std::string body, ProxyClock::time_point now);
  void from_profd(std::string body);

  // There is a connection to a daemon, at its beginning.
  void profd_there();
  // There is none: it ended, or could not be had; `why` is a sentence for the user. `returns`: profd_there()
  // is going to be called again.
  void profd_gone(const std::string& why, bool returns);
  // The wrapped server ended; whoever waits for an answer is told `why`.
  void server_gone(const std::string& why);

  // When tick() is to be called; nothing: not before something else happens.
  [[nodiscard]] std::optional<ProxyClock::time_point> next_deadline() const;
  void tick(ProxyClock::time_point now);

  // The editor said `exit`.
  [[nodiscard]] bool exited() const { return exited_; }

 private:
  enum class Profd : std::uint8_t { absent, connected, asked, ready, running };
  struct Pending {
    std::string method;
    std::string uri;            // as JSON; "" none
    std::string partial_token;  // as JSON; "" none
    bool server = false, profd = false;
    bool partial_seen = false;                      // the server answers in parts
    std::optional<std::string> answer;              // the server's message, while it waits for profd's
    std::optional<std::string> result;              // profd's, while it waits for the server's
    std::optional<PulledDiagnostics::Asked> asked;  // for diagnostics that profd may have some of
    ProxyClock::time_point deadline{};
  };
  using PendingMap = std::map<protocol::RequestId, Pending>;

  // proxy_editor.cpp
  void request_from_editor(const MessageHead& head, protocol::RequestId id, std::string body);
  void notification_from_editor(const MessageHead& head, std::string body);
  void document_from_editor(const MessageHead& head, std::string body);
  void cancel_from_editor(const MessageHead& head, std::string body);
  void answer_from_editor(const MessageHead& head, std::string body);
  void ask_server(protocol::RequestId id, std::string method, std::string body);
  void ask_profd(protocol::RequestId id, std::string method, std::string body);
  void ask_both(protocol::RequestId id, const MessageHead& head, std::string body);
  bool ask_whose_item_it_is(const MessageHead& head, const protocol::RequestId& id, const std::string& body);
  void initialize(const MessageHead& head, protocol::RequestId id, std::string body);

  // proxy_server.cpp
  void initialized_by_server(std::string body, ProxyClock::time_point now);
  void answer_initialize();
  void register_from_server(const MessageHead& head, std::string body);
  void unregister_from_server(const MessageHead& head, std::string body);
  bool swallows(std::string_view registration);
  void progress_from_server(const MessageHead& head, std::string body);

  // proxy_profd.cpp
  void ask_profd_to_initialize();
  void start_profd();
  void tell_version(std::string_view initialized);
  void answer_from_profd(const MessageHead& head, std::string body);
  void request_from_profd(const MessageHead& head, const std::string& body);
  void progress_from_profd(const MessageHead& head, std::string body);
  void late_from_profd(const std::string& method);
  void refresh(const MergedMethod& method);
  // A request of the proxy's own, whose answer says nothing.
  void ask_editor(std::string_view method, const std::string& params = {});

  // proxy_late.cpp
  void profd_is_late();
  [[nodiscard]] bool takes_registrations(std::string_view where, std::string_view name) const;
  void register_late(std::string_view method, std::string_view options);

  // proxy_diagnostics.cpp
  [[nodiscard]] bool editor_asks_again() const;
  void ask_for_diagnostics(const MessageHead& head, protocol::RequestId id, std::string body);
  void ask_for_workspace_diagnostics(const MessageHead& head, protocol::RequestId id, std::string body);
  void diagnostics_from_profd(std::string body);
  void have_diagnostics_asked_again();
  void diagnostics_without_profd();
  void diagnostics_no_longer_asked();

  void finish(PendingMap::iterator at);
  void tell_editor(std::string_view method, const std::string& params);
  // Now, or when the editor takes some.
  void show_message(const std::string& text);
  // A text as a JSON string that nobody else makes, and back; nothing where it is not of this proxy.
  [[nodiscard]] std::string tagged(std::string_view text) const;
  [[nodiscard]] std::optional<std::string> untagged(std::string_view json) const;

  ProxyOptions options_;
  ProxyOut out_;
  Abilities can_;
  KeptDocuments documents_;
  JoinedDiagnostics diagnostics_;
  PulledDiagnostics pulled_;
  bool told_to_ask_ = false;  // for diagnostics, and did not yet
  PositionEncoding encoding_ = PositionEncoding::utf16;
  std::string encoding_name_ = "\"utf-16\"";  // as JSON

  Profd profd_ = Profd::absent;
  bool profd_comes_ = true;  // it is there or on its way
  PendingMap pending_;
  std::map<protocol::RequestId, std::string> late_;     // methods, of answers of profd that nobody waits for
  std::set<std::string> asked_anew_;                    // methods, since they were last answered in time
  std::map<std::int64_t, std::string> asked_by_profd_;  // its ids as JSON, of what the editor is to answer
  std::set<std::string> profd_tokens_;                  // of its progress, as JSON
  std::set<std::string, std::less<>> swallowed_;        // ids of registrations that the editor was not told
  std::int64_t next_id_ = 0;

  std::string initialize_;         // the params of the editor
  std::string initialize_answer_;  // the server's message
  ProxyClock::time_point first_deadline_{};
  std::string profd_initialized_;            // profd's result
  std::string configuration_;                // the last message that had settings of profd
  std::vector<std::string> folder_changes_;  // messages
  std::string unsaid_;                       // a message for when the editor takes some
  bool is_late_ = false;                     // profd: the editor was answered without it
  bool opens_for_profd_ = false;  // the editor tells of opening and closing for the sake of profd alone
  bool editor_initialized_ = false, answered_initialize_ = false, waits_to_answer_ = false, exited_ = false;
};

}  // namespace profd

// The live sessions of the daemon: where agents of running programs dial in, what is attached, what is
// replayed. Safe from any thread; each stream comes in on a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/support/unique_fd.h"
#include "server/engine/live_code_names.h"
#include "server/engine/live_session.h"
#include "server/engine/live_union.h"
#include "server/engine/sample_feed.h"
#include "server/engine/symbolizing.h"

namespace profd {

struct LiveListening {
  std::string address;                   // "unix:PATH", "tcp:127.0.0.1:PORT"
  std::vector<std::string> environment;  // NAME=VALUE, for the program
};

class LiveSessions {
 public:
  static constexpr std::size_t kMostAttached = 64;
  static constexpr std::size_t kMostEnded = 8;  // that are kept; the oldest goes
  static constexpr unsigned kTickMs = 50;
  static constexpr live::Nanoseconds kWindow = 3'000'000'000;

  // `told` is called, on any thread, with the URI of a session that has a new picture. `symbols`: how
  // code gets names.
  LiveSessions(std::function<void(const std::string& uri)> told, const SymbolOptions& symbols);
  ~LiveSessions();
  LiveSessions(const LiveSessions&) = delete;
  LiveSessions& operator=(const LiveSessions&) = delete;

  // Programs of this user may dial in on `path`; "": in the runtime folder. Once; then what there is.
  Result<LiveListening> listen_unix(const std::string& path = "");
  // Programs on this machine that bring the token, which is written to a file of the runtime folder. Once.
  Result<LiveListening> listen_tcp();
  [[nodiscard]] std::vector<LiveListening> listening() const;
  // Heights of sessions that begin from now on look back so far: whole buckets, at most a minute.
  Result<void> set_window(live::Nanoseconds window);
  // Streams of programs that attach from now on are written to `path`; of several to path.2, path.3.
  void record_to(std::string path);

  // Plays a recorded stream. `speed`: how many seconds of it are one of the clock; 0: all of it before this
  // returns. `places`: of the binaries that its code is of.
  Result<std::shared_ptr<LiveSession>> replay(const std::string& path, double speed, SymbolPlaces places,
                                              Executor& executor, const StopToken& stop);

  // What a feed of samples tells, from its first batch on, for which this waits; fails as that does.
  // `places`: of the binaries that its code is of.
  Result<std::shared_ptr<LiveSession>> sample(std::unique_ptr<SampleFeed> feed, SymbolPlaces places,
                                              const StopToken& stop);

  [[nodiscard]] std::vector<std::shared_ptr<LiveSession>> list() const;  // oldest first
  // `not_found` says which there are.
  [[nodiscard]] Result<std::shared_ptr<LiveSession>> find(const std::string& name) const;
  // Gives it up: the program is asked to run on without probes, a replay ends.
  void close(const std::shared_ptr<LiveSession>& session);
  [[nodiscard]] LiveUnions& unions() { return unions_; }

 private:
  // One session's names: passes come one after the other.
  struct Naming {
    SymbolPlaces places;
    std::mutex mutex;  // held by a pass
    // Of LiveSessions::naming_mutex_:
    bool asked = false;
    LiveSession::Clock::time_point rests_until;  // what is large to be read takes but a part of the time
  };
  using NamingPtr = std::shared_ptr<Naming>;
  struct ToName {
    std::weak_ptr<LiveSession> session;
    NamingPtr naming;
  };
  struct Stream;  // a thread that reads

  Result<void> start_accepting();
  void accept_all();
  void take(UniqueFd connection, bool needs_token);
  void read_stream(Stream& stream, bool needs_token);
  void record_where_asked(LiveSession& session);
  // With what gives its code names; null where nothing does.
  std::pair<std::shared_ptr<LiveSession>, NamingPtr> make_session(bool replay, SymbolPlaces places);
  void name_code();
  void ask_for_names(const std::weak_ptr<LiveSession>& session, const NamingPtr& naming);
  // All that has no name by now; what is told of the session afterwards has them.
  void name_rest(LiveSession& session, const NamingPtr& naming);
  void keep(const std::shared_ptr<LiveSession>& session);
  void sweep();

  std::function<void(const std::string&)> told_;
  SymbolOptions symbols_;
  LiveNamer namer_;  // may be empty
  LiveUnions unions_;
  StopSource stop_naming_;
  std::mutex naming_mutex_;  // guards what follows up to `naming_asked_`
  std::deque<ToName> to_name_;
  std::thread naming_;
  std::condition_variable naming_asked_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<LiveListening> listening_;
  UniqueFd unix_, tcp_, wake_, woken_;
  std::string unix_path_, token_, token_file_, record_to_;
  live::Nanoseconds window_ = kWindow;
  std::size_t n_sessions_ = 0, n_recorded_ = 0;
  std::vector<std::shared_ptr<LiveSession>> sessions_;
  std::list<std::unique_ptr<Stream>> streams_;
  std::thread accepting_;
  std::atomic<bool> stopping_{false};
};

}  // namespace profd

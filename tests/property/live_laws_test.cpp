// Live sessions against an account of every interval: streams with recursion, several threads, gaps, late
// times, missing exits, threads that end and begin anew; cut into pieces at random.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "core/live/live_profile.h"
#include "core/live/session.h"
#include "core/live/window.h"
#include "tests/support/catch.h"
#include "tests/support/gen.h"
#include "tests/support/live_stream.h"

using namespace profd;
using namespace profd::test;
using live::kBucket;
using live::Nanoseconds;

namespace {

constexpr std::size_t kDepth = 12;

// One thread from its begin to its end, interval by interval.
struct Account {
  struct Interval {
    Nanoseconds from, to;
    std::vector<std::uint64_t> stack;
    bool unknown, waits;
  };
  struct Moment {
    Nanoseconds at;
    std::vector<std::uint64_t> stack;
    std::uint64_t called;  // 0: none
  };
  Nanoseconds last = 0;
  std::vector<std::uint64_t> stack;
  std::uint64_t beyond = 0;
  bool unknown = false, waits = false;
  std::vector<Interval> intervals;
  std::vector<Moment> moments;

  void until(Nanoseconds at) {
    if (at > last) intervals.push_back({last, at, stack, unknown, waits});
    last = std::max(last, at);
  }
};

// What the stream says, by the words of live.json, nothing else.
class Oracle {
 public:
  std::vector<std::unique_ptr<Account>> all;
  std::map<std::uint64_t, Account*> alive;
  Nanoseconds tick = 0, newest = 0;
  live::Counts counts;

  Account& thread(std::uint64_t number) {
    Account*& account = alive[number];
    if (account == nullptr) {
      all.push_back(std::make_unique<Account>());
      account = all.back().get();
      account->last = tick / kBucket * kBucket;
    }
    return *account;
  }
  Nanoseconds moved(Account& account, Nanoseconds at) {
    if (at < tick) ++counts.late, at = tick;
    if (at < account.last) {
      // Between the last closed bucket and the tick nobody can tell.
      ++counts.steps;
      at = account.last;
    }
    account.until(at);
    newest = std::max(newest, at);
    return at;
  }
  void enter(std::uint64_t number, Nanoseconds at, std::uint64_t id) {
    Account& a = thread(number);
    at = moved(a, at);
    if (a.stack.size() >= kDepth) {
      ++a.beyond, ++counts.capped;
      return;
    }
    a.stack.push_back(id);
    a.moments.push_back({at, a.stack, id});
  }
  void exit(std::uint64_t number, Nanoseconds at) {
    Account& a = thread(number);
    moved(a, at);
    if (a.beyond > 0)
      --a.beyond;
    else if (!a.stack.empty())
      a.stack.pop_back();
    else if (!a.unknown)
      ++counts.unmatched;
  }
  void exit_to(std::uint64_t number, Nanoseconds at, std::uint64_t id) {
    Account& a = thread(number);
    at = moved(a, at);
    a.beyond = 0;
    if (id == 0) {
      a.stack.clear();
      a.unknown = false;
      return;
    }
    while (!a.stack.empty() && a.stack.back() != id) a.stack.pop_back();
    if (!a.stack.empty()) return;
    a.stack.push_back(id);
    a.moments.push_back({at, a.stack, 0});
  }
  void gap(std::uint64_t number, Nanoseconds from, Nanoseconds to, std::uint64_t count) {
    Account& a = thread(number);
    counts.lost += count;
    const Nanoseconds at = moved(a, from);
    a.stack.clear();
    a.beyond = 0;
    a.unknown = true;
    a.until(std::max(at, to));
    newest = std::max(newest, a.last);
  }
  void open(std::uint64_t number, Nanoseconds at, const std::vector<std::uint64_t>& ids) {
    Account& a = thread(number);
    at = moved(a, at);
    a.stack.assign(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), kDepth)));
    a.beyond = ids.size() - a.stack.size();
    counts.capped += a.beyond;
    a.unknown = false;
    if (!a.stack.empty()) a.moments.push_back({at, a.stack, 0});
  }
  void state(std::uint64_t number, Nanoseconds at, bool waits) {
    Account& a = thread(number);
    moved(a, at);
    a.waits = waits;
  }
  void end(std::uint64_t number, Nanoseconds at) {
    const auto found = alive.find(number);
    if (found == alive.end()) return;
    moved(*found->second, at);
    alive.erase(found);
  }
  void ticked(Nanoseconds at) {
    tick = std::max(tick, at);
    newest = std::max(newest, at);
    // What runs on is counted up to the last whole bucket: a time between that and the tick is late anyway.
    for (auto& [number, account] : alive) account->until(tick / kBucket * kBucket);
  }

  // `waited` is of the thread where that is most, and takes no part in what is equal.
  struct Sum {
    std::uint64_t most = 0, ns = 0, calls = 0, threads = 0, waited = 0;
    bool operator==(const Sum& to) const {
      return std::tie(most, ns, calls, threads) == std::tie(to.most, to.ns, to.calls, to.threads);
    }
  };
  struct Thread {
    std::uint64_t busy = 0, unknown = 0, waiting = 0, waited = 0;
    bool operator==(const Thread& to) const {
      return std::tie(busy, unknown, waiting) == std::tie(to.busy, to.unknown, to.waiting);
    }
  };
  void window(Nanoseconds from, Nanoseconds to, std::map<std::uint64_t, Sum>& methods,
              std::vector<Thread>& threads) const {
    for (const auto& account : all) {
      std::map<std::uint64_t, Sum> mine;
      Thread thread;
      for (const auto& interval : account->intervals) {
        const Nanoseconds overlap = std::min(to, interval.to) - std::max(from, interval.from);
        if (overlap <= 0) continue;
        const auto ns = static_cast<std::uint64_t>(overlap);
        if (interval.waits) thread.waiting += ns;
        for (const std::uint64_t id : interval.stack) mine[id].threads = 1;
        if (!interval.stack.empty()) {
          mine[interval.stack.back()].ns += ns, thread.busy += ns;
          if (interval.waits) mine[interval.stack.back()].waited += ns, thread.waited += ns;
        } else if (interval.unknown)
          thread.unknown += ns;
      }
      for (const auto& moment : account->moments) {
        if (moment.at < from || moment.at >= to) continue;
        for (const std::uint64_t id : moment.stack) mine[id].threads = 1;
        if (moment.called != 0) ++mine[moment.called].calls;
      }
      for (const auto& [id, sum] : mine) {
        Sum& whole = methods[id];
        whole.most = std::max(whole.most, sum.ns);
        whole.ns += sum.ns;
        whole.calls += sum.calls;
        whole.threads += sum.threads;
        whole.waited = std::max(whole.waited, sum.waited);
      }
      if (thread != Thread()) threads.push_back(thread);
    }
  }
};

// `end`: of what is looked at; a session's last moment is part of it.
std::string wrong_window(const live::WindowSum& window, const Oracle& oracle, Nanoseconds end) {
  std::map<std::uint64_t, Oracle::Sum> expected, got;
  std::vector<Oracle::Thread> threads, got_threads;
  oracle.window(window.begin, end, expected, threads);
  for (const auto& m : window.methods) got[m.method] = {m.most_ns, m.ns, m.calls, m.threads};
  for (const auto& t : window.threads)
    if (t.busy + t.unknown + t.waiting > 0) got_threads.push_back({t.busy, t.unknown, t.waiting});
  std::ostringstream out;
  if (got != expected) {
    out << "methods from " << window.begin << " to " << window.end << ":";
    for (const auto& [id, sum] : expected)
      if (!got.count(id) || !(got[id] == sum))
        out << " " << id << " is " << (got.count(id) ? got[id].ns : 0) << "/" << got[id].calls << "/"
            << got[id].threads << " not " << sum.ns << "/" << sum.calls << "/" << sum.threads;
    for (const auto& [id, sum] : got)
      if (!expected.count(id)) out << " " << id << " is there: " << sum.ns << "/" << sum.calls;
    return out.str();
  }
  // Threads that had nothing but moments are no threads of the oracle's account.
  auto order = [](const Oracle::Thread& a, const Oracle::Thread& b) {
    return std::tie(a.busy, a.unknown, a.waiting) < std::tie(b.busy, b.unknown, b.waiting);
  };
  std::sort(threads.begin(), threads.end(), order);
  std::sort(got_threads.begin(), got_threads.end(), order);
  if (!(threads == got_threads)) return "threads differ";
  std::uint64_t waited = 0, at_least = 0;
  for (const auto& thread : threads) waited += thread.waited;
  for (const auto& thread : window.threads) at_least += thread.waited;
  if (at_least > waited)
    return "threads waited " + std::to_string(waited) + ", not " + std::to_string(at_least);
  for (const auto& method : window.methods)
    if (method.waited > expected[method.method].waited)
      return "method " + std::to_string(method.method) + " waited less than " + std::to_string(method.waited);
  return "";
}

// A program that behaves at random, told to the stream and to the oracle alike.
struct Play {
  LiveStream stream;
  Oracle oracle;
  live::StreamClock clock;
};

void step(Rng& rng, Play& play, std::uint64_t& now, std::uint64_t unit) {
  const std::uint64_t number = 1 + below(rng, 3);
  auto ns = [&](std::uint64_t ticks) { return play.clock.to_ns(ticks); };
  // Mostly now; at times long ago, which is late or a step back.
  auto some_time = [&] {
    return chance(rng, 0.08) ? now - std::min<std::uint64_t>(now, below(rng, unit * 400)) : now;
  };
  now += below(rng, unit * (chance(rng, 0.1) ? 400 : 40));
  switch (below(rng, 14)) {
    case 0: {
      const std::uint64_t from = some_time(), to = from + below(rng, unit * 100), n = 1 + below(rng, 50);
      play.stream.gap(number, from, to, n);
      play.oracle.gap(number, ns(from), ns(to), n);
      now = std::max(now, to);
      return;
    }
    case 1: {
      std::vector<std::uint64_t> ids;
      for (std::size_t n = below(rng, 15); n > 0; --n) ids.push_back(1 + below(rng, 5));
      const std::uint64_t at = some_time();
      play.stream.stack(number, at, ids);
      play.oracle.open(number, ns(at), ids);
      return;
    }
    case 2: {
      const std::uint64_t at = some_time();
      play.stream.thread_end(number, at);
      play.oracle.end(number, ns(at));
      return;
    }
    case 3: {
      const bool waits = chance(rng, 0.5);
      const std::uint64_t at = some_time();
      play.stream.state(number, at, waits ? 1 : 0);
      play.oracle.state(number, ns(at), waits);
      return;
    }
    default: {
      const std::uint64_t first = some_time();
      RecordsOf records(number, first);
      std::uint64_t at = first;
      for (std::size_t n = 1 + below(rng, 8); n > 0; --n) {
        at += chance(rng, 0.3) ? 0 : below(rng, unit * 20);
        const std::uint64_t id = 1 + below(rng, 5);
        const std::size_t what = below(rng, 10);
        if (what < 5)
          records.enter(at, id), play.oracle.enter(number, ns(at), id);
        else if (what < 9)
          records.exit(at), play.oracle.exit(number, ns(at));
        else
          records.exit_to(at, id % 5), play.oracle.exit_to(number, ns(at), id % 5);
      }
      play.stream.events(records);
      now = std::max(now, at);
    }
  }
}

std::string check_one(std::uint64_t seed) {
  Rng rng(seed);
  live::MeterLimits limits;
  limits.depth = kDepth;
  const std::uint64_t hz = chance(rng, 0.7) ? 1'000'000'000 : 1'000'000 + below(rng, 5'000'000'000);
  const std::uint64_t unit = std::max<std::uint64_t>(1, hz / 1000);  // a millisecond
  Play play;
  std::uint64_t now = below(rng, 1'000'000);
  play.clock = live::StreamClock(now, hz);
  play.stream.hello(now, hz);
  live::Session session(limits);
  live::WindowSums sums;
  std::size_t fed = 0;
  auto feed = [&](live::Session& to) {
    return to.consume(as_bytes(std::string_view(play.stream.bytes).substr(fed)));
  };
  for (std::size_t n = 5 + below(rng, 60); n > 0; --n) {
    if (!chance(rng, 0.25)) {
      step(rng, play, now, unit);
      continue;
    }
    const std::uint64_t at =
        now - std::min<std::uint64_t>(now, chance(rng, 0.3) ? below(rng, unit * 100) : 0);
    play.stream.tick(at);
    play.oracle.ticked(play.clock.to_ns(at));
    if (auto fine = feed(session); !fine) return fine.error().message;
    fed = play.stream.bytes.size();
    const auto window = sums.sum(session.meter().history().newest(30));
    if (auto wrong = wrong_window(window, play.oracle, window.end); !wrong.empty()) return wrong;
  }
  play.stream.bye(now);
  if (auto fine = feed(session); !fine) return fine.error().message;
  session.finish();
  const Nanoseconds end = std::max(play.oracle.newest, play.clock.to_ns(now));
  for (auto& [number, account] : play.oracle.alive) account->until(end);
  const auto& counts = session.meter().counts();
  const auto& expected = play.oracle.counts;
  if (counts.late != expected.late || counts.steps != expected.steps || counts.lost != expected.lost ||
      counts.unmatched != expected.unmatched || counts.capped != expected.capped)
    return "counts differ: late " + std::to_string(counts.late) + " not " + std::to_string(expected.late) +
           ", steps " + std::to_string(counts.steps) + " not " + std::to_string(expected.steps) +
           ", unmatched " + std::to_string(counts.unmatched) + " not " + std::to_string(expected.unmatched) +
           ", capped " + std::to_string(counts.capped) + " not " + std::to_string(expected.capped);
  const auto whole = sums.sum(session.meter().history().between(0, end + 1));
  if (auto wrong = wrong_window(whole, play.oracle, end + 1); !wrong.empty()) return "all of it: " + wrong;

  // The tree has the same time as the buckets.
  const live::ContextSums tree = live::sums_since_begin(session);
  std::uint64_t busy = 0, in_tree = 0;
  for (const auto& thread : whole.threads) busy += thread.busy + thread.unknown;
  for (const auto& row : tree.rows) in_tree += row.ns;
  if (busy != in_tree) return "the tree has another time than the buckets";

  // The same bytes in other pieces.
  live::Session again(limits);
  for (std::size_t at = 0; at < play.stream.bytes.size();) {
    const std::size_t n = 1 + below(rng, chance(rng, 0.5) ? 3 : 400);
    if (auto fine = again.consume(as_bytes(std::string_view(play.stream.bytes).substr(at, n))); !fine)
      return fine.error().message;
    at += n;
  }
  again.finish();
  const live::ContextSums replayed = live::sums_since_begin(again);
  const bool same = std::equal(tree.rows.begin(), tree.rows.end(), replayed.rows.begin(), replayed.rows.end(),
                               [](const auto& a, const auto& b) {
                                 return a.context == b.context && a.ns == b.ns && a.calls == b.calls;
                               });
  return same ? "" : "a replay gives other sums";
}

}  // namespace

TEST_CASE("a live session has what an account of every interval has, at every tick and when it is replayed") {
  const char* one = std::getenv("PROFD_PROPERTY_SEED");
  const std::uint64_t first = one != nullptr ? std::stoull(one) : 1;
  const std::uint64_t n = one != nullptr ? 1 : n_cases();  // 10,000 have been right
  for (std::uint64_t seed = first; seed < first + n; ++seed) {
    const std::string wrong = check_one(seed);
    if (!wrong.empty()) FAIL("seed " << seed << ": " << wrong);
  }
}

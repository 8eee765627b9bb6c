#include "server/engine/live_session.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/live/code_name.h"
#include "core/live/live_profile.h"
#include "core/live/preamble.h"
#include "core/live/varint.h"
#include "server/engine/live_names.h"

namespace profd {
namespace {

live::MeterLimits limits_for(live::Nanoseconds window) {
  live::MeterLimits limits;
  limits.window = static_cast<std::size_t>(window / live::kBucket);
  return limits;
}

// How long an `auth` at the begin of a stream is: it is never recorded.
std::size_t length_of_auth(std::string_view bytes) {
  if (bytes.empty() ||
      static_cast<std::uint8_t>(bytes[0]) != static_cast<std::uint8_t>(live::MessageType::auth))
    return 0;
  const auto* at = reinterpret_cast<const std::byte*>(bytes.data()) + 1;
  const auto* const end = reinterpret_cast<const std::byte*>(bytes.data()) + bytes.size();
  std::uint64_t size = 0;
  if (!live::read_varint(at, end, size) || size > static_cast<std::uint64_t>(end - at)) return bytes.size();
  return bytes.size() - static_cast<std::size_t>(end - at) + static_cast<std::size_t>(size);
}

// What a look at the clock costs on this machine, of which probes of Java have one each.
double clock_cost_ns() {
  double least = 1e9;
  for (int i = 0; i < 8; ++i) {
    constexpr int kLooks = 200;
    const auto begun = LiveSession::Clock::now();
    auto last = begun;
    for (int n = 0; n < kLooks; ++n) last = LiveSession::Clock::now();
    least = std::min(least, std::chrono::duration<double, std::nano>(last - begun).count() / kLooks);
  }
  return least;
}

bool hotter(const live::MethodSum& a, const live::MethodSum& b) {
  if (a.most_ns != b.most_ns) return a.most_ns > b.most_ns;
  return a.calls != b.calls ? a.calls > b.calls : a.method < b.method;
}

}  // namespace

LiveSession::LiveSession(std::string name, live::Nanoseconds window, bool replay)
    : name_(std::move(name)), window_ns_(window), replay_(replay), session_(limits_for(window)) {}

LiveSession::~LiveSession() = default;

Result<void> LiveSession::consume(live::Bytes bytes) {
  bool told = false;
  Result<void> taken;
  {
    const std::lock_guard lock(mutex_);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    taken = session_.consume(bytes);
    place_told();
    if (fresh_ && file_.valid()) {
      first_ += text;
      if (session_.hello()) {
        write_recording(std::string_view(first_).substr(length_of_auth(first_)));
        first_.clear();
      }
    } else if (file_.valid()) {
      write_recording(text);
    }
    if (session_.hello()) fresh_ = false;
    if (session_.meter().closed() != looked_at_) {
      looked_at_ = session_.meter().closed();
      if (send_) demote();
    }
    const auto now = Clock::now();
    if (taken && session_.hello() && now - last_picture_ >= kPictureEvery) {
      take_picture(now);
      told = true;
    }
  }
  if (told) tell();
  return taken;
}

bool LiveSession::said_bye() const {
  const std::lock_guard lock(mutex_);
  return session_.said_bye();
}

void LiveSession::end(std::string error) {
  {
    const std::lock_guard lock(mutex_);
    if (session_.finished()) return;
    session_.finish();
    error_ = std::move(error);
    send_ = {};
    file_.reset();
    take_picture(Clock::now());
  }
  tell();
}

void LiveSession::tell() {
  std::vector<UniqueFunction<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (auto& call : waiting) call();
  if (told_) told_();
}

void LiveSession::when_newer(std::uint32_t than, UniqueFunction<void()> call) {
  {
    const std::lock_guard lock(mutex_);
    if (frame_ == than) {
      // After the end there is none.
      if (!session_.finished()) waiting_.push_back(std::move(call));
      return;
    }
  }
  call();
}

void LiveSession::set_send(std::function<Result<void>(std::string_view)> send) {
  const std::lock_guard lock(mutex_);
  send_ = std::move(send);
}

LiveTotals LiveSession::totals() const {
  return {session_.meter().counts(), session_.said_sent(), session_.said_lost(),
          session_.meter().contexts().n_refused(), session_.methods().n_capped()};
}

LiveState LiveSession::state() const {
  if (session_.finished()) return LiveState::ended;
  if (replay_) return LiveState::replays;
  return session_.paused() ? LiveState::paused : LiveState::runs;
}

LiveInfo LiveSession::info() const {
  const std::lock_guard lock(mutex_);
  LiveInfo info;
  info.name = name_;
  info.uri = uri();
  info.state = state();
  if (const auto& hello = session_.hello()) {
    info.program = hello->program;
    info.language = hello->language;
    info.agent = hello->agent;
    info.pid = hello->pid;
    info.begun_ns = hello->unix_ns;
    info.abilities = send_ ? hello->abilities : 0;
  }
  info.recording = recording_;
  info.error = error_;
  info.time = session_.meter().closed();
  info.window = window_ns_;
  info.methods = session_.methods().n_told();
  info.threads = session_.meter().n_alive();
  info.layout = layout();
  info.totals = totals();
  info.sampling = session_.sampling();
  return info;
}

std::optional<live::Hello> LiveSession::hello() const {
  const std::lock_guard lock(mutex_);
  return session_.hello();
}

std::string LiveSession::token() const {
  const std::lock_guard lock(mutex_);
  return session_.token();
}

bool LiveSession::ended() const {
  const std::lock_guard lock(mutex_);
  return session_.finished();
}

std::uint32_t LiveSession::frame() const {
  const std::lock_guard lock(mutex_);
  return frame_;
}

live::Nanoseconds LiveSession::time() const {
  const std::lock_guard lock(mutex_);
  return session_.meter().closed();
}

std::vector<std::uint8_t> LiveSession::flags_now() const {
  const live::Contexts& contexts = session_.meter().contexts();
  std::vector<std::uint8_t> flags(session_.methods().size());
  auto set = [&](live::MethodId method, std::uint8_t bit) {
    if (method >= live::kMaxMethods) return;
    if (method >= flags.size()) flags.resize(method + 1);
    flags[method] |= bit;
  };
  for (const live::Lane& lane : session_.meter().lanes()) {
    if (lane.alive && lane.seen != 0) {
      set(contexts[lane.seen].method, kLiveRuns);
      for (live::ContextNumber up = lane.seen; up != 0; up = contexts[up].parent)
        set(contexts[up].method, kLiveOpen);
    }
    if (!lane.alive || lane.stack.empty()) continue;
    for (const live::ContextNumber open : lane.stack) set(contexts[open].method, kLiveOpen);
    set(contexts[lane.running()].method, kLiveRuns);
    if (lane.waits) set(contexts[lane.running()].method, kLiveWaits);
  }
  for (live::MethodId i = 0; i < session_.methods().size(); ++i)
    if (session_.methods()[i].demoted) flags[i] |= kLiveDemoted;
  return flags;
}

void LiveSession::take_picture(Clock::time_point now) {
  last_picture_ = now;
  ++frame_;
  // Whole buckets, so that nothing stands higher than the window: the last one of a stream that has ended may
  // be shorter. What ran for less than a window is shown whole.
  const live::Nanoseconds closed = session_.meter().closed();
  const live::Nanoseconds end = closed <= window_ns_ ? closed : closed / live::kBucket * live::kBucket;
  const auto buckets = session_.meter().history().between(end - window_ns_, end);
  window_ = sums_.sum(buckets);
  const std::vector<std::uint8_t> flags = flags_now();
  std::vector<LiveLook> looks(std::max(flags.size(), looks_.size()));
  for (std::size_t i = 0; i < flags.size(); ++i) looks[i].flags = flags[i];
  for (const live::MethodSum& sum : window_.methods) {
    if (sum.method >= live::kMaxMethods) continue;
    if (sum.method >= looks.size()) looks.resize(sum.method + 1);
    looks[sum.method].height = live::height_of(sum.most_ns, window_ns_);
    looks[sum.method].threads = sum.threads;
  }
  looks_.resize(looks.size());
  changed_.resize(looks.size());
  for (std::size_t i = 0; i < looks.size(); ++i)
    if (!(looks[i] == looks_[i])) changed_[i] = frame_;
  looks_ = std::move(looks);
}

LiveMethodRow LiveSession::row_of(const live::MethodSum& sum, std::uint8_t flags) const {
  LiveMethodRow row;
  row.method = sum.method;
  row.name = session_.methods().name(sum.method);
  row.label = session_.methods().label(sum.method);
  // Profilers have whole names of their own.
  if (session_.sampling() && sum.method < session_.methods().size()) {
    const std::string_view whole = session_.methods().text(session_.methods()[sum.method].signature);
    if (!whole.empty()) row.name = whole;
  }
  if (sum.method < session_.methods().size()) {
    row.file = session_.methods().text(session_.methods()[sum.method].file);
    row.line = session_.methods()[sum.method].line;
  }
  row.sum = sum;
  row.flags = flags;
  return row;
}

template <class FlagsOf>
void LiveSession::fill_rows(LivePicture& picture, const live::WindowSum& window, std::size_t n_rows,
                            FlagsOf flags_of) const {
  std::vector<live::MethodSum> hot;
  for (const live::MethodSum& sum : window.methods)
    if (sum.most_ns > 0) hot.push_back(sum);
  const std::size_t n = std::min(n_rows, hot.size());
  std::partial_sort(hot.begin(), hot.begin() + static_cast<std::ptrdiff_t>(n), hot.end(), hotter);
  picture.rows_left = hot.size() - n;
  for (std::size_t i = 0; i < n; ++i) picture.rows.push_back(row_of(hot[i], flags_of(hot[i])));
  picture.begin = window.begin;
  picture.end = window.end;
  picture.events = window.events;
  picture.lost = window.lost;
  picture.sampling = session_.sampling();
  const double seconds = static_cast<double>(window.end - window.begin) * 1e-9;
  if (seconds > 0) picture.events_per_second = static_cast<double>(window.events) / seconds;
  if (session_.hello() && !session_.sampling())
    picture.probe_share = live::probe_share(window, live::event_cost_of(session_.hello()->language));
}

LivePicture LiveSession::picture(std::uint32_t since, std::size_t n_rows, std::size_t n_threads) const {
  const std::lock_guard lock(mutex_);
  LivePicture picture;
  picture.frame = frame_;
  picture.key = since == 0 || since > frame_;
  picture.state = state();
  picture.window = window_ns_;
  picture.layout = layout();
  for (live::MethodId i = 0; i < looks_.size(); ++i)
    if (picture.key ? !(looks_[i] == LiveLook()) : changed_[i] > since)
      picture.methods.emplace_back(i, looks_[i]);
  fill_rows(picture, window_, n_rows, [&](const live::MethodSum& sum) {
    return sum.method < looks_.size() ? looks_[sum.method].flags : std::uint8_t{0};
  });
  if (picture.end == 0) picture.end = session_.meter().closed();
  const auto& lanes = session_.meter().lanes();
  std::vector<LiveThread> threads;
  std::vector<bool> seen(lanes.size());
  auto add = [&](std::uint32_t number, const live::ThreadSum& sum) {
    const live::Lane& lane = lanes[number];
    LiveThread thread;
    thread.sum = sum;
    thread.name = lane.name;
    thread.number = lane.number;
    thread.alive = lane.alive && (sum.instance == lane.instance);
    thread.sampled = session_.sampling().has_value();
    if (thread.alive) {
      thread.waits = lane.waits;
      thread.depth = lane.stack.size();
      thread.unknown = lane.stack.empty() && lane.base == lane.roots.unknown;
      thread.cpu_ns = lane.cpu_ns;
      const live::Contexts& contexts = session_.meter().contexts();
      if (!lane.stack.empty()) thread.method = contexts[lane.running()].method;
      if (lane.stack.empty() && lane.seen != 0) {
        thread.unknown = false;
        thread.method = contexts[lane.seen].method;
        for (live::ContextNumber up = lane.seen; contexts[up].method != live::kNothingOpen;
             up = contexts[up].parent)
          ++thread.depth;
      }
    }
    threads.push_back(std::move(thread));
  };
  for (const live::ThreadSum& sum : window_.threads) {
    if (lanes[sum.lane].instance == sum.instance) seen[sum.lane] = true;
    add(sum.lane, sum);
  }
  for (std::uint32_t i = 0; i < lanes.size(); ++i)
    if (lanes[i].alive && !seen[i]) add(i, {lanes[i].instance, i});
  fill_threads(picture, std::move(threads), n_threads);
  picture.totals = totals();
  picture.demoted = session_.methods().n_demoted();
  return picture;
}

void LiveSession::fill_threads(LivePicture& picture, std::vector<LiveThread> threads,
                               std::size_t most) const {
  const std::size_t n = std::min(most, threads.size());
  std::partial_sort(threads.begin(), threads.begin() + static_cast<std::ptrdiff_t>(n), threads.end(),
                    [](const LiveThread& a, const LiveThread& b) {
                      if (a.sum.busy != b.sum.busy) return a.sum.busy > b.sum.busy;
                      return std::pair(a.number, a.sum.instance) < std::pair(b.number, b.sum.instance);
                    });
  picture.threads_left = threads.size() - n;
  threads.resize(n);
  for (LiveThread& thread : threads)
    if (thread.method != 0) thread.label = session_.methods().label(thread.method);
  picture.threads = std::move(threads);
}

LivePicture LiveSession::window(live::Nanoseconds from, live::Nanoseconds to, std::size_t n_rows,
                                std::size_t n_threads) const {
  const std::lock_guard lock(mutex_);
  LivePicture picture;
  picture.key = true;
  picture.state = state();
  const live::WindowSum window = sums_.sum(session_.meter().history().between(from, to));
  // Whether it has a probe is known of now alone; whether it waited, of that time.
  auto flags_of = [&](const live::MethodSum& sum) {
    std::uint8_t flags = 0;
    if (sum.waited > 0 && 2 * sum.waited >= sum.most_ns) flags |= kLiveWaits;
    if (sum.method < session_.methods().size() && session_.methods()[sum.method].demoted)
      flags |= kLiveDemoted;
    return flags;
  };
  fill_rows(picture, window, n_rows, flags_of);
  for (LiveMethodRow& row : picture.rows) row.past = true;
  picture.window = window.end - window.begin;
  std::vector<bool> there(session_.methods().size());
  for (const live::MethodSum& sum : window.methods) {
    if (sum.method >= live::kMaxMethods) continue;
    if (sum.method < there.size()) there[sum.method] = true;
    picture.methods.emplace_back(
        sum.method, LiveLook{live::height_of(sum.most_ns, picture.window), sum.threads, flags_of(sum)});
  }
  for (live::MethodId i = 0; i < there.size(); ++i)
    if (!there[i] && session_.methods()[i].demoted)
      picture.methods.emplace_back(i, LiveLook{0, 0, kLiveDemoted});
  std::vector<LiveThread> threads;
  threads.reserve(window.threads.size());
  for (const live::ThreadSum& sum : window.threads) {
    const live::Lane& lane = session_.meter().lanes()[sum.lane];
    LiveThread thread;
    thread.sum = sum;
    thread.name = lane.name;
    thread.number = lane.number;
    thread.alive = true;
    thread.past = true;
    thread.sampled = session_.sampling().has_value();
    thread.waits = sum.waited > 0 && 2 * sum.waited >= sum.busy;
    thread.unknown = sum.unknown > 0;
    thread.method = sum.longest;
    threads.push_back(std::move(thread));
  }
  fill_threads(picture, std::move(threads), n_threads);
  std::sort(picture.methods.begin(), picture.methods.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  picture.totals = totals();
  return picture;
}

LiveStrip LiveSession::strip(std::size_t n_steps) const {
  const std::lock_guard lock(mutex_);
  LiveStrip strip;
  const live::History& history = session_.meter().history();
  const live::Nanoseconds end = session_.meter().closed();
  strip.begin = history.begin();
  if (n_steps == 0 || end <= strip.begin) return strip;
  // Whole buckets a step: a second once it is long enough for what is older to be joined.
  const live::Nanoseconds whole = end - strip.begin > 60'000'000'000 ? 10 * live::kBucket : live::kBucket;
  const auto wanted = static_cast<live::Nanoseconds>(n_steps);
  strip.step = std::max(whole, ((end - strip.begin + wanted - 1) / wanted + whole - 1) / whole * whole);
  const auto n = static_cast<std::size_t>((end - strip.begin + strip.step - 1) / strip.step);
  strip.busy.resize(n);
  strip.waiting.resize(n);
  strip.unknown.resize(n);
  strip.events.resize(n);
  strip.lost.resize(n);
  std::vector<std::uint64_t> busy(n), waited(n), unknown(n);
  for (const live::BucketPtr& bucket : history.between(strip.begin, end)) {
    const auto at = std::min(n - 1, static_cast<std::size_t>((bucket->begin - strip.begin) / strip.step));
    for (const live::ThreadPart& part : bucket->threads) {
      busy[at] += part.busy;
      waited[at] += live::waited_at_least(part, bucket->end - bucket->begin);
      unknown[at] += part.unknown;
    }
    strip.events[at] += bucket->events;
    strip.lost[at] += bucket->lost;
  }
  for (std::size_t i = 0; i < n; ++i) {
    strip.busy[i] = static_cast<double>(busy[i]) / static_cast<double>(strip.step);
    strip.waiting[i] = static_cast<double>(waited[i]) / static_cast<double>(strip.step);
    strip.unknown[i] = static_cast<double>(unknown[i]) / static_cast<double>(strip.step);
  }
  return strip;
}

Result<LiveMethodStory> LiveSession::method(live::MethodId method) const {
  const std::lock_guard lock(mutex_);
  const live::Methods& methods = session_.methods();
  if (method >= methods.size() || !methods[method].told)
    return fail(ErrorCode::not_found, fmt::format("{} has no method {}", name_, method));
  LiveMethodStory story;
  live::MethodSum sum;
  sum.method = method;
  for (const live::MethodSum& there : window_.methods)
    if (there.method == method) sum = there;
  story.row = row_of(sum, method < looks_.size() ? looks_[method].flags : std::uint8_t{0});
  story.package = methods.text(methods[method].package);
  story.class_name = methods.text(methods[method].class_name);
  story.method = methods.text(methods[method].method);
  story.signature = methods.text(methods[method].signature);
  story.window = window_ns_;
  story.sampled = session_.sampling().has_value();
  const auto& totals = session_.meter().totals();
  for (live::ContextNumber i = 0; i < totals.size(); ++i) {
    if (session_.meter().contexts()[i].method != method) continue;
    story.total_ns += totals[i].ns;
    story.total_calls += totals[i].calls;
  }
  // Seconds, as older time is kept.
  const live::History& history = session_.meter().history();
  const live::Nanoseconds end = session_.meter().closed();
  story.begin = history.begin();
  story.step = 10 * live::kBucket;
  const auto n = static_cast<std::size_t>((end - story.begin + story.step - 1) / story.step);
  for (std::size_t i = 0; i < n; ++i) {
    const live::Nanoseconds from = story.begin + static_cast<live::Nanoseconds>(i) * story.step;
    // The most of one thread: of each the sum of its parts.
    std::vector<std::pair<std::uint32_t, std::uint64_t>> threads;
    for (const live::BucketPtr& bucket : history.between(from, from + story.step)) {
      for (std::size_t t = 0; t < bucket->threads.size(); ++t) {
        for (const live::Part& part : bucket->methods_of(t)) {
          if (part.key != method) continue;
          const std::uint32_t instance = bucket->threads[t].instance;
          auto found = std::find_if(threads.begin(), threads.end(),
                                    [&](const auto& e) { return e.first == instance; });
          if (found == threads.end()) found = threads.insert(threads.end(), {instance, 0});
          found->second += part.ns;
        }
      }
    }
    std::uint64_t most = 0;
    for (const auto& [instance, ns] : threads) most = std::max(most, ns);
    story.height.push_back(std::min(1.0, static_cast<double>(most) / static_cast<double>(story.step)));
  }
  return story;
}

std::vector<live::Mark> LiveSession::marks() const {
  const std::lock_guard lock(mutex_);
  return session_.marks();
}

Result<live::Nanoseconds> LiveSession::mark_time(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto& marks = session_.marks();
  const auto found =
      std::find_if(marks.rbegin(), marks.rend(), [&](const live::Mark& m) { return m.name == name; });
  if (found == marks.rend())
    return fail(ErrorCode::not_found, fmt::format("{} has no mark `{}`", name_, name));
  return found->at;
}

std::uint32_t LiveSession::layout() const {
  return static_cast<std::uint32_t>(placed_.size()) + n_arranged_;
}

void LiveSession::place_told() {
  const std::vector<live::MethodId>& order = session_.methods().order();
  for (; n_told_ < order.size(); ++n_told_)
    (names_code_ && session_.methods().is_unnamed_code(order[n_told_]) ? unnamed_ : placed_)
        .push_back(order[n_told_]);
}

LiveNews LiveSession::news(std::size_t n_known) const {
  const std::lock_guard lock(mutex_);
  LiveNews news;
  news.layout = layout();
  news.n_arranged = n_arranged_;
  const std::string_view language = session_.hello() ? session_.hello()->language : std::string_view();
  news.separator = session_.sampling()                    ? kSampledSeparator
                   : language == "c" || language == "cpp" ? live::kCodeSeparator
                                                          : std::string_view(".");
  const live::Methods& methods = session_.methods();
  for (std::size_t i = n_known; i < placed_.size(); ++i) {
    const live::MethodId id = placed_[i];
    const live::Method& method = methods[id];
    const std::string_view own = methods.text(method.method);
    news.methods.push_back(
        {id, 0, std::string(methods.text(method.package)), std::string(methods.text(method.class_name)),
         own.empty() ? methods.label(id) : std::string(own), std::string(methods.text(method.signature))});
  }
  return news;
}

void LiveSession::look_at_city(const std::function<void(const LiveCity&)>& look) {
  const std::lock_guard city_lock(city_mutex_);
  LiveNews more = news(city_.methods().size());
  city_.extend(std::move(more.methods), more.separator, more.layout);
  look(city_);
}

void LiveSession::arrange_city() {
  const std::lock_guard city_lock(city_mutex_);
  LiveNews more = news(city_.methods().size());
  city_.extend(std::move(more.methods), more.separator, more.layout);
  const std::lock_guard lock(mutex_);
  ++n_arranged_;
  city_.arrange(more.layout + 1);
}

bool LiveSession::has_unnamed() const {
  const std::lock_guard lock(mutex_);
  return !unnamed_.empty();
}

std::vector<LiveCode> LiveSession::take_unnamed() {
  const std::lock_guard lock(mutex_);
  std::vector<LiveCode> code;
  for (const live::MethodId id : std::exchange(unnamed_, {}))
    code.push_back({id, session_.methods()[id].module, session_.methods()[id].address});
  std::stable_sort(code.begin(), code.end(),
                   [](const LiveCode& a, const LiveCode& b) { return a.module < b.module; });
  return code;
}

LiveBinary LiveSession::module(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  const live::Methods& methods = session_.methods();
  const live::Module& module = methods.modules()[number];
  return {std::string(methods.text(module.path)), std::string(methods.text(module.build_id))};
}

void LiveSession::give_names(const std::vector<std::pair<LiveCode, live::CodeFound>>& names) {
  const std::lock_guard lock(mutex_);
  for (const auto& [code, found] : names) {
    session_.name_code(code.method, found);
    placed_.push_back(code.method);
  }
}

Result<ProfilePtr> LiveSession::profile(std::optional<live::Nanoseconds> from,
                                        std::optional<live::Nanoseconds> to, Executor& executor,
                                        const StopToken& stop) const {
  auto made = [&]() -> Result<ProfileBuilder> {
    const std::lock_guard lock(mutex_);
    if (!session_.hello()) return fail(ErrorCode::not_found, fmt::format("{} has not begun yet", name_));
    const live::ContextSums sums =
        !from && !to ? live::sums_since_begin(session_)
                     : live::sums_of(session_, session_.meter().history().between(
                                                   from.value_or(0), to.value_or(live::StreamClock::kEnd)));
    return live::live_profile(sums, *session_.hello(), session_.methods());
  }();
  if (!made) return tl::unexpected<Error>(std::move(made).error());
  made->info().format = "plive";
  return std::move(*made).finish(executor, stop);
}

void LiveSession::demote() {
  const auto& hello = *session_.hello();
  if ((hello.abilities & static_cast<std::uint64_t>(live::Ability::can_demote)) == 0) return;
  const live::WindowSum newest = sums_.sum(session_.meter().history().newest(1));
  live::DemotionRule rule;
  rule.event_cost_ns = live::event_cost_of(hello.language);
  if (hello.language == "java") {
    constexpr double kBesideClock = 12;
    // A class in which one method changes is compiled anew for seconds: the budget alone counts, and keeps
    // away from 10 %.
    rule.calls_per_second = 1e18;
    rule.budget = 0.06;
    if (clock_ns_ == 0) clock_ns_ = clock_cost_ns();
    rule.event_cost_ns = std::max(rule.event_cost_ns, clock_ns_ + kBesideClock);
  }
  std::vector<live::MethodId> now;
  for (const live::MethodId method : live::methods_to_demote(newest, rule, keep_)) {
    if (method >= asked_.size()) asked_.resize(method + 1);
    if (asked_[method]) continue;
    asked_[method] = true;
    now.push_back(method);
  }
  // Who is not reached has ended, and says so to who reads.
  if (!now.empty()) static_cast<void>(send_(live::write_control(live::ControlOperation::demote, "", now)));
}

Result<void> LiveSession::control(live::ControlOperation operation, std::string_view pattern,
                                  std::span<const std::uint32_t> methods) {
  const std::lock_guard lock(mutex_);
  if (session_.sampling())
    return fail(ErrorCode::unsupported,
                fmt::format("{} is measured by samples: no agent is in it that could be asked", name_));
  if (!send_ || !session_.hello())
    return fail(ErrorCode::unsupported,
                fmt::format("{} is no program that runs: it cannot be asked for anything", name_));
  using Op = live::ControlOperation;
  using Can = live::Ability;
  const Can needed = operation == Op::filter                               ? Can::can_filter
                     : operation == Op::demote || operation == Op::promote ? Can::can_demote
                     : operation == Op::detach                             ? Can::can_detach
                                                                           : Can::can_pause;
  if ((session_.hello()->abilities & static_cast<std::uint64_t>(needed)) == 0)
    return fail(ErrorCode::unsupported,
                fmt::format("the agent of {} ({}) cannot do that", name_, session_.hello()->agent));
  for (const std::uint32_t method : methods) {
    if (method >= live::kMaxMethods) continue;
    if (method >= keep_.size()) keep_.resize(method + 1);
    if (method >= asked_.size()) asked_.resize(method + 1);
    keep_[method] = operation == Op::promote;
    asked_[method] = operation == Op::demote;
  }
  return send_(live::write_control(operation, pattern, methods));
}

void LiveSession::mark(std::string_view name) {
  const std::lock_guard lock(mutex_);
  session_.mark(session_.meter().closed(), name);
}

void LiveSession::write_recording(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      error_ = fmt::format("{}: {}; nothing more is recorded", recording_, std::strerror(errno));
      file_.reset();
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

Result<void> LiveSession::record(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (session_.finished()) return fail(ErrorCode::invalid, fmt::format("{} has ended", name_));
  if (file_.valid())
    return fail(ErrorCode::invalid, fmt::format("{} is recorded already, to {}", name_, recording_));
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  file_ = std::move(file);
  recording_ = path;
  if (!fresh_) write_recording(live::write_preamble(session_));
  return {};
}

}  // namespace profd

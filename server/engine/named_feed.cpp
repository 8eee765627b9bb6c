#include "server/engine/named_feed.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "server/engine/symbol_cache.h"
#include "server/engine/symbol_memory.h"
#include "server/engine/symbolize_profile.h"

namespace profd {
namespace {

using NamingClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// What comes meanwhile waits in the pipe.
constexpr milliseconds kFirstPatience{20'000}, kBatchPatience{1'000};
constexpr milliseconds kNamingGlance{50};
// What is large to be read takes but a part of the time.
constexpr int kRestsFor = 3;
constexpr milliseconds kLongestRest{5'000};

class NamedFeed final : public SampleFeed {
 public:
  NamedFeed(std::unique_ptr<SampleFeed> feed, SymbolOptions options, SymbolPlaces places)
      : feed_(std::move(feed)),
        options_(std::move(options)),
        cache_(options_.cache, options_.max_cache_bytes),
        places_(std::move(places)) {
    places_.fetch.consent = FetchConsent::off;  // nothing waits for a network
  }
  ~NamedFeed() override {
    end_.request_stop();
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  NamedFeed(const NamedFeed&) = delete;
  NamedFeed& operator=(const NamedFeed&) = delete;

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    PROFD_TRY(std::optional<SampleBatch> batch, feed_->next(stop));
    if (batch && batch->profile) {
      PROFD_TRY(batch->profile, named(batch->profile, stop));
    }
    return batch;
  }

  SampleSource source() const override { return feed_->source(); }

 private:
  Result<ProfilePtr> named(const ProfilePtr& profile, const StopToken& stop) {
    if (!has_open_addresses(*profile)) return profile;
    if (is_asked(profile)) PROFD_CHECK(wait_for_names(stop));
    return memory_.applied(*profile, stop);
  }

  // Not while an earlier one is still looked for, or has just taken long.
  bool is_asked(const ProfilePtr& profile) {
    {
      const std::lock_guard lock(mutex_);
      if (asked_ || NamingClock::now() < rests_until_) return false;
      asked_ = profile;
      files_of_ns_ = feed_->source().files_of_ns;
      if (!thread_.joinable()) thread_ = std::thread([this] { look_up_asked(); });
    }
    changed_.notify_all();
    return true;
  }

  Result<void> wait_for_names(const StopToken& stop) {
    const auto until = NamingClock::now() + std::exchange(patience_, kBatchPatience);
    std::unique_lock lock(mutex_);
    while (asked_ && NamingClock::now() < until) {
      PROFD_CHECK(stop.status());
      changed_.wait_for(lock, kNamingGlance);
    }
    return {};
  }

  void look_up_asked() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return over_ || asked_; });
      if (over_) return;
      const ProfilePtr profile = asked_;
      const std::int64_t files_of_ns = files_of_ns_;
      lock.unlock();
      const auto begun = NamingClock::now();
      look_up(profile, files_of_ns);
      const auto took = NamingClock::now() - begun;
      lock.lock();
      asked_.reset();
      if (took > kBatchPatience)
        rests_until_ = begun + took + std::min<NamingClock::duration>(kRestsFor * took, kLongestRest);
      changed_.notify_all();
    }
  }

  void look_up(const ProfilePtr& profile, std::int64_t files_of_ns) {
    SymbolizeRequest request{places_, {}, &memory_};
    if (files_of_ns != 0) add_own_files(*profile, files_of_ns, request.places);
    const SymbolizeMeans means{options_.program, cache_, options_.limits, options_.patience};
    // Where nothing is found, code stands by its file.
    static_cast<void>(symbolize_profile(profile, request, means, {}, StopToken(end_)));
  }

  // A program that runs here may say where its files are: its user has it watched. They are taken where the
  // build id or the inode is that of what runs.
  static void add_own_files(const Profile& profile, std::int64_t files_of_ns, SymbolPlaces& places) {
    places.identities.recorded_ns = files_of_ns;
    const ModuleTable& modules = profile.modules();
    for (std::size_t i = 0; i < modules.size(); ++i) {
      const std::string_view name = profile.strings()[modules.name[i]];
      if (name.empty() || name.front() != '/' || !has_file(name)) continue;
      std::string folder(name.substr(0, name.rfind('/')));
      if (!folder.empty() &&
          std::find(places.roots.begin(), places.roots.end(), folder) == places.roots.end())
        places.roots.push_back(std::move(folder));
    }
  }

  std::unique_ptr<SampleFeed> feed_;
  SymbolOptions options_;
  SymbolCache cache_;
  SymbolPlaces places_;
  SymbolMemory memory_;
  StopSource end_;
  milliseconds patience_ = kFirstPatience;
  std::mutex mutex_;  // guards what follows up to `changed_`
  ProfilePtr asked_;  // whose code is looked for
  std::int64_t files_of_ns_ = 0;
  NamingClock::time_point rests_until_;
  bool over_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<SampleFeed> named_feed(std::unique_ptr<SampleFeed> feed, const SymbolOptions& options,
                                       SymbolPlaces places) {
  if (options.program.empty() || !options.on_open) return feed;
  return std::make_unique<NamedFeed>(std::move(feed), options, std::move(places));
}

}  // namespace profd

#include "server/engine/endpoint_feed.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/support/base_name.h"
#include "core/support/executor.h"
#include "formats/open.h"
#include "server/engine/endpoint_origin.h"
#include "server/engine/sample_waits.h"

namespace profd {
namespace {

using FeedClock = std::chrono::steady_clock;

constexpr std::string_view kGoPath = "/debug/pprof/profile";
constexpr std::chrono::seconds kLongestLive{30};
constexpr std::uint64_t kMostOfEndpoint = std::uint64_t{64} << 20;
// A second client is turned away while the first records; a program that is gone does not come back.
constexpr unsigned kMostFailures = 5;
constexpr std::chrono::seconds kBetweenFailures{1};
constexpr std::chrono::milliseconds kShortest{250};

class EndpointFeed final : public SampleFeed {
 public:
  explicit EndpointFeed(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    SampleBatch batch;
    batch.from = FeedClock::now();
    auto profile = recorded(stop);
    if (!profile) {
      PROFD_CHECK(stop.status());
      if (!began_ || ++n_failures_ >= kMostFailures) return tl::unexpected<Error>(std::move(profile).error());
      PROFD_CHECK(wait_for(kBetweenFailures, stop));
      batch.to = FeedClock::now();
      return std::optional(batch);
    }
    n_failures_ = 0;
    // Who answers without recording is not asked all the time.
    PROFD_CHECK(wait_until(batch.from + kShortest, stop));
    batch.to = FeedClock::now();
    batch.profile = std::move(*profile);
    began_ = true;
    const std::string& program = batch.profile->info().program;
    if (!program.empty()) program_ = base_name(program);
    // As long as it says it was recorded, up to now.
    if (const auto length = batch.profile->info().duration_ns; length && *length > 0)
      batch.from = std::max(batch.from, batch.to - std::chrono::nanoseconds(*length));
    return std::optional(batch);
  }

  SampleSource source() const override {
    SampleSource source;
    source.text = "pprof endpoint " + endpoint_.uri;
    source.program = program_.empty() ? fmt::format("{}:{}", endpoint_.host, endpoint_.port) : program_;
    if (endpoint_.target.starts_with(kGoPath)) source.language = "go";
    return source;
  }

 private:
  Result<ProfilePtr> recorded(const StopToken& stop) {
    PROFD_TRY(OpenInput input, fetch_endpoint(endpoint_, kMostOfEndpoint, stop, {}));
    OpenOptions options;
    options.limits.input_bytes = kMostOfEndpoint;
    PROFD_TRY(OpenedFile opened, open_profiles(input, options, executor_, stop));
    return opened.profiles.front();
  }

  Endpoint endpoint_;
  SerialExecutor executor_;
  std::string program_;
  bool began_ = false;
  unsigned n_failures_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleFeed>> endpoint_feed(std::string_view address) {
  PROFD_TRY(Endpoint endpoint, parse_endpoint(address));
  std::string target = endpoint.target;
  const std::string_view path = std::string_view(target).substr(0, target.find('?'));
  if (path == "/" || path == "/debug/pprof" || path == "/debug/pprof/") target = kGoPath;
  if (target.find("seconds=") == std::string::npos)
    target += target.find('?') == std::string::npos ? "?seconds=1" : "&seconds=1";
  const std::string place = endpoint.uri.substr(0, endpoint.uri.size() - endpoint.target.size());
  PROFD_TRY(endpoint, parse_endpoint(place + target));
  if (endpoint.recorded && *endpoint.recorded > kLongestLive)
    return fail(ErrorCode::invalid,
                fmt::format("{}: live records for at most {} s at a time: seconds=1 is usual", endpoint.uri,
                            kLongestLive.count()));
  return std::make_unique<EndpointFeed>(std::move(endpoint));
}

}  // namespace profd

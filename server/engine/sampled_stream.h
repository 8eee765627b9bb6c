// Batches of samples as a live stream, which sessions read, record and replay as that of an agent.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/support/result.h"
#include "server/engine/sample_feed.h"

namespace profd {

class SampledStream {
 public:
  // Threads of which nothing is seen for so long have ended.
  static constexpr std::chrono::seconds kThreadGone{10};

  // What is to be said of the next batch, with what the stream begins with before the first. `invalid` for a
  // profile that measures no time: of memory or waiting.
  Result<std::string> add(const SampleBatch& batch, const SampleSource& source);
  // The end of the stream.
  [[nodiscard]] std::string end(std::string_view reason) const;

 private:
  struct Stack {
    std::uint32_t thread = 0;   // by which the stream names it
    std::uint32_t context = 0;  // of the profile: one that has these methods
    double weight = 0;
    double count = 0;
  };
  struct Thread {
    std::uint32_t number = 0;
    std::int64_t seen = 0;  // end of the batch that had it
  };
  using Stacks = std::unordered_map<std::uint64_t, Stack>;  // by thread and methods

  void begin(std::string& out, const SampleBatch& batch, const SampleSource& source);
  std::uint32_t thread_of(std::string& out, const Profile& profile, std::uint32_t row,
                          const SampleSource& source);
  std::uint32_t method_of(std::string& out, const Profile& profile, std::uint32_t frame);
  // By context: the method (0: none), and what stands for the path.
  void learn_contexts(std::string& out, const Profile& profile);
  Stacks stacks_of(std::string& out, const Profile& profile, const SampleSource& source);
  Result<void> add_profile(std::string& out, const Profile& profile, const SampleBatch& batch,
                           const SampleSource& source, std::int64_t from, std::int64_t to);
  void write_stacks(std::string& out, const Profile& profile, const Stacks& stacks, std::int64_t from,
                    std::int64_t to);
  void end_threads(std::string& out, std::int64_t now);
  void say_how(std::string& out, const Profile& profile, const SampleSource& source);
  [[nodiscard]] std::int64_t time_of(std::chrono::steady_clock::time_point at) const;

  static constexpr std::uint32_t kNoThread = 0xFFFFFFFFu;

  bool begun_ = false, said_ = false;
  std::uint64_t flags_ = 0;  // that were said
  std::chrono::steady_clock::time_point since_;
  std::int64_t told_ = 0;  // up to where time has been told
  MetricId metric_{0u};
  bool is_time_ = false;       // of that metric; else shares of all samples are told
  bool only_running_ = false;  // it is time of processors
  std::unordered_map<std::string, std::uint32_t> methods_;
  std::unordered_map<std::string, Thread> threads_;
  std::uint32_t n_threads_ = 0;
  std::vector<std::uint32_t> free_;  // numbers of threads that have ended
  Stacks before_;                    // of a cumulative source
  bool has_before_ = false;
  // Of the profile that is being read.
  std::vector<std::uint32_t> methods_of_contexts_;
  std::vector<std::uint64_t> paths_;
};

}  // namespace profd

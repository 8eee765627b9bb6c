// profd-measure-cache FILE: what the native file and the cache cost for one profile. Prints seconds, of the
// clock and of all cores.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include <sys/resource.h>
#include <unistd.h>

#include "formats/profd/checksum.h"
#include "formats/profd/decode.h"
#include "formats/profd/validate.h"
#include "server/engine/profile_cache.h"

using namespace profd;

namespace {

class Threads final : public Executor {
 public:
  explicit Threads(unsigned width) : width_(width) {}
  unsigned width() const override { return width_; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
    };
    std::vector<std::thread> threads;
    for (unsigned t = 1; t < width_ && t < n_tasks; ++t) threads.emplace_back(work);
    work();
    for (auto& thread : threads) thread.join();
  }

 private:
  unsigned width_;
};

// Of all threads; unlike the wall clock, it does not count what other processes took.
double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

template <class F>
auto timed(const char* what, F f) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  auto result = f();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%-44s %8.3f s  cpu %8.3f s\n", what, took.count(), cpu_seconds() - cpu);
  return result;
}

template <class T>
T check(Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "%s\n", describe(result.error()).c_str());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: profd-measure-cache FILE [THREADS]\n");
    return 2;
  }
  Threads executor(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2]))
                            : std::thread::hardware_concurrency());
  std::string folder = (std::filesystem::temp_directory_path() / "profd-bench-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  const ProfileCache cache(CacheOptions{folder + "/profd", 64ull << 30, std::chrono::milliseconds(0)});
  const OpenOptions options;

  const OpenInput input = check(open_input(argv[1], options.limits.input_bytes));
  const CacheKey key = timed("hash of the input", [&] { return cache.key_of(input.file, options); });
  {
    CachedOpen first =
        timed("import", [&] { return check(open_cached(cache, input, options, executor, {})); });
    const Profile& profile = *first.file.profiles[0];
    std::printf("%zu contexts, %zu self rows, %zu metrics, %zu frames, %zu bytes\n", profile.tree().size(),
                profile.self().contexts.size(), profile.metrics().size(), profile.frames().size(),
                profile.memory());
    timed("write", [&] { return check(first.write_entry({})); });
  }
  const std::string entry = cache.path_of(key);
  std::printf("entry of %ju bytes\n", static_cast<std::uintmax_t>(std::filesystem::file_size(entry)));

  for (int round = 0; round < 3; ++round) {
    const auto opened = timed("second opening, hash of the input included",
                              [&] { return check(open_cached(cache, argv[1], options, executor, {})); });
    if (!opened.from_cache) std::printf("not from the cache\n");
  }
  for (int round = 0; round < 2; ++round) {
    timed("the same file opened as a .profd", [&] {
      return check(open_profiles(check(open_file(entry, options.limits.input_bytes)), options, executor, {}));
    });
  }
  const ByteSource mapped = check(open_file(entry, options.limits.input_bytes));
  for (int round = 0; round < 2; ++round) {
    auto copied = timed("  of that, columns copied", [&] {
      return check(
          profd_format::decode_file(mapped.bytes(), mapped.owner(), profd_format::Storage::copied, executor));
    });
    timed("  of that, checksum", [&] {
      return profd_format::verify_checksum(mapped.bytes(), *copied.checksum, executor).has_value();
    });
    timed("  of that, validation",
          [&] { return profd_format::validate(copied.profiles[0], executor, {}).has_value(); });
  }
  std::filesystem::remove_all(folder);
  return 0;
}

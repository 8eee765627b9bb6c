// profd-measure-cache FILE: what the native file and the cache cost for one profile. Prints seconds, of the
// clock and of all cores.
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "formats/profd/checksum.h"
#include "formats/profd/decode.h"
#include "formats/profd/validate.h"
#include "server/engine/profile_cache.h"
#include "tests/measure/measure.h"

using namespace profd;
using namespace profd::measure;

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

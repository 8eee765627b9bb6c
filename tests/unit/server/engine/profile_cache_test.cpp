#include "server/engine/profile_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/engine/atomic_file.h"
#include "tests/support/catch.h"
#include "tests/support/not_run.h"
#include "tests/support/profile_equal.h"

using namespace profd;
using namespace profd::test;
namespace fs = std::filesystem;

namespace {

class CacheHome {
 public:
  CacheHome() {
    std::string name = (fs::temp_directory_path() / "profd-cache-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~CacheHome() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  CacheHome(const CacheHome&) = delete;
  CacheHome& operator=(const CacheHome&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Everything is kept, however quickly it was imported.
ProfileCache cache_in(const CacheHome& folder, std::uint64_t max_bytes = 1u << 30) {
  return ProfileCache(CacheOptions{(folder / "profd").string(), max_bytes, std::chrono::milliseconds(0)});
}

std::string folded(int n) {
  std::string text;
  for (int i = 0; i < n; ++i)
    text += "main;f" + std::to_string(i % 7) + ";g" + std::to_string(i) + " " + std::to_string(i + 1) + "\n";
  return text;
}

Result<CachedOpen> open_text(const ProfileCache& cache, const std::string& text,
                             const std::string& name = "a.folded", const OpenOptions& options = {}) {
  SerialExecutor serial;
  return open_cached(cache, OpenInput{memory_source(text, name), nullptr, nullptr}, options, serial, {});
}

std::vector<fs::path> entries(const CacheHome& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "profd", error)) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

CachedOpen open_and_store(const ProfileCache& cache, const std::string& text) {
  CachedOpen opened = open_text(cache, text).value();
  REQUIRE(opened.write_entry);
  REQUIRE(opened.write_entry({}).value());
  return opened;
}

}  // namespace

TEST_CASE("the second opening comes from the cache and is the same") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const std::string text = folded(50) + "this line has no count\n";
  const CachedOpen first = open_and_store(cache, text);
  REQUIRE_FALSE(first.from_cache);
  const CachedOpen second = open_text(cache, text).value();
  REQUIRE(second.from_cache);
  REQUIRE_FALSE(second.write_entry);
  REQUIRE(second.file.profiles.size() == first.file.profiles.size());
  REQUIRE(difference(*second.file.profiles[0], *first.file.profiles[0]) == "");
  REQUIRE(second.file.decision.format == "folded");
  REQUIRE(second.file.decision.certain == first.file.decision.certain);
  REQUIRE(second.file.decision.also_plausible == first.file.decision.also_plausible);
  REQUIRE_FALSE(first.file.report.rows().empty());
  REQUIRE(second.file.report.rows().size() == first.file.report.rows().size());
  REQUIRE(second.file.report.rows()[0].message == first.file.report.rows()[0].message);
}

TEST_CASE("the cache is closed to other users") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  fs::create_directory(folder / "profd");
  ::chmod((folder / "profd").c_str(), 0755);
  open_and_store(cache, folded(5));
  struct stat status {};
  REQUIRE(::stat((folder / "profd").c_str(), &status) == 0);
  REQUIRE((status.st_mode & 0777) == 0700);
  REQUIRE(entries(folder).size() == 1);
  REQUIRE(::stat(entries(folder)[0].c_str(), &status) == 0);
  REQUIRE((status.st_mode & 0777) == 0600);
}

TEST_CASE("other bytes, options, endings and readers are other entries") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const auto key = [&](const std::string& text, const std::string& name, const OpenOptions& options = {}) {
    return cache.key_of(memory_source(text, name), options);
  };
  const CacheKey plain = key("a 1\n", "a.folded");
  REQUIRE(key("a 1\n", "elsewhere/b.folded") == plain);
  REQUIRE(key("a 2\n", "a.folded") != plain);
  REQUIRE(key("a 1\n", "a.txt") != plain);
  OpenOptions options;
  options.partial = true;
  REQUIRE(key("a 1\n", "a.folded", options) != plain);
  options = {};
  options.format = "folded";
  REQUIRE(key("a 1\n", "a.folded", options) != plain);

  struct Reader final : FormatReader {
    ReaderInfo i;
    const ReaderInfo& info() const override { return i; }
    Confidence sniff(std::span<const std::byte>, bool) const override { return Confidence::no; }
    Result<void> read(const ByteSource&, ReadContext&, std::vector<ProfileBuilder>&) const override {
      return {};
    }
  };
  Reader a, b;
  a.i.id = "a";
  b.i.id = "b";
  const std::uint64_t before = digest_of(std::vector<const FormatReader*>{&a, &b});
  REQUIRE(digest_of(std::vector<const FormatReader*>{&a}) != before);
  b.i.version = 2;
  REQUIRE(digest_of(std::vector<const FormatReader*>{&a, &b}) != before);
}

TEST_CASE("a damaged entry is ignored, deleted and made again") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const std::string text = folded(40);
  open_and_store(cache, text);
  const fs::path entry = entries(folder).at(0);
  const auto size = fs::file_size(entry);
  for (int way = 0; way < 4; ++way) {
    INFO("way " << way);
    if (way == 0) {
      std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(size / 2));
      file.put('\x7F').put('\x01').put('\x55');
    } else if (way == 1) {
      fs::resize_file(entry, size / 2);
    } else if (way == 2) {
      fs::resize_file(entry, 0);
    } else {
      fs::remove(entry);
      fs::create_symlink("/etc/passwd", entry);
    }
    const CachedOpen again = open_text(cache, text).value();
    REQUIRE_FALSE(again.from_cache);
    REQUIRE_FALSE(fs::exists(fs::symlink_status(entry)));
    REQUIRE(again.write_entry({}).value());
    REQUIRE(open_text(cache, text)->from_cache);
  }
}

TEST_CASE("an entry that is cut or written over while it is mapped changes nothing, and goes") {
#if defined(__SANITIZE_THREAD__)
  return not_run("TSan puts off the signal that says that somebody wants to cut the file");
#endif
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const std::string text = folded(20'000);
  const CachedOpen first = open_and_store(cache, text);
  const fs::path entry = entries(folder).at(0);
  for (int way = 0; way < 3; ++way) {
    INFO("way " << way);
    const CachedOpen mapped = open_text(cache, text).value();
    REQUIRE(mapped.from_cache);
    if (way == 0) {
      fs::resize_file(entry, 0);
    } else if (way == 1) {
      fs::resize_file(entry, fs::file_size(entry) / 2);
    } else {
      std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
      for (std::size_t i = 0; i < fs::file_size(entry); i += 512)
        file.seekp(static_cast<std::streamoff>(i)).put('\0');
    }
    CHECK(difference(*mapped.file.profiles[0], *first.file.profiles[0]) == "");
    const CachedOpen again = open_text(cache, text).value();
    CHECK_FALSE(again.from_cache);
    CHECK_FALSE(fs::exists(entry));
    REQUIRE(again.write_entry({}).value());
  }
}

TEST_CASE("an entry that somebody has open for writing is read, not mapped") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const std::string text = folded(20'000);
  const CachedOpen first = open_and_store(cache, text);
  const fs::path entry = entries(folder).at(0);
  const int writer = ::open(entry.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(writer >= 0);
  const CachedOpen second = open_text(cache, text).value();
  REQUIRE(second.from_cache);
  REQUIRE(::ftruncate(writer, 0) == 0);
  CHECK(difference(*second.file.profiles[0], *first.file.profiles[0]) == "");
  ::close(writer);
}

TEST_CASE("an entry under another's name is not believed") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  open_and_store(cache, folded(3));
  const fs::path first = entries(folder).at(0);
  const std::string other = folded(4);
  const CacheKey key = cache.key_of(memory_source(other, "a.folded"), {});
  fs::rename(first, cache.path_of(key));
  REQUIRE_FALSE(open_text(cache, other)->from_cache);
  REQUIRE(entries(folder).empty());
}

TEST_CASE("an entry that others can write to is not believed") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  open_and_store(cache, folded(3));
  ::chmod(entries(folder).at(0).c_str(), 0666);
  REQUIRE_FALSE(open_text(cache, folded(3))->from_cache);
}

TEST_CASE("the least recently used entries make room") {
  const CacheHome folder;
  const ProfileCache roomy = cache_in(folder);
  std::vector<fs::path> made;
  for (int i = 0; i < 4; ++i) {
    open_and_store(roomy, folded(100 + i));
    made.push_back(roomy.path_of(roomy.key_of(memory_source(folded(100 + i), "a.folded"), {})));
    const timespec then{1'700'000'000 + i, 0};
    const timespec times[2] = {then, then};
    ::utimensat(AT_FDCWD, made.back().c_str(), times, 0);
  }
  REQUIRE(open_text(roomy, folded(100))->from_cache);  // the oldest becomes the newest
  const std::uint64_t size = fs::file_size(made[0]);
  const ProfileCache tight = cache_in(folder, 3 * size + size / 2);
  open_and_store(tight, folded(104));
  REQUIRE(fs::exists(made[0]));
  REQUIRE_FALSE(fs::exists(made[1]));
  REQUIRE_FALSE(fs::exists(made[2]));
  REQUIRE(fs::exists(made[3]));
  REQUIRE(entries(folder).size() == 3);
}

TEST_CASE("an entry larger than the cache is not written") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder, 100);
  const CachedOpen opened = open_text(cache, folded(20)).value();
  REQUIRE_FALSE(opened.write_entry({}).value());
  REQUIRE(entries(folder).empty());
}

TEST_CASE("what dead writers left is cleaned up, what live ones write is not") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  open_and_store(cache, folded(1));
  const fs::path old = folder / "profd/x.profd.profd-part-1-00000000";
  const fs::path fresh = folder / "profd/y.profd.profd-part-2-00000000";
  std::ofstream(old) << "x";
  std::ofstream(fresh) << "y";
  const timespec times[2] = {{1'700'000'000, 0}, {1'700'000'000, 0}};
  ::utimensat(AT_FDCWD, old.c_str(), times, 0);
  open_and_store(cache, folded(2));
  REQUIRE_FALSE(fs::exists(old));
  REQUIRE(fs::exists(fresh));
}

TEST_CASE("writers and readers of one entry do not disturb each other") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const std::string text = folded(300);
  const CachedOpen first = open_text(cache, text).value();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        if (t % 2 == 0) {
          if (!first.write_entry({})) ++wrong;
          for (const auto& path : entries(folder)) {
            if (i % 5 == 4 && !AtomicFile::is_temporary(path.filename().string())) ::unlink(path.c_str());
          }
        }
        const auto opened = open_text(cache, text);
        if (!opened || difference(*opened->file.profiles[0], *first.file.profiles[0]) != "") ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  REQUIRE(wrong == 0);
}

TEST_CASE("a stopped write leaves nothing behind") {
  const CacheHome folder;
  const ProfileCache cache = cache_in(folder);
  const CachedOpen opened = open_text(cache, folded(20)).value();
  StopSource stop;
  stop.request_stop();
  const auto written = opened.write_entry(StopToken(stop));
  REQUIRE_FALSE(written.has_value());
  REQUIRE(written.error().code == ErrorCode::cancelled);
  REQUIRE(entries(folder).empty());
}

TEST_CASE("without a cache, with a quick import or a native file nothing is kept") {
  const CacheHome folder;
  const ProfileCache none{CacheOptions{}};
  REQUIRE_FALSE(none.enabled());
  REQUIRE_FALSE(open_text(none, folded(5))->write_entry);
  const ProfileCache slow_only{CacheOptions{(folder / "profd").string(), 1u << 30, std::chrono::hours(1)}};
  REQUIRE_FALSE(open_text(slow_only, folded(5))->write_entry);
  const ProfileCache cache = cache_in(folder);
  open_and_store(cache, folded(5));
  std::ifstream entry(entries(folder).at(0), std::ios::binary);
  const std::string native((std::istreambuf_iterator<char>(entry)), {});
  const CachedOpen opened = open_text(cache, native, "a.profd").value();
  REQUIRE(opened.file.decision.format == "profd");
  REQUIRE_FALSE(opened.write_entry);
}

TEST_CASE("a directory that cannot be made costs an error for the log only") {
  const CacheHome folder;
  std::ofstream(folder / "file") << "x";
  const ProfileCache cache{
      CacheOptions{(folder / "file/profd").string(), 1u << 30, std::chrono::milliseconds(0)}};
  const CachedOpen opened = open_text(cache, folded(5)).value();
  REQUIRE_FALSE(opened.write_entry({}).has_value());
}

TEST_CASE("the environment says where the cache is and how large") {
  const auto with = [](const char* xdg, const char* use, const char* size) {
    const auto set = [](const char* name, const char* value) {
      value ? ::setenv(name, value, 1) : ::unsetenv(name);
    };
    set("XDG_CACHE_HOME", xdg);
    set("PROFD_CACHE", use);
    set("PROFD_CACHE_SIZE", size);
    const CacheOptions options = cache_options_from_environment();
    set("XDG_CACHE_HOME", nullptr);
    set("PROFD_CACHE", nullptr);
    set("PROFD_CACHE_SIZE", nullptr);
    return options;
  };
  REQUIRE(with("/tmp/c", nullptr, nullptr).directory == "/tmp/c/profd");
  REQUIRE(with("/tmp/c", nullptr, nullptr).max_bytes == 4ull << 30);
  REQUIRE(with("relative", nullptr, nullptr).directory != "relative/profd");
  REQUIRE(with("/tmp/c", "off", nullptr).directory.empty());
  REQUIRE(with("/tmp/c", nullptr, "0").directory.empty());
  REQUIRE(with("/tmp/c", nullptr, "512M").max_bytes == 512ull << 20);
  REQUIRE(with("/tmp/c", nullptr, "2GiB").max_bytes == 2ull << 30);
  REQUIRE(with("/tmp/c", nullptr, "12345").max_bytes == 12345);
  REQUIRE(with("/tmp/c", nullptr, "lots").max_bytes == 4ull << 30);
}

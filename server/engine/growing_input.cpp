#include "server/engine/growing_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/support/base_name.h"
#include "core/support/executor.h"
#include "formats/open.h"
#include "server/engine/recording_pieces.h"
#include "server/engine/sample_waits.h"

namespace profd {
namespace {

namespace fs = std::filesystem;
using FeedTime = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBatchEach{250}, kWholeFileEach{1000};
constexpr milliseconds kPollGlance{50};
// Nothing for so long, and of that time nothing is known; profilers write by the block, some rarely.
constexpr std::chrono::seconds kSilence{5};
constexpr std::size_t kReadPiece = std::size_t{64} << 10;
constexpr std::size_t kMostInOneGo = std::size_t{4} << 20;

Result<ProfilePtr> profile_in(ByteSource bytes, std::string& format, Executor& executor,
                              const StopToken& stop) {
  OpenOptions options;
  options.format = format;
  options.partial = true;
  options.limits.input_bytes = RecordingPieces::kMostOfPiece * 2;
  PROFD_TRY(OpenedFile opened, open_profiles(std::move(bytes), options, executor, stop));
  if (format.empty()) format = opened.decision.format;
  return opened.profiles.front();
}

[[maybe_unused]] constexpr int kPipeBytes = 1 << 20;

// Since when what comes there was recorded, in nanoseconds since the Unix epoch: of a pipe now, of a file
// that is piped at its last change.
std::int64_t recorded_since(int fd) {
  struct stat what {};
  if (::fstat(fd, &what) == 0 && S_ISREG(what.st_mode))
    return std::int64_t{what.st_mtim.tv_sec} * 1'000'000'000 + what.st_mtim.tv_nsec;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Of recordings that say no program: the process that all threads are of; "" there are several, or none has a
// name.
std::string only_process(const Profile& profile) {
  const ThreadTable& threads = profile.threads();
  if (threads.size() == 0) return {};
  for (std::size_t i = 1; i < threads.size(); ++i)
    if (threads.pid[i] != threads.pid[0]) return {};
  return std::string(profile.strings()[threads.process_name[0]]);
}

SampleSource source_of(const std::string& text, const std::string& program, const std::string& format) {
  SampleSource source;
  source.text = text;
  source.program = program;
  if (format == "austin") source.language = "python";
  return source;
}

// Bytes that come one after the other, cut into pieces.
class PieceFeed final : public SampleFeed {
 public:
  // `passed`: a file; what it has already is passed over, and its end is not that of what comes.
  PieceFeed(UniqueFd fd, std::string text, std::string program, bool passed)
      : fd_(std::move(fd)),
        text_(std::move(text)),
        program_(std::move(program)),
        is_file_(passed),
        since_ns_(recorded_since(fd_.get())) {
    // Room for what comes while names are looked for; where there is none, what there is does.
#ifdef F_SETPIPE_SZ
    if (!is_file_) static_cast<void>(::fcntl(fd_.get(), F_SETPIPE_SZ, kPipeBytes));
#endif
  }

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    if (is_file_ && !passed_) PROFD_CHECK(pass(stop));
    while (true) {
      PROFD_CHECK(stop.status());
      if (over_) return std::optional<SampleBatch>();
      PROFD_CHECK(read_some(stop));
      const auto now = FeedTime::now();
      if (!over_ && now - from_ < kBatchEach) continue;
      if (over_ && !pieces_ && !begin_.empty()) PROFD_CHECK(tell_what(true));
      if (over_ && pieces_) pieces_->end();
      std::string piece = pieces_ ? pieces_->take() : std::string();
      if (piece.empty()) {
        if (now - from_ < kSilence || !seen_) continue;
        return std::optional(SampleBatch{std::exchange(from_, now), now, nullptr, false, false});
      }
      PROFD_TRY(ProfilePtr profile, profile_of(std::move(piece), stop));
      if (!profile->info().program.empty())
        program_ = base_name(profile->info().program);
      else if (std::string process = only_process(*profile); !process.empty())
        program_ = std::move(process);
      seen_ = true;
      return std::optional(SampleBatch{std::exchange(from_, now), now, std::move(profile), false, false});
    }
  }

  SampleSource source() const override {
    SampleSource source = source_of(text_, program_, format_);
    if (format_ == "perf-data") source.files_of_ns = since_ns_;
    return source;
  }

  // The file was found to be written anew from its begin; next() has failed for that.
  [[nodiscard]] bool written_anew() const {
    return written_anew_;
  }

 private:
  Result<ProfilePtr> profile_of(std::string piece, const StopToken& stop) {
    PROFD_TRY(ProfilePtr profile,
              profile_in(memory_source(std::move(piece), "live"), format_, executor_, stop));
    if (format_ != "folded" && format_ != "austin" && format_ != "perf-data")
      return fail(
          ErrorCode::unsupported,
          fmt::format("{}: {} cannot be read as it comes: folded stacks, the text of austin and a pipe of "
                      "perf record -o - can",
                      text_, format_));
    return profile;
  }

  // What can be read without waiting for long.
  Result<void> read_some(const StopToken& stop) {
    if (is_file_) {
      PROFD_CHECK(wait_for(kPollGlance, stop));
      PROFD_CHECK(check_grown());
    } else {
      pollfd waited{fd_.get(), POLLIN, 0};
      if (::poll(&waited, 1, static_cast<int>(kPollGlance.count())) <= 0) return {};
    }
    char bytes[kReadPiece];
    for (std::size_t n_read = 0; n_read < kMostInOneGo;) {
      const ssize_t n = ::read(fd_.get(), bytes, sizeof(bytes));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return {};
      if (n < 0) return fail(ErrorCode::io, fmt::format("{}: {}", text_, std::strerror(errno)));
      if (n == 0) {
        over_ = !is_file_;
        return {};
      }
      n_read += static_cast<std::size_t>(n);
      keep_end({bytes, static_cast<std::size_t>(n)});
      PROFD_CHECK(take_bytes({bytes, static_cast<std::size_t>(n)}));
      if (is_file_) continue;
      pollfd more{fd_.get(), POLLIN, 0};
      if (::poll(&more, 1, 0) <= 0) return {};
    }
    return {};
  }

  void keep_end(std::string_view bytes) {
    n_taken_ += bytes.size();
    end_ += bytes;
    if (end_.size() > kEndKept) end_.erase(0, end_.size() - kEndKept);
  }

  // What was written anew from its begin would be taken for what came behind.
  Result<void> check_grown() {
    std::string there(end_.size(), '\0');
    const ssize_t n =
        ::pread(fd_.get(), there.data(), there.size(), static_cast<off_t>(n_taken_ - end_.size()));
    struct stat here {
    }, named{};
    const bool replaced = ::fstat(fd_.get(), &here) == 0 && ::stat(text_.c_str(), &named) == 0 &&
                          (here.st_ino != named.st_ino || here.st_dev != named.st_dev);
    if (n == static_cast<ssize_t>(there.size()) && there == end_ && !replaced) return {};
    written_anew_ = true;
    return fail(ErrorCode::unsupported, fmt::format("{}: it was written anew and does not grow", text_));
  }

  Result<void> take_bytes(std::string_view bytes) {
    if (pieces_) return pieces_->feed(bytes);
    begin_ += bytes;
    return tell_what(false);
  }

  Result<void> tell_what(bool whole) {
    auto told = pieces_of(begin_, whole);
    if (!told) {
      told.error().message = fmt::format("{}: {}", text_, told.error().message);
      return tl::unexpected<Error>(std::move(told).error());
    }
    if (!*told) return {};
    pieces_ = std::move(*told);
    return pieces_->feed(std::exchange(begin_, {}));
  }

  Result<void> pass(const StopToken& stop) {
    passed_ = true;
    struct stat now {};
    if (::fstat(fd_.get(), &now) != 0)
      return fail(ErrorCode::io, fmt::format("{}: {}", text_, std::strerror(errno)));
    std::string bytes(kMostInOneGo, '\0');
    for (off_t left = now.st_size; left > 0;) {
      PROFD_CHECK(stop.status());
      const ssize_t n = ::read(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      left -= n;
      keep_end(std::string_view(bytes).substr(0, static_cast<std::size_t>(n)));
      PROFD_CHECK(take_bytes(std::string_view(bytes).substr(0, static_cast<std::size_t>(n))));
      if (pieces_) static_cast<void>(pieces_->take());
    }
    from_ = FeedTime::now();
    return {};
  }

  static constexpr std::size_t kEndKept = 256;

  UniqueFd fd_;
  std::string text_, program_, format_, begin_;
  std::string end_;  // of what was taken
  std::uint64_t n_taken_ = 0;
  bool is_file_, passed_ = false, over_ = false, seen_ = false, written_anew_ = false;
  std::int64_t since_ns_;
  SerialExecutor executor_;
  std::unique_ptr<RecordingPieces> pieces_;
  FeedTime::time_point from_ = FeedTime::now();
};

struct FileLook {
  std::string path;
  std::uint64_t size = 0;
  fs::file_time_type written{};
  bool operator==(const FileLook&) const = default;
};

// A recording that is read as a whole each time it has become another.
class WholeFileFeed final : public SampleFeed {
 public:
  // `empty_yet`: it is a recording that may have had no samples until now.
  WholeFileFeed(std::string path, bool empty_yet) : path_(std::move(path)), empty_yet_(empty_yet) {}

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    while (true) {
      const bool first = !read_once_ && n_failures_ == 0;
      PROFD_CHECK(wait_until(looked_ + (first ? milliseconds(0) : kWholeFileEach), stop));
      looked_ = FeedTime::now();
      PROFD_TRY(FileLook now, look());
      if (now == seen_) {
        if (looked_ - from_ < kSilence) continue;
        return batch(nullptr, false);
      }
      // Of a file that another has followed what came last is read before.
      const bool follows = !seen_.path.empty() && now.path != seen_.path;
      if (follows && !ended_) {
        ended_ = true;
        now.path = seen_.path;
      } else {
        ended_ = false;
        seen_ = now;
      }
      auto file = open_file(now.path, RecordingPieces::kMostOfPiece, OpenRule::regular, stop);
      auto profile = file ? profile_in(std::move(*file), format_, executor_, stop)
                          : Result<ProfilePtr>(tl::unexpected<Error>(std::move(file).error()));
      PROFD_CHECK(stop.status());
      if (!profile) {
        // In the middle of a write, or before the first sample; what was never a profile is none.
        if ((!read_once_ && !empty_yet_) || ++n_failures_ > kMostUnread)
          return tl::unexpected<Error>(std::move(profile).error());
        continue;
      }
      read_once_ = true;
      n_failures_ = 0;
      if (!(*profile)->info().program.empty()) program_ = base_name((*profile)->info().program);
      return batch(std::move(*profile), follows && !ended_);
    }
  }

  SampleSource source() const override {
    return source_of(path_, program_.empty() ? std::string(base_name(path_)) : program_, format_);
  }

 private:
  static constexpr unsigned kMostUnread = 10;

  std::optional<SampleBatch> batch(ProfilePtr profile, bool anew) {
    return SampleBatch{std::exchange(from_, looked_), looked_, std::move(profile), true, anew};
  }

  Result<FileLook> look() const {
    std::error_code error;
    FileLook newest;
    auto consider = [&](const fs::path& path) {
      const auto written = fs::last_write_time(path, error);
      if (error || (!newest.path.empty() && written < newest.written)) return;
      newest = {path.string(), fs::file_size(path, error), written};
    };
    if (fs::is_directory(path_, error)) {
      for (const auto& entry : fs::directory_iterator(path_, error))
        if (entry.is_regular_file(error)) consider(entry.path());
    } else {
      consider(path_);
    }
    if (newest.path.empty())
      return fail(ErrorCode::not_found, fmt::format("{}: there is no file that a profiler writes", path_));
    return newest;
  }

  std::string path_, program_, format_;
  SerialExecutor executor_;
  FileLook seen_;
  bool empty_yet_, read_once_ = false, ended_ = false;
  unsigned n_failures_ = 0;
  FeedTime::time_point looked_ = FeedTime::now(), from_ = looked_;
};

// A file of samples a line: it grows, or has all samples each time, which shows when that is written anew.
class LineFileFeed final : public SampleFeed {
 public:
  LineFileFeed(UniqueFd file, std::string path)
      : path_(std::move(path)),
        grows_(std::make_unique<PieceFeed>(std::move(file), path_, base_name_of(path_), true)) {}

  Result<std::optional<SampleBatch>> next(const StopToken& stop) override {
    if (grows_) {
      auto batch = grows_->next(stop);
      if (batch || !grows_->written_anew()) return batch;
      grows_.reset();
      whole_ = std::make_unique<WholeFileFeed>(path_, true);
    }
    return whole_->next(stop);
  }

  SampleSource source() const override { return grows_ ? grows_->source() : whole_->source(); }

 private:
  static std::string base_name_of(const std::string& path) { return std::string(base_name(path)); }

  std::string path_;
  std::unique_ptr<PieceFeed> grows_;  // until it is known not to
  std::unique_ptr<WholeFileFeed> whole_;
};

}  // namespace

std::unique_ptr<SampleFeed> pipe_feed(UniqueFd pipe, std::string name) {
  return std::make_unique<PieceFeed>(std::move(pipe), name, name, false);
}

Result<std::unique_ptr<SampleFeed>> file_feed(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return std::make_unique<WholeFileFeed>(path, true);
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat what {};
  if (!file.valid() || ::fstat(file.get(), &what) != 0)
    return fail(ErrorCode::io, fmt::format("{}: {}", path, std::strerror(errno)));
  if (S_ISFIFO(what.st_mode))
    return std::make_unique<PieceFeed>(std::move(file), path, std::string(base_name(path)), false);
  if (!S_ISREG(what.st_mode))
    return fail(ErrorCode::invalid, fmt::format("{}: it is no file that a profiler writes", path));
  std::string begin(kReadPiece, '\0');
  const ssize_t n = ::pread(file.get(), begin.data(), begin.size(), 0);
  begin.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  // A sample a line is followed; what is written anew each time is read as a whole.
  if (begin.empty() || grows_by_pieces(begin)) return std::make_unique<LineFileFeed>(std::move(file), path);
  return std::make_unique<WholeFileFeed>(path, begin.starts_with("FLR"));
}

}  // namespace profd

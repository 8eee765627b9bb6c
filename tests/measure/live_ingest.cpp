// profd-measure-live [MILLIONS]: what a live session takes in on one core, as one line of JSON: `few` is a
// program of a thousand calling contexts, where the city is what counts; `many` one of a million. `minutes`
// is memory after 5, 10, 15 and 20 minutes of a stream that uses all methods all the time.
//
// profd-measure-live --stream FILE MIB writes a recording of about that size, of a thousand contexts, and
// says how many events it has.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "core/live/session.h"
#include "core/live/window.h"
#include "tests/measure/measure.h"
#include "tests/support/live_stream.h"

using namespace profd;
using namespace profd::measure;

namespace {

constexpr std::uint64_t kMinute = 60'000'000'000;
constexpr std::size_t kPiece = 262'144;  // as much as one read of a socket has

// A walk in a tree of calls, whose next choice depends on where it is.
class Walk {
 public:
  Walk(bool many, std::size_t depth, std::uint64_t step) : many_(many), depth_(depth), step_(step) {}

  // Events of about 64 KiB, and what promises that they are all.
  std::uint64_t append(test::LiveStream& stream) {
    std::uint64_t n = 0;
    test::RecordsOf records(1, now_);
    for (; records.bytes().size() < 65'000; ++n) {
      now_ += step_ / 2 + random_() % step_;
      if (open_.size() < 2 || (open_.size() < depth_ && random_() % 2 == 0)) {
        open_.push_back(many_ ? 1 + random_() % 2 + (open_.empty() ? 0 : open_.back() * 3) % 97
                              : 1 + open_.size() * 5 + random_() % 2);
        records.enter(now_, open_.back());
      } else {
        records.exit(now_);
        open_.pop_back();
      }
    }
    stream.events(records);
    if (now_ - told_ > 50'000'000) {
      stream.tick(now_);
      told_ = now_;
    }
    return n;
  }
  [[nodiscard]] std::uint64_t now() const { return now_; }

 private:
  bool many_;
  std::size_t depth_;
  std::uint64_t step_, now_ = 0, told_ = 0;
  std::mt19937_64 random_{1};
  std::vector<std::uint64_t> open_;
};

void take(live::Session& session, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    if (auto taken = session.consume(test::as_bytes(bytes.substr(at, kPiece))); !taken) {
      std::fprintf(stderr, "%s\n", describe(taken.error()).c_str());
      std::exit(1);
    }
}

void ingest(const char* name, bool many, std::uint64_t events) {
  test::LiveStream stream;
  stream.hello();
  Walk walk(many, many ? 20 : 10, 40);
  std::uint64_t n = 0;
  while (n < events) n += walk.append(stream);
  double best = 0;
  std::size_t contexts = 0, bytes = 0;
  for (int run = 0; run < 3; ++run) {
    live::Session session;
    const double before = cpu_seconds();
    take(session, stream.bytes);
    best = std::max(best, static_cast<double>(n) / (cpu_seconds() - before));
    contexts = session.meter().contexts().size();
    bytes = session.bytes();
  }
  std::printf(
      "\"%s\": {\"events\": %llu, \"per_second\": %.0f, \"contexts\": %zu, \"bytes\": %zu, "
      "\"stream_bytes\": %zu}",
      name, static_cast<unsigned long long>(n), best, contexts, bytes, stream.bytes.size());
}

void minutes() {
  live::Session session;
  test::LiveStream stream;
  stream.hello();
  Walk walk(true, 19, 100'000);
  std::printf("\"minutes\": [");
  for (std::uint64_t minute = 5; minute <= 20; minute += 5) {
    while (walk.now() < minute * kMinute) {
      walk.append(stream);
      take(session, stream.bytes);
      stream.bytes.clear();
    }
    std::printf("%s%zu", minute == 5 ? "" : ", ", session.bytes());
  }
  std::printf("], \"resident_mib\": %.0f", mib_of("VmRSS"));
}

int write_stream(const char* path, std::size_t n_bytes) {
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return 1;
  test::LiveStream stream;
  Walk walk(false, 10, 1500);
  std::uint64_t n = 0;
  bool written = true;
  for (std::size_t size = 0; written && size < n_bytes; size += stream.bytes.size()) {
    stream.bytes.clear();
    if (size == 0) stream.hello();
    n += walk.append(stream);
    written = std::fwrite(stream.bytes.data(), 1, stream.bytes.size(), file) == stream.bytes.size();
  }
  if (std::fclose(file) != 0 || !written) return 1;
  std::printf("{\"events\": %llu, \"seconds\": %.1f}\n", static_cast<unsigned long long>(n),
              static_cast<double>(walk.now()) * 1e-9);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--stream")
    return write_stream(argv[2], static_cast<std::size_t>(std::atoi(argv[3])) << 20);
  const int millions = argc > 1 ? std::atoi(argv[1]) : 40;
  if (millions < 1 || millions > 400) {
    std::fprintf(stderr, "profd-measure-live: 1 to 400 million events\n");
    return 2;
  }
  const std::uint64_t events = static_cast<std::uint64_t>(millions) * 1'000'000;
  std::printf("{");
  ingest("few", false, events);
  std::printf(", ");
  ingest("many", true, events);
  std::printf(", ");
  minutes();
  std::printf("}\n");
  return 0;
}

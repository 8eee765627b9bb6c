#include "server/engine/recording_pieces.h"

#include <fstream>
#include <iterator>

#include "core/support/executor.h"
#include "formats/open.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace std::string_literals;

namespace {

std::string file_of(const std::string& name) {
  std::ifstream file(std::string(PROFD_SOURCE_DIR "/") + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ProfilePtr profile_of_piece(std::string piece) {
  SerialExecutor executor;
  auto opened = open_profiles(memory_source(std::move(piece), "piece"), {}, executor, {});
  REQUIRE(opened);
  return opened->profiles.front();
}

// The recording in runs of bytes, with a piece taken after each.
double sum_of_pieces(const std::string& recording, std::size_t run, std::size_t& n) {
  std::unique_ptr<RecordingPieces> pieces;
  std::string begin;
  double sum = 0;
  for (std::size_t at = 0; at < recording.size(); at += run) {
    const std::string_view bytes = std::string_view(recording).substr(at, run);
    if (!pieces) {
      begin += bytes;
      auto told = pieces_of(begin, false);
      REQUIRE(told);
      if (!*told) continue;
      pieces = std::move(*told);
      REQUIRE(pieces->feed(begin));
    } else {
      REQUIRE(pieces->feed(bytes));
    }
    std::string piece = pieces->take();
    if (piece.empty()) continue;
    ++n;
    const ProfilePtr profile = profile_of_piece(std::move(piece));
    sum += as_double(profile->total(profile->default_metric()));
  }
  return sum;
}

}  // namespace

TEST_CASE("pieces of a recording that comes bit by bit add up to the whole of it") {
  for (const char* name :
       {"formats/perf_data/testdata/recorded-pipe.data", "formats/folded/testdata/recorded-py-spy.folded",
        "formats/austin/testdata/recorded-wall.austin"}) {
    INFO(name);
    const std::string recording = file_of(name);
    const ProfilePtr whole = profile_of_piece(recording);
    const double expected = as_double(whole->total(whole->default_metric()));
    for (const std::size_t run : {recording.size() / 3 + 1, recording.size() / 7 + 5}) {
      std::size_t n = 0;
      CHECK(sum_of_pieces(recording, run, n) == expected);
      CHECK(n >= 1);
    }
  }
}

TEST_CASE("what cannot be cut into pieces is refused in a sentence") {
  const auto file = pieces_of(file_of("formats/perf_data/testdata/minimal.data").substr(0, 100), false);
  REQUIRE_FALSE(file);
  CHECK(file.error().code == ErrorCode::unsupported);
  CHECK(file.error().message.find("perf record -o -") != std::string::npos);
  CHECK_FALSE(pieces_of(std::string("\x7f"
                                    "ELF\x02\x01\x01\0\0\0",
                                    10),
                        false));

  auto compressed = pieces_of("PERFILE2\x10\0\0\0\0\0\0\0"s, false);
  REQUIRE(compressed);
  REQUIRE(*compressed);
  REQUIRE((*compressed)->feed("PERFILE2\x10\0\0\0\0\0\0\0"s));
  const auto refused = (*compressed)->feed("\x51\0\0\0\0\0\x08\0"s);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("leave -z out") != std::string::npos);
}

TEST_CASE("a file of samples a line is told from one that is written as a whole") {
  CHECK(grows_by_pieces("main;parse 12\nmain;draw 3\n"));
  CHECK(grows_by_pieces("# austin: 3.7.0\n# mode: wall\n\nP1;T1;a.py:main:3 100\n"));
  CHECK(grows_by_pieces("# austin: 3.7.0\n"));
  CHECK_FALSE(grows_by_pieces("{\"nodes\":[]}\n"));
  CHECK_FALSE(grows_by_pieces(std::string("FLR\0\0\2", 6)));
}

#include "formats/open.h"

#include <set>

#include <fmt/format.h>

#include "tests/support/catch.h"
#include "tests/unit/formats/make_archive.h"

using namespace profd;
using namespace profd::test;

namespace {

const std::string kFolded = "main;a 3\nmain;b 4\n";
const std::string kOther = "start;x 5\n";

Result<OpenedFile> open(std::string bytes, std::string name = "", OpenOptions options = {}) {
  SerialExecutor executor;
  return open_profiles(memory_source(std::move(bytes), std::move(name)), options, executor, {});
}

// ASCII text as UTF-16 with its byte order mark.
std::string wide(std::string_view text, bool big_endian) {
  std::string out = big_endian ? "\xFE\xFF" : "\xFF\xFE";
  for (const char c : text) out += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

std::int64_t total(const Result<OpenedFile>& opened, std::size_t i = 0) {
  return std::get<std::int64_t>(opened->profiles[i]->total(MetricId{0u}));
}

std::uint64_t reported(const Result<OpenedFile>& opened, std::string_view kind) {
  for (const ReportRow& row : opened->report.rows())
    if (row.kind == kind) return row.count;
  return 0;
}

}  // namespace

TEST_CASE("readers are listed in sniff order with ids and ranks of their own") {
  std::set<std::string_view> ids;
  int last = -1;
  for (const FormatReader* reader : all_readers()) {
    CHECK(reader->info().sniff_rank > last);
    last = reader->info().sniff_rank;
    CHECK(ids.insert(reader->info().id).second);
    CHECK_FALSE(reader->info().title.empty());
    CHECK_FALSE(reader->info().producer.empty());
    for (std::string_view extension : reader->info().extensions)
      CHECK(extension.find('.') != std::string_view::npos);
  }
}

TEST_CASE("an empty file is refused with a sentence") {
  const auto opened = open("");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::malformed);
  CHECK(opened.error().message.find("empty") != std::string::npos);
}

TEST_CASE(
    "what no reader claims is unsupported; it is said how it begins and where the known formats stand") {
  const auto opened = open("Dear diary,\nnothing here is a profile.\n", "diary.txt");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::unsupported);
  CHECK(opened.error().message.find("diary.txt") != std::string::npos);
  CHECK(opened.error().message.find("it begins with \"Dear diary,\"") != std::string::npos);
  CHECK(opened.error().message.find("`profd formats`") != std::string::npos);
  const auto binary = open(std::string("\x7f"
                                       "ELF\x02\0",
                                       6),
                           "a.out");
  REQUIRE_FALSE(binary);
  CHECK(binary.error().message.find("it begins with the bytes 7f 45 4c 46 02 00") != std::string::npos);
  const auto blank = open("\nall below\n", "blank.txt");
  REQUIRE_FALSE(blank);
  CHECK(blank.error().message.find("it begins with the bytes 0a 61 6c 6c") != std::string::npos);
}

TEST_CASE("a named format is read without sniffing, an unknown one is an error that lists the known") {
  OpenOptions options;
  options.format = "folded";
  CHECK(open("alone 3\n", "", options).has_value());
  options.format = "no-such";
  const auto opened = open("alone 3\n", "", options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::invalid);
  CHECK(opened.error().message.find("perf-script") != std::string::npos);
}

TEST_CASE("a file that only its extension tells apart is read when the extension fits") {
  CHECK_FALSE(open("alone 3\n", "numbers.txt").has_value());
  CHECK(open("alone 3\n", "a.folded").has_value());
  CHECK(open(gzip_of("alone 3\n"), "a.folded.gz").has_value());
}

TEST_CASE("gzip, zstd, zip and tar are peeled, one inside another") {
  for (const std::string& bytes : {kFolded, gzip_of(kFolded), zstd_of(kFolded), gzip_of(gzip_of(kFolded)),
                                   zip_of({{"a.folded", kFolded}}), tar_of({{"a.folded", kFolded}}),
                                   gzip_of(tar_of({{"a.folded", zstd_of(kFolded)}}))}) {
    const auto opened = open(bytes);
    REQUIRE(opened);
    CHECK(opened->decision.format == "folded");
    CHECK(total(opened) == 7);
  }
  const auto nested = open(gzip_of(tar_of({{"dir/a.folded", zstd_of(kFolded)}})));
  CHECK(nested->decision.containers == std::vector<std::string>{"gzip", "tar: dir/a.folded", "zstd"});
  CHECK(nested->profiles.front()->info().name == "dir/a.folded");
}

TEST_CASE("text in UTF-16 is read by whatever reads it in UTF-8, wherever it lies") {
  const std::string json =
      R"([{"name":"a","ph":"X","ts":0,"dur":7,"pid":1,"tid":1},{"name":"b","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}])";
  const std::string svg =
      "<?xml version=\"1.0\" encoding=\"UTF-16\" standalone=\"no\"?>\n"
      "<svg><!-- Flame graph stack visualization --><g class=\"func_g\"><title>all (7 samples, 100%)</title>"
      "<rect x=\"0\" y=\"0\" width=\"10\" height=\"1\"/></g></svg>";
  for (const bool big_endian : {false, true}) {
    for (const auto& [format, text] :
         {std::pair("folded", kFolded), std::pair("chrome-trace", json), std::pair("flamegraph-svg", svg)}) {
      INFO(format);
      const auto opened = open(wide(text, big_endian));
      if (!opened) FAIL_CHECK(describe(opened.error()));
      REQUIRE(opened);
      CHECK(opened->decision.format == format);
      CHECK(opened->decision.containers == std::vector<std::string>{"UTF-16"});
      CHECK(reported(opened, "utf-16") == 1);
      CHECK(total(opened) > 0);
    }
    const auto packed = open(tar_of({{"a.folded", gzip_of(wide(kFolded, big_endian))}}));
    REQUIRE(packed);
    CHECK(total(packed) == 7);
    CHECK(packed->decision.containers == std::vector<std::string>{"tar: a.folded", "gzip", "UTF-16"});
  }
}

TEST_CASE("text in UTF-16 keeps its characters, and what is none is replaced and counted") {
  std::string bytes = wide("caf", false);
  bytes += std::string("\xE9\0", 2) + std::string("\x3D\xD8\x00\xDE", 4) + std::string("\x00\xD8", 2);
  bytes += wide(";main 3\n", false).substr(2);
  const auto opened = open(bytes, "a.folded");
  REQUIRE(opened);
  CHECK(reported(opened, "invalid-utf-16") == 1);
  const Profile& profile = *opened->profiles.front();
  CHECK(profile.function_name(FunctionId{0u}) == "caf\xC3\xA9\xF0\x9F\x98\x80\xEF\xBF\xBD");
}

TEST_CASE("text in UTF-16 counts against the limit of expanded bytes") {
  OpenOptions options;
  options.limits.expanded_bytes = 64;
  std::string text;
  for (int i = 0; i < 20; ++i) text += kFolded;
  const auto opened = open(wide(text, false), "a.folded", options);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::limit);
  CHECK(opened.error().message.find("expanded_bytes") != std::string::npos);
}

TEST_CASE("containers nested too deep are a limit, not a crash") {
  std::string bytes = kFolded;
  for (int i = 0; i < 5; ++i) bytes = gzip_of(bytes);
  const auto opened = open(bytes);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::limit);
  CHECK(opened.error().message.find("container_depth") != std::string::npos);
}

TEST_CASE("every profile of an archive is returned, named after its member, and what is none is counted") {
  for (const std::string& bytes :
       {zip_of({{"a.folded", kFolded}, {"README", "words"}, {"b.folded", kOther, false}, {"empty", ""}}),
        tar_of({{"a.folded", kFolded}, {"README", "words"}, {"b.folded", kOther}, {"empty", ""}})}) {
    const auto opened = open(bytes);
    REQUIRE(opened);
    REQUIRE(opened->profiles.size() == 2);
    CHECK(opened->profiles[0]->info().name == "a.folded");
    CHECK(opened->profiles[1]->info().name == "b.folded");
    CHECK(total(opened, 1) == 5);
    CHECK(reported(opened, "member-not-read") == 2);
  }
}

TEST_CASE("a broken member of an archive does not take the others with it, and is reported") {
  auto bytes = zip_of({{"a.folded", kFolded}, {"locked", kOther, true, true}});
  const auto opened = open(bytes);
  REQUIRE(opened);
  CHECK(opened->profiles.size() == 1);
  CHECK(reported(opened, "member-broken") == 1);
  const auto locked = open(zip_of({{"locked", kOther, true, true}}));
  REQUIRE_FALSE(locked);
  CHECK(locked.error().code == ErrorCode::unsupported);
  CHECK(locked.error().message.find("encrypted") != std::string::npos);
}

TEST_CASE("an error of a reader has the id of its format, others have none") {
  const auto wrong =
      open(R"({"nodes":[{"id":1,"callFrame":{}}],"samples":[2],"timeDeltas":[1]})", "a.cpuprofile");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().format == "cpuprofile");
  const auto packed = open(gzip_of(R"({"nodes":[{"id":1,"callFrame":{}}],"samples":[2],"timeDeltas":[1]})"));
  REQUIRE_FALSE(packed);
  CHECK(packed.error().format == "cpuprofile");
  OpenOptions named;
  named.format = "pprof";
  const auto forced = open("no such thing", "", named);
  REQUIRE_FALSE(forced);
  CHECK(forced.error().format == "pprof");
  const auto cut = open(gzip_of(kFolded).substr(0, 20));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().format.empty());
  const auto prose = open("Dear diary,\n");
  REQUIRE_FALSE(prose);
  CHECK(prose.error().format.empty());
}

TEST_CASE("an archive without profiles says how many files were looked at") {
  const auto opened = open(tar_of({{"x", "words"}, {"y", "more words"}}));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::unsupported);
  CHECK(opened.error().message.find("none of the 2 files") != std::string::npos);
}

TEST_CASE("a decompression bomb stops at the ratio and at the byte limit") {
  const std::string bomb = gzip_of(gzip_of(std::string(200u << 20, 'a')));
  const auto by_ratio = open(bomb);
  REQUIRE_FALSE(by_ratio);
  CHECK(by_ratio.error().code == ErrorCode::limit);
  CHECK(by_ratio.error().message.find("expansion_ratio") != std::string::npos);

  OpenOptions small;
  small.limits.expanded_bytes = 1u << 20;
  for (const std::string& bytes : {gzip_of(std::string(4u << 20, 'a')), zstd_of(std::string(4u << 20, 'a')),
                                   zip_of({{"a", std::string(4u << 20, 'a')}})}) {
    small.limits.expansion_ratio = 1u << 30;
    const auto opened = open(bytes, "", small);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::limit);
    CHECK(opened.error().message.find("expanded_bytes") != std::string::npos);
  }
}

TEST_CASE("truncated gzip is an error that names member and byte, and a prefix when asked for") {
  std::string folded;
  for (int i = 0; i < 2000; ++i) folded += fmt::format("main;f{};g{} {}\n", i * 7919 % 1000, i, i);
  const std::string whole = gzip_of(kFolded) + gzip_of(folded);
  const std::string cut = whole.substr(0, whole.size() - 900);
  const auto strict = open(cut);
  REQUIRE_FALSE(strict);
  CHECK(strict.error().code == ErrorCode::truncated);
  CHECK(strict.error().offset == cut.size());
  CHECK(describe(strict.error()).find("gzip member 2") != std::string::npos);

  OpenOptions partial;
  partial.partial = true;
  const auto opened = open(cut, "", partial);
  REQUIRE(opened);
  CHECK(reported(opened, "damaged-gzip") == 1);
  CHECK(opened->report.has_losses());
  CHECK(total(opened) > 7);
}

TEST_CASE("bzip2, xz and LZ4 are peeled, damage is named, parts are offered") {
  const auto damaged = open("BZh91AY&SY" + std::string(40, 'x'));
  REQUIRE_FALSE(damaged);
  CHECK(describe(damaged.error()).find("bzip2") != std::string::npos);
  const auto cut =
      open(std::string("\xFD"
                       "7zXZ\0\0\4",
                       8));
  REQUIRE_FALSE(cut);
  CHECK(cut.error().code == ErrorCode::truncated);
  CHECK(describe(cut.error()).find("xz") != std::string::npos);
  const std::string text = [] {
    std::string lines;
    for (int i = 0; i < 3000; ++i) lines += fmt::format("main;f{};g{} {}\n", i % 7, i % 501, i + 1);
    return lines;
  }();
  for (const std::string& packed :
       {bzip2_of(text), xz_of(text), lz4_of(text), bzip2_of(text) + bzip2_of("main;z 1\n")}) {
    const auto opened = open(packed);
    REQUIRE(opened);
    CHECK(total(opened) == 3000 * 3001 / 2 + (packed.size() > bzip2_of(text).size() && packed[0] == 'B'));
    CHECK_FALSE(open(packed.substr(0, packed.size() / 2)));
  }
}

TEST_CASE("a stopped opening is cancelled") {
  StopSource source;
  source.request_stop();
  SerialExecutor executor;
  const auto opened = open_profiles(memory_source(kFolded, ""), {}, executor, StopToken(source));
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code == ErrorCode::cancelled);
}

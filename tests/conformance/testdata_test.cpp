// Every reader against every file in formats/<id>/testdata.
// PROFD_BLESS=1 writes the goldens instead of comparing them.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>

#include <fmt/format.h>

#include "formats/containers.h"
#include "tests/conformance/describe_profile.h"
#include "tests/conformance/files.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string label(const TestFile& file) {
  return file.format + "/" + file.path.filename().string();
}

// What a reader sees: containers peeled.
std::string content_of(const TestFile& file) {
  ImportReport report;
  std::string content;
  const auto claimed = [&](std::span<const std::byte>) { return false; };
  SerialExecutor serial;
  const auto peeled = peel({memory_source(read_bytes(file.path), ""), {}, {}, {}}, {}, false, serial, {},
                           report, claimed, [&](Result<Content> found) -> Result<void> {
                             if (found) content = std::string(found->source.text());
                             return {};
                           });
  return peeled ? content : std::string();
}

// Opens, and fails the test when the outcome is not allowed for any input.
void open_damaged(const TestFile& file, const std::string& bytes, const std::string& what) {
  for (const std::string& format : {file.format, std::string()}) {
    for (const bool partial : {false, true}) {
      OpenOptions options;
      options.format = format;
      options.partial = partial;
      const auto begin = std::chrono::steady_clock::now();
      const auto opened = open_hidden(bytes, options);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      INFO(label(file) << " " << what << (format.empty() ? "" : " as ") << format
                       << (partial ? " partial" : ""));
      if (seconds > 10) FAIL("took " << seconds << " s");
      if (opened) {
        for (const ProfilePtr& profile : opened->profiles) {
          const std::string broken = broken_invariant(*profile);
          if (!broken.empty()) FAIL(broken);
        }
      } else {
        if (opened.error().message.empty()) FAIL("an error without a message");
        // A mutated byte can turn content into a container, whose offsets are those of what is inside.
        const bool inside =
            !opened.error().where.empty() && opened.error().where.back().find("gzip") != std::string::npos;
        if (!inside && opened.error().offset.value_or(0) > bytes.size())
          FAIL("the error stands at byte " << *opened.error().offset << " of " << bytes.size());
      }
    }
  }
}

}  // namespace

TEST_CASE("every reader has testdata, each file with a line in its README") {
  for (const FormatReader* reader : all_readers()) {
    const std::string id(reader->info().id);
    const auto readme = read_bytes(reader_folder(id) / "testdata" / "README.md");
    INFO(id);
    CHECK_FALSE(readme.empty());
    int n_files = 0;
    for (const TestFile& file : testdata()) {
      if (file.format != id) continue;
      ++n_files;
      INFO(label(file));
      CHECK(readme.find(file.path.filename().string()) != std::string::npos);
    }
    CHECK(n_files >= 3);
  }
}

TEST_CASE("sniffing claims every testdata file for its own reader with the name hidden") {
  for (const TestFile& file : testdata()) {
    INFO(label(file));
    const std::string content = content_of(file);
    const auto bytes =
        std::as_bytes(std::span(content)).first(std::min<std::size_t>(content.size(), 64 << 10));
    const bool at_end = content.size() <= (64 << 10);
    const bool corrupt = file.path.filename().string().starts_with("corrupt");
    for (const FormatReader* reader : all_readers()) {
      if (reader->info().id == file.format) continue;
      INFO(reader->info().id);
      CHECK(reader->sniff(bytes, at_end) != Confidence::certain);
    }
    const auto opened = open_hidden(read_bytes(file.path));
    if (opened) CHECK(opened->decision.format == file.format);
    if (!opened && !corrupt) {
      INFO(describe(opened.error()));
      CHECK(opened.has_value());
    }
  }
}

TEST_CASE("every testdata file reads as its golden says") {
  const bool bless = std::getenv("PROFD_BLESS") != nullptr;
  for (const TestFile& file : testdata()) {
    OpenOptions options;
    // What is corrupt beyond recognition still says what is wrong when its format is named.
    if (file.path.filename().string().starts_with("corrupt")) options.format = file.format;
    const auto opened = open_hidden(read_bytes(file.path), options);
    const std::string now = describe_opened(opened);
    const std::string golden = file.path.string() + ".golden";
    if (bless) std::ofstream(golden, std::ios::binary) << now;
    INFO(label(file) << " (PROFD_BLESS=1 accepts)");
    CHECK(now == read_bytes(golden));
    if (opened) {
      for (const ProfilePtr& profile : opened->profiles) CHECK(broken_invariant(*profile) == "");
    }
  }
}

TEST_CASE("every prefix of a small file is a profile or an error with a place in the file") {
  for (const TestFile& file : testdata()) {
    const std::string content = content_of(file);
    if (content.empty()) continue;
    const std::size_t step = std::max<std::size_t>(1, content.size() / 600);
    for (std::size_t n = 0; n < content.size(); n += step)
      open_damaged(file, content.substr(0, n), fmt::format("cut to {} bytes", n));
  }
  SUCCEED();
}

TEST_CASE("every prefix of a compressed file is a profile or an error") {
  for (const TestFile& file : testdata()) {
    const std::string bytes = read_bytes(file.path);
    if (container_of(std::as_bytes(std::span(bytes))) == ContainerKind::none) continue;
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 200);
    for (std::size_t n = 0; n < bytes.size(); n += step)
      open_damaged(file, bytes.substr(0, n), fmt::format("cut to {} bytes", n));
  }
  SUCCEED();
}

TEST_CASE("1,000 single-byte mutations of a file give profiles or errors") {
  for (const TestFile& file : testdata()) {
    const std::string content = content_of(file);
    if (content.empty()) continue;
    std::mt19937 random(20260101);
    const int n = content.size() <= 16384 ? 1000 : 200;
    for (int i = 0; i < n; ++i) {
      std::string mutated = content;
      const std::size_t at = random() % mutated.size();
      const char to = static_cast<char>(random() % 256);
      mutated[at] = to;
      open_damaged(file, mutated,
                   fmt::format("byte {} set to {}", at, static_cast<int>(static_cast<unsigned char>(to))));
    }
  }
  SUCCEED();
}

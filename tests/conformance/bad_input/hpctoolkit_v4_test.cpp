#include "tests/conformance/bad_input/bad_input.h"
#include "tests/conformance/files.h"
#include "tests/conformance/open_path.h"
#include "tests/conformance/tar_bytes.h"
#include "tests/support/catch.h"
#include "tests/support/temp_folder.h"

using namespace profd;
using namespace profd::test;

namespace {

std::string testdata_file(const char* name) {
  return read_bytes(reader_folder("hpctoolkit-v4") / "testdata" / name);
}

std::string patched(std::string bytes, std::size_t at, std::uint64_t value, int n) {
  for (int i = 0; i < n; ++i)
    bytes.at(at + static_cast<std::size_t>(i)) = static_cast<char>(value >> (8 * i));
  return bytes;
}

std::uint64_t u64(const std::string& bytes, std::size_t at) {
  std::uint64_t out = 0;
  for (int i = 7; i >= 0; --i)
    out = out << 8 | static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]);
  return out;
}

void append(std::string& bytes, std::uint64_t value, int n) {
  for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i));
}

// `n` traces of profile 1, all with the same `n_elements` elements: contexts 0 and 1 by turns.
std::string overlapping_traces(std::uint64_t n, std::uint64_t n_elements) {
  std::string bytes("HPCTOOLKITtrce\4\0", 16);
  const std::uint64_t section = 32, headers = section + 32, elements = headers + n * 24;
  append(bytes, 32, 8), append(bytes, section, 8);
  append(bytes, headers, 8), append(bytes, n, 4), append(bytes, 24, 4), append(bytes, 0, 8),
      append(bytes, 0, 8);
  for (std::uint64_t i = 0; i < n; ++i)
    append(bytes, 1, 8), append(bytes, elements, 8), append(bytes, elements + n_elements * 12, 8);
  for (std::uint64_t i = 0; i < n_elements; ++i) append(bytes, i, 8), append(bytes, i % 2, 4);
  return bytes + "trace.db";
}

// Every value of a thread's is one of metric `metric`.
std::string values_of_one_metric(std::string profile, std::size_t info, std::uint64_t metric) {
  const std::uint64_t n = u64(profile, info), values = u64(profile, info + 8);
  for (std::uint64_t i = 0; i < n; ++i)
    profile = patched(std::move(profile), static_cast<std::size_t>(values + i * 10), metric, 2);
  return profile;
}

std::string database(const std::string& meta, const std::string& profile) {
  return tar_bytes({{"meta.db", meta}, {"profile.db", profile}});
}

}  // namespace

TEST_CASE("hpctoolkit-v4: bad input is refused or counted") {
  const std::string meta = testdata_file("corrupt-alone-meta.db");
  const std::string profile = testdata_file("corrupt-alone-profile.db");
  const auto metrics = static_cast<std::size_t>(u64(meta, 16 + 2 * 16 + 8));
  const auto contexts = static_cast<std::size_t>(u64(meta, 16 + 3 * 16 + 8));
  const auto entry = static_cast<std::size_t>(u64(meta, contexts));
  const auto first = static_cast<std::size_t>(u64(meta, entry + 8));
  const auto infos = static_cast<std::size_t>(u64(profile, 24));
  const std::size_t info = static_cast<std::size_t>(u64(profile, infos)) + 48;  // [0] is the summary
  check_bad_inputs(
      "hpctoolkit-v4",
      {
          {"meta.db alone", meta, "error not_found: open that folder"},
          {"profile.db alone", profile, "error not_found: open that folder"},
          {"another version", patched(meta, 14, 5, 1), "error unsupported: version 5.0"},
          {"no footer", meta.substr(0, meta.size() - 1), "error truncated: footer"},
          {"not a database", "hello", "error malformed: no file of an HPCToolkit database"},
          {"a section outside the file", database(patched(meta, 24, 1 << 20, 8), profile),
           "error malformed: section 0"},
          {"four billion metrics", database(patched(meta, metrics + 8, 0xFFFFFFFF, 4), profile),
           "error truncated: 4294967295 metrics"},
          {"metrics of one byte", database(patched(meta, metrics + 12, 1, 1), profile),
           "error malformed: at least 28"},
          {"entry points outside the file", database(patched(meta, contexts, 1 << 30, 8), profile),
           "error malformed: entry points"},
          {"a context below itself",
           database(patched(patched(meta, first, u64(meta, entry), 8), first + 8, first, 8), profile),
           "error malformed: overlap"},
          {"children outside the file", database(patched(meta, first + 8, 1 << 30, 8), profile),
           "error malformed: outside the file"},
          {"a function pointer between functions",
           database(patched(meta, first + 32, u64(meta, first + 32) + 1, 8), profile),
           "error malformed: points to a function"},
          {"a context without its fields", database(patched(meta, first + 20, 7, 1), profile),
           "error malformed: lacks the fields"},
          {"values outside the file", database(meta, patched(profile, info + 8, 1 << 30, 8)),
           "error malformed: values"},
          {"four billion values", database(meta, patched(profile, info, 0xFFFFFFFF, 8)),
           "error truncated: values"},
          {"profiles of 8 bytes", database(meta, patched(profile, infos + 12, 8, 1)),
           "error malformed: at least 40"},
          {"a metric that is not in the summary", database(meta, profile), "report metric-without-values"},
          {"more values of a context than metrics", database(meta, values_of_one_metric(profile, info, 1)),
           "error malformed: more values than"},
          {"traces that are one and the same",
           tar_bytes(
               {{"meta.db", meta}, {"profile.db", profile}, {"trace.db", overlapping_traces(1000, 1000)}}),
           "report trace-not-read"},
          {"a broken trace.db",
           tar_bytes({{"meta.db", meta}, {"profile.db", profile}, {"trace.db", "HPCTOOLKITtrce\4"}}),
           "report trace-not-read"},
      });
}

TEST_CASE("hpctoolkit-v4: a folder without profile.db is told so by its meta.db") {
  const TempFolder temp;
  const std::string path = temp.file("meta.db", testdata_file("corrupt-alone-meta.db"));
  const auto opened = open_path(path);
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().message.find("profile.db") != std::string::npos);
}

TEST_CASE("hpctoolkit-v4: an archive of the folder opens as the database") {
  const std::string tar =
      tar_bytes({{"hpctoolkit-app-database/meta.db", testdata_file("corrupt-alone-meta.db")},
                 {"hpctoolkit-app-database/profile.db", testdata_file("corrupt-alone-profile.db")},
                 {"hpctoolkit-app-database/src/app.c", "int main() {}\n"}});
  const auto opened = open_hidden(tar);
  REQUIRE(opened.has_value());
  CHECK(opened->decision.format == "hpctoolkit-v4");
  CHECK(opened->profiles.size() == 1);
}

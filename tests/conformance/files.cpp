#include "tests/conformance/files.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/not_run.h"

namespace profd::test {

namespace fs = std::filesystem;

fs::path reader_folder(std::string_view id) {
  std::string name(id);
  std::replace(name.begin(), name.end(), '-', '_');
  return fs::path(PROFD_SOURCE_DIR) / "formats" / name;
}

std::vector<TestFile> testdata() {
  std::vector<TestFile> files;
  for (const FormatReader* reader : all_readers()) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(reader_folder(reader->info().id) / "testdata", none)) {
      const std::string name = entry.path().filename();
      const std::string extension = entry.path().extension();
      const bool about =
          name == "README.md" || extension == ".golden" || extension == ".py" || extension == ".sh";
      if (!entry.is_regular_file() || about) continue;
      files.push_back({entry.path(), std::string(reader->info().id)});
    }
  }
  std::sort(files.begin(), files.end(), [](const TestFile& a, const TestFile& b) { return a.path < b.path; });
  return files;
}

std::string read_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Result<OpenedFile> open_hidden(std::string bytes, const OpenOptions& options) {
  SerialExecutor executor;
  return open_profiles(memory_source(std::move(bytes), ""), options, executor, {});
}

std::optional<fs::path> corpus() {
  std::error_code none;
  if (const char* set = std::getenv("PROFD_CORPUS")) {
    if (fs::is_directory(set, none)) return fs::path(set);
    return std::nullopt;
  }
  fs::path around = PROFD_SOURCE_DIR;
  for (int up = 0; up < 3 && around.has_relative_path(); ++up) {
    around = around.parent_path();
    if (fs::is_directory(around / "shared" / "corpus", none)) return around / "shared" / "corpus";
  }
  return std::nullopt;
}

std::optional<fs::path> corpus_2026() {
  std::error_code none;
  const auto old = corpus();
  if (!old) return std::nullopt;
  const fs::path beside = old->lexically_normal().parent_path() / "corpus-2026";
  return fs::is_directory(beside, none) ? std::optional(beside) : std::nullopt;
}

bool warn_without_corpus_2026() {
  if (corpus_2026()) return false;
  not_run("no corpus of the formats of 2026 (corpus-2026 beside PROFD_CORPUS)");
  return true;
}

bool warn_without_corpus() {
  if (corpus()) return false;
  not_run("no corpus of real files (PROFD_CORPUS)");
  return true;
}

}  // namespace profd::test

// The files that the conformance tests run over: what is in the tree, and the corpus where there is one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/open.h"

namespace profd::test {

struct TestFile {
  std::filesystem::path path;
  std::string format;  // id of the reader it belongs to
};

// Reader "perf-script" lives in formats/perf_script.
std::filesystem::path reader_folder(std::string_view id);
// formats/<id>/testdata/*, without README.md, goldens and the scripts that made files. A folder in it is not
// looked into.
std::vector<TestFile> testdata();

std::string read_bytes(const std::filesystem::path& path);
// The file with its name hidden.
Result<OpenedFile> open_hidden(std::string bytes, const OpenOptions& options = {});

// PROFD_CORPUS, or shared/corpus beside one of the folders around the source tree.
std::optional<std::filesystem::path> corpus();
// The same of the younger formats: corpus-2026 beside it.
std::optional<std::filesystem::path> corpus_2026();
// Says once that corpus tests check nothing.
bool warn_without_corpus();
bool warn_without_corpus_2026();

}  // namespace profd::test

// A plain main for fuzz targets: runs the target over files and folders, so that CTest replays testdata and
// every crash that was ever found. Files are given to the target as they are, and once behind each option
// byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr double kMaxSeconds = 10;  // of CPU time, for one input: what is slower is a find too

bool run(const std::string& bytes) {
  const std::clock_t before = std::clock();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC < kMaxSeconds;
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_regular_file(argv[i])) files.emplace_back(argv[i]);
    if (!fs::is_directory(argv[i])) continue;
    for (const auto& entry : fs::directory_iterator(argv[i]))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    std::ifstream in(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (run(bytes) && run('\0' + bytes) && run('\1' + bytes)) continue;
    std::fprintf(stderr, "%s takes more than %g s\n", path.c_str(), kMaxSeconds);
    return 1;
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}

// profd-lines-of FILE [--debug FILE] [--alternate FILE] [--split FILE]... [--threads N] [--repeat N]
// [--quiet] What addresses of a module stand for, as the resolver says: for tests against other programs and
// for measurements. Addresses are read from stdin, one a line, in hex. For each: the address, then two lines
// a frame from the innermost one on, the name ("??" where there is none) and file:line:column, then "piece
// START SIZE NAME", then an empty line.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/lines/resolver.h"

using namespace profd;
using namespace profd::native;

namespace {

class Threads final : public Executor {
 public:
  explicit Threads(unsigned count) : count_(count) {}
  unsigned width() const override { return count_; }
  void run(std::size_t n_tasks, const std::function<void(std::size_t)>& task) override {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < n_tasks; i = next++) task(i);
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < count_; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
  }

 private:
  unsigned count_;
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "profd-lines-of: %s\n", what.c_str());
  std::exit(1);
}

ElfImage open_image(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || status.st_size == 0) give_up(std::string("cannot read ") + path);
  void* mapped = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (mapped == MAP_FAILED) give_up(std::string("cannot map ") + path);
  auto image = read_elf({static_cast<const std::uint8_t*>(mapped), static_cast<std::size_t>(status.st_size)});
  if (!image) give_up(std::string(path) + ": " + describe(image.error()));
  return std::move(*image);
}

std::vector<std::uint64_t> read_addresses() {
  std::vector<std::uint64_t> addresses;
  char line[64];
  while (std::fgets(line, sizeof line, stdin) != nullptr)
    addresses.push_back(std::strtoull(line, nullptr, 16));
  return addresses;
}

void print(const Chains& chains, const std::vector<std::uint64_t>& vaddrs) {
  std::string out;
  for (std::size_t i = 0; i < vaddrs.size(); ++i) {
    char text[64];
    std::snprintf(text, sizeof text, "0x%llx\n", static_cast<unsigned long long>(vaddrs[i]));
    out += text;
    for (std::uint32_t row = chains.link_of[i]; row != kNone; row = chains.links[row].parent) {
      const Chains::Link& link = chains.links[row];
      std::string name;
      if (link.function != kNone) {
        const Chains::Function& function = chains.functions[link.function];
        name = chains.texts[function.linkage != 0 ? function.linkage : function.name];
      }
      out += (name.empty() ? "??" : name) + "\n" + (link.file == 0 ? "??" : chains.texts[link.file]) + ":" +
             std::to_string(link.line) + ":" + std::to_string(link.column) + "\n";
    }
    if (chains.piece_of[i] != kNone) {
      const Chains::Piece& piece = chains.pieces[chains.piece_of[i]];
      std::snprintf(text, sizeof text, "piece 0x%llx %llu ", static_cast<unsigned long long>(piece.start),
                    static_cast<unsigned long long>(piece.size));
      out += text + chains.texts[piece.raw_name] + "\n";
    }
    out += "\n";
    if (out.size() > 1 << 16) {
      std::fwrite(out.data(), 1, out.size(), stdout);
      out.clear();
    }
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::deque<ElfImage> images;
  ModuleFiles files;
  unsigned threads = 1;
  int repeat = 1;
  bool quiet = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&]() -> const char* {
      if (++i >= argc) give_up(option + " wants a value");
      return argv[i];
    };
    const auto image = [&](const char* path) { return &images.emplace_back(open_image(path)); };
    if (option == "--debug")
      files.debug = image(value());
    else if (option == "--alternate")
      files.alternate = image(value());
    else if (option == "--split")
      files.split.push_back(image(value()));
    else if (option == "--threads")
      threads = static_cast<unsigned>(std::atoi(value()));
    else if (option == "--repeat")
      repeat = std::atoi(value());
    else if (option == "--quiet")
      quiet = true;
    else
      files.binary = image(argv[i]);
  }
  std::vector<std::uint64_t> vaddrs = read_addresses();
  std::sort(vaddrs.begin(), vaddrs.end());
  Threads executor(std::max(threads, 1u));
  for (int round = 0; round < repeat; ++round) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto resolver = Resolver::open(files);
    if (!resolver) give_up(describe(resolver.error()));
    const auto opened = Clock::now();
    const auto chains = resolver->resolve(vaddrs, executor);
    if (!chains) give_up(describe(chains.error()));
    const auto resolved = Clock::now();
    for (const std::string& problem : resolver->problems())
      std::fprintf(stderr, "problem: %s\n", problem.c_str());
    for (const SplitWish& wish : resolver->wishes(vaddrs))
      std::fprintf(stderr, "wish: %s/%s\n", wish.folder.c_str(), wish.name.c_str());
    if (repeat > 1 || quiet)
      std::fprintf(stderr, "open %.1f ms, resolve %.1f ms, %zu links, %zu functions, %zu pieces\n",
                   std::chrono::duration<double, std::milli>(opened - start).count(),
                   std::chrono::duration<double, std::milli>(resolved - opened).count(), chains->links.size(),
                   chains->functions.size(), chains->pieces.size());
    if (!quiet && round == 0) print(*chains, vaddrs);
  }
  return 0;
}

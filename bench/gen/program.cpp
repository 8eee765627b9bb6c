#include "bench/gen/program.h"

#include <algorithm>
#include <unordered_map>

namespace profd::bench {
namespace {

constexpr std::uint32_t kLayers = 14;
constexpr std::uint32_t kMeanFunctions = 40;

class Maker {
 public:
  Maker(Program& program, std::uint64_t seed, std::uint32_t n_packages)
      : p_(program), rng_(seed), n_packages_(n_packages) {}

  void make() {
    make_modules();
    make_packages();
    for (std::uint32_t i = 0; i < p_.packages.size(); ++i) make_sites(i);
    for (const auto chain : root_chains()) p_.roots.push_back(make_root(chain));
    for (const auto chain : runtime_chains()) p_.runtimes.push_back(make_runtime(chain));
  }

 private:
  void make_modules() {
    const std::string_view paths[] = {"/usr/lib/acme/stored", "/usr/lib/acme/libengine.so.4",
                                      "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                      "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30", "[kernel.kallsyms]"};
    std::uint64_t start = 0x400000;
    for (const auto path : paths) {
      if (path.starts_with('[')) start = 0xffffffff81000000ULL;
      std::string build_id;
      for (int i = 0; i < 40; ++i) build_id += "0123456789abcdef"[rng_.below(16)];
      p_.modules.push_back({std::string(path), build_id, start, start + 0x8000000});
      next_address_.push_back(start + 0x1000);
      start = start < 0x7f0000000000ULL ? 0x7f5a10000000ULL : start + 0x10000000;
    }
  }

  // Few packages near the roots and near the bottom, most in between.
  std::uint32_t packages_in(std::uint32_t layer) const {
    const std::uint32_t height = 2 * std::min(layer + 1, kLayers - layer) + (layer == 0 ? 0 : 2);
    std::uint32_t sum = 0;
    for (std::uint32_t l = 0; l < kLayers; ++l) sum += 2 * std::min(l + 1, kLayers - l) + (l == 0 ? 0 : 2);
    return std::max(2U, n_packages_ * height / sum);
  }

  void make_packages() {
    std::vector<std::uint32_t> layer_first;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
      layer_first.push_back(static_cast<std::uint32_t>(p_.packages.size()));
      const std::uint32_t n = packages_in(layer);
      for (std::uint32_t i = 0; i < n; ++i) make_package(layer);
    }
    layer_first.push_back(static_cast<std::uint32_t>(p_.packages.size()));
    for (auto& package : p_.packages) {
      const std::uint32_t below = std::min(package.layer + 1, kLayers - 1);
      const std::uint32_t width = layer_first[below + 1] - layer_first[below];
      for (auto& import : package.imports) {
        import = layer_first[below] + rng_.below(width);
        // Calls seldom cross from one language into the other.
        for (int i = 0; i < 4 && p_.packages[import].language != package.language; ++i)
          import = layer_first[below] + rng_.below(width);
      }
    }
  }

  void make_package(std::uint32_t layer) {
    const auto index = static_cast<std::uint32_t>(p_.packages.size());
    Package package{};
    package.language = rng_.chance(60) ? Language::go : Language::cpp;
    package.path = package_path(package.language, index, rng_);
    package.layer = layer;
    package.first_function = static_cast<std::uint32_t>(p_.functions.size());
    const std::uint32_t n_functions = rng_.between(kMeanFunctions / 4, kMeanFunctions * 7 / 4);
    const std::uint32_t n_files = 1 + n_functions / 12;
    const auto first_file = static_cast<std::uint32_t>(p_.files.size());
    for (std::uint32_t i = 0; i < n_files; ++i)
      p_.files.push_back(source_file(package.language, package.path, i + (index % 7) * 10, rng_));
    std::vector<std::uint32_t> line(n_files, 20);
    for (std::uint32_t i = 0; i < n_functions; ++i) {
      const std::uint32_t file = i * n_files / n_functions;
      std::string name = unique_name(package.language, function_name(package.language, package.path, rng_));
      add_function(std::move(name), first_file + file, package.language == Language::go ? 0 : 1, line[file],
                   index);
      line[file] += rng_.between(12, 90);
    }
    package.end_function = static_cast<std::uint32_t>(p_.functions.size());
    p_.packages.push_back(std::move(package));
  }

  std::string unique_name(Language language, const std::string& name) {
    const std::uint32_t uses = names_[name]++;
    return uses == 0 ? name : unique_name(language, variant_name(language, name, uses));
  }

  std::uint32_t add_function(std::string name, std::uint32_t file, std::uint32_t module, std::uint32_t line,
                             std::uint32_t package) {
    Function function{};
    function.name = std::move(name);
    function.file = file;
    function.module = module;
    function.start_line = line;
    function.package = package;
    function.address = next_address_[module];
    function.recursive_site = kNone;
    next_address_[module] += 64 + 16 * rng_.below(40);
    p_.functions.push_back(std::move(function));
    return static_cast<std::uint32_t>(p_.functions.size() - 1);
  }

  std::uint32_t add_site(std::uint32_t function, std::uint32_t line) {
    Site site{};
    site.function = function;
    site.lines[0] = line;
    const auto index = static_cast<std::uint32_t>(p_.sites.size());
    site.address = p_.functions[function].address + 5 + 7ULL * (index % 9);
    p_.sites.push_back(site);
    return index;
  }

  // Puts 1 to 3 functions of the package between the instruction and its function.
  void inline_into(Site& site, const Package& package) {
    const std::uint32_t n = 1 + rng_.run_length(35, kMaxInline - 1);
    const std::uint32_t outer_line = site.lines[0];
    for (std::uint32_t i = 0; i < n; ++i) {
      site.inlined[i] = local_function(package);
      site.lines[i] = p_.functions[site.inlined[i]].start_line + rng_.between(1, 9);
    }
    site.n_inlined = n;
    site.lines[n] = outer_line;
  }

  std::uint32_t local_function(const Package& package) {
    return package.first_function + rng_.below(package.end_function - package.first_function);
  }

  // Exported functions come first in a package: two draws make the low ones likelier.
  std::uint32_t imported_function(const Package& package) {
    const Package& other = p_.packages[package.imports[rng_.run_length(45, 4)]];
    const std::uint32_t n = other.end_function - other.first_function;
    return other.first_function + rng_.below(rng_.below(n) + 1);
  }

  void make_sites(std::uint32_t package_index) {
    const Package package = p_.packages[package_index];
    for (std::uint32_t f = package.first_function; f < package.end_function; ++f) {
      const std::uint32_t start = p_.functions[f].start_line;
      p_.functions[f].first_site = static_cast<std::uint32_t>(p_.sites.size());
      const std::uint32_t n_calls = rng_.chance(45) ? 1 : rng_.between(2, 9);
      for (std::uint32_t i = 0; i < n_calls; ++i) {
        const std::uint32_t index = add_site(f, start + 2 + 3 * i + rng_.below(3));
        Site& site = p_.sites[index];
        if (rng_.chance(22)) inline_into(site, package);
        site.n_callees = rng_.chance(15) ? rng_.between(2, 3) : 1;
        for (std::uint32_t c = 0; c < site.n_callees; ++c)
          site.callees[c] = rng_.chance(42) && f + 1 < package.end_function
                                ? f + 1 + rng_.below(std::min(12U, package.end_function - f - 1))
                                : imported_function(package);
      }
      if (rng_.chance(7)) p_.functions[f].recursive_site = make_cycle(f, package);
      p_.functions[f].first_leaf = static_cast<std::uint32_t>(p_.sites.size());
      const std::uint32_t n_leaves = rng_.between(1, 6);
      for (std::uint32_t i = 0; i < n_leaves; ++i) {
        const std::uint32_t index = add_site(f, start + 1 + 4 * i + rng_.below(4));
        if (rng_.chance(30)) inline_into(p_.sites[index], package);
      }
      p_.functions[f].end_site = static_cast<std::uint32_t>(p_.sites.size());
    }
  }

  // A call site of f whose callee is f itself or a neighbour that calls back.
  std::uint32_t make_cycle(std::uint32_t f, const Package& package) {
    const std::uint32_t index = add_site(f, p_.functions[f].start_line + 31);
    p_.sites[index].n_callees = 2;
    p_.sites[index].callees[0] = f;
    p_.sites[index].callees[1] = rng_.chance(50) ? local_function(package) : f;
    return index;
  }

  std::uint32_t chain_function(const NamedFrame& frame) {
    const std::string key(frame.name);
    if (const auto found = chain_.find(key); found != chain_.end()) return found->second;
    p_.files.emplace_back(frame.file);
    std::uint32_t module = frame.language == Language::go ? 0 : 1;
    if (frame.file.starts_with("arch/") || frame.file.starts_with("fs/"))
      module = 4;
    else if (frame.file.starts_with("libstdc++"))
      module = 3;
    else if (!frame.file.starts_with("src/") && frame.language == Language::cpp &&
             !frame.file.starts_with("boost/") && !frame.file.starts_with("/usr/include"))
      module = 2;
    const std::uint32_t line = frame.line > 20 ? frame.line - 20 : 1;
    const std::uint32_t f = add_function(
        std::string(frame.name), static_cast<std::uint32_t>(p_.files.size() - 1), module, line, kNone);
    chain_.emplace(key, f);
    p_.functions[f].first_site = static_cast<std::uint32_t>(p_.sites.size());
    const std::uint32_t n_sites = rng_.between(1, 3);
    for (std::uint32_t i = 0; i < n_sites; ++i) add_site(f, frame.line + 2 * i);
    p_.functions[f].first_leaf = static_cast<std::uint32_t>(p_.sites.size());
    const std::uint32_t n_leaves = rng_.between(1, 3);
    for (std::uint32_t i = 0; i < n_leaves; ++i) add_site(f, frame.line + 3 + i);
    p_.functions[f].end_site = static_cast<std::uint32_t>(p_.sites.size());
    return f;
  }

  std::vector<std::uint32_t> make_root(std::span<const NamedFrame> chain) {
    std::vector<std::uint32_t> out;
    for (const auto& frame : chain) out.push_back(p_.functions[chain_function(frame)].first_site);
    p_.root_language.push_back(chain.back().language);
    Site& last = p_.sites[out.back()];
    const Package& entry = p_.packages[p_.roots.size() % 2];
    last.n_callees = 3;
    for (auto& callee : last.callees) callee = local_function(entry);
    return out;
  }

  std::vector<std::uint32_t> make_runtime(std::span<const NamedFrame> chain) {
    std::vector<std::uint32_t> out;
    for (const auto& frame : chain) out.push_back(chain_function(frame));
    p_.runtime_language.push_back(chain.front().language);
    return out;
  }

  Program& p_;
  Rng rng_;
  std::uint32_t n_packages_;
  std::vector<std::uint64_t> next_address_;
  std::unordered_map<std::string, std::uint32_t> names_, chain_;
};

}  // namespace

Program::Program(std::uint64_t seed, std::uint32_t n_packages) {
  Maker(*this, seed, n_packages).make();
}

std::uint32_t packages_of_profile(std::uint64_t size) {
  if (size == 0 || size >= 100'000'000) return kMostPackages;
  if (size >= 10'000'000) return 340;
  return 30;
}

}  // namespace profd::bench

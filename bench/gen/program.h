#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/gen/names.h"
#include "bench/gen/rng.h"

namespace profd::bench {

inline constexpr std::uint32_t kNone = 0xffffffffU;
inline constexpr std::uint32_t kMaxInline = 3;

struct Module {
  std::string path;
  std::string build_id;
  std::uint64_t start;
  std::uint64_t limit;
};

struct Function {
  std::string name;
  std::uint32_t file;    // into Program::files
  std::uint32_t module;  // into Program::modules
  std::uint32_t start_line;
  std::uint64_t address;
  std::uint32_t package;     // kNone for root and runtime chains
  std::uint32_t first_site;  // call sites: [first_site, first_leaf)
  std::uint32_t first_leaf;  // instructions that only ever are the leaf: [first_leaf, end_site)
  std::uint32_t end_site;
  std::uint32_t recursive_site;  // the call site that starts a cycle, or kNone
};

// An instruction: what pprof calls a location. `lines[0]` belongs to the innermost inlined function
// (or to the function itself when n_inlined is 0), `lines[n_inlined]` to the function that holds the code.
struct Site {
  std::uint32_t function;
  std::uint32_t n_inlined;
  std::uint32_t inlined[kMaxInline];  // innermost first
  std::uint32_t lines[kMaxInline + 1];
  std::uint64_t address;
  std::uint32_t callees[3];  // functions; more than one for an indirect call
  std::uint32_t n_callees;
};

struct Package {
  std::string path;
  Language language;
  std::uint32_t first_function, end_function;
  std::uint32_t layer;
  std::uint32_t imports[5];  // packages of the next layer (of the same one in the last)
};

inline constexpr std::uint32_t kMostPackages = 1900;

// One synthetic server program: packages in layers, functions with call sites, inlining, cycles.
// The same seed and number of packages is the same program; immutable after construction.
struct Program {
  explicit Program(std::uint64_t seed, std::uint32_t n_packages = kMostPackages);

  std::vector<std::string> files;
  std::vector<Module> modules;
  std::vector<Package> packages;
  std::vector<Function> functions;
  std::vector<Site> sites;
  // Call chains as sites, root first; the last site of a root chain calls into layer 0.
  std::vector<std::vector<std::uint32_t>> roots;
  // Chains that end stacks, as functions, caller first; a stack stops anywhere in one.
  std::vector<std::vector<std::uint32_t>> runtimes;
  std::vector<Language> root_language, runtime_language;
};

// Packages of the program that a profile of so many bytes (0: any) is of. Small profiles are of small
// programs: with the same one everywhere four fifths of a file of 1 MB would be names that are used once or
// twice (docs/decisions/0044).
std::uint32_t packages_of_profile(std::uint64_t size);

}  // namespace profd::bench

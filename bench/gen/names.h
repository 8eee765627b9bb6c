#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/gen/rng.h"

namespace profd::bench {

enum class Language : std::uint8_t { go, cpp };

struct NamedFrame {
  std::string_view name;
  std::string_view file;
  std::uint32_t line;
  Language language;
};

// Chains of frames every server has: how its threads start (root first), and where its stacks end
// (allocator, copying, locks, system calls; caller first).
std::span<const std::span<const NamedFrame>> root_chains();
std::span<const std::span<const NamedFrame>> runtime_chains();

// The path of a package: `github.com/acme/store/query` or `src/storage/wal`.
std::string package_path(Language language, std::uint32_t index, Rng& rng);
// A source file inside that package.
std::string source_file(Language language, std::string_view package, std::uint32_t index, Rng& rng);
// A function name; not unique by itself.
std::string function_name(Language language, std::string_view package, Rng& rng);
// The same name told apart: a closure in Go, a template instance in C++.
std::string variant_name(Language language, std::string_view name, std::uint32_t variant);

std::span<const std::string_view> endpoint_names();

}  // namespace profd::bench

// Names of Rust's v0 mangling (RFC 2603), "_R...", as people read them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace profd {

bool is_rust_v0(std::string_view symbol);  // by its first letters

// Without hashes of crates, as in "core::slice::sort::<u32>". Nothing where `symbol` is none, is ill-formed,
// nests more than 256 deep, or stands for more than 16 KiB of text: parts that are referred to again and
// again make a short name a long one. Suffixes that LLVM adds are left out, others stand behind the name.
std::optional<std::string> demangle_rust_v0(std::string_view symbol);

}  // namespace profd
